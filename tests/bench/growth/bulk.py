"""Rows in bulk, past the use cases: executemany on SQLite, COPY on PostgreSQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import peewee
import psycopg

Row = dict[str, Any]
# Inserts rows that have the same columns; a column that is left out is null.
Insert = Callable[[type[peewee.Model], Sequence[Row]], None]


@contextmanager
def inserting(url: str) -> Iterator[Insert]:
    """Insert into a migrated database without checking foreign keys; committed at the end."""
    if url.startswith("sqlite:"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file, file:
            yield lambda table, rows: _insert(file, table, rows)
        return
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        # Foreign keys are triggers, which would take most of the time.
        cursor.execute("SET session_replication_role = replica")
        yield lambda table, rows: _copy(cursor, table, rows)


def _insert(file: sqlite3.Connection, table: type[peewee.Model], rows: Sequence[Row]) -> None:
    if rows:
        names, columns = _target(table, rows)
        places = ", ".join("?" * len(rows[0]))
        statement = f"INSERT INTO {names} ({columns}) VALUES ({places})"
        file.executemany(statement, [[*row.values()] for row in rows])


def _copy(cursor: psycopg.Cursor[Any], table: type[peewee.Model], rows: Sequence[Row]) -> None:
    if rows:
        names, columns = _target(table, rows)
        with cursor.copy(f"COPY {names} ({columns}) FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row([*row.values()])


def _target(table: Any, rows: Sequence[Row]) -> tuple[str, str]:
    return table._meta.table_name, ", ".join(rows[0])
