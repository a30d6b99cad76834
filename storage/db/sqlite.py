"""SQLite behind the handle: short reads on the caller's thread, writes on one thread."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, TypeVar

import orjson

from storage.base.secrets import Secrets
from storage.db.compiled import Engine
from storage.db.database import Database, Mode, Transaction, Work, in_callers_context
from storage.db.monitoring import failures
from storage.db.sqlite_writer import GROUP_SECONDS, SqliteWriter

T = TypeVar("T")

# FULL: an acknowledged commit survives a power cut as well as kill -9.
PRAGMAS: Final = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    # In pages, four times the default: a page that changes often is then copied less often.
    "PRAGMA wal_autocheckpoint=4000",
)
# For each connection: that of the writer, of the event loop and of each thread for long reads.
_CACHE_KIB: Final = 4_000
_STATEMENTS: Final = 256
LONG_READ_THREADS: Final = 2
# How long a write waits for another process that has locked the file.
BUSY_SECONDS: Final = 5.0

# ``any_of`` takes a list as one value.
sqlite3.register_adapter(list, lambda values: orjson.dumps(values).decode())


class SqliteDatabase(Database):
    engine: Engine = "sqlite"

    def __init__(
        self,
        path: str,
        secrets: Secrets,
        busy_seconds: float = BUSY_SECONDS,
        group_seconds: float = GROUP_SECONDS,
    ) -> None:
        super().__init__(secrets)
        self._path = path
        self._busy_seconds = busy_seconds
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._long_reads = ThreadPoolExecutor(LONG_READ_THREADS, thread_name_prefix="long-read")
        self._writer = SqliteWriter(
            self._connect, secrets, self.config_cache, self._notify, group_seconds
        )

    async def _transact(self, work: Work[T], mode: Mode, *, is_long: bool) -> T:
        if mode != "read":
            return await asyncio.wrap_future(
                self._writer.submit(work, is_dry_run=mode == "dry_run")
            )
        if is_long:
            loop = asyncio.get_running_loop()
            read = in_callers_context(partial(self._read, work))
            return await loop.run_in_executor(self._long_reads, read)
        # Tens of microseconds: less than it costs to hand them to a thread.
        return self._read(work)

    def _transact_now(self, work: Work[T], mode: Mode) -> T:
        if mode == "read":
            return self._read(work)
        return self._writer.submit(work, is_dry_run=mode == "dry_run").result()

    def _read(self, work: Work[T]) -> T:
        try:
            return work(self._reader())
        except sqlite3.Error as error:
            if not failures.is_unavailable(error):
                raise
            raise failures.unavailable(error) from error

    def close(self) -> None:
        self._writer.close()
        self._long_reads.shutdown()
        for connection in self._connections:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        # Threads never share a connection; only close() touches another thread's.
        connection = sqlite3.connect(
            self._path,
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENTS,
        )
        self._connections.append(connection)
        for pragma in PRAGMAS:
            connection.execute(pragma)
        connection.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
        return connection

    def _reader(self) -> Transaction:
        """This thread's connection for reading."""
        reader: Transaction | None = getattr(self._local, "reader", None)
        if reader is None:
            connection = self._connect()
            connection.execute("PRAGMA query_only=ON")
            reader = Transaction(connection.execute, self.engine, self.secrets, self.config_cache)
            self._local.reader = reader
        return reader
