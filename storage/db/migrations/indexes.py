"""Indexes of large tables, made while other processes write to them."""

from __future__ import annotations

from typing import Any

from peewee import PostgresqlDatabase


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
