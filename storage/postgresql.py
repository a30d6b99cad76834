"""PostgreSQL behind the handle: its own executor, one connection for each thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import peewee
import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.string import TextLoader

from storage import wakeups
from storage.compiled import Compiled, Engine
from storage.database import Database, DuplicateRow, Transaction, in_callers_context
from storage.errors import DatabaseUnavailable
from storage.gathering import Gathering
from storage.secrets import Secrets

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 4
ATTEMPTS = 3
_UNDONE_BY_OTHERS = (
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
    # What a new row refers to was deleted after we read it: the next attempt sees that.
    psycopg.errors.ForeignKeyViolation,
)
# A server that went away without a word is noticed after some 20 seconds, not after the
# operating system's quarter of an hour. What the URL says goes first.
_CONNECTING: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}


class _Transaction(Transaction):
    """Keeps back what is to be done soon, and sends it as one statement."""

    __slots__ = ("_kept_back", "_losses", "_run")

    def __init__(
        self,
        cursor: psycopg.Cursor[Any],
        secrets: Secrets,
        reference_cache: dict[str, Any],
        losses: int,
    ) -> None:
        super().__init__(self._run_in_turn, "postgresql", secrets, reference_cache)
        self._losses = losses
        self._run = partial(_execute, cursor)
        self._kept_back: list[tuple[str, Any]] = []

    def state(self, seen: str | None) -> object | None:
        # After a fail-over that lost something the same names may come again.
        return None if seen is None else (self._losses, seen)

    def insert_soon(self, table: type[peewee.Model], **values: Any) -> None:
        statement = self._insertion(table, values)
        self._kept_back.append((statement.sql, statement.bound(values)))

    def change_soon(self, query: Compiled, **places: Any) -> None:
        statement = query.statement(self.engine, places)
        if any(sql == statement.sql for sql, _ in self._kept_back):
            # One statement may not change a row twice.
            self.send_kept_back()
        self._kept_back.append((statement.sql, statement.bound(places)))

    def send_kept_back(self) -> None:
        if self._kept_back:
            statements, values = zip(*self._kept_back, strict=True)
            self._kept_back = []
            self._run(_together(statements), tuple(chain.from_iterable(values)))

    def _run_in_turn(self, sql: str, values: Any) -> Any:
        self.send_kept_back()
        return self._run(sql, values)


class PostgresqlDatabase(Database):
    engine: Engine = "postgresql"

    def __init__(self, url: str, secrets: Secrets) -> None:
        super().__init__(secrets)
        self._parameters = _CONNECTING | conninfo_to_dict(url)
        self._announcer = wakeups.Announcer(self._parameters)
        self._local = threading.local()
        self._gatherings: WeakKeyDictionary[
            asyncio.AbstractEventLoop, dict[object, Gathering[str, Any]]
        ] = WeakKeyDictionary()
        self._connections: list[psycopg.Connection[Any]] = []
        # How many connections were lost.
        self._losses = 0
        self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="postgresql")

    async def read(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        loop = asyncio.get_running_loop()
        work = partial(self.read_now, use_case, *args, **kwargs)
        return await loop.run_in_executor(self._executor, in_callers_context(work))

    async def read_each(
        self, use_case: Callable[[Transaction, list[str]], Mapping[str, T]], key: str
    ) -> T | None:
        # What waits for its turn belongs to one event loop; tests have several.
        of_loop = self._gatherings.setdefault(asyncio.get_running_loop(), {})
        gathering = of_loop.get(use_case)
        if gathering is None:

            async def ask(keys: list[str]) -> Mapping[str, T]:
                return await self.read(use_case, keys)

            gathering = of_loop[use_case] = Gathering(ask)
        return await gathering.get(key)

    async def read_long(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await self.read(use_case, *args, **kwargs)

    async def write(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        loop = asyncio.get_running_loop()
        work = partial(self.write_now, use_case, *args, **kwargs)
        return await loop.run_in_executor(self._executor, in_callers_context(work))

    async def write_long(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await self.write(use_case, *args, **kwargs)

    def read_now(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return self._until_it_answers(
            lambda: use_case(self._transaction(self.reference_cache), *args, **kwargs)
        )

    def write_now(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return self._until_it_answers(lambda: self._write_once(use_case, *args, **kwargs))

    def _wake(self, names: set[str]) -> None:
        super()._wake(names)
        for name in names - self._wakers.keys():
            # Nobody here does that work.
            self._announcer.announce(name)

    async def hear_wakes(self) -> None:
        # What is heard is for this process alone.
        await wakeups.hear(self._parameters, self._wake_here, list(self._wakers))

    def _wake_here(self, name: str) -> None:
        super()._wake({name})

    def close(self) -> None:
        self._announcer.close()
        self._executor.shutdown()
        for connection in self._connections:
            connection.close()

    def _write_once(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        # What is read in here is everybody's only once it is committed.
        known = self.reference_cache.copy()
        tx = self._transaction(known)
        connection = self._connection()
        connection.execute("BEGIN")
        try:
            result = use_case(tx, *args, **kwargs)
            tx.send_kept_back()
        except BaseException:
            if not connection.broken:
                connection.execute("ROLLBACK")
            raise
        try:
            ended = connection.execute("COMMIT")
        except psycopg.OperationalError as error:
            # Not repeated: whether it was committed is unknown.
            self._forget_connection()
            raise DatabaseUnavailable("The connection was lost during COMMIT.") from error
        if ended.statusmessage != "COMMIT":
            raise RuntimeError("The use case went on after an error that undid its transaction.")
        self.reference_cache.update(known)
        self._wake(tx.woken)
        return result

    def _until_it_answers(self, attempt: Callable[[], T]) -> T:
        """Repeat what PostgreSQL undid because of others: a deadlock, a lost connection."""
        for attempts_left in range(ATTEMPTS - 1, -1, -1):
            try:
                return attempt()
            except _UNDONE_BY_OTHERS as error:
                if not attempts_left:
                    raise DatabaseUnavailable(str(error)) from error
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                self._forget_connection()
                if not attempts_left:
                    raise DatabaseUnavailable(str(error)) from error
        raise AssertionError("the last attempt returns or raises")

    def _connection(self) -> psycopg.Connection[Any]:
        connection: psycopg.Connection[Any] | None = getattr(self._local, "connection", None)
        if connection is None:
            try:
                connection = psycopg.connect(autocommit=True, **self._parameters)
            except psycopg.OperationalError as error:
                raise DatabaseUnavailable(str(error)) from error
            # Ids and dates as text: the same rows as SQLite gives, and nothing is parsed in vain.
            for name in ("uuid", "date"):
                connection.adapters.register_loader(name, TextLoader)
            # Every query is built for one plan; making one anew takes longer than running it.
            connection.execute("SET plan_cache_mode = force_generic_plan")
            self._local.connection = connection
            self._connections.append(connection)
        return connection

    def _forget_connection(self) -> None:
        connection: psycopg.Connection[Any] | None = getattr(self._local, "connection", None)
        if connection is not None:
            self._local.connection = None
            self._losses += 1
            self._connections.remove(connection)
            connection.close()

    def _transaction(self, known: dict[str, Any]) -> _Transaction:
        return _Transaction(self._connection().cursor(), self.secrets, known, self._losses)


def _execute(cursor: psycopg.Cursor[Any], sql: str, values: Any) -> psycopg.Cursor[Any]:
    try:
        return cursor.execute(sql, values)
    except psycopg.errors.UniqueViolation as error:
        raise DuplicateRow(str(error)) from error


@lru_cache(maxsize=256)
def _together(statements: tuple[str, ...]) -> str:
    """Several changes as one statement; foreign keys are checked at its end."""
    *first, last = statements
    if not first:
        return last
    parts = [f"c{number} AS ({statement})" for number, statement in enumerate(first)]
    return f"WITH {', '.join(parts)} {last}"
