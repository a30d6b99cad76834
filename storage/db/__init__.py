"""The database: tables, migrations, the two engines, transactions, queries and cursors.

Other packages use ``database.Transaction`` to run queries that ``compiled`` prepares, and map rows
with ``rows``. Nothing in here knows what leave is.
"""
