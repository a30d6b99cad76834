"""The thread that writes to SQLite: several callers' transactions in one commit.

SQLite has one writer at a time, and a commit waits for the disk. Transactions that were queued
meanwhile share the next commit. When one of them has to be rolled back, the group runs again with a
savepoint for each. Savepoints cost a tenth of a request, and nearly every error precedes the first
change, so the first run has none.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from storage.base.errors import DatabaseUnavailable
from storage.base.secrets import Secrets
from storage.db.database import DuplicateRow, Transaction, Work, in_callers_context, keep_configs
from storage.db.monitoring import durations, failures

T = TypeVar("T")

# How many transactions share one commit at most, and for how long a commit takes in others.
GROUP_SIZE: Final = 64
GROUP_SECONDS: Final = 0.02

_UNIQUE: Final = ("SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Job:
    """A transaction that a caller waits for; a dry run is always rolled back."""

    work: Work[Any]
    future: Future[Any]
    is_dry_run: bool
    # Of ``time.perf_counter``.
    queued_at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class _Outcome:
    job: _Job
    tx: Transaction
    result: Any = None
    error: BaseException | None = None


class _NeedsSavepoints(Exception):
    """A job raised after it had changed something; the changes of other jobs must stay."""


class SqliteWriter:
    """``config_cache`` is what committed transactions have read; ``notify`` is called after a
    commit with the names that its transactions notify.
    """

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        secrets: Secrets,
        config_cache: dict[str, Any],
        notify: Callable[[set[str]], None],
        group_seconds: float = GROUP_SECONDS,
    ) -> None:
        self._connect = connect
        self._secrets = secrets
        self._config_cache = config_cache
        self._notify = notify
        self._group_seconds = group_seconds
        self._jobs: deque[_Job] = deque()
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._changed = threading.Condition()

    def submit(self, work: Work[T], *, is_dry_run: bool) -> Future[T]:
        """Queue a transaction; its result or its error is set after the commit.

        An error waits too, because it may depend on another transaction's uncommitted rows. A
        future that is cancelled before its turn is skipped. Raises DatabaseUnavailable once closed.
        """
        future: Future[T] = Future()
        job = _Job(
            work=in_callers_context(work),
            future=future,
            is_dry_run=is_dry_run,
            queued_at=time.perf_counter(),
        )
        with self._changed:
            if self._is_closed:
                raise DatabaseUnavailable("The database handle is closed.", kind="closed")
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run_until_closed, name="sqlite-writer", daemon=True
                )
                self._thread.start()
            self._jobs.append(job)
            self._changed.notify()
        return future

    def close(self) -> None:
        """Finish what is queued and end the thread."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _run_until_closed(self) -> None:
        connection: sqlite3.Connection | None = None
        while self._wait_for_jobs():
            group: list[_Job] = []
            try:
                connection = connection or self._connect()
                outcomes = self._commit_group(connection, group)
            except sqlite3.Error as error:
                _roll_back(connection)
                # Fail all queued jobs: each would wait as long for the same lock.
                group += iter(self._next_job, None)
                unavailable = failures.unavailable(error)
                for job in group:
                    job.future.set_exception(unavailable)
            else:
                self._publish(outcomes)

    def _publish(self, outcomes: list[_Outcome]) -> None:
        """After the commit: resolve futures, keep what was read, notify."""
        notified: set[str] = set()
        for outcome in outcomes:
            if outcome.error is not None:
                outcome.job.future.set_exception(outcome.error)
                continue
            if not outcome.job.is_dry_run:
                keep_configs(self._config_cache, outcome.tx.config_cache)
                notified |= outcome.tx.notified
            outcome.job.future.set_result(outcome.result)
        self._notify(notified)

    def _wait_for_jobs(self) -> bool:
        """Wait for a job; False when closed and the queue is empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._is_closed)
        return bool(self._jobs)

    def _next_job(self) -> _Job | None:
        while self._jobs:
            job = self._jobs.popleft()
            durations.WRITER_WAITS.observe(time.perf_counter() - job.queued_at)
            if job.future.set_running_or_notify_cancel():
                return job
        return None

    def _commit_group(self, connection: sqlite3.Connection, group: list[_Job]) -> list[_Outcome]:
        """Run queued jobs, which are added to ``group``, and commit them together.

        Raises sqlite3.Error when all of them are rolled back.
        """
        connection.execute("BEGIN IMMEDIATE")
        try:
            outcomes = self._run_jobs(connection, self._take_into(group), in_savepoints=False)
        except _NeedsSavepoints:
            connection.execute("ROLLBACK")
            connection.execute("BEGIN IMMEDIATE")
            outcomes = self._run_jobs(connection, group, in_savepoints=True)
        connection.execute("COMMIT")
        return outcomes

    def _take_into(self, group: list[_Job]) -> Iterator[_Job]:
        ends_at = time.monotonic() + self._group_seconds
        while len(group) < GROUP_SIZE and (not group or time.monotonic() < ends_at):
            job = self._next_job()
            if job is None:
                return
            group.append(job)
            yield job

    def _run_jobs(
        self, connection: sqlite3.Connection, jobs: Iterable[_Job], *, in_savepoints: bool
    ) -> list[_Outcome]:
        """Run jobs one after the other; each sees what earlier jobs cached and changed.

        Raises _NeedsSavepoints for a job that raised after it had changed something.
        """
        outcomes: list[_Outcome] = []
        cache = self._config_cache
        for job in jobs:
            tx = Transaction(partial(_execute, connection), "sqlite", self._secrets, cache.copy())
            outcome = _run(connection, job, tx, in_savepoint=in_savepoints or job.is_dry_run)
            if outcome.error is None and not job.is_dry_run:
                cache = tx.config_cache
            outcomes.append(outcome)
        return outcomes


def _run(
    connection: sqlite3.Connection, job: _Job, tx: Transaction, *, in_savepoint: bool
) -> _Outcome:
    changes_before = connection.total_changes
    if in_savepoint:
        connection.execute("SAVEPOINT job")
    try:
        outcome = _Outcome(job=job, tx=tx, result=job.work(tx))
    except BaseException as error:  # noqa: BLE001  # carried to the caller
        outcome = _Outcome(job=job, tx=tx, error=error)
    if not connection.in_transaction:
        # SQLite itself rolls everything back on a full disk, for example.
        raise sqlite3.OperationalError("The transaction was lost.") from outcome.error
    if in_savepoint:
        if outcome.error is not None or job.is_dry_run:
            connection.execute("ROLLBACK TO job")
        connection.execute("RELEASE job")
    elif outcome.error is not None and connection.total_changes != changes_before:
        raise _NeedsSavepoints
    return outcome


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
        if not failures.is_unavailable(error):
            raise
        raise failures.unavailable(error) from error


def _roll_back(connection: sqlite3.Connection | None) -> None:
    if connection is not None and connection.in_transaction:
        # A failing disk may fail this too; the next BEGIN then raises again.
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
