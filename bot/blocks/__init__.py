"""Building blocks of views: texts, buttons, form fields and their values, dates and names."""
