"""The core of Hiatus: values, rules, use cases and the database under them.

It contains packages only. Each imports those after it in this list, never those before it: cli,
slack, admin, access, leave, directory, events, db, rules, base. ``api`` and ``bot`` call the use
cases; tables, queries and rows stay inside.
"""
