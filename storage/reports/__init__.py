"""Reports for payroll and people teams: rows of many people, read batch by batch.

A report is a module like ``balances``: a row, which is a frozen dataclass whose fields are the
columns in every format, and ``start``, which calls `reports.start` with a function that gives the
rows of some people. `api/routes/reports.py` serves it, `storage/operations/report_commands.py`
makes a command of it, and docs/payroll.md names it.
"""
