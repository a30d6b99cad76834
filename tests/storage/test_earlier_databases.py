"""Databases of the last version before 1.0.0 migrate to its schema without loss.

The dumps in `before_1_0_0` have the schema and the history of that version, with the migrations
0001 to 0032, and rows in every table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from storage.base.errors import SchemaOutOfDate
from storage.db.migrations.history import FIRST, LAST_BEFORE, STEPS
from storage.db.schema import MIGRATIONS, check_schema, migrate
from storage.db.tables import TABLES
from tests import outside, postgres
from tests.schemas import planner_settings, schema_of

ALL = sorted(path.stem for path in MIGRATIONS.glob("[0-9]*.py"))
STEP_NAMES = sorted(path.stem for path in STEPS.glob("[0-9]*.py"))
_DUMPS = Path(__file__).parent / "before_1_0_0"


@pytest.fixture
def earlier_url(database_url: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of the version before; ``database_url`` is a new one on the same engine."""
    if database_url.startswith("sqlite:"):
        with closing(sqlite3.connect(tmp_path / "earlier.db")) as file, file:
            file.executescript((_DUMPS / "sqlite.sql").read_text())
        yield f"sqlite:///{tmp_path}/earlier.db"
        return
    server_url: str = request.getfixturevalue("postgres_server")
    name = database_url.rpartition("/")[2].partition("?")[0]
    url = postgres.make_database(server_url, f"{name}_earlier")
    with psycopg.connect(url) as connection:
        connection.execute((_DUMPS / "postgresql.sql").read_bytes())
    yield url
    postgres.drop_database(url)


def test_it_keeps_every_row(earlier_url: str) -> None:
    columns = _columns(earlier_url)
    before = _rows(earlier_url, columns)
    assert [table for table, rows in before.items() if len(rows) < 2] == []

    assert migrate(earlier_url) == [*STEP_NAMES, *ALL]

    assert _rows(earlier_url, columns) == before


def test_it_gets_the_schema_of_a_new_database(earlier_url: str, database_url: str) -> None:
    migrate(earlier_url)

    assert schema_of(earlier_url) == schema_of(database_url)
    assert planner_settings(earlier_url) == planner_settings(database_url)


def test_it_is_migrated_once(earlier_url: str) -> None:
    with pytest.raises(SchemaOutOfDate, match=f"{FIRST}: run `hiatus migrate`"):
        check_schema(earlier_url)

    migrate(earlier_url)

    assert check_schema(earlier_url) == []
    assert migrate(earlier_url) == []


def test_processes_of_the_version_before_keep_serving(earlier_url: str) -> None:
    """They need each of their own migrations, and none above it that a later version needs."""
    history = "SELECT name, compatible_from FROM schema_migration"
    before = dict(outside.rows(earlier_url, history))

    migrate(earlier_url)

    after = dict(outside.rows(earlier_url, history))
    assert before.items() <= after.items()
    assert {name for name in after if name > LAST_BEFORE} == {*STEP_NAMES, *ALL}
    assert all(after[name] <= int(LAST_BEFORE[:4]) for name in (*STEP_NAMES, FIRST))


def test_one_that_has_the_steps_already_is_only_recorded(
    earlier_url: str, database_url: str
) -> None:
    """As versions between the two leave it, and a migration that was killed at its end."""
    migrate(earlier_url)
    outside.run(earlier_url, f"DELETE FROM schema_migration WHERE name = '{FIRST}'")

    assert migrate(earlier_url) == [FIRST]

    assert schema_of(earlier_url) == schema_of(database_url)


def test_an_older_one_is_refused_and_stays_as_it_is(earlier_url: str) -> None:
    outside.run(earlier_url, "DELETE FROM schema_migration WHERE name >= '0031'")
    before = schema_of(earlier_url)

    with pytest.raises(
        SchemaOutOfDate, match=f"lacks the migration {LAST_BEFORE}. First run .* commit 93fceb48"
    ):
        migrate(earlier_url)

    assert schema_of(earlier_url) == before
    assert len(outside.rows(earlier_url, "SELECT name FROM schema_migration")) == 30


def _columns(url: str) -> dict[str, list[str]]:
    """The columns of today's models that the database has, by the table's name."""
    there = outside.rows(url, _COLUMNS_SQLITE if url.startswith("sqlite:") else _COLUMNS_POSTGRESQL)
    return {
        table: sorted(name for name in model._meta.columns if (table, name) in there)
        for model in TABLES
        if (table := model._meta.table_name) in {name for name, _ in there}
    }


_COLUMNS_SQLITE = """
SELECT tables.name, columns.name
FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
"""
_COLUMNS_POSTGRESQL = "SELECT table_name, column_name FROM information_schema.columns"


def _rows(url: str, columns: dict[str, list[str]]) -> dict[str, list[tuple[Any, ...]]]:
    return {
        table: sorted(outside.rows(url, f"SELECT {', '.join(names)} FROM {table}"), key=repr)
        for table, names in columns.items()
    }
