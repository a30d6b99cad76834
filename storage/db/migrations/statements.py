"""Statements of migrations, written for PostgreSQL and run on either engine."""

from __future__ import annotations

import re
from typing import Any, Final

from peewee import SqliteDatabase

# SQLite derives from a type's name how it stores values; UUID, for one, would be a number.
_SQLITE_TYPES: Final = {
    "BIGINT": "INTEGER",
    "BOOLEAN": "INTEGER",
    "BYTEA": "BLOB",
    "UUID": "TEXT",
}


def run_all(db: Any, statements: str) -> None:
    """Run statements that end with semicolons."""
    if isinstance(db, SqliteDatabase):
        statements = re.sub(
            r"\b[A-Z]+\b", lambda word: _SQLITE_TYPES.get(word[0], word[0]), statements
        )
    for statement in statements.split(";"):
        if statement.strip():
            db.execute_sql(statement)
