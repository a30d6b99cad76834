"""One handle on the database: ``read`` and ``write``, which each engine runs in its own way.

SQLite's short reads run on the caller's thread, its writes on one thread that commits several of
them together; PostgreSQL's run on an executor with a connection for each thread. Callers pass a
function whose first argument is the ``Transaction``; only the engines decide about threads.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from functools import partial
from time import perf_counter
from typing import Any, Concatenate, Final, Literal, ParamSpec, TypeVar

import peewee

from storage.base.monitoring import tracing
from storage.base.secrets import Secrets
from storage.db.compiled import Compiled, Engine, Statement, insert_of, inserts_of, update_of
from storage.db.monitoring import durations
from storage.db.named_rows import Row, row_maker

P = ParamSpec("P")
T = TypeVar("T")

# Rows in one INSERT: with 30 columns, half of the parameters that SQLite allows.
INSERT_BATCH: Final = 512
# Up to so many rows are inserted by one statement, whatever their number.
MAX_EXACT: Final = 16
# How long a call waits for the database by default.
TIMEOUT_SECONDS: Final = 10.0

_NO_SPAN: Final = nullcontext()

_MAX_CONFIGS: Final = 512


def keep_configs(cache: dict[str, Any], read: Mapping[str, Any]) -> None:
    """Add organisations' configurations to a cache, which is emptied when it is full."""
    if len(cache) + len(read) > _MAX_CONFIGS:
        cache.clear()
    cache.update(read)


def in_callers_context(work: Callable[P, T]) -> Callable[P, T]:
    """The same work with the caller's context variables, on the thread that runs it.

    Threads start with an empty context: a view rendered there would lose the reader's language,
    a log line its request id.
    """
    return partial(copy_context().run, work)


def _row_maker(cursor: Any) -> Callable[[Iterable[Any]], Row]:
    return row_maker(tuple([column[0] for column in cursor.description]))


class DuplicateRow(Exception):
    """A unique index refused the row; the transaction can only be rolled back.

    ``columns`` are the index's; empty if unknown.
    """

    def __init__(self, message: str, columns: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.columns = frozenset(columns)


class Transaction:
    """A use case's access to the database, valid until the use case returns."""

    __slots__ = ("_execute", "engine", "config_cache", "secrets", "notified")

    def __init__(
        self,
        execute: Callable[[str, Any], Any],
        engine: Engine,
        secrets: Secrets,
        config_cache: dict[str, Any],
    ) -> None:
        self._execute = execute
        self.engine = engine
        self.secrets = secrets
        self.config_cache = config_cache
        self.notified: set[str] = set()

    def all(self, query: Compiled[P], /, *args: P.args, **params: P.kwargs) -> list[Row]:
        """Every row; the query bounds how many there can be."""
        sql, values = query.bind(self.engine, args, params)
        self.flush()
        started = perf_counter()
        try:
            cursor = self._execute(sql, values)
            rows = cursor.fetchall()
        finally:
            durations.end_statement(self.engine, sql, started)
        return [*map(_row_maker(cursor), rows)]

    def first(self, query: Compiled[P], /, *args: P.args, **params: P.kwargs) -> Row | None:
        """The first row or None."""
        sql, values = query.bind(self.engine, args, params)
        cursor = self._timed(sql, values)
        row = cursor.fetchone()
        return None if row is None else _row_maker(cursor)(row)

    def change(self, query: Compiled[P], /, *args: P.args, **params: P.kwargs) -> int:
        """Run an UPDATE, DELETE or INSERT; how many rows it changed."""
        sql, values = query.bind(self.engine, args, params)
        changed: int = self._timed(sql, values).rowcount
        return changed

    def insert(self, table: type[peewee.Model], **values: Any) -> None:
        """Add one row. Raises DuplicateRow where a unique index refuses it."""
        statement = self._insertion(table, values)
        self._timed(statement.sql, statement.bound(values))

    def enqueue_insert(self, table: type[peewee.Model], **values: Any) -> None:
        """Add one row with a new id, before the next statement or the commit.

        On PostgreSQL every statement is a round trip; enqueued changes share one.
        """
        self.insert(table, **values)

    def enqueue_update(self, query: Compiled[P], /, *args: P.args, **params: P.kwargs) -> None:
        """As ``change``, sent together with enqueued inserts; for changes that cannot fail."""
        self.change(query, *args, **params)

    def flush(self) -> None:
        """Send enqueued changes."""

    def _insertion(self, table: type[peewee.Model], values: dict[str, Any]) -> Statement:
        return insert_of(table, tuple(values), self.engine)  # type: ignore[arg-type]  # a class is hashable

    def insert_all(self, table: type[peewee.Model], rows: Sequence[dict[str, Any]]) -> None:
        """Add many rows with the same columns, hundreds at a time. Raises as ``insert``."""
        start = 0
        while start < len(rows):
            size = len(rows) - start
            if size > MAX_EXACT:
                # Powers of two, so that few statements have to be compiled.
                size = min(1 << size.bit_length() - 1, INSERT_BATCH)
            batch = rows[start : start + size]
            statement = inserts_of(table, tuple(batch[0]), size, self.engine)  # type: ignore[arg-type]  # a class is hashable
            values = {
                f"{name}_{index}": value
                for index, row in enumerate(batch)
                for name, value in row.items()
            }
            self._timed(statement.sql, statement.bound(values))
            start += size

    def update(self, table: type[peewee.Model], changes: dict[str, Any], **where: Any) -> int:
        """Change the rows whose columns equal ``where``; return how many there were.

        Every status change uses this, with the previous status in ``where``.
        """
        statement = update_of(table, tuple(changes), tuple(where), self.engine)  # type: ignore[arg-type]  # a class is hashable
        params = changes | {f"where_{name}": value for name, value in where.items()}
        changed: int = self._timed(statement.sql, statement.bound(params)).rowcount
        return changed

    def _timed(self, sql: str, values: Any) -> Any:
        """Run a statement; its cursor."""
        self.flush()
        started = perf_counter()
        try:
            return self._execute(sql, values)
        finally:
            durations.end_statement(self.engine, sql, started)

    def notify(self, name: str) -> None:
        """Notify the dispatchers of that name once this transaction is committed."""
        self.notified.add(name)


Work = Callable[[Transaction], T]
Mode = Literal["read", "write", "dry_run"]


class Database(ABC):
    """Open with ``engines.open_database``; close when done. Safe to use from several threads."""

    engine: Engine

    def __init__(self, secrets: Secrets) -> None:
        self.secrets = secrets
        # The handle of a standby, which may lag; None without one.
        self.standby: Database | None = None
        self.config_cache: dict[str, Any] = {}
        self._listeners: dict[str, Callable[[], None]] = {}

    async def read(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a short reading use case without blocking the event loop for long."""
        return await self._run(use_case, args, kwargs, "read", is_long=False)

    async def read_long(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a reading use case that may take many milliseconds, always on a thread."""
        return await self._run(use_case, args, kwargs, "read", is_long=True)

    async def write(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a short use case in one transaction, which is rolled back if the use case raises.

        Raises what the use case raises, or DatabaseUnavailable; then nothing has changed.
        Raises OutcomeUnknown where the connection was lost during COMMIT.
        """
        return await self._run(use_case, args, kwargs, "write", is_long=False)

    async def write_long(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As ``write``, for a use case that may take many milliseconds.

        On PostgreSQL each of its statements has the time-out, not the use case as a whole.
        """
        return await self._run(use_case, args, kwargs, "write", is_long=True)

    async def dry_run(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As ``write_long``, but always rolled back: returns what the use case returns.

        Nothing that the use case did remains or is seen by others: no rows, no cached config
        data, no notifications. Its locks are held until it returns.
        """
        return await self._run(use_case, args, kwargs, "dry_run", is_long=True)

    def read_now(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As ``read``, for callers without an event loop."""
        return self._run_now(use_case, args, kwargs, "read")

    def write_now(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As ``write_long``, for callers without an event loop."""
        return self._run_now(use_case, args, kwargs, "write")

    def dry_run_now(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As ``dry_run``, for callers without an event loop."""
        return self._run_now(use_case, args, kwargs, "dry_run")

    async def _run(
        self, use_case: Callable[..., T], args: Any, kwargs: Any, mode: Mode, *, is_long: bool
    ) -> T:
        started = perf_counter()
        try:
            with self._span(use_case, mode):
                return await self._transact(
                    lambda tx: use_case(tx, *args, **kwargs), mode, is_long=is_long
                )
        finally:
            durations.TRANSACTIONS[mode].observe(perf_counter() - started)

    def _run_now(self, use_case: Callable[..., T], args: Any, kwargs: Any, mode: Mode) -> T:
        started = perf_counter()
        try:
            with self._span(use_case, mode):
                return self._transact_now(lambda tx: use_case(tx, *args, **kwargs), mode)
        finally:
            durations.TRANSACTIONS[mode].observe(perf_counter() - started)

    def _span(self, use_case: Any, mode: Mode) -> AbstractContextManager[object]:
        if tracing.active is None:
            return _NO_SPAN
        function = getattr(use_case, "func", use_case)
        name = f"{function.__module__}.{function.__qualname__}"
        attributes = {"db.system.name": self.engine, "code.function.name": name}
        return tracing.active.inner_span(f"transaction {mode}", attributes)

    @abstractmethod
    async def _transact(self, work: Work[T], mode: Mode, *, is_long: bool) -> T:
        """Run ``work`` in a transaction of its own; only a short read may stay on the loop."""

    @abstractmethod
    def _transact_now(self, work: Work[T], mode: Mode) -> T:
        """Run ``work`` in a transaction of its own and wait for it."""

    @abstractmethod
    def close(self) -> None:
        """Finish running work and close every connection."""

    def on_notify(self, name: str, call: Callable[[], None]) -> None:
        """Run ``call`` after every commit that notifies ``name``, on the thread that committed.

        It must neither block nor raise: other callers' writes wait behind it.
        """
        self._listeners[name] = call

    def _notify(self, names: set[str]) -> None:
        for name in names:
            listener = self._listeners.get(name)
            if listener is not None:
                listener()

    async def listen(self) -> None:
        """Pass on notifications of other processes until cancelled; SQLite has none."""
        await asyncio.Event().wait()
