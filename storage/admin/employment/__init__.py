"""Employment over time, changed by admins and by its dates.

`effective` dates the changes of a person, `dated_records` corrects single records, and `due` makes
records take effect and archives people after their last day.
"""
