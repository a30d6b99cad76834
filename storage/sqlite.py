"""SQLite behind the handle: reads where they stand, one writer thread with group commit."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from storage.compiled import Engine
from storage.database import Database, DuplicateRow, Transaction
from storage.errors import DatabaseUnavailable
from storage.secrets import Secrets

P = ParamSpec("P")
T = TypeVar("T")

# FULL: an acknowledged commit survives a power cut as well as kill -9 (contract 12).
PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA busy_timeout=5000",
    "PRAGMA cache_size=-32000",
)
LONG_READ_THREADS = 2
# How many callers' transactions share one commit at most, and for how long it stays open.
GROUP_JOBS = 64
GROUP_SECONDS = 0.02

_UNIQUE = ("SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY")


class _Job(NamedTuple):
    work: Callable[[Transaction], Any]
    done: Future[Any] | asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop | None


class SqliteDatabase(Database):
    engine: Engine = "sqlite"

    def __init__(self, path: str, secrets: Secrets) -> None:
        super().__init__(secrets)
        self._path = path
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._long_reads = ThreadPoolExecutor(LONG_READ_THREADS, thread_name_prefix="long-read")
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._writer: threading.Thread | None = None
        self._starting = threading.Lock()

    async def read(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return self.read_now(use_case, *args, **kwargs)

    async def read_long(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        loop = asyncio.get_running_loop()
        work = partial(self.read_now, use_case, *args, **kwargs)
        return await loop.run_in_executor(self._long_reads, work)

    async def write(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._enqueue(_Job(lambda tx: use_case(tx, *args, **kwargs), done, loop))
        return await done

    def read_now(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        try:
            return use_case(self._reader(), *args, **kwargs)
        except sqlite3.OperationalError as error:
            raise DatabaseUnavailable(str(error)) from error

    def write_now(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        done: Future[T] = Future()
        self._enqueue(_Job(lambda tx: use_case(tx, *args, **kwargs), done, None))
        return done.result()

    def close(self) -> None:
        if self._writer is not None:
            self._jobs.put(None)
            self._writer.join()
        self._long_reads.shutdown()
        for connection in self._connections:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        # Several threads never share a connection; only close() reaches another thread's.
        connection = sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, cached_statements=512
        )
        for pragma in PRAGMAS:
            connection.execute(pragma)
        self._connections.append(connection)
        return connection

    def _reader(self) -> Transaction:
        reader: Transaction | None = getattr(self._local, "reader", None)
        if reader is None:
            connection = self._connect()
            connection.execute("PRAGMA query_only=ON")
            reader = Transaction(
                connection.execute, self.engine, self.secrets, self.reference_cache
            )
            self._local.reader = reader
        return reader

    def _enqueue(self, job: _Job) -> None:
        if self._writer is None:
            with self._starting:
                if self._writer is None:
                    self._writer = threading.Thread(
                        target=self._write_until_closed, name="sqlite-writer", daemon=True
                    )
                    self._writer.start()
        self._jobs.put(job)

    def _write_until_closed(self) -> None:
        connection = self._connect()
        while (job := self._jobs.get()) is not None:
            if not self._write_group(connection, job):
                return

    def _write_group(self, connection: sqlite3.Connection, job: _Job) -> bool:
        """Commit ``job`` and whatever else waits by then; False when the handle is closing."""
        outcomes: list[tuple[_Job, Any, BaseException | None]] = []
        woken: set[str] = set()
        closes_at = time.monotonic() + GROUP_SECONDS
        following: _Job | None = job
        try:
            connection.execute("BEGIN IMMEDIATE")
            while following is not None:
                outcomes.append(self._write_one(connection, following, woken))
                if len(outcomes) == GROUP_JOBS or time.monotonic() > closes_at:
                    break
                try:
                    following = self._jobs.get_nowait()
                except Empty:
                    break
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            unavailable = DatabaseUnavailable(str(error))
            outcomes = [(done, None, unavailable) for done, _, _ in outcomes] or [
                (job, None, unavailable)
            ]
            woken.clear()
        # Refusals too wait for the commit: they may rest on a neighbour's uncommitted rows.
        _deliver(outcomes)
        self._wake(woken)
        return following is not None

    def _write_one(
        self, connection: sqlite3.Connection, job: _Job, woken: set[str]
    ) -> tuple[_Job, Any, BaseException | None]:
        tx = Transaction(
            partial(_execute, connection), self.engine, self.secrets, self.reference_cache
        )
        connection.execute("SAVEPOINT one")
        try:
            result = job.work(tx)
        except BaseException as error:  # noqa: BLE001  # carried to the caller who asked for it
            if not connection.in_transaction:
                raise
            connection.execute("ROLLBACK TO one")
            connection.execute("RELEASE one")
            return job, None, error
        connection.execute("RELEASE one")
        woken |= tx.woken
        return job, result, None


def _execute(connection: sqlite3.Connection, sql: str, values: list[Any]) -> sqlite3.Cursor:
    try:
        return connection.execute(sql, values)
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorname in _UNIQUE:
            raise DuplicateRow(str(error)) from error
        raise


def _deliver(outcomes: list[tuple[_Job, Any, BaseException | None]]) -> None:
    """Tell every caller; those of one event loop with a single wake-up."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[_Job, Any, BaseException | None]]] = {}
    for outcome in outcomes:
        loop = outcome[0].loop
        if loop is None:
            _settle([outcome])
        else:
            loops.setdefault(loop, []).append(outcome)
    for loop, settled in loops.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, settled)


def _settle(outcomes: list[tuple[_Job, Any, BaseException | None]]) -> None:
    for job, result, error in outcomes:
        # A caller may have gone away; what was committed stays committed.
        if job.done.done():
            continue
        if error is None:
            job.done.set_result(result)
        else:
            job.done.set_exception(error)
