"""Parses the text after the command: words, dates and leave types, in each language."""
