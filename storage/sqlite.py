"""SQLite behind the handle: reads where they stand, one writer thread with group commit."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Set
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
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
    "PRAGMA cache_size=-32000",
    # In pages. Four times the usual: a page that changes often is copied into the file less often.
    "PRAGMA wal_autocheckpoint=4000",
)
LONG_READ_THREADS = 2
# For how long another process may hold the file before a write is given up.
BUSY_SECONDS = 5.0
# How many callers' transactions share one commit at most, and for how long it stays open.
GROUP_JOBS = 64
GROUP_SECONDS = 0.02

_UNIQUE = ("SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY")


class _Job(NamedTuple):
    work: Callable[[Transaction], Any]
    done: Future[Any] | asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop | None


class _Outcome(NamedTuple):
    job: _Job
    result: Any
    error: BaseException | None
    woken: Set[str] = frozenset()


class _MustBeUndone(Exception):
    """A use case changed something before it raised, and its neighbours' changes are not to go."""


class SqliteDatabase(Database):
    engine: Engine = "sqlite"

    def __init__(self, path: str, secrets: Secrets, busy_seconds: float = BUSY_SECONDS) -> None:
        super().__init__(secrets)
        self._path = path
        self._busy_seconds = busy_seconds
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._long_reads = ThreadPoolExecutor(LONG_READ_THREADS, thread_name_prefix="long-read")
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._writer: threading.Thread | None = None
        self._is_closed = False
        self._queueing = threading.Lock()

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
        with self._queueing:
            self._is_closed = True
            self._jobs.put(None)
        if self._writer is not None:
            self._writer.join()
        self._long_reads.shutdown()
        for connection in self._connections:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        # Several threads never share a connection; only close() reaches another thread's.
        connection = sqlite3.connect(
            self._path,
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=512,
        )
        self._connections.append(connection)
        for pragma in PRAGMAS:
            connection.execute(pragma)
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
        # Nothing may follow the None of close(): nobody would read it.
        with self._queueing:
            if self._is_closed:
                raise DatabaseUnavailable("The database handle is closed.")
            if self._writer is None:
                self._writer = threading.Thread(
                    target=self._write_until_closed, name="sqlite-writer", daemon=True
                )
                self._writer.start()
            self._jobs.put(job)

    def _write_until_closed(self) -> None:
        connection: sqlite3.Connection | None = None
        while (job := self._jobs.get()) is not None:
            group = [job]
            try:
                connection = connection or self._connect()
                outcomes = self._write_group(connection, group)
            except sqlite3.Error as error:
                if connection is not None and connection.in_transaction:
                    # A disk that fails may fail this too; the next BEGIN then says so again.
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                # Whoever queued up behind a lock would wait as long again, one after the other.
                while (waiting := self._next_waiting()) is not None:
                    group.append(waiting)
                unavailable = DatabaseUnavailable(str(error))
                outcomes = [_Outcome(job, None, unavailable) for job in group]
            # Refusals too wait for the commit: they may rest on a neighbour's uncommitted rows.
            _deliver(outcomes)
            self._wake({name for outcome in outcomes for name in outcome.woken})

    def _write_group(self, connection: sqlite3.Connection, group: list[_Job]) -> list[_Outcome]:
        """Commit ``group`` and whatever else waits by then, which is added to it.

        Raises sqlite3.Error when the commit or a whole transaction failed, for all of them.
        """
        outcomes: list[_Outcome] = []
        # What one of them has read is everybody's once it is committed.
        known = self.reference_cache.copy()
        closes_at = time.monotonic() + GROUP_SECONDS
        connection.execute("BEGIN IMMEDIATE")
        try:
            for job in group:
                outcomes.append(self._write_one(connection, job, known))
                if len(group) == GROUP_JOBS or time.monotonic() > closes_at:
                    break
                following = self._next_waiting()
                if following is not None:
                    group.append(following)
        except _MustBeUndone:
            connection.execute("ROLLBACK")
            return self._write_group_again(connection, group)
        connection.execute("COMMIT")
        self.reference_cache.update(known)
        return outcomes

    def _write_group_again(
        self, connection: sqlite3.Connection, group: list[_Job]
    ) -> list[_Outcome]:
        """As before, each job in a savepoint of its own.

        Nearly every refusal precedes the first change. A savepoint costs a third of a write, so
        there is none until one is needed.
        """
        outcomes: list[_Outcome] = []
        connection.execute("BEGIN IMMEDIATE")
        for job in group:
            known = self.reference_cache.copy()
            connection.execute("SAVEPOINT one")
            try:
                outcomes.append(self._write_one(connection, job, known))
            except _MustBeUndone as error:
                connection.execute("ROLLBACK TO one")
                outcomes.append(_Outcome(job, None, error.__cause__))
            connection.execute("RELEASE one")
        connection.execute("COMMIT")
        return outcomes

    def _next_waiting(self) -> _Job | None:
        """The next job if there is one already; the end is left for ``_write_until_closed``."""
        try:
            job = self._jobs.get_nowait()
        except Empty:
            return None
        if job is None:
            self._jobs.put(None)
        return job

    def _write_one(
        self, connection: sqlite3.Connection, job: _Job, known: dict[str, Any]
    ) -> _Outcome:
        """Run a job. Raises _MustBeUndone, because of what the job raised after a change."""
        tx = Transaction(partial(_execute, connection), self.engine, self.secrets, known)
        changes_before = connection.total_changes
        try:
            return _Outcome(job, job.work(tx), None, tx.woken)
        except BaseException as error:  # carried to the caller who asked for it
            if not connection.in_transaction:
                # A full disk, for one, makes SQLite undo the neighbours too.
                raise sqlite3.OperationalError("The transaction was lost.") from error
            if connection.total_changes != changes_before:
                raise _MustBeUndone from error
            return _Outcome(job, None, error)


def _execute(connection: sqlite3.Connection, sql: str, values: list[Any]) -> sqlite3.Cursor:
    try:
        return connection.execute(sql, values)
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorname in _UNIQUE:
            raise DuplicateRow(str(error)) from error
        raise
    except sqlite3.OperationalError as error:
        raise DatabaseUnavailable(str(error)) from error


def _deliver(outcomes: list[_Outcome]) -> None:
    """Tell every caller; those of one event loop with a single wake-up."""
    loops: dict[asyncio.AbstractEventLoop, list[_Outcome]] = {}
    for outcome in outcomes:
        loop = outcome.job.loop
        if loop is None:
            _settle([outcome])
        else:
            loops.setdefault(loop, []).append(outcome)
    for loop, settled in loops.items():
        # A loop that was closed has nobody left to tell.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, settled)


def _settle(outcomes: list[_Outcome]) -> None:
    for job, result, error, _ in outcomes:
        # A caller may have gone away; what was committed stays committed.
        if job.done.done():
            continue
        if error is None:
            job.done.set_result(result)
        else:
            job.done.set_exception(error)
