"""How a database would run the queries of a use case, from EXPLAIN."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import psycopg

from storage.db.compiled import Compiled
from storage.db.database import Database, Transaction


def plans_of(
    database: Database,
    database_url: str,
    use_case: Callable[..., Any],
    /,
    *args: Any,
    has_few_rows: bool = True,
    **params: Any,
) -> list[str]:
    """The plan of each query with which the use case reads rows, in their order.

    ``has_few_rows``: PostgreSQL may not read a whole table, as it would with a few rows.
    """
    recorded: list[Recorder] = []

    def run(tx: Transaction) -> None:
        recorder: Any = Recorder(tx)
        recorded.append(recorder)
        use_case(recorder, *args, **params)

    database.write_now(run)
    return [_plan(database_url, *query, has_few_rows) for query in recorded[-1].queries]


class Recorder:
    """A transaction that records the queries for all rows."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self.queries: list[tuple[Compiled[...], dict[str, Any]]] = []

    def all(self, query: Compiled[...], **params: Any) -> Any:
        self.queries.append((query, params))
        return self._tx.all(query, **params)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)


def _plan(url: str, query: Compiled[...], params: dict[str, Any], has_few_rows: bool) -> str:
    rows: list[Any]
    if url.startswith("sqlite:"):
        sql, values = query.bind("sqlite", (), params)
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
            rows = file.execute(f"EXPLAIN QUERY PLAN {sql}", values).fetchall()
    else:
        sql, values = query.bind("postgresql", (), params)
        with psycopg.connect(url) as connection:
            if has_few_rows:
                connection.execute("SET enable_seqscan = off")
            rows = connection.execute(f"EXPLAIN {sql}".encode(), values).fetchall()
    return "\n".join(str(row[-1]) for row in rows)


def reads_a_whole_table(plan: str) -> bool:
    return any(
        "Seq Scan" in line or (line.startswith("SCAN t") and "INDEX" not in line)
        for line in plan.splitlines()
    )
