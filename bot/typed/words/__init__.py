"""The words that a person may type, a table for each language."""
