"""What belongs to one person, under `/users/{id}`; the people are in ``routes/users``."""
