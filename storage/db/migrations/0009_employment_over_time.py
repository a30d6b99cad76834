"""Dated records of employment, and its last day. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import create_index

COMPATIBLE_FROM = 1
# PostgreSQL builds indexes concurrently outside of transactions only.
atomic = False

_COLUMNS = {"end_date": "DATE", "employment": "TEXT", "employment_due_on": "DATE"}


def up(migrator: Any, db: Any) -> None:
    # An interrupted migration is repeated.
    present = {column.name for column in db.get_columns("users")}
    for name, type_name in _COLUMNS.items():
        if name not in present:
            db.execute_sql(f"ALTER TABLE users ADD COLUMN {name} {type_name}")
    create_index(
        db, "users_employment_due", "users (employment_due_on) WHERE employment_due_on IS NOT NULL"
    )
