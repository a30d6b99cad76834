"""Migrate a database to the schema of this code, and check that it has that schema."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import peewee
from playhouse.migrations import Runner

from storage.base.errors import DatabaseUnavailable, SchemaOutOfDate
from storage.db.compiled import compiled
from storage.db.database import TIMEOUT_SECONDS, Transaction
from storage.db.migrations.trial_history import TRIAL_MIGRATIONS, adopt_trial

MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK_KEY = 4_852_613
_HISTORY = "schema_migration"
# How long to wait for another process's lock on a SQLite file: it may be migrating.
_BUSY_SECONDS = 60


def migrate(
    url: str, timeout_seconds: float = TIMEOUT_SECONDS, *, migrations: Path = MIGRATIONS
) -> list[str]:
    """Apply the missing migrations, oldest first, and return their names.

    Processes take turns. A statement may take as long as it needs while the server still accepts
    connections. Through a connection pooler all migrations are one transaction. Raises
    SchemaOutOfDate or DatabaseUnavailable.
    """
    with _locked(url, timeout_seconds) as database:
        runner = Runner(database, str(migrations), table_name=_HISTORY)
        return [*adopt_trial(runner), *runner.up()]


def check_schema(url: str, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
    """Raise SchemaOutOfDate, with what to do, unless the database has exactly these migrations."""
    with _connected(url, timeout_seconds) as database:
        applied = set(Runner(database, str(MIGRATIONS), table_name=_HISTORY).applied())
    _require_equal(applied)


def check_schema_again(tx: Transaction) -> None:
    """As ``check_schema``, on the connection of a running process."""
    _require_equal({name for (name,) in tx.all(_applied_names)})


@compiled
def _applied_names() -> peewee.Select:
    history = peewee.Table(_HISTORY, ("name",))
    return history.select(history.name)


def _require_equal(applied: set[str]) -> None:
    needed = set(_migrations())
    missing = sorted(needed - applied)
    if missing:
        raise SchemaOutOfDate(
            f"The database lacks the migration {missing[0]}: run `hiatus migrate` first."
        )
    unknown = sorted(applied - needed)
    if unknown:
        raise SchemaOutOfDate(
            f"The database has the migration {unknown[0]}, which this version does not know: "
            "run a newer version of Hiatus."
        )


def latest_migration() -> str:
    """The newest migration of this version."""
    return _migrations()[-1]


def is_known(migration: str) -> bool:
    """Whether ``migrate`` can continue after that migration."""
    return migration in _migrations() or migration in TRIAL_MIGRATIONS


def _migrations() -> list[str]:
    return sorted(path.stem for path in MIGRATIONS.glob("[0-9]*.py"))


@contextmanager
def _connected(url: str, timeout_seconds: float) -> Iterator[Any]:
    """Peewee's own connection, for schema work only. Raises DatabaseUnavailable without one."""
    database: Any
    if url.startswith("sqlite:"):
        _make_private(url.removeprefix("sqlite:///"))
        database = peewee.SqliteDatabase(
            url.removeprefix("sqlite:///"),
            pragmas={"journal_mode": "wal"},
            timeout=_BUSY_SECONDS,
        )
    else:
        database = _postgresql(url, timeout_seconds)
    try:
        _connect(database)
        yield database
    except peewee.DatabaseError as error:
        # SQLite raises the plain DatabaseError for a damaged file.
        if isinstance(error, peewee.OperationalError) or type(error) is peewee.DatabaseError:
            raise DatabaseUnavailable(str(error)) from error
        if isinstance(error, peewee.IntegrityError):
            raise SchemaOutOfDate(
                "A row of the database breaks a rule of the new schema. Correct it, then run "
                f"`hiatus migrate` again. {error}"
            ) from error
        raise
    finally:
        database.close()


def _make_private(path: str) -> None:
    """Create the SQLite file readable by its owner only; -wal and -shm get its permissions."""
    # If it cannot be created, SQLite's own message says why.
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _postgresql(url: str, timeout_seconds: float) -> peewee.PostgresqlDatabase:
    # Imported here: a process on SQLite does not need psycopg.
    from storage.db.connections import connect_patiently, parameters_of

    class Postgresql(peewee.PostgresqlDatabase):  # type: ignore[misc]
        def _connect(self) -> Any:
            return connect_patiently(parameters_of(url, timeout_seconds), timeout_seconds)

    return Postgresql(url, prefer_psycopg3=True)


def _is_pooled(database: peewee.PostgresqlDatabase) -> bool:
    from storage.db.connections import is_pooled

    return is_pooled(database.connection())


def _connect(database: Any) -> None:
    """Connect, and wait while another process locks the SQLite file.

    Switching a new file to WAL fails at once while it is locked, despite any timeout.
    """
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            database.connect()
            return
        except peewee.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


@contextmanager
def _locked(url: str, timeout_seconds: float) -> Iterator[Any]:
    with _connected(url, timeout_seconds) as database:
        if isinstance(database, peewee.SqliteDatabase):
            with database.atomic("IMMEDIATE"):
                yield database
            return
        if _is_pooled(database):
            # A session lock would stay with a server process that other clients use.
            with database.atomic():
                database.execute_sql("SELECT pg_advisory_xact_lock(%s)", (_LOCK_KEY,))
                yield database
            return
        # The lock lasts until the connection closes, after the caller's work.
        database.execute_sql("SELECT pg_advisory_lock(%s)", (_LOCK_KEY,))
        yield database
