"""Migrating a database, and refusing one whose schema is older or newer than the code's."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from storage.base.errors import DatabaseUnavailable, SchemaOutOfDate
from storage.db.database import Database
from storage.db.schema import MIGRATIONS, check_schema, check_schema_again, migrate
from tests import outside, postgres

ALL = sorted(path.stem for path in MIGRATIONS.glob("[0-9]*.py"))
_MIGRATE = """
import json, sys
from storage.db.schema import migrate
print(json.dumps(migrate(sys.argv[1])))
"""
_UNIQUE = """
def up(migrator, db):
    db.execute_sql("CREATE UNIQUE INDEX canaries ON secret_canaries (encrypted)")
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without a single table, on each engine in turn."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/empty.db"
        return
    server_url: str = request.getfixturevalue("postgres_server")
    url = postgres.make_database(server_url, f"empty_{os.getpid()}")
    yield url
    postgres.drop_database(url)


def test_an_empty_database_is_migrated_once(empty_url: str) -> None:
    assert migrate(empty_url) == ALL
    check_schema(empty_url)
    assert migrate(empty_url) == []
    check_schema(empty_url)


@pytest.mark.slow
def test_processes_that_migrate_at_once_take_turns(empty_url: str) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _MIGRATE, empty_url], stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    outputs = [process.communicate(timeout=60)[0] for process in processes]

    assert [process.returncode for process in processes] == [0, 0, 0]
    assert sorted(sum(map(json.loads, outputs), [])) == ALL
    assert outside.rows(empty_url, "SELECT name FROM schema_migration ORDER BY name") == [
        (name,) for name in ALL
    ]


def test_migrate_waits_for_the_lock_of_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    with (
        ThreadPoolExecutor(1) as pool,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        other.execute("CREATE TABLE half_done (name)")
        migrating = pool.submit(migrate, f"sqlite:///{path}")
        time.sleep(0.5)
        other.execute("ROLLBACK")

        assert migrating.result() == ALL


def test_an_empty_database_needs_migrating(empty_url: str) -> None:
    with pytest.raises(SchemaOutOfDate, match=f"{ALL[0]}: run `hiatus migrate`"):
        check_schema(empty_url)


def test_an_old_database_needs_migrating(database_url: str) -> None:
    outside.run(database_url, f"DELETE FROM schema_migration WHERE name = '{ALL[-1]}'")

    with pytest.raises(SchemaOutOfDate, match=f"{ALL[-1]}: run `hiatus migrate`"):
        check_schema(database_url)


def test_a_newer_database_needs_a_newer_version(database_url: str) -> None:
    outside.run(
        database_url,
        "INSERT INTO schema_migration (name, applied) VALUES ('9999_later', '2030-01-01 00:00:00')",
    )

    with pytest.raises(SchemaOutOfDate, match="9999_later.*newer version of Hiatus"):
        check_schema(database_url)


def test_a_running_process_notices_a_newer_database(database: Database, database_url: str) -> None:
    database.read_now(check_schema_again)
    outside.run(
        database_url, f"UPDATE schema_migration SET name = 'later' WHERE name = '{ALL[-1]}'"
    )

    with pytest.raises(SchemaOutOfDate, match=f"lacks the migration {ALL[-1]}"):
        database.read_now(check_schema_again)


def test_a_row_that_breaks_a_new_rule_stops_the_migration_with_a_sentence(
    database_url: str, tmp_path: Path
) -> None:
    migrations = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, migrations)
    (migrations / "9999_unique.py").write_text(_UNIQUE)
    for number in (1, 2):
        outside.run(database_url, f"INSERT INTO secret_canaries VALUES ({number}, 'same')")

    with pytest.raises(SchemaOutOfDate, match="Correct it.*canaries"):
        migrate(database_url, migrations=migrations)
    outside.run(database_url, "UPDATE secret_canaries SET encrypted = 'other' WHERE number = 2")

    assert migrate(database_url, migrations=migrations) == ["9999_unique"]


@pytest.mark.parametrize(
    "url", ["sqlite:////nowhere/hiatus.db", "postgresql://hiatus@/hiatus?host=/nowhere"]
)
@pytest.mark.parametrize("work", [migrate, check_schema])
def test_without_a_database_it_says_so(url: str, work: object) -> None:
    assert callable(work)
    with pytest.raises(DatabaseUnavailable):
        work(url)
