"""What counts for a person on each date: the rules of dated records, without the database.

`records` finds and changes the records of a person, `allowances` grants a leave year over them.
"""
