"""People, departments, managers and holiday sets: rows and reads, and who approves whose leave.

``approvers`` has the approval chain, ``worktimes`` when people work. What admins change is in
``admin``, because it changes leave too.
"""
