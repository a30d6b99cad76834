"""People, departments and managers: rows and reads, and who approves whose leave.

What admins do to people is in ``admin``, because it changes their leave too.
"""
