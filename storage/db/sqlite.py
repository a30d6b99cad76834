"""SQLite behind the handle: reads where they stand, one connection that writes, group commit.

A thread opens and commits every transaction, because both wait for the disk and for other
processes. What happens in between is short and runs on the event loop that asked for it: two
threads that take turns at the interpreter for every statement cost half as much again.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Set
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

import orjson

from storage.base.errors import DatabaseUnavailable
from storage.base.secrets import Secrets
from storage.db.compiled import Engine
from storage.db.database import Database, DuplicateRow, Transaction, in_callers_context

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
# How many callers' transactions share one commit at most, and how long the loop runs them.
GROUP_JOBS = 64
GROUP_SECONDS = 0.005
# How often the writing thread looks whether the loop that it waits for has ended.
LOOP_ALIVE_SECONDS = 0.5

# ``any_of`` takes a list as one value.
sqlite3.register_adapter(list, lambda values: orjson.dumps(values).decode())

_UNIQUE = ("SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Job:
    """``loop`` is the caller's, if any; ``runs_on`` None is the writing thread.

    A dry run runs on the writing thread, in a transaction of its own that is rolled back.
    """

    work: Callable[[Transaction], Any]
    done: Future[Any] | asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop | None
    runs_on: asyncio.AbstractEventLoop | None
    is_dry_run: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Outcome:
    job: _Job
    result: Any
    error: BaseException | None
    woken: Set[str] = frozenset()


class _MustBeUndone(Exception):
    """A use case changed something before it raised, and its neighbours' changes are not to go."""


class _LoopEnded(Exception):
    """The event loop of a group did not run when its turn came."""


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
        self._group_seconds = group_seconds
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._long_reads = ThreadPoolExecutor(LONG_READ_THREADS, thread_name_prefix="long-read")
        self._jobs: deque[_Job] = deque()
        self._writer: threading.Thread | None = None
        self._is_closed = False
        self._queueing = threading.Condition()

    async def read(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return self.read_now(use_case, *args, **kwargs)

    async def read_long(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        loop = asyncio.get_running_loop()
        work = partial(self.read_now, use_case, *args, **kwargs)
        return await loop.run_in_executor(self._long_reads, in_callers_context(work))

    async def write(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        work = in_callers_context(lambda tx: use_case(tx, *args, **kwargs))
        self._enqueue(_Job(work=work, done=done, loop=loop, runs_on=loop))
        return await done

    async def write_long(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await self._on_writer(lambda tx: use_case(tx, *args, **kwargs), is_dry_run=False)

    async def dry_run(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await self._on_writer(lambda tx: use_case(tx, *args, **kwargs), is_dry_run=True)

    async def _on_writer(self, work: Callable[[Transaction], T], *, is_dry_run: bool) -> T:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._enqueue(
            _Job(
                work=in_callers_context(work),
                done=done,
                loop=loop,
                runs_on=None,
                is_dry_run=is_dry_run,
            )
        )
        return await done

    def read_now(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        try:
            return use_case(self._reader(), *args, **kwargs)
        except sqlite3.OperationalError as error:
            _raise_if_ours(error)
            raise DatabaseUnavailable(str(error)) from error

    def write_now(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return self._wait_for_writer(lambda tx: use_case(tx, *args, **kwargs), is_dry_run=False)

    def dry_run_now(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return self._wait_for_writer(lambda tx: use_case(tx, *args, **kwargs), is_dry_run=True)

    def _wait_for_writer(self, work: Callable[[Transaction], T], *, is_dry_run: bool) -> T:
        if _is_on_a_loop():
            # The writing thread may be waiting for that very loop.
            raise RuntimeError("Here is an event loop: await write(), write_long() or dry_run().")
        done: Future[T] = Future()
        self._enqueue(
            _Job(
                work=in_callers_context(work),
                done=done,
                loop=None,
                runs_on=None,
                is_dry_run=is_dry_run,
            )
        )
        return done.result()

    def close(self) -> None:
        with self._queueing:
            self._is_closed = True
            self._queueing.notify()
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
        with self._queueing:
            if self._is_closed:
                raise DatabaseUnavailable("The database handle is closed.")
            if self._writer is None:
                self._writer = threading.Thread(
                    target=self._write_until_closed, name="sqlite-writer", daemon=True
                )
                self._writer.start()
            self._jobs.append(job)
            self._queueing.notify()

    def _write_until_closed(self) -> None:
        connection: sqlite3.Connection | None = None
        while self._wait_for_jobs():
            group = [self._jobs.popleft()]
            try:
                connection = connection or self._connect()
                run = self._run_dry if group[0].is_dry_run else self._write_group
                outcomes = run(connection, group)
            except _LoopEnded:
                _end(connection)
                # A loop that only paused will still hear of it.
                paused = DatabaseUnavailable("The event loop did not run.")
                outcomes = [_Outcome(job=job, result=None, error=paused) for job in group]
            except sqlite3.Error as error:
                _end(connection)
                # Whoever queued up behind a lock would wait as long again, one after the other.
                while self._jobs:
                    group.append(self._jobs.popleft())
                unavailable = DatabaseUnavailable(str(error))
                outcomes = [_Outcome(job=job, result=None, error=unavailable) for job in group]
            # Refusals too wait for the commit: they may rest on a neighbour's uncommitted rows.
            _deliver(outcomes)
            self._wake({name for outcome in outcomes for name in outcome.woken})

    def _wait_for_jobs(self) -> bool:
        """Whether there is something left to do, once there is or the handle is closed."""
        with self._queueing:
            self._queueing.wait_for(lambda: self._jobs or self._is_closed)
        return bool(self._jobs)

    def _write_group(self, connection: sqlite3.Connection, group: list[_Job]) -> list[_Outcome]:
        """Commit ``group`` and whatever else waits by then, which is added to it.

        Raises sqlite3.Error when the commit or a whole transaction failed, for all of them.
        """
        loop = group[0].runs_on
        # What one of them has read is everybody's once it is committed.
        known = self.reference_cache.copy()
        connection.execute("BEGIN IMMEDIATE")
        try:
            outcomes = _on(loop, lambda: self._run_waiting(connection, group, known))
        except _MustBeUndone:
            connection.execute("ROLLBACK")
            connection.execute("BEGIN IMMEDIATE")
            outcomes = _on(loop, lambda: self._run_apart(connection, group))
            known = {}
        connection.execute("COMMIT")
        self.reference_cache.update(known)
        return outcomes

    def _run_dry(self, connection: sqlite3.Connection, group: list[_Job]) -> list[_Outcome]:
        """Run the only job of the group and roll back what it did.

        Not in a savepoint among other jobs: one of them that must be undone would run it again.
        """
        (job,) = group
        known = self.reference_cache.copy()
        tx = Transaction(partial(_execute, connection), self.engine, self.secrets, known)
        connection.execute("BEGIN IMMEDIATE")
        try:
            return [_Outcome(job=job, result=job.work(tx), error=None)]
        except BaseException as error:  # noqa: BLE001  # carried to the caller who asked for it
            return [_Outcome(job=job, result=None, error=error)]
        finally:
            _end(connection)

    def _run_waiting(
        self, connection: sqlite3.Connection, group: list[_Job], known: dict[str, Any]
    ) -> list[_Outcome]:
        """Run the group's jobs and those that wait for the same thread. Raises _MustBeUndone."""
        outcomes: list[_Outcome] = []
        closes_at = time.monotonic() + self._group_seconds
        for job in group:
            outcomes.append(self._write_one(connection, job, known))
            if len(group) == GROUP_JOBS or time.monotonic() > closes_at:
                break
            following = self._next_waiting(job.runs_on)
            if following is not None:
                group.append(following)
        return outcomes

    def _run_apart(self, connection: sqlite3.Connection, group: list[_Job]) -> list[_Outcome]:
        """As before, each job in a savepoint of its own.

        Nearly every refusal precedes the first change. A savepoint costs a third of a write, so
        there is none until one is needed.
        """
        outcomes: list[_Outcome] = []
        for job in group:
            known = self.reference_cache.copy()
            connection.execute("SAVEPOINT one")
            try:
                outcomes.append(self._write_one(connection, job, known))
            except _MustBeUndone as error:
                connection.execute("ROLLBACK TO one")
                outcomes.append(_Outcome(job=job, result=None, error=error.__cause__))
            connection.execute("RELEASE one")
        return outcomes

    def _next_waiting(self, runs_on: asyncio.AbstractEventLoop | None) -> _Job | None:
        """The next job, if there is one already and it can join a group that runs there."""
        if not self._jobs or self._jobs[0].is_dry_run or self._jobs[0].runs_on is not runs_on:
            return None
        return self._jobs.popleft()

    def _write_one(
        self, connection: sqlite3.Connection, job: _Job, known: dict[str, Any]
    ) -> _Outcome:
        """Run a job. Raises _MustBeUndone, because of what the job raised after a change."""
        tx = Transaction(partial(_execute, connection), self.engine, self.secrets, known)
        changes_before = connection.total_changes
        try:
            return _Outcome(job=job, result=job.work(tx), error=None, woken=tx.woken)
        except BaseException as error:  # carried to the caller who asked for it
            if not connection.in_transaction:
                # A full disk, for one, makes SQLite undo the neighbours too.
                raise sqlite3.OperationalError("The transaction was lost.") from error
            if connection.total_changes != changes_before:
                raise _MustBeUndone from error
            return _Outcome(job=job, result=None, error=error)


def _execute(connection: sqlite3.Connection, sql: str, values: Any) -> sqlite3.Cursor:
    try:
        return connection.execute(sql, values)
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorname in _UNIQUE:
            # "UNIQUE constraint failed: leave_types.organisation_id, leave_types.code"
            named = str(error).rpartition(": ")[2].split(", ")
            columns = [one.partition(".")[2] for one in named]
            raise DuplicateRow(str(error), columns) from error
        raise
    except sqlite3.OperationalError as error:
        _raise_if_ours(error)
        raise DatabaseUnavailable(str(error)) from error


def _raise_if_ours(error: sqlite3.Error) -> None:
    """Raise the error where SQLite did not understand the statement: trying again cannot work."""
    # The low byte; the rest says more about it.
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_ERROR:
        raise error


def _end(connection: sqlite3.Connection | None) -> None:
    if connection is not None and connection.in_transaction:
        # A disk that fails may fail this too; the next BEGIN then says so again.
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


def _is_on_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _on(loop: asyncio.AbstractEventLoop | None, work: Callable[[], T]) -> T:
    """What ``work`` returns or raises, run on that loop while this thread waits; here without one.

    Raises _LoopEnded when the loop does not come to it.
    """
    if loop is None:
        return work()
    done: Future[T] = Future()
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(_carry_out, work, done)
    while not wait([done], LOOP_ALIVE_SECONDS).done:
        if not loop.is_running() and done.cancel():
            raise _LoopEnded
    return done.result()


def _carry_out(work: Callable[[], T], done: Future[T]) -> None:
    if not done.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001  # carried to the thread that waits
        done.set_exception(error)
    else:
        done.set_result(result)


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
    for outcome in outcomes:
        done = outcome.job.done
        # A caller may have gone away; what was committed stays committed.
        if done.done():
            continue
        if outcome.error is None:
            done.set_result(outcome.result)
        else:
            done.set_exception(outcome.error)
