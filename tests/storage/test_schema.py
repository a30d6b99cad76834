"""Migrating a database, and refusing one whose schema is older or newer than the code's."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from storage.base.errors import DatabaseUnavailable, SchemaOutOfDate, SchemaTooNew
from storage.db.database import Database
from storage.db.migrations.history import number_of
from storage.db.schema import MIGRATIONS, check_schema, check_schema_again, migrate
from tests import outside, postgres
from tests.schemas import schema_of

pytestmark = pytest.mark.both_engines

ROOT = Path(__file__).parents[2]
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
_ADDS_A_COLUMN = """
COMPATIBLE_FROM = 1
def up(migrator, db):
    db.execute_sql("ALTER TABLE users ADD COLUMN shoe_size INTEGER NOT NULL DEFAULT 0")
"""
_ADDS_AN_INDEX = """
from storage.db.migrations.statements import create_index
COMPATIBLE_FROM = 1
atomic = False
def up(migrator, db):
    create_index(db, "users_by_name", "users (organisation_id, first_name)")
"""
_STOPS_HALFWAY = """
import pathlib, time
COMPATIBLE_FROM = 1
def up(migrator, db):
    db.execute_sql("ALTER TABLE users ADD COLUMN shoe_size INTEGER")
    pathlib.Path({marker!r}).touch()
    time.sleep({seconds})
    db.execute_sql("ALTER TABLE users ADD COLUMN hat_size INTEGER")
"""
_MIGRATE_FOLDER = """
import pathlib, sys
from storage.db.schema import migrate
print(migrate(sys.argv[1], migrations=pathlib.Path(sys.argv[2])))
"""


def with_migration(folder: Path, name: str, text: str) -> Path:
    """The migrations of this version and another one, in ``folder``."""
    if not folder.exists():
        shutil.copytree(MIGRATIONS, folder)
    (folder / f"{name}.py").write_text(text)
    return folder


def record(url: str, name: str, compatible_from: int | None) -> None:
    """Record that a newer version applied that migration."""
    since = "NULL" if compatible_from is None else compatible_from
    outside.run(
        url,
        "INSERT INTO schema_migration (name, applied, compatible_from) "
        f"VALUES ('{name}', '2030-01-01 00:00:00', {since})",
    )


def wait_for(path: Path) -> None:
    ends_at = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < ends_at
        time.sleep(0.01)


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
def test_a_database_without_unicode_is_refused(postgres_server: str) -> None:
    name = f"ascii_{os.getpid()}"
    create = f"CREATE DATABASE {name} TEMPLATE template0 ENCODING SQL_ASCII LOCALE_PROVIDER libc"
    # Not inside a transaction.
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"{create} LOCALE 'C'".encode())
    url = urlsplit(postgres_server)._replace(path=f"/{name}").geturl()

    with pytest.raises(SchemaOutOfDate, match="has the encoding SQL_ASCII, but Hiatus needs UTF8"):
        migrate(url)

    assert outside.rows(url, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'") == []
    postgres.drop_database(url)


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


@pytest.mark.parametrize("compatible_from", [None, 2, 9999])
def test_a_newer_database_needs_a_newer_version(
    database: Database, database_url: str, compatible_from: int | None
) -> None:
    record(database_url, "9999_later", compatible_from and compatible_from + number_of(ALL[-1]) - 1)

    with pytest.raises(SchemaTooNew, match="9999_later.*newer version of Hiatus"):
        check_schema(database_url)
    with pytest.raises(SchemaTooNew, match="9999_later.*newer version of Hiatus"):
        database.read_now(check_schema_again)
    with pytest.raises(SchemaTooNew, match="9999_later.*newer version of Hiatus"):
        migrate(database_url)


def test_a_newer_database_that_says_so_can_be_used(database: Database, database_url: str) -> None:
    record(database_url, "9998_later", 1)
    record(database_url, "9999_latest", number_of(ALL[-1]))

    assert check_schema(database_url) == ["9998_later", "9999_latest"]
    assert database.read_now(check_schema_again) == ["9998_later", "9999_latest"]
    assert migrate(database_url) == []


def test_one_incompatible_migration_decides_whatever_follows(database_url: str) -> None:
    record(database_url, "9998_incompatible", 9998)
    record(database_url, "9999_compatible", 1)

    with pytest.raises(SchemaTooNew, match="9998_incompatible"):
        check_schema(database_url)


def test_a_version_never_adds_its_migrations_to_a_newer_schema(database_url: str) -> None:
    record(database_url, "9999_later", 1)
    outside.run(database_url, f"DELETE FROM schema_migration WHERE name = '{ALL[-1]}'")

    with pytest.raises(SchemaTooNew, match="9999_later"):
        migrate(database_url)


def test_migrations_record_the_oldest_version_that_works_with_them(
    database_url: str, tmp_path: Path
) -> None:
    folder = with_migration(tmp_path / "newer", "9998_shoes", _ADDS_A_COLUMN)
    with_migration(folder, "9999_silent", "def up(migrator, db):\n    pass\n")

    assert migrate(database_url, migrations=folder) == ["9998_shoes", "9999_silent"]

    recorded = "SELECT name, compatible_from FROM schema_migration WHERE name > '9' ORDER BY name"
    assert outside.rows(database_url, recorded) == [("9998_shoes", 1), ("9999_silent", 9999)]


def test_every_migration_after_the_first_says_which_versions_it_works_with() -> None:
    for path in sorted(MIGRATIONS.glob("[0-9]*.py"))[1:]:
        assert re.search(r"^COMPATIBLE_FROM = \d+$", path.read_text(), re.MULTILINE), path.name


def test_a_history_of_an_earlier_release_is_extended(database_url: str) -> None:
    outside.run(database_url, "ALTER TABLE schema_migration DROP COLUMN compatible_from")

    assert check_schema(database_url) == []
    assert migrate(database_url) == []

    assert outside.rows(database_url, "SELECT compatible_from FROM schema_migration")[0] == (None,)


def test_a_migration_lets_others_pass_while_it_waits_for_a_table(
    postgres_url: str, tmp_path: Path
) -> None:
    folder = with_migration(tmp_path / "newer", "9999_shoes", _ADDS_A_COLUMN)
    waits: list[float] = []
    with (
        ThreadPoolExecutor(1) as pool,
        psycopg.connect(postgres_url) as reading,
        psycopg.connect(postgres_url, autocommit=True) as other,
    ):
        reading.execute("SELECT count(*) FROM users")
        migrating = pool.submit(migrate, postgres_url, migrations=folder)
        ends_at = time.monotonic() + 6
        while time.monotonic() < ends_at:
            began_at = time.monotonic()
            other.execute("SELECT count(*) FROM users")
            waits.append(time.monotonic() - began_at)
            time.sleep(0.05)
        assert not migrating.done()
        reading.rollback()

        assert migrating.result() == ["9999_shoes"]
    # Two seconds behind the waiting migration, and more on a busy machine.
    assert 1 < max(waits) < 5


def test_a_migration_gives_up_when_a_table_stays_locked(postgres_url: str, tmp_path: Path) -> None:
    folder = with_migration(tmp_path / "newer", "9999_shoes", _ADDS_A_COLUMN)
    with psycopg.connect(postgres_url) as reading:
        reading.execute("SELECT count(*) FROM users")

        with pytest.raises(SchemaOutOfDate, match="kept a table locked.*pg_stat_activity"):
            migrate(postgres_url, migrations=folder, lock_seconds=1)

    assert check_schema(postgres_url) == []
    assert migrate(postgres_url, migrations=folder) == ["9999_shoes"]


@pytest.mark.slow
@pytest.mark.parametrize("text", [_ADDS_A_COLUMN, _ADDS_AN_INDEX], ids=["column", "index"])
def test_newer_versions_that_migrate_at_once_take_turns(
    database_url: str, tmp_path: Path, text: str
) -> None:
    folder = with_migration(tmp_path / "newer", "9999_later", text)
    command = [sys.executable, "-c", _MIGRATE_FOLDER, database_url, str(folder)]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(3)
    ]

    outputs = [process.communicate(timeout=120)[0].strip() for process in processes]

    assert sorted(outputs) == ["['9999_later']", "[]", "[]"]


@pytest.mark.slow
def test_a_migration_that_is_killed_leaves_the_old_schema_and_can_be_repeated(
    database_url: str, tmp_path: Path
) -> None:
    marker = tmp_path / "halfway"
    before = schema_of(database_url)
    text = _STOPS_HALFWAY.format(marker=str(marker), seconds=600)
    folder = with_migration(tmp_path / "newer", "9999_sizes", text)
    command = [sys.executable, "-c", _MIGRATE_FOLDER, database_url, str(folder)]
    with subprocess.Popen(command, cwd=ROOT) as process:
        wait_for(marker)
        process.kill()

    # PostgreSQL needs a moment to notice that the client is gone.
    ends_at = time.monotonic() + 30
    while schema_of(database_url) != before:
        assert time.monotonic() < ends_at
        time.sleep(0.1)
    assert check_schema(database_url) == []
    text = _STOPS_HALFWAY.format(marker=str(marker), seconds=0)
    assert migrate(database_url, migrations=with_migration(folder, "9999_sizes", text)) == [
        "9999_sizes"
    ]
    assert outside.rows(database_url, "SELECT shoe_size, hat_size FROM users") == []


def test_a_running_process_notices_a_newer_database(database: Database, database_url: str) -> None:
    database.read_now(check_schema_again)
    outside.run(
        database_url, f"UPDATE schema_migration SET name = 'later' WHERE name = '{ALL[-1]}'"
    )

    with pytest.raises(SchemaOutOfDate, match=f"lacks the migration {ALL[-1]}"):
        database.read_now(check_schema_again)


DAYS = "leaverequestrow_organisation_id_start_date_end_date"
_MAKES_AN_INDEX = f"""
from storage.db.migrations.statements import create_index
COMPATIBLE_FROM = 1
atomic = False
def up(migrator, db):
    create_index(db, "{DAYS}", "leave_requests (organisation_id, start_date, end_date)")
"""


def test_an_interrupted_migration_of_indexes_is_repeated(database_url: str, tmp_path: Path) -> None:
    folder = with_migration(tmp_path / "newer", "9999_days", _MAKES_AN_INDEX)
    outside.run(database_url, f"DROP INDEX {DAYS}")
    outside.run(database_url, f"CREATE INDEX {DAYS} ON leave_requests (version)")

    assert migrate(database_url, migrations=folder) == ["9999_days"]

    for table, column in (("pg_indexes", "indexdef"), ("sqlite_master", "sql")):
        if table.startswith("pg") is database_url.startswith("postgresql:"):
            query = f"SELECT {column} FROM {table} WHERE {column} LIKE '%{DAYS}%'"
            assert (
                "(organisation_id, start_date, end_date)"
                in outside.rows(database_url, query)[0][0].lower()
            )


def test_migrate_writes_the_same_statistics_for_every_sqlite_file(sqlite_url: str) -> None:
    query = "SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY idx"
    indexes = "SELECT tbl_name, name FROM sqlite_master WHERE type = 'index' ORDER BY name"
    before = outside.rows(sqlite_url, query)
    outside.run(sqlite_url, "ANALYZE")

    assert migrate(sqlite_url) == []

    assert outside.rows(sqlite_url, query) == before
    tables = {table for table, _, _ in before}
    assert tables == {"leave_requests", "audit_entries"}
    assert [(table, index) for table, index, _ in before] == [
        row for row in outside.rows(sqlite_url, indexes) if row[0] in tables
    ]


def test_indexes_are_built_while_others_write(postgres_url: str, tmp_path: Path) -> None:
    folder = with_migration(tmp_path / "newer", "9999_days", _MAKES_AN_INDEX)
    outside.run(postgres_url, f"DROP INDEX {DAYS}")
    write = "UPDATE leave_requests SET version = version + 1"

    with ThreadPoolExecutor(1) as pool, psycopg.connect(postgres_url) as other:
        other.execute(write)
        migrating = pool.submit(migrate, postgres_url, migrations=folder, lock_seconds=1)
        _wait_until_blocked(postgres_url)
        with psycopg.connect(postgres_url, options="-c lock_timeout=2000") as writer:
            writer.execute(write)
        # Longer than a migration waits for other locks.
        time.sleep(2.5)
        assert not migrating.done()
        other.rollback()

        assert migrating.result(60) == ["9999_days"]


def _wait_until_blocked(url: str) -> None:
    """Until the migration waits for another transaction."""
    deadline = time.monotonic() + 60
    query = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INDEX%'"
    while not outside.rows(url, query):
        assert time.monotonic() < deadline
        time.sleep(0.05)


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
