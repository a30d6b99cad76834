"""Copies an SQLite database while other processes use it, and puts a copy in its place."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from storage.access.stored_secrets import MAX_CANARIES
from storage.cli.backups.archive import BackupRefused, Contents

_BUSY_SECONDS: Final = 10.0
# SQLite keeps each statement in this form. A view, a trigger and a virtual table have others.
_FOREIGN: Final = """
SELECT type, substr(name, 1, 100) FROM sqlite_master WHERE NOT (
  type = 'table' AND sql LIKE 'CREATE TABLE %'
  OR type = 'index' AND (
    sql IS NULL OR sql LIKE 'CREATE INDEX %' OR sql LIKE 'CREATE UNIQUE INDEX %'
  )
) LIMIT 1
"""
_CANARIES: Final = f"""
SELECT encrypted FROM secret_canaries ORDER BY number LIMIT {MAX_CANARIES + 1}
"""
_COMPANIONS: Final = ("-wal", "-shm", "-journal")


def save(path: Path, target: Path) -> Contents:
    """Copy the database, as of now, to a new file. Raises BackupRefused."""
    if not path.exists():
        raise BackupRefused(f"There is no database {path}.")
    # The copy and the archive.
    needed = 2 * sum(file.stat().st_size for file in _files(path))
    free = shutil.disk_usage(target.parent).free
    if free < needed:
        raise BackupRefused(
            f"The disk of {target.parent.parent} has {free:,} bytes left, and the backup needs "
            f"{needed:,}."
        )
    with _connected(path, "mode=rw") as database, closing(sqlite3.connect(target)) as copied:
        # One read transaction: writers go on. In steps, the copy would start again at each commit.
        database.execute("BEGIN")
        database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        database.backup(copied)
    return contents(target, "`hiatus restore` would refuse it. Drop it first.")


def contents(path: Path, cure: str) -> Contents:
    """What is in a database that no process uses, after an integrity check.

    Raises BackupRefused; ``cure`` ends its sentence if there is what Hiatus does not make, such as
    a trigger.
    """
    with _connected(path, "mode=ro&immutable=1") as database:
        # Functions that a schema names do not run.
        database.execute("PRAGMA trusted_schema=OFF")
        if foreign := database.execute(_FOREIGN).fetchone():
            raise BackupRefused("The database has the {} {}: {}".format(*foreign, cure))
        [(result,)] = database.execute("PRAGMA integrity_check(1)").fetchall()
        if result != "ok":
            raise BackupRefused(f"The database is damaged: {result}.")
        tables = _tables(database)
        if "schema_migration" not in tables:
            raise BackupRefused("The database is empty: run `hiatus migrate` first.")
        [(migration,)] = database.execute("SELECT max(name) FROM schema_migration").fetchall()
        # Databases of trial versions may lack the table.
        canaries = database.execute(_CANARIES).fetchall() if "secret_canaries" in tables else []
    return Contents(migration=str(migration), canaries=tuple(text for (text,) in canaries))


def require_replaceable(path: Path) -> None:
    """Raise BackupRefused unless the database is missing or empty, and not in use."""
    if not path.exists():
        if left := _files(path):
            raise BackupRefused(
                f"{left[0]} belongs to a database that is no longer there, and SQLite would add "
                "it to the restored one. Move it away first."
            )
        return
    with _connected(path, "mode=rw", seconds=0) as database:
        tables = _tables(database)
        has_rows = (
            "organisations" in tables
            and database.execute("SELECT 1 FROM organisations LIMIT 1").fetchone()
        )
        if has_rows or (tables and "organisations" not in tables):
            raise BackupRefused(
                f"{path} has data. Stop Hiatus and move {path.name} and {path.name}-* away first, "
                "or set DATABASE_URL to another file."
            )
        try:
            # Fails unless this is the only connection; removes the -wal and -shm files.
            database.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError:
            raise BackupRefused(f"{path} is in use. Stop Hiatus first.") from None


def _files(path: Path) -> list[Path]:
    """The database's files that exist."""
    files = [path, *(path.with_name(path.name + suffix) for suffix in _COMPANIONS)]
    return [file for file in files if file.exists()]


def _tables(database: sqlite3.Connection) -> set[str]:
    return {
        name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'")
    }


@contextmanager
def _connected(
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
