"""People, departments and managers: rows, reads and changes, and who approves whose leave.

``approvers`` has the approval chain, ``worktimes`` when people work. What admins do to people is in
``admin``, because it changes their leave too.
"""
