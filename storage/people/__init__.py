"""People, departments, managers and holiday sets: rows and reads, and who approves whose leave.

``approvers`` has the approval chain, ``public_holidays`` a country's holidays with overrides. What
admins change is in ``admin``, because it changes leave too.
"""
