"""A database as another process sees it: over connections apart from the handle's."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import psycopg
from psycopg.abc import Query


def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    """Run a query on a separate connection; returns its rows."""
    return rows_of_each(url, [query])[0]


def rows_of_each(url: str, queries: list[str]) -> list[list[tuple[Any, ...]]]:
    """Run queries on one separate connection; returns the rows of each."""
    if url.startswith("sqlite:"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
            return [file.execute(query).fetchall() for query in queries]
    with psycopg.connect(url) as connection:
        return [connection.execute(_trusted(query)).fetchall() for query in queries]


def run(url: str, statement: str) -> None:
    """Run and commit a statement on a separate connection."""
    if url.startswith("sqlite:"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file, file:
            file.execute(statement)
        return
    with psycopg.connect(url) as connection:
        connection.execute(_trusted(statement))


def _trusted(statement: str) -> Query:
    return statement.encode()
