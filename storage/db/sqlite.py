"""SQLite behind the handle: some threads that read, and one that writes."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar

import orjson

from storage.base import monitoring
from storage.base.errors import DatabaseUnavailable, FailureKind
from storage.base.secrets import Secrets
from storage.db.compiled import Engine
from storage.db.database import TIMEOUT_SECONDS, Database, DuplicateRow, Mode, Transaction, Work

T = TypeVar("T")

# FULL: an acknowledged commit survives a power cut as well as kill -9.
PRAGMAS: Final = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    # In pages, four times the default: a page that changes often is then copied less often.
    "PRAGMA wal_autocheckpoint=4000",
    # Deleted content is overwritten: most builds of SQLite do so anyway.
    "PRAGMA secure_delete=ON",
    # KiB, twice the default: balances read a person's leave of years, each request on its own page.
    "PRAGMA cache_size=-4096",
)
_STATEMENTS: Final = 256
# Two: more of them wait for each other in Python, and everyone waits longer.
READERS: Final = 2
# How long a write waits for another process that has locked the file.
BUSY_SECONDS: Final = 5.0
_UNIQUE: Final = ("SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY")

# ``any_of`` takes a list as one value.
sqlite3.register_adapter(list, lambda values: orjson.dumps(values).decode())


class SqliteDatabase(Database):
    engine: Engine = "sqlite"

    def __init__(
        self, path: str, secrets: Secrets, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        super().__init__(secrets, timeout_seconds)
        self._path = path
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="sqlite-reader")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="sqlite-writer")

    def _executor(self, mode: Mode) -> ThreadPoolExecutor:
        return self._readers if mode == "read" else self._writer

    def _transact(self, work: Work[T], mode: Mode) -> T:
        try:
            connection = self._connection()
            try:
                if mode == "write":
                    return self._write(connection, work)
                return self._read(connection, work, mode)
            finally:
                if connection.in_transaction:
                    # A failing disk may fail this too; the next BEGIN then raises again.
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            if not _is_unavailable(error):
                raise
            raise _unavailable(error) from error

    def _read(self, connection: sqlite3.Connection, work: Work[T], mode: Mode) -> T:
        """A read or a dry run, which the caller rolls back."""
        cache = self.config_cache if mode == "read" else self.config_cache.copy()
        connection.execute("BEGIN" if mode == "read" else "BEGIN IMMEDIATE")
        return work(self._transaction(connection, cache))

    def _write(self, connection: sqlite3.Connection, work: Work[T]) -> T:
        # Other transactions see what this one caches only once it is committed.
        tx = self._transaction(connection, self.config_cache.copy())
        connection.execute("BEGIN IMMEDIATE")
        result = work(tx)
        # Raises where SQLite has rolled back by itself, on a full disk for example.
        connection.execute("COMMIT")
        self._committed(tx, self.config_cache)
        if tx.empties_log:
            # Committed already: a reader that prevents it leaves it to a later checkpoint.
            with suppress(sqlite3.Error):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return result

    def _transaction(self, connection: sqlite3.Connection, cache: dict[str, Any]) -> Transaction:
        return Transaction(partial(_execute, connection), self.engine, self.secrets, cache)

    def close(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        for connection in self._connections:
            connection.close()

    def _connection(self) -> sqlite3.Connection:
        """This thread's connection."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            # Threads never share a connection; only close() touches another thread's.
            connection = sqlite3.connect(
                self._path,
                timeout=min(BUSY_SECONDS, self._timeout_seconds),
                isolation_level=None,
                check_same_thread=False,
                cached_statements=_STATEMENTS,
            )
            self._connections.append(connection)
            for pragma in PRAGMAS:
                connection.execute(pragma)
            self._local.connection = connection
        return connection


def _execute(connection: sqlite3.Connection, sql: str, values: Any) -> sqlite3.Cursor:
    try:
        return connection.execute(sql, values)
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorname in _UNIQUE:
            # "UNIQUE constraint failed: leave_types.organisation_id, leave_types.code"
            names = str(error).rpartition(": ")[2].split(", ")
            columns = [name.partition(".")[2] for name in names]
            raise DuplicateRow(str(error), columns) from error
        raise
    except sqlite3.Error as error:
        if not _is_unavailable(error):
            raise
        raise _unavailable(error) from error


# https://www.sqlite.org/rescode.html
_KINDS: Final[dict[int, FailureKind]] = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_FULL: "disk_full",
    sqlite3.SQLITE_CORRUPT: "corrupt",
    sqlite3.SQLITE_NOTADB: "corrupt",
    sqlite3.SQLITE_IOERR: "input_output",
    sqlite3.SQLITE_CANTOPEN: "input_output",
    sqlite3.SQLITE_READONLY: "read_only",
}


def _kind_of(error: sqlite3.Error) -> FailureKind:
    # The low byte is the primary result code.
    return _KINDS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "other")


def _is_unavailable(error: sqlite3.Error) -> bool:
    """Whether SQLite cannot work at all, rather than rejecting the statement itself."""
    if isinstance(error, sqlite3.OperationalError):
        return getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_ERROR
    return _kind_of(error) == "corrupt"


def _unavailable(error: sqlite3.Error) -> DatabaseUnavailable:
    """The error for callers. Counts it, unless its cause was counted already."""
    if isinstance(error.__cause__, DatabaseUnavailable):
        return DatabaseUnavailable(str(error.__cause__), kind=error.__cause__.kind)
    kind = _kind_of(error)
    monitoring.count_database_error(kind)
    return DatabaseUnavailable(str(error), kind=kind)
