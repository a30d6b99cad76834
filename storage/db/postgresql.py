"""PostgreSQL behind the handle: its own executor, one connection for each thread."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from itertools import chain
from typing import Any, ParamSpec, TypeVar

import peewee
import psycopg
from psycopg.pq import TransactionStatus
from psycopg.types.string import TextLoader

from storage.base.errors import DatabaseUnavailable, OutcomeUnknown
from storage.base.secrets import Secrets
from storage.db import connections, notifier
from storage.db.compiled import Compiled, Engine
from storage.db.connections import Connection, NoAnswer
from storage.db.database import (
    TIMEOUT_SECONDS,
    Database,
    DuplicateRow,
    Mode,
    Transaction,
    Work,
    in_callers_context,
)

P = ParamSpec("P")
T = TypeVar("T")

# A thread waits most of the time, for the network and for commits to reach the disk.
THREADS = 8
ATTEMPTS = 3
_UNDONE_BY_OTHERS = (
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
)
_LOST = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    # The server has become a standby.
    psycopg.errors.ReadOnlySqlTransaction,
)
_KEY = re.compile(r"\(([^()]*)\)=\(")
_CAN_ROLL_BACK = (TransactionStatus.INTRANS, TransactionStatus.INERROR)


class _Transaction(Transaction):
    """Queues changes that need no answer, and sends them as one statement."""

    __slots__ = ("_queued", "_run")

    def __init__(
        self,
        cursor: psycopg.Cursor[Any],
        secrets: Secrets,
        reference_cache: dict[str, Any],
    ) -> None:
        super().__init__(self._run_in_turn, "postgresql", secrets, reference_cache)
        self._run = partial(_execute, cursor)
        self._queued: list[tuple[str, Any]] = []

    def enqueue_insert(self, table: type[peewee.Model], **values: Any) -> None:
        statement = self._insertion(table, values)
        self._queued.append((statement.sql, statement.bound(values)))

    def enqueue_update(self, query: Compiled[P], /, *args: P.args, **params: P.kwargs) -> None:
        sql, values = query.bind(self.engine, args, params)
        if any(sql == queued for queued, _ in self._queued):
            # One statement may not change a row twice.
            self.flush()
        self._queued.append((sql, values))

    def flush(self) -> None:
        if self._queued:
            statements, values = zip(*self._queued, strict=True)
            self._queued = []
            self._run(_together(statements), tuple(chain.from_iterable(values)))

    def _run_in_turn(self, sql: str, values: Any) -> Any:
        self.flush()
        return self._run(sql, values)


class PostgresqlDatabase(Database):
    engine: Engine = "postgresql"

    def __init__(
        self, url: str, secrets: Secrets, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        super().__init__(secrets)
        self._timeout_seconds = timeout_seconds
        self._parameters = connections.parameters_of(url, timeout_seconds)
        self._notifier = notifier.Notifier(self._parameters, timeout_seconds)
        self._local = threading.local()
        self._connections: list[Connection] = []
        self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="postgresql")

    async def _run(self, work: Work[T], mode: Mode, *, is_long: bool) -> T:
        """Run ``work`` on a thread; waiting for a thread counts towards the time-out.

        Work that no thread has begun by then is dropped. Short work ends within the time-out as a
        whole. Long work must only have a connection by then: each of its statements has the
        time-out for itself.
        """
        ends_at = time.monotonic() + self._timeout_seconds
        working = self._executor.submit(
            in_callers_context(
                partial(self._retry, self._attempt_of(work, mode), ends_at, is_short=not is_long)
            )
        )
        is_given_up = False

        def give_up() -> None:
            # Nothing happens where a thread has begun.
            nonlocal is_given_up
            is_given_up = working.cancel()

        waiting = asyncio.get_running_loop().call_later(self._timeout_seconds, give_up)
        try:
            return await asyncio.wrap_future(working)
        except asyncio.CancelledError:
            if not is_given_up:
                raise
            raise DatabaseUnavailable("No thread became free: the database is too slow.") from None
        finally:
            waiting.cancel()

    def _run_now(self, work: Work[T], mode: Mode) -> T:
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
            # Other processes do that work.
            self._notifier.notify(name)

    async def listen(self) -> None:
        # Other processes listen themselves, so nothing is passed on to them.
        await notifier.listen(
            self._parameters, self._timeout_seconds, self._notify_here, list(self._listeners)
        )

    def _notify_here(self, name: str) -> None:
        super()._notify({name})

    def close(self) -> None:
        self._notifier.close()
        self._executor.shutdown()
        for connection in self._connections:
            connection.close()

    def _attempt_read(self, work: Work[T]) -> T:
        return work(self._transaction(self.reference_cache))

    def _attempt_write(self, work: Work[T]) -> T:
        # Other transactions see what this one caches only once it is committed.
        cache = self.reference_cache
        tx = self._transaction(cache.copy())
        connection = self._connection()
        connection.execute("BEGIN")
        try:
            result = work(tx)
            tx.flush()
        except BaseException:
            if connection.pgconn.transaction_status in _CAN_ROLL_BACK:
                connection.execute("ROLLBACK")
            raise
        try:
            ended = connection.execute("COMMIT")
        except psycopg.OperationalError as error:
            if connection.pgconn.transaction_status == TransactionStatus.IDLE:
                # PostgreSQL has rolled back and said so.
                raise
            # No retry: the transaction may be committed.
            self._forget_connection()
            raise OutcomeUnknown("The connection was lost during COMMIT.") from error
        if ended.statusmessage != "COMMIT":
            raise RuntimeError("The use case went on after an error that undid its transaction.")
        cache.update(tx.reference_cache)
        self._notify(tx.notified)
        return result

    def _attempt_dry_run(self, work: Work[T]) -> T:
        tx = self._transaction(self.reference_cache.copy())
        connection = self._connection()
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
                until = _half_way(ends_at) if attempts_left else ends_at
                self._local.connects_by = until
                self._local.ends_at = until if is_short else None
                return attempt()
            except psycopg.errors.ForeignKeyViolation:
                # The referenced row was deleted after it was read, perhaps into the cache: the next
                # attempt reads it again. If that does not help, it is our bug.
                self.reference_cache = {}
                if not attempts_left:
                    raise
            except _UNDONE_BY_OTHERS as error:
                if not attempts_left:
                    raise DatabaseUnavailable(str(error)) from error
            except _LOST as error:
                self._forget_connection()
                is_too_late = not is_short and isinstance(error, NoAnswer)
                if is_too_late or not attempts_left:
                    raise DatabaseUnavailable(str(error)) from error
        raise AssertionError("the last attempt returns or raises")

    def _connection(self) -> Connection:
        """This thread's connection, which ends its waits in time for this attempt."""
        ends_at: float | None = self._local.ends_at
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            connection.ends_at = ends_at
            return connection
        connection = connections.connect(
            self._parameters, self._timeout_seconds, ends_at=self._local.connects_by
        )
        connection.ends_at = ends_at
        # Ids and dates as text, as SQLite returns them.
        for name in ("uuid", "date"):
            connection.adapters.register_loader(name, TextLoader)
        self._local.connection = connection
        self._local.host = connection.info.host, connection.info.port
        self._connections.append(connection)
        # Every query is written for one plan; planning it again takes longer than running it.
        connection.execute("SET plan_cache_mode = force_generic_plan")
        return connection

    def _forget_connection(self) -> None:
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            self._local.connection = None
            # A new cache: transactions that have begun still fill the old one.
            self.reference_cache = {}
            self._connections.remove(connection)
            connection.close()
            # Another host may have taken over: try the lost one last.
            self._parameters = connections.with_last(self._parameters, *self._local.host)

    def _transaction(self, reference_cache: dict[str, Any]) -> _Transaction:
        return _Transaction(self._connection().cursor(), self.secrets, reference_cache)


def _half_way(ends_at: float | None) -> float | None:
    if ends_at is None:
        return None
    now = time.monotonic()
    return now + max(ends_at - now, 0.0) / 2


def _execute(cursor: psycopg.Cursor[Any], sql: str, values: Any) -> psycopg.Cursor[Any]:
    try:
        return cursor.execute(sql, values)
    except psycopg.errors.UniqueViolation as error:
        # "Key (organisation_id, code)=(…, …) already exists.", in the server's language.
        key = _KEY.search(error.diag.message_detail or "")
        raise DuplicateRow(str(error), key.group(1).split(", ") if key else ()) from error


@lru_cache(maxsize=256)
def _together(statements: tuple[str, ...]) -> str:
    """Several changes as one statement; foreign keys are checked at its end."""
    *first, last = statements
    if not first:
        return last
    parts = [f"c{number} AS ({statement})" for number, statement in enumerate(first)]
    return f"WITH {', '.join(parts)} {last}"
