"""What the database is measured by: durations, and errors by kind."""
