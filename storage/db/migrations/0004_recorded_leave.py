"""Leave that one person records for another. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from peewee import SqliteDatabase

COMPATIBLE_FROM = 1


def up(migrator: Any, db: Any) -> None:
    is_sqlite = isinstance(db, SqliteDatabase)
    an_id, boolean = ("TEXT", "INTEGER") if is_sqlite else ("UUID", "BOOLEAN")
    # Without a foreign key, which SQLite cannot add to a table: it is always the caller's id.
    db.execute_sql(f"ALTER TABLE leave_requests ADD COLUMN recorded_by {an_id}")
    db.execute_sql("ALTER TABLE leave_requests ADD COLUMN override_reason TEXT")
    db.execute_sql(
        f"ALTER TABLE leave_types ADD COLUMN approvers_may_record {boolean} NOT NULL DEFAULT FALSE"
    )
    db.execute_sql(
        "UPDATE leave_types SET approvers_may_record = NOT approvers_may_record WHERE code = 'sick'"
    )
