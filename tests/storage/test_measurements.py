"""What storage measures: waits, statements, errors by kind and runs of jobs."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import get_args

import psycopg
import pytest

from storage.base import monitoring
from storage.base.errors import DatabaseUnavailable, FailureKind
from storage.base.monitoring import REGISTRY
from storage.base.secrets import Secrets
from storage.db import postgresql
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.postgresql import THREADS
from storage.db.sqlite import SqliteDatabase
from storage.db.tables import LeaseRow
from tests import outside
from tests.storage.test_database import KILLED, keep, stored_names


def counted(name: str, /, **labels: str) -> float:
    """The value of a counter or gauge, or how many durations a histogram has; 0 if not shown."""
    return REGISTRY.get_sample_value(name, labels) or 0


def test_transactions_and_their_statements_are_timed(database: Database) -> None:
    transactions = "hiatus_database_transaction_duration_seconds_count"
    statements = "hiatus_database_statement_duration_seconds_count"
    before = [counted(transactions, mode=mode) for mode in ("read", "write", "dry_run")]
    statements_before = counted(statements)

    async def use() -> None:
        await database.write(keep, "one")
        await database.dry_run(keep, "two")
        await database.read(stored_names)
        await database.read(stored_names)

    asyncio.run(use())
    database.write_now(keep, "three")

    after = [counted(transactions, mode=mode) for mode in ("read", "write", "dry_run")]
    assert [now - then for now, then in zip(after, before, strict=True)] == [2, 2, 1]
    assert counted(statements) - statements_before == 5


def test_the_wait_for_the_sqlite_writer_is_timed(sqlite_url: str) -> None:
    waits = "hiatus_database_wait_seconds"
    before, seconds_before = (
        counted(f"{waits}_count", resource="writer"),
        counted(f"{waits}_sum", resource="writer"),
    )
    has_begun, may_end = threading.Event(), threading.Event()

    def occupy(tx: Transaction) -> None:
        has_begun.set()
        may_end.wait(60)

    async def write_behind_another(database: Database) -> None:
        first = asyncio.ensure_future(database.write(occupy))
        await asyncio.to_thread(has_begun.wait, 60)
        second = asyncio.ensure_future(database.write(keep, "second"))
        await asyncio.sleep(0.3)
        may_end.set()
        await asyncio.gather(first, second)

    with closing(open_database(sqlite_url, Secrets.generate())) as database:
        asyncio.run(write_behind_another(database))

    assert counted(f"{waits}_count", resource="writer") - before == 2
    assert 0.3 <= counted(f"{waits}_sum", resource="writer") - seconds_before < 60


def test_the_wait_for_a_thread_and_a_connection_is_timed(postgres_url: str) -> None:
    waits = "hiatus_database_wait_seconds"
    before = (
        counted(f"{waits}_count", resource="thread"),
        counted(f"{waits}_count", resource="connection"),
    )
    seconds_before = counted(f"{waits}_sum", resource="thread")
    all_are_busy, may_end = threading.Barrier(THREADS + 1), threading.Event()

    def occupy(tx: Transaction) -> None:
        all_are_busy.wait(60)
        may_end.wait(60)

    async def read_behind_others(database: Database) -> None:
        busy = [asyncio.ensure_future(database.read(occupy)) for _ in range(THREADS)]
        await asyncio.to_thread(all_are_busy.wait, 60)
        last = asyncio.ensure_future(database.read(stored_names))
        await asyncio.sleep(0.3)
        may_end.set()
        await asyncio.gather(*busy, last)

    with closing(open_database(postgres_url, Secrets.generate())) as database:
        asyncio.run(read_behind_others(database))

    assert counted(f"{waits}_count", resource="thread") - before[0] == THREADS + 1
    assert counted(f"{waits}_count", resource="connection") - before[1] == THREADS + 1
    assert 0.3 <= counted(f"{waits}_sum", resource="thread") - seconds_before < 60


def test_a_locked_sqlite_file_is_counted_once(sqlite_url: str) -> None:
    errors = counted("hiatus_database_errors_total", kind="locked")
    path = sqlite_url.removeprefix("sqlite:///")

    with (
        closing(SqliteDatabase(path, Secrets.generate(), timeout_seconds=0.5)) as database,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseUnavailable) as raised:
            database.write_now(keep, "report")

    assert raised.value.kind == "locked"
    assert counted("hiatus_database_errors_total", kind="locked") - errors == 1


@pytest.mark.parametrize("is_rolled_back", [False, True], ids=["open", "rolled back"])
def test_a_full_disk_is_counted_once_and_named(sqlite_url: str, is_rolled_back: bool) -> None:
    errors = counted("hiatus_database_errors_total", kind="disk_full")

    def fill(tx: Transaction) -> None:
        (pages,) = tx._execute("PRAGMA page_count", ()).fetchone()
        tx._execute(f"PRAGMA max_page_count={pages}", ())
        rows = [{"name": f"{n}{'x' * 900}", "holder": "a", "held_until": 0} for n in range(2_000)]
        try:
            tx.insert_all(LeaseRow, rows)
        except DatabaseUnavailable:
            if is_rolled_back:
                # As SQLite itself may do after such an error.
                tx._execute("ROLLBACK", ())
            raise

    with (
        closing(open_database(sqlite_url, Secrets.generate())) as database,
        pytest.raises(DatabaseUnavailable, match="full") as raised,
    ):
        database.write_now(fill)

    assert raised.value.kind == "disk_full"
    assert counted("hiatus_database_errors_total", kind="disk_full") - errors == 1


def test_a_damaged_sqlite_file_is_unavailable_and_named(sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA journal_mode=DELETE")
    errors = counted("hiatus_database_errors_total", kind="corrupt")
    content = bytearray(path.read_bytes())
    # All pages but the first, which has the header and the schema's root.
    content[4_096:] = b"\xaa" * (len(content) - 4_096)
    path.write_bytes(content)

    with (
        closing(open_database(sqlite_url, Secrets.generate())) as database,
        pytest.raises(DatabaseUnavailable) as raised,
    ):
        database.read_now(stored_names)

    assert raised.value.kind == "corrupt"
    assert counted("hiatus_database_errors_total", kind="corrupt") - errors == 1


def test_a_lost_connection_is_counted_although_the_retry_succeeds(postgres_url: str) -> None:
    errors = counted("hiatus_database_errors_total", kind="connection_lost")
    named = f"{postgres_url}{'&' if '?' in postgres_url else '?'}application_name=hiatus"

    with closing(open_database(named, Secrets.generate())) as database:
        database.read_now(stored_names)
        outside.run(postgres_url, KILLED)
        assert database.read_now(stored_names) == set()

    assert counted("hiatus_database_errors_total", kind="connection_lost") - errors == 1


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (psycopg.errors.QueryCanceled("cancelled"), "timeout"),
        (psycopg.errors.SerializationFailure("again"), "serialization"),
        (psycopg.errors.DeadlockDetected("again"), "deadlock"),
        (psycopg.errors.DiskFull("full"), "disk_full"),
        (psycopg.errors.TooManyConnections("many"), "too_many_connections"),
        (psycopg.errors.ReadOnlySqlTransaction("standby"), "read_only"),
        (psycopg.errors.AdminShutdown("end"), "connection_lost"),
        (psycopg.OperationalError("refused"), "connection_lost"),
        (psycopg.errors.UndefinedTable("bug"), "other"),
    ],
)
def test_errors_of_postgresql_have_kinds(error: psycopg.Error, kind: FailureKind) -> None:
    assert postgresql.kind_of(error) == kind


def test_every_kind_is_shown_before_its_first_error() -> None:
    for kind in get_args(FailureKind):
        assert REGISTRY.get_sample_value("hiatus_database_errors_total", {"kind": kind}) is not None


def test_a_run_of_a_job_is_measured() -> None:
    last, runs = "hiatus_job_last_success_timestamp_seconds", "hiatus_job_runs_total"
    monitoring.expect_job("cleaning")
    assert REGISTRY.get_sample_value(last, {"name": "cleaning"}) == 0

    with pytest.raises(RuntimeError), monitoring.job_run("cleaning"):
        raise RuntimeError("damaged")
    assert REGISTRY.get_sample_value(last, {"name": "cleaning"}) == 0
    began_at = time.time() - 0.001
    with monitoring.job_run("cleaning"):
        pass

    assert began_at <= counted(last, name="cleaning") <= time.time() + 0.001
    assert counted(runs, name="cleaning", outcome="failed") == 1
    assert counted(runs, name="cleaning", outcome="succeeded") == 1
    assert counted("hiatus_job_duration_seconds_count", name="cleaning") == 2
