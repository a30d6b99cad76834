"""PostgreSQL behind the handle: its own executor, one connection for each thread."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.types.string import TextLoader

from storage.base.errors import DatabaseUnavailable, OutcomeUnknown
from storage.base.secrets import Secrets
from storage.db import connections, notifier
from storage.db.compiled import Engine
from storage.db.connections import Connection, Hosts, NoAnswer
from storage.db.database import (
    TIMEOUT_SECONDS,
    Database,
    Mode,
    Work,
    in_callers_context,
    keep_configs,
)
from storage.db.monitoring import durations, failures
from storage.db.postgresql_transaction import PostgresqlTransaction

T = TypeVar("T")

# More threads than cores: most of the time they wait for the network or for a commit's disk write.
THREADS = 8
ATTEMPTS = 3
# How often a statement runs on a connection before it is prepared.
PREPARE_AFTER = 5
_ROLLED_BACK_BY_SERVER = (
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
)
_LOST = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    # The server has become a standby.
    psycopg.errors.ReadOnlySqlTransaction,
)
_CAN_ROLL_BACK = (TransactionStatus.INTRANS, TransactionStatus.INERROR)


class PostgresqlDatabase(Database):
    engine: Engine = "postgresql"

    def __init__(
        self,
        url: str,
        secrets: Secrets,
        timeout_seconds: float = TIMEOUT_SECONDS,
        *,
        session_attrs: str = "read-write",
    ) -> None:
        super().__init__(secrets)
        self._timeout_seconds = timeout_seconds
        parameters = connections.parameters_of(url, timeout_seconds, session_attrs)
        self._hosts = Hosts(parameters, timeout_seconds)
        self._notifier = notifier.Notifier(self._hosts)
        self._local = threading.local()
        self._connections: list[Connection] = []
        self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="postgresql")

    async def _transact(self, work: Work[T], mode: Mode, *, is_long: bool) -> T:
        """Run ``work`` on a thread; waiting for a thread counts towards the time-out.

        Work that no thread has begun by then is dropped. Short work ends within the time-out as a
        whole. Long work must only have a connection by then: each of its statements has the
        time-out for itself.
        """
        queued_at = time.perf_counter()
        ends_at = time.monotonic() + self._timeout_seconds

        def begin() -> T:
            durations.THREAD_WAITS.observe(time.perf_counter() - queued_at)
            return self._retry(self._attempt_of(work, mode), ends_at, is_short=not is_long)

        future = self._executor.submit(in_callers_context(begin))
        is_timed_out = False

        def time_out() -> None:
            # False once a thread has begun.
            nonlocal is_timed_out
            is_timed_out = future.cancel()

        timer = asyncio.get_running_loop().call_later(self._timeout_seconds, time_out)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if not is_timed_out:
                raise
            durations.THREAD_WAITS.observe(self._timeout_seconds)
            failures.count("no_thread")
            text = "No thread became free: the database is too slow."
            raise DatabaseUnavailable(text, kind="no_thread") from None
        finally:
            timer.cancel()

    def _transact_now(self, work: Work[T], mode: Mode) -> T:
        return self._retry(self._attempt_of(work, mode))

    def _attempt_of(self, work: Work[T], mode: Mode) -> Callable[[], T]:
        attempts = {
            "read": self._attempt_read,
            "write": self._attempt_write,
            "dry_run": self._attempt_dry_run,
        }
        return partial(attempts[mode], work)

    def _notify(self, names: set[str]) -> None:
        super()._notify(names)
        for name in names - self._listeners.keys():
            # No dispatcher of this name runs in this process.
            self._notifier.notify(name)

    async def listen(self) -> None:
        # Runs only this process's listeners: other processes get the notification themselves.
        await notifier.listen(self._hosts, self._notify_here, list(self._listeners))

    def _notify_here(self, name: str) -> None:
        super()._notify({name})

    def close(self) -> None:
        if self.standby is not None:
            self.standby.close()
        self._notifier.close()
        self._executor.shutdown()
        for connection in self._connections:
            connection.close()

    def _attempt_read(self, work: Work[T]) -> T:
        # The cache first: if the connection is replaced, rows of a lost server must not get into
        # the new cache.
        cache = self.config_cache
        return work(self._transaction(self._connection(), cache))

    def _attempt_write(self, work: Work[T]) -> T:
        # Other transactions see what this one caches only once it is committed.
        cache = self.config_cache
        connection = self._connection()
        tx = self._transaction(connection, cache.copy())
        connection.execute("BEGIN")
        try:
            result = work(tx)
            tx.flush()
        except BaseException:
            if connection.pgconn.transaction_status in _CAN_ROLL_BACK:
                connection.execute("ROLLBACK")
            raise
        try:
            committed = connection.execute("COMMIT")
        except psycopg.OperationalError as error:
            if connection.pgconn.transaction_status == TransactionStatus.IDLE:
                # PostgreSQL has rolled back and said so.
                raise
            # No retry: the transaction may be committed.
            self._forget_connection()
            kind = failures.counted(error)
            raise OutcomeUnknown("The connection was lost during COMMIT.", kind=kind) from error
        if committed.statusmessage != "COMMIT":
            raise RuntimeError(
                "The use case continued after an error that rolled back its transaction."
            )
        keep_configs(cache, tx.config_cache)
        self._notify(tx.notified)
        return result

    def _attempt_dry_run(self, work: Work[T]) -> T:
        cache = self.config_cache.copy()
        connection = self._connection()
        tx = self._transaction(connection, cache)
        connection.execute("BEGIN")
        try:
            result = work(tx)
            # Constraint violations are raised as in a real write.
            tx.flush()
        finally:
            if connection.pgconn.transaction_status in _CAN_ROLL_BACK:
                connection.execute("ROLLBACK")
        return result

    def _retry(
        self, attempt: Callable[[], T], ends_at: float | None = None, *, is_short: bool = False
    ) -> T:
        """Retry after a deadlock, a serialisation failure or a lost connection.

        With ``ends_at``, an attempt has half of the time that is left, so that a server that does
        not answer leaves time for another connection, perhaps to another host. Long work has to
        connect in that time, short work to end.
        """
        for attempts_left in range(ATTEMPTS - 1, -1, -1):
            try:
                attempt_ends_at = _half_way(ends_at) if attempts_left else ends_at
                self._local.connects_by = attempt_ends_at
                self._local.ends_at = attempt_ends_at if is_short else None
                return attempt()
            except psycopg.errors.ForeignKeyViolation:
                # The referenced row was deleted after it was read, perhaps into the cache: the next
                # attempt reads it again. If that does not help, it is a bug.
                self.config_cache = {}
                if not attempts_left:
                    raise
            except _ROLLED_BACK_BY_SERVER as error:
                kind = failures.counted(error)
                if not attempts_left:
                    raise DatabaseUnavailable(str(error), kind=kind) from error
            except _LOST as error:
                kind = failures.counted(error)
                self._forget_connection()
                is_too_late = not is_short and isinstance(error, NoAnswer)
                if is_too_late or not attempts_left:
                    raise DatabaseUnavailable(str(error), kind=kind) from error
        raise AssertionError("the last attempt returns or raises")

    def _connection(self) -> Connection:
        """This thread's connection, which ends its waits in time for this attempt."""
        ends_at: float | None = self._local.ends_at
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is not None and self._hosts.is_current(connection):
            connection.ends_at = ends_at
            return connection
        self._close_connection()
        started = time.perf_counter()
        try:
            connection = self._hosts.connect(ends_at=self._local.connects_by)
        finally:
            durations.CONNECTION_WAITS.observe(time.perf_counter() - started)
        connection.ends_at = ends_at
        # Ids and dates as text, as SQLite returns them.
        for name in ("uuid", "date"):
            connection.adapters.register_loader(name, TextLoader)
        self._local.connection = connection
        self._connections.append(connection)
        if not connection.is_pooled:
            # Every query is written for one plan: planning again takes longer than running it.
            # In memory and on flash drives, random reads cost hardly more than sequential ones. By
            # the default of 4, PostgreSQL may scan an organisation instead of looking up ten ids.
            # A sequential scan reads the rows of all organisations, so no query should have one.
            # Compiling a plan (jit) takes longer than running it.
            connection.execute(
                "SET plan_cache_mode = force_generic_plan; SET random_page_cost = 1.1;"
                "SET enable_seqscan = off; SET jit = off"
            )
            connection.prepare_threshold = PREPARE_AFTER
        return connection

    def _forget_connection(self) -> None:
        """Close this thread's connection, which does not work any more, if it has one."""
        connection = self._close_connection()
        if connection is not None:
            self._hosts.lost(connection)
            # A new cache: transactions that have begun still fill the old one.
            self.config_cache = {}

    def _close_connection(self) -> Connection | None:
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            self._local.connection = None
            self._connections.remove(connection)
            connection.close()
        return connection

    def _transaction(
        self, connection: Connection, config_cache: dict[str, Any]
    ) -> PostgresqlTransaction:
        return PostgresqlTransaction(connection.cursor(), self.secrets, config_cache)


def _half_way(ends_at: float | None) -> float | None:
    if ends_at is None:
        return None
    now = time.monotonic()
    return now + max(ends_at - now, 0.0) / 2
