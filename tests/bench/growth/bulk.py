"""Rows in bulk, past the use cases: executemany on SQLite, COPY on PostgreSQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, Final

import psycopg

Row = dict[str, Any]

# Neither the benchmark nor its file survives a crash. Indexes of a million requests fit the cache.
_FAST: Final = (
    "PRAGMA journal_mode=OFF",
    "PRAGMA synchronous=OFF",
    "PRAGMA cache_size=-1500000",
)


class Bulk:
    """Adds rows without checking foreign keys."""

    def __init__(
        self,
        insert: Callable[[str, Sequence[str], Sequence[Row]], None],
        run_many: Callable[[str, Sequence[Sequence[Any]]], object],
    ) -> None:
        self._insert = insert
        self._run_many = run_many

    def insert(self, table: Any, rows: Sequence[Row]) -> None:
        """Add rows that have the same columns; a column that is left out is null."""
        if rows:
            self._insert(table._meta.table_name, [*rows[0]], rows)

    def copy(self, table: Any, key: str, original: str, copies: Sequence[Row]) -> None:
        """For each of ``copies``, copy the rows whose ``key`` is ``original``.

        ``copies`` are the columns that differ.
        """
        changed = copies[0].keys()
        columns = [*changed, *(table._meta.columns.keys() - changed)]
        values = [*("?" for _ in changed), *columns[len(changed) :]]
        name = table._meta.table_name
        self._run_many(
            f"INSERT INTO {name} ({', '.join(columns)}) SELECT {', '.join(values)} "
            f"FROM {name} WHERE {key} = ?",
            [[*copy.values(), original] for copy in copies],
        )


@contextmanager
def filling(url: str) -> Iterator[Bulk]:
    """Add rows to a migrated database; committed at the end."""
    if url.startswith("sqlite:"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
            for pragma in _FAST:
                file.execute(pragma)
            with file:
                yield Bulk(lambda *args: _insert(file, *args), file.executemany)
            file.execute("PRAGMA journal_mode=WAL")
        return
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        # Foreign keys are triggers, which would take most of the time.
        cursor.execute("SET session_replication_role = replica")
        yield Bulk(
            lambda *args: _copy_in(cursor, *args),
            lambda sql, params: cursor.executemany(sql.replace("?", "%s").encode(), params),
        )


def _insert(
    file: sqlite3.Connection, table: str, columns: Sequence[str], rows: Sequence[Row]
) -> None:
    places = ", ".join("?" * len(columns))
    statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"
    file.executemany(statement, [[*row.values()] for row in rows])


def _copy_in(
    cursor: psycopg.Cursor[Any], table: str, columns: Sequence[str], rows: Sequence[Row]
) -> None:
    with cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row([*row.values()])
