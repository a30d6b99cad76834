"""PostgreSQL behind the handle: a pool of connections, and threads that use them."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, TypeVar

import psycopg
import structlog
from psycopg.pq import TransactionStatus
from psycopg.types.string import TextLoader
from psycopg_pool import ConnectionPool, PoolTimeout

from storage.base import monitoring
from storage.base.errors import DatabaseUnavailable, FailureKind, OutcomeUnknown
from storage.base.secrets import Secrets
from storage.db.compiled import Engine
from storage.db.connections import (
    Connection,
    NoAnswer,
    Watchdog,
    is_pooled,
    parameters_of,
    with_first,
)
from storage.db.database import TIMEOUT_SECONDS, Database, DuplicateRow, Mode, Transaction, Work

T = TypeVar("T")

# The pool warns of each lost connection, which the request that needed one tells with its kind.
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)

# More threads than cores: most of the time they wait for the network or for a commit's disk write.
THREADS: Final = 8
ATTEMPTS: Final = 3
CHANNEL: Final = "hiatus_wake"
_DEBOUNCE_SECONDS: Final = 0.01
# How long a call waits for a new connection, and how often it looks whether none can be made.
_POOL_SECONDS: Final = 4.0
_LOOK_SECONDS: Final = 0.2
# How often an idle connection that listens is checked, and how soon a lost one is replaced.
_CHECK_SECONDS: Final = 5.0
_LISTEN_AGAIN_SECONDS: Final = 1.0
_BEGIN: Final[dict[Mode, str]] = {
    "read": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "write": "BEGIN",
    "dry_run": "BEGIN",
}
_KEY: Final = re.compile(r"\(([^()]*)\)=\(")
_ROLLED_BACK_BY_SERVER: Final = (
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
)
_LOST: Final = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    # The server has become a standby.
    psycopg.errors.ReadOnlySqlTransaction,
)
# Waiting longer would not help.
_TIMED_OUT: Final = ("timeout", "locked")

_POOLED: Final = (
    "DATABASE_URL leads to a connection pooler, so statements are not prepared, and what other "
    "processes leave to this one begins up to a second later."
)

_log = structlog.stdlib.get_logger("hiatus.database")


class PostgresqlDatabase(Database):
    engine: Engine = "postgresql"

    def __init__(
        self, url: str, secrets: Secrets, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        super().__init__(secrets, timeout_seconds)
        self._parameters = parameters_of(url, timeout_seconds)
        self._watchdog = Watchdog(timeout_seconds)
        self._failed_at = 0.0
        self._pool = ConnectionPool(
            kwargs=lambda: self._parameters | {"autocommit": True},
            configure=self._configure,
            min_size=0,
            # One for each thread, and one to notify: none waits for another's.
            max_size=THREADS + 1,
            # Each call tries again.
            reconnect_timeout=0.0,
            reconnect_failed=self._cannot_connect,
            # Each may wait for a host that does not answer.
            num_workers=THREADS,
            name="postgresql",
            open=False,
        )
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="postgresql")
        self._notifier = ThreadPoolExecutor(1, thread_name_prefix="postgresql-notifier")
        self._queued_names: set[str] = set()

    def _executor(self, mode: Mode) -> ThreadPoolExecutor:
        return self._threads

    def _transact(self, work: Work[T], mode: Mode) -> T:
        """Retry after a deadlock, a serialisation failure or a lost connection."""
        ends_at = time.monotonic() + self._timeout_seconds
        for attempts_left in range(ATTEMPTS - 1, -1, -1):
            is_last = not attempts_left or time.monotonic() > ends_at
            try:
                with self._connection() as connection:
                    return self._attempt(connection, work, mode)
            except psycopg.errors.ForeignKeyViolation:
                # The referenced row was deleted after it was read, perhaps into the cache: the next
                # attempt reads it again. If that does not help, it is a bug.
                self.config_cache = {}
                if is_last:
                    raise
            except _ROLLED_BACK_BY_SERVER as error:
                kind = _counted(error)
                if is_last:
                    raise DatabaseUnavailable(str(error), kind=kind) from error
            except _LOST as error:
                kind = _counted(error)
                self._lost(error, kind)
                if is_last or kind in _TIMED_OUT or isinstance(error, PoolTimeout):
                    raise DatabaseUnavailable(str(error), kind=kind) from error
        raise AssertionError("the last attempt returns or raises")

    def _attempt(self, connection: Connection, work: Work[T], mode: Mode) -> T:
        # Other transactions see what a write caches only once it is committed.
        cache = self.config_cache
        tx = Transaction(
            partial(self._execute, connection),
            self.engine,
            self.secrets,
            cache if mode == "read" else cache.copy(),
        )
        self._send(connection, _BEGIN[mode])
        try:
            result = work(tx)
        except BaseException:
            self._roll_back(connection)
            raise
        if mode != "write":
            self._roll_back(connection)
            return result
        if connection.info.transaction_status == TransactionStatus.INERROR:
            self._roll_back(connection)
            raise RuntimeError(
                "The use case continued after an error that rolled back its transaction."
            )
        try:
            self._send(connection, "COMMIT")
        except psycopg.OperationalError as error:
            if connection.info.transaction_status == TransactionStatus.IDLE:
                # PostgreSQL has rolled back and said so.
                raise
            # No retry: the transaction may be committed.
            kind = _counted(error)
            self._lost(error, kind)
            raise OutcomeUnknown("The connection was lost during COMMIT.", kind=kind) from error
        self._committed(tx, cache)
        return result

    def _roll_back(self, connection: Connection) -> None:
        # A connection that is lost has nothing to roll back.
        if connection.info.transaction_status != TransactionStatus.UNKNOWN:
            self._send(connection, "ROLLBACK")

    def _send(self, connection: Connection, statement: str) -> None:
        with self._watchdog.watching(connection):
            connection.execute(statement, prepare=False)

    def _execute(self, connection: Connection, sql: str, values: Any) -> psycopg.Cursor[Any]:
        try:
            with self._watchdog.watching(connection):
                return connection.execute(sql, values)
        except psycopg.Error as error:
            # The other lines contain values of rows, and tracebacks end up in logs.
            error.args = (str(error).partition("\n")[0],)
            if not isinstance(error, psycopg.errors.UniqueViolation):
                raise
            # "Key (organisation_id, code)=(…, …) already exists.", in the server's language.
            key = _KEY.search(error.diag.message_detail or "")
            raise DuplicateRow(str(error), key.group(1).split(", ") if key else ()) from error

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        started = time.perf_counter()
        try:
            connection = self._taken_from_pool()
        finally:
            monitoring.CONNECTION_WAITS.observe(time.perf_counter() - started)
        try:
            yield connection
        finally:
            self._pool.putconn(connection)

    def _taken_from_pool(self) -> Connection:
        """Raises PoolTimeout as soon as no connection can be made."""
        self._pool.open()
        began_at = time.monotonic()
        while True:
            try:
                return self._pool.getconn(_LOOK_SECONDS)
            except PoolTimeout:
                seconds = time.monotonic() - began_at
                if self._failed_at > began_at or seconds > _POOL_SECONDS:
                    raise PoolTimeout("No connection to PostgreSQL could be made.") from None

    def _cannot_connect(self, _: ConnectionPool[Any]) -> None:
        self._failed_at = time.monotonic()

    def _configure(self, connection: Connection) -> None:
        """Prepare a new connection, which may lead to another server than those before it."""
        # Ids and dates as text, as SQLite returns them.
        for name in ("uuid", "date"):
            connection.adapters.register_loader(name, TextLoader)
        with self._watchdog.watching(connection):
            if is_pooled(connection):
                connection.prepare_threshold = None
            else:
                milliseconds = int(self._timeout_seconds * 1_000)
                # In memory and on flash drives, random reads cost hardly more than sequential ones.
                # Compiling a plan (jit) takes longer than running it.
                connection.execute(
                    f"SET statement_timeout = {milliseconds}; SET jit = off;"
                    "SET random_page_cost = 1.1"
                )
        # A server that was replaced and wakes up again is not to be tried first.
        self._parameters = with_first(self._parameters, connection.info.host, connection.info.port)

    def _lost(self, error: Exception, kind: FailureKind) -> None:
        """Replace all connections: where one is lost, another server may have taken over."""
        is_usable = kind in _TIMED_OUT and not isinstance(error, NoAnswer)
        if not is_usable and not isinstance(error, PoolTimeout):
            self._pool.drain()
            # A fail-over may have lost what was cached.
            self.config_cache = {}

    def close(self) -> None:
        self._threads.shutdown()
        self._notifier.shutdown()
        self._pool.close()
        self._watchdog.close()

    def _notify(self, names: set[str]) -> None:
        super()._notify(names)
        # No dispatcher of these names runs in this process.
        for name in names - self._listeners.keys() - self._queued_names:
            self._queued_names.add(name)
            # After the commit, as a NOTIFY in a transaction makes commits wait for each other.
            self._notifier.submit(self._notify_others, name)

    def _notify_others(self, name: str) -> None:
        # Once for all commits within this time.
        time.sleep(_DEBOUNCE_SECONDS)
        self._queued_names.discard(name)
        try:
            with self._connection() as connection:
                self._execute(connection, "SELECT pg_notify(%s, %s)", (CHANNEL, name))
        except psycopg.Error as error:
            # The dispatcher's next run finds the work.
            _log.warning("database.not_notified", reason=str(error))

    async def listen(self) -> None:
        """Pass on notifications of other processes, until cancelled.

        Each connection begins with all names: notifications before it are lost. Returns if a
        connection pooler is in between, which passes on no notifications.
        """
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    **self._parameters, autocommit=True
                ) as connection:
                    if not await self._listen_on(connection):
                        return
            except (psycopg.Error, TimeoutError) as error:
                _log.warning("database.not_listening", reason=str(error))
            await asyncio.sleep(_LISTEN_AGAIN_SECONDS)

    async def _listen_on(self, connection: psycopg.AsyncConnection[tuple[Any, ...]]) -> bool:
        """Returns False if a connection pooler is in between; else raises in the end."""
        async with asyncio.timeout(self._timeout_seconds):
            process = await (await connection.execute("SELECT pg_backend_pid()")).fetchone()
            if process != (connection.info.backend_pid,):
                _log.info("database.pooled", reason=_POOLED)
                return False
            await connection.execute(f"LISTEN {CHANNEL}")
        # Runs only this process's listeners: other processes get the notification themselves.
        super()._notify(set(self._listeners))
        while True:
            async for notification in connection.notifies(timeout=_CHECK_SECONDS):
                super()._notify({notification.payload})
            # A server that was stopped or replaced sends nothing either.
            async with asyncio.timeout(self._timeout_seconds):
                await connection.execute("SELECT 1")


# https://www.postgresql.org/docs/current/errcodes-appendix.html
_SQLSTATES: Final[dict[str, FailureKind]] = {
    "25006": "read_only",
    "40001": "serialization",
    "40P01": "deadlock",
    "53100": "disk_full",
    "53300": "too_many_connections",
    "55P03": "locked",
    "57014": "timeout",
    "XX001": "corrupt",
    "XX002": "corrupt",
}


def kind_of(error: Exception) -> FailureKind:
    """The kind of an error that psycopg or one of our connections raised."""
    own_kind: FailureKind | None = getattr(error, "failure_kind", None)
    if own_kind is not None:
        return own_kind
    sqlstate: str | None = getattr(error, "sqlstate", None)
    # Without a state, the error is libpq's own: there is no connection.
    if sqlstate is None or sqlstate.startswith(("08", "57P")):
        return "connection_lost"
    return _SQLSTATES.get(sqlstate, "other")


def _counted(error: Exception) -> FailureKind:
    """Count the error; its kind."""
    kind = kind_of(error)
    monitoring.count_database_error(kind)
    return kind
