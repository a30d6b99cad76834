"""Connections that change the schema, and the lock that lets one process do so at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import peewee

from storage.base.errors import DatabaseUnavailable, SchemaOutOfDate
from storage.db.connections import aborted_if_unreachable, is_pooled, parameters_of

_LOCK_KEY = 4_852_613
# How long to wait for another process's lock on a SQLite file: it may be migrating.
_BUSY_SECONDS = 60
# How long a statement waits for a table's lock. Requests for that table wait behind it.
_LOCK_TIMEOUT = "2s"
# The SQLSTATE of a change in a read-only transaction.
_READ_ONLY = "25006"


@contextmanager
def connected(url: str, timeout_seconds: float) -> Iterator[Any]:
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
        parameters = parameters_of(url, timeout_seconds)
        # Nothing is prepared: a pooler in between may share the session.
        database = peewee.PostgresqlDatabase(
            url, prefer_psycopg3=True, prepare_threshold=None, **parameters
        )
    try:
        _connect(database)
        _require_utf8(database)
        with _watched(database, timeout_seconds):
            yield database
    except peewee.DatabaseError as error:
        # SQLite raises the plain DatabaseError for a damaged file.
        if isinstance(error, peewee.OperationalError) or type(error) is peewee.DatabaseError:
            raise DatabaseUnavailable(str(error)) from error
        if _sqlstate(error) == _READ_ONLY:
            raise DatabaseUnavailable(
                "DATABASE_URL leads to a standby. Name the primary, or all hosts together with "
                f"target_session_attrs=read-write. {error}"
            ) from error
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


@contextmanager
def _watched(database: Any, timeout_seconds: float) -> Iterator[None]:
    """End the connection when the server accepts no others: a migration may take an hour."""
    if isinstance(database, peewee.SqliteDatabase):
        yield
        return
    with aborted_if_unreachable(database.connection(), database.connect_params, timeout_seconds):
        yield


def is_pooled_database(database: peewee.PostgresqlDatabase) -> bool:
    """Whether a pooler such as PgBouncer is in between."""
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


def _require_utf8(database: Any) -> None:
    """Raise SchemaOutOfDate for a PostgreSQL database that cannot store every name.

    PostgreSQL creates one with SQL_ASCII where no locale is set.
    """
    if isinstance(database, peewee.SqliteDatabase):
        return
    encoding = database.connection().info.parameter_status("server_encoding")
    # A pooler may not pass it on.
    if encoding not in (None, "UTF8"):
        raise SchemaOutOfDate(
            f"The database has the encoding {encoding}, but Hiatus needs UTF8. Create it with "
            "`createdb --encoding UTF8 --template template0`."
        )


def is_lock_timeout(error: peewee.OperationalError) -> bool:
    """Whether a statement waited for a lock in vain, or was ended to resolve a deadlock."""
    return _sqlstate(error) in ("55P03", "40P01")


def _sqlstate(error: peewee.DatabaseError) -> str | None:
    """The SQLSTATE of psycopg's error behind Peewee's."""
    state: str | None = getattr(error.__cause__ or error.__context__, "sqlstate", None)
    return state


@contextmanager
def locked(database: Any) -> Iterator[None]:
    """Keep other processes from migrating. Raises OperationalError."""
    if isinstance(database, peewee.SqliteDatabase):
        with database.atomic("IMMEDIATE"):
            yield
        return
    if is_pooled_database(database):
        # A session lock would stay with a server process that other clients use.
        with database.atomic():
            _wait_for_lock(database, "pg_try_advisory_xact_lock")
            database.execute_sql(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
            yield
        return
    # The lock lasts until the connection closes.
    _wait_for_lock(database, "pg_try_advisory_lock")
    database.execute_sql(f"SET lock_timeout = '{_LOCK_TIMEOUT}'")
    yield


def _wait_for_lock(database: Any, function: str) -> None:
    # A statement that waits for the lock would deadlock with CREATE INDEX CONCURRENTLY, which
    # waits for every statement that began before it.
    while not database.execute_sql(f"SELECT {function}(%s)", (_LOCK_KEY,)).fetchone()[0]:
        time.sleep(0.1)
