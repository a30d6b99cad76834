"""What people type after the command: words, dates and leave types, in English and German."""
