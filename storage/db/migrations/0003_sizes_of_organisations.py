"""What PostgreSQL assumes of organisations of unknown size. Released: never edit this file.

It plans a statement once for all organisations. By its statistics it would plan for an average one,
which is small, and read all rows of a large one where an index finds few.
"""

from __future__ import annotations

from typing import Any

from peewee import PostgresqlDatabase

COMPATIBLE_FROM = 1

_TABLES = """
SELECT table_name FROM information_schema.columns
WHERE column_name = 'organisation_id' AND table_schema = current_schema() ORDER BY table_name
"""


def up(migrator: Any, db: Any) -> None:
    if not isinstance(db, PostgresqlDatabase):
        return
    # A quarter of an organisation's leave has the same type.
    db.execute_sql("ALTER TABLE leave_requests ALTER leave_type_id SET (n_distinct = 4)")
    for (table,) in db.execute_sql(_TABLES).fetchall():
        # An organisation has a hundredth of the rows.
        db.execute_sql(f"ALTER TABLE {table} ALTER organisation_id SET (n_distinct = 100)")
        db.execute_sql(f"ANALYZE {table}")
