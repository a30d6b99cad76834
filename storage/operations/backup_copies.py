"""Copies of a database for ``hiatus backup``, and how they get in its place again.

SQLite makes its own with ``VACUUM INTO``, PostgreSQL's are those of ``pg_dump`` and ``pg_restore``.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

import psycopg
from psycopg.pq import Conninfo

from storage.base.errors import DatabaseUnavailable
from storage.db.connections import Connection, Parameters, is_pooled, parameters_of
from storage.keys.stored_secrets import MAX_CANARIES

_BUSY_SECONDS: Final = 10.0
# How long pg_dump waits for a table that a migration changes.
_LOCK_SECONDS: Final = 60
_CANARIES: Final = f"SELECT encrypted FROM secret_canaries ORDER BY number LIMIT {MAX_CANARIES}"


class BackupRefused(Exception):
    """A backup or restore that is not possible; the message says what to do."""


# A database's last migration, and texts that its secret keys decrypt.
Contents = tuple[str, tuple[str, ...]]


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """An empty folder on the same disk for unfinished files, removed at the end."""
    with tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
        yield Path(folder)


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """A new file, readable by its owner only; on disk at the end."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w+b") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def save_sqlite(path: Path, target: Path) -> Contents:
    """Copy the database, as of one moment, to a new file. Raises BackupRefused."""
    if not path.exists():
        raise BackupRefused(f"There is no database {path}.")
    with _sqlite(path, "mode=rw") as database:
        # Before the copy, which has new indexes. Writers go on meanwhile.
        [(result,)] = database.execute("PRAGMA integrity_check(1)").fetchall()
        if result != "ok":
            raise BackupRefused(f"The database is damaged: {result}.")
        database.execute("VACUUM INTO ?", (str(target),))
    with _sqlite(target, "mode=ro") as database:
        return _contents(database)


def restore_sqlite(path: Path, database: IO[bytes], before: Callable[[], None]) -> None:
    """Put the copy in its place, after ``before``. Raises BackupRefused."""
    with beside(path) as folder:
        _require_replaceable(path)
        with new_file(folder / "database") as copy:
            shutil.copyfileobj(database, copy)
        # Another process may have opened or filled it meanwhile.
        _require_replaceable(path)
        before()
        (folder / "database").replace(path)


def _require_replaceable(path: Path) -> None:
    """Raise BackupRefused unless the database is missing or empty, and not in use."""
    if not path.exists():
        if left := _files_of(path):
            raise BackupRefused(
                f"{left[0]} belongs to a database that is no longer there, and SQLite would add "
                "it to the restored one. Move it away first."
            )
        return
    with _sqlite(path, "mode=rw", seconds=0) as database:
        has_tables = database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        if has_tables and database.execute("SELECT 1 FROM organisations LIMIT 1").fetchone():
            raise BackupRefused(
                f"{path} has data. Stop Hiatus and move {path.name} and {path.name}-* away first, "
                "or set DATABASE_URL to another file."
            )
        try:
            # Fails unless this is the only connection; removes the -wal and -shm files.
            database.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError:
            raise BackupRefused(f"{path} is in use. Stop Hiatus first.") from None


def _files_of(path: Path) -> list[Path]:
    ends = ("", "-wal", "-shm", "-journal")
    return [file for end in ends if (file := path.with_name(path.name + end)).exists()]


@contextmanager
def _sqlite(
    path: Path, parameters: str, *, seconds: float = _BUSY_SECONDS
) -> Iterator[sqlite3.Connection]:
    uri = f"{path.absolute().as_uri()}?{parameters}"
    try:
        with closing(
            sqlite3.connect(uri, uri=True, timeout=seconds, isolation_level=None)
        ) as database:
            yield database
    except sqlite3.Error as error:
        raise BackupRefused(f"{path} cannot be read: {error}.") from error


def save_postgresql(url: str, seconds: float, env: Mapping[str, str], target: Path) -> Contents:
    """Dump the database, as of one moment, to a new file. Raises as ``_postgresql``."""
    with _postgresql(url, seconds) as (connection, parameters):
        # The dump and the manifest show the same moment.
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        [(snapshot,)] = connection.execute("SELECT pg_export_snapshot()").fetchall()
        contents = _contents(connection)
        arguments = [
            *("pg_dump", "--format=custom", "--no-publications", "--no-subscriptions"),
            *(f"--snapshot={snapshot}", f"--lock-wait-timeout={_LOCK_SECONDS}s"),
        ]
        with new_file(target) as file:
            _run(env, arguments, connection, parameters, subprocess.DEVNULL, file)
    return contents


def restore_postgresql(
    url: str,
    seconds: float,
    env: Mapping[str, str],
    database: IO[bytes],
    before: Callable[[], None],
) -> None:
    """Restore a dump in one transaction, after ``before``. Raises as ``_postgresql``."""
    with _postgresql(url, seconds) as (connection, parameters):
        tables = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1"
        if connection.execute(tables).fetchone() is not None:
            raise BackupRefused(
                "The database that DATABASE_URL names has tables. Create an empty one "
                "(`createdb hiatus_restored`) and name it in DATABASE_URL."
            )
        before()
        arguments = [
            *("pg_restore", "--single-transaction", "--exit-on-error"),
            *("--no-owner", "--no-privileges", f"--dbname={connection.info.dbname}"),
        ]
        # A program reads a file of its own, not a part of the archive.
        with tempfile.TemporaryFile() as dump:
            shutil.copyfileobj(database, dump)
            dump.seek(0)
            _run(env, arguments, connection, parameters, dump, subprocess.DEVNULL)


@contextmanager
def _postgresql(url: str, seconds: float) -> Iterator[tuple[Connection, Parameters]]:
    """A connection to the database. Raises BackupRefused or DatabaseUnavailable."""
    parameters = parameters_of(url, seconds)
    try:
        with closing(psycopg.connect(**parameters, autocommit=True)) as connection:
            if is_pooled(connection):
                # pg_dump empties search_path, for the next client of the session as well.
                raise BackupRefused(
                    "DATABASE_URL leads to a connection pooler. Name PostgreSQL itself in "
                    "DATABASE_URL for this command."
                )
            yield connection, parameters
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(str(error)) from error


def _run(
    env: Mapping[str, str],
    arguments: list[str],
    connection: Connection,
    parameters: Parameters,
    source: IO[bytes] | int,
    target: IO[bytes] | int,
) -> None:
    """Run one of PostgreSQL's programs on the server of this connection."""
    name, *rest = arguments
    program = shutil.which(name, path=env.get("PATH"))
    if program is None:
        raise BackupRefused(
            f"{name} is not in PATH. Install PostgreSQL's client programs, such as the package "
            "postgresql-client, in the version of the server or newer."
        )
    # Through the environment: other users see a command line, and there may be a password. With
    # several hosts, the one that was found to be the primary.
    variables = {
        option.keyword.decode(): option.envvar.decode()
        for option in Conninfo.get_defaults()
        if option.envvar is not None
    }
    info = connection.info
    chosen = parameters | {"host": info.host, "port": info.port, "dbname": info.dbname}
    if "hostaddr" in parameters:
        chosen["hostaddr"] = info.hostaddr
    settings = {variables[key]: str(value) for key, value in chosen.items() if key in variables}
    done = subprocess.run(
        [program, *rest, "--no-password"],
        env={**env, **settings, "LC_ALL": "C"},
        stdin=source,
        stdout=target,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.decode(errors="replace").splitlines()
        reason = next((line for line in lines if "error:" in line), f"exit code {done.returncode}")
        raise BackupRefused(f"{name} failed, and nothing was changed: {reason}")


def _contents(connection: sqlite3.Connection | Connection) -> Contents:
    """What is in a database. Raises BackupRefused for one without tables."""
    execute: Any = connection.execute
    try:
        [(migration,)] = execute("SELECT max(name) FROM schema_migration").fetchall()
    except (sqlite3.OperationalError, psycopg.errors.UndefinedTable):
        raise BackupRefused("The database is empty: run `hiatus migrate` first.") from None
    canaries = []
    # Databases of trial versions may lack the table.
    with suppress(sqlite3.OperationalError, psycopg.errors.UndefinedTable):
        canaries = execute(_CANARIES).fetchall()
    return str(migration), tuple(text for (text,) in canaries)
