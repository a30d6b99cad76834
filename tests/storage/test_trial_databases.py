"""Databases of trials before the first version migrate to its schema without loss.

The dumps in `trial` have the schema and the history of the last trial version, and rows in every
table.
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
from storage.db.schema import MIGRATIONS, check_schema, migrate
from storage.db.tables import TABLES
from tests import outside, postgres
from tests.schemas import schema_of

ALL = sorted(path.stem for path in MIGRATIONS.glob("[0-9]*.py"))
_DUMPS = Path(__file__).parent / "trial"


@pytest.fixture
def trial_url(database_url: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of the last trial version; ``database_url`` is a new one on the same engine."""
    if database_url.startswith("sqlite:"):
        with closing(sqlite3.connect(tmp_path / "trial.db")) as file, file:
            file.executescript((_DUMPS / "sqlite.sql").read_text())
        yield f"sqlite:///{tmp_path}/trial.db"
        return
    server_url: str = request.getfixturevalue("postgres_server")
    name = database_url.rpartition("/")[2].partition("?")[0]
    url = postgres.make_database(server_url, f"{name}_trial")
    with psycopg.connect(url) as connection:
        connection.execute((_DUMPS / "postgresql.sql").read_bytes())
    yield url
    postgres.drop_database(url)


def test_a_trial_database_keeps_every_row(trial_url: str) -> None:
    columns = _columns(trial_url)
    before = _rows(trial_url, columns)
    assert [table for table, rows in before.items() if len(rows) < 2] == []

    assert migrate(trial_url) == ALL

    assert _rows(trial_url, columns) == before


def test_a_migrated_trial_database_has_the_schema_of_a_new_one(
    trial_url: str, database_url: str
) -> None:
    migrate(trial_url)

    assert schema_of(trial_url) == schema_of(database_url)
    assert outside.rows(trial_url, "SELECT name FROM schema_migration ORDER BY name") == [
        (name,) for name in ALL
    ]


def test_a_trial_database_is_migrated_once(trial_url: str) -> None:
    with pytest.raises(SchemaOutOfDate, match=f"{ALL[0]}: run `hiatus migrate`"):
        check_schema(trial_url)

    migrate(trial_url)

    check_schema(trial_url)
    assert migrate(trial_url) == []


def test_a_trial_database_that_lacks_migrations_stays_as_it_is(trial_url: str) -> None:
    outside.run(trial_url, "DELETE FROM schema_migration WHERE name >= '0023'")

    with pytest.raises(SchemaOutOfDate, match="lacks the migration 0023_feed_sequences. First run"):
        migrate(trial_url)

    assert len(outside.rows(trial_url, "SELECT name FROM schema_migration")) == 16


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
