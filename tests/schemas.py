"""The schema of a database, read from its catalogue, to compare two databases."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing

import psycopg

HISTORY = "schema_migration"


def schema_of(url: str) -> set[tuple[str, ...]]:
    """Tables, columns, types, defaults, constraints and indexes, without the history of migrations.

    The order of columns does not count: ALTER TABLE adds them at the end.
    """
    if url.startswith("sqlite:"):
        return _sqlite_schema(url.removeprefix("sqlite:///"))
    return _postgresql_schema(url)


def _sqlite_schema(path: str) -> set[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_master "
            "WHERE tbl_name != ? AND sql IS NOT NULL AND name NOT LIKE 'sqlite%'",
            (HISTORY,),
        )
        return {
            (kind, name, table, _in_order(sql) if kind == "table" else _plain(sql))
            for kind, name, table, sql in rows
        }


def _plain(statement: str) -> str:
    """A statement on one line without quotes around names, which SQLite keeps as they were."""
    return " ".join(statement.replace('"', "").split())


def _in_order(statement: str) -> str:
    """A CREATE TABLE statement with the columns and constraints between its brackets sorted."""
    head, _, body = _plain(statement).partition("(")
    # ALTER TABLE adds a constraint with its column; it is the same as one of the table.
    body = re.sub(r"(?<=[^,(]) CONSTRAINT ", ", CONSTRAINT ", body)
    parts = re.split(r",\s*(?![^()]*\))", body.rpartition(")")[0])
    return f"{head}({', '.join(sorted(part.strip() for part in parts))}){body.rpartition(')')[2]}"


def _postgresql_schema(url: str) -> set[tuple[str, ...]]:
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            """
            WITH tables AS (
                SELECT oid, relname FROM pg_class
                WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname != %s
            )
            SELECT relname, attname, format_type(atttypid, atttypmod),
                concat(attnotnull, ' ', pg_get_expr(adbin, adrelid))
                FROM tables JOIN pg_attribute ON attrelid = tables.oid
                LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
                WHERE attnum > 0 AND NOT attisdropped
            UNION ALL
            SELECT relname, conname, pg_get_constraintdef(pg_constraint.oid), contype::text
                FROM tables JOIN pg_constraint ON conrelid = tables.oid
            UNION ALL
            SELECT relname, '', pg_get_indexdef(indexrelid), 'index'
                FROM tables JOIN pg_index ON indrelid = tables.oid
            """,
            (HISTORY,),
        )
        return set(rows.fetchall())


def planner_settings(url: str) -> set[tuple[str, ...]]:
    """What PostgreSQL's planner is told of columns; nothing on SQLite."""
    if url.startswith("sqlite:"):
        return set()
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT attrelid::regclass::text, attname, attoptions::text FROM pg_attribute "
            "WHERE attoptions IS NOT NULL"
        )
        return set(rows.fetchall())
