"""What migrations run: statements for both engines, and indexes made while others write."""

from __future__ import annotations

import re
from typing import Any, Final

from peewee import PostgresqlDatabase, SqliteDatabase

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


def create_index(db: Any, name: str, definition: str) -> None:
    """Create the index ``name`` on ``definition``: ``users (organisation_id, email)``.

    PostgreSQL builds it without blocking writes, if the migration has ``atomic = False`` and the
    connection has no pooler in between. What an interrupted build left behind is dropped first.
    """
    drop_index(db, name)
    _build(db, f"CREATE INDEX {{}} {name} ON {definition}")


def drop_index(db: Any, name: str) -> None:
    """Drop the index ``name``, if it exists, in the same way."""
    _build(db, f"DROP INDEX {{}} IF EXISTS {name}")


def _build(db: Any, statement: str) -> None:
    if not isinstance(db, PostgresqlDatabase) or db.in_transaction():
        db.execute_sql(statement.format(""))
        return
    [timeout] = db.execute_sql("SHOW lock_timeout").fetchone()
    # It waits for older transactions to end, but nothing waits for it.
    db.execute_sql("SET lock_timeout = 0")
    db.execute_sql(statement.format("CONCURRENTLY"))
    db.execute_sql(f"SET lock_timeout = '{timeout}'")
