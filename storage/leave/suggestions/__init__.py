"""What a person most likely wants to request: the first values of a form."""
