"""One handle on the database: ``read`` and ``write``, which each engine runs in its own way.

Callers pass a function whose first argument is the ``Transaction``. It runs on a thread: SQLite has
some for reading and one for writing, PostgreSQL some for both.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import namedtuple
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Concatenate, Final, Literal, ParamSpec, TypeVar

from storage.base import monitoring
from storage.base.errors import DatabaseUnavailable
from storage.base.secrets import Secrets
from storage.db.compiled import (
    Compiled,
    Engine,
    Statement,
    Table,
    delete_before_of,
    delete_of,
    insert_of,
    matches_of,
    page_select_of,
    select_of,
    update_of,
    upsert_of,
)


class Row(tuple[Any, ...]):
    """A row: ``row.start_date`` is a column by its name or alias. Few columns may be unpacked."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


@lru_cache(maxsize=2_048)
def row_maker(columns: tuple[str, ...]) -> Callable[[Iterable[Any]], Row]:
    """A function that names the columns of a plain row."""
    # An expression without an alias gets a name like ``_3``.
    names: Any = namedtuple("Names", columns, rename=True)  # type: ignore[misc]
    return partial(tuple.__new__, type("Row", (names, Row), {"__slots__": ()}))


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

    __slots__ = ("_execute", "engine", "config_cache", "secrets", "notified", "empties_log")

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
        self.empties_log = False

    def all(self, query: Compiled[P], /, *args: P.args, **params: P.kwargs) -> list[Row]:
        """Every row; the query bounds how many there can be."""
        sql, values = query.bind(self.engine, args, params)
        started = perf_counter()
        try:
            cursor = self._execute(sql, values)
            rows = cursor.fetchall()
        finally:
            monitoring.end_statement(self.engine, sql, started)
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

    def insert(self, table: Table, **values: Any) -> None:
        """Add one row. Raises DuplicateRow where a unique index refuses it."""
        self.insert_all(table, [values])

    def insert_all(self, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        """Add many rows with the same columns, hundreds at a time. Raises as ``insert``."""
        start = 0
        while start < len(rows):
            size = len(rows) - start
            if size > MAX_EXACT:
                # Powers of two, so that few statements have to be compiled.
                size = min(1 << size.bit_length() - 1, INSERT_BATCH)
            batch = rows[start : start + size]
            statement = insert_of(table, tuple(batch[0]), size, self.engine)
            values = {
                f"{name}_{index}": value
                for index, row in enumerate(batch)
                for name, value in row.items()
            }
            self._timed(statement.sql, statement.bound(values))
            start += size

    def insert_new(self, table: Table, **values: Any) -> bool:
        """Add one row; False where a unique index refuses it."""
        statement = upsert_of(table, (), tuple(values), self.engine)
        return bool(self._timed(statement.sql, statement.bound(values)).rowcount)

    def upsert(self, table: Table, key: dict[str, Any], **values: Any) -> None:
        """Add the row with that unique key, or change it."""
        statement = upsert_of(table, tuple(key), tuple(values), self.engine)
        self._timed(statement.sql, statement.bound(key | values))

    # In ``where``, None is NULL, NOT_NULL any value, and a list any of its items.

    def update(self, table: Table, changes: dict[str, Any], **where: Any) -> int:
        """Change the rows whose columns equal ``where``; return how many there were.

        Every status change uses this, with the previous status in ``where``.
        """
        statement = update_of(table, tuple(changes), matches_of(where), self.engine)
        params = changes | {f"where_{name}": value for name, value in where.items()}
        changed: int = self._timed(statement.sql, statement.bound(params)).rowcount
        return changed

    def select(self, table: Table, lock: str = "", /, **where: Any) -> list[Row]:
        """The rows whose columns equal ``where``, in no order. ``lock`` is PostgreSQL's."""
        statement = select_of(table, matches_of(where), lock, self.engine)
        return self._rows(statement, where)

    def select_page(
        self,
        table: Table,
        /,
        *,
        after_id: str | None,
        limit: int,
        descends: bool = False,
        **where: Any,
    ) -> list[Row]:
        """Up to ``limit`` rows whose columns equal ``where``, by id, after ``after_id``."""
        statement = page_select_of(
            table,
            matches_of(where),
            after_id is None,
            descends,
            self.engine,
        )
        return self._rows(statement, where | {"after_id": after_id, "limit": limit})

    def _rows(self, statement: Statement, params: dict[str, Any]) -> list[Row]:
        cursor = self._timed(statement.sql, statement.bound(params))
        return [*map(_row_maker(cursor), cursor.fetchall())]

    def find(self, table: Table, lock: str = "", /, **where: Any) -> Row | None:
        """The row whose columns equal ``where``, which are a key, or None."""
        return next(iter(self.select(table, lock, **where)), None)

    def delete(self, table: Table, /, **where: Any) -> int:
        """Delete the rows whose columns equal ``where``; return how many there were."""
        statement = delete_of(table, matches_of(where), self.engine)
        deleted: int = self._timed(statement.sql, statement.bound(where)).rowcount
        return deleted

    def delete_before(self, table: Table, column: str, before: datetime, limit: int) -> int:
        """Delete up to ``limit`` rows whose column is earlier; return how many."""
        statement = delete_before_of(table, column, self.engine)
        values = statement.bound({"before": before, "limit": limit})
        deleted: int = self._timed(statement.sql, values).rowcount
        return deleted

    def _timed(self, sql: str, values: Any) -> Any:
        """Run a statement; its cursor."""
        started = perf_counter()
        try:
            return self._execute(sql, values)
        finally:
            monitoring.end_statement(self.engine, sql, started)

    def empty_log(self) -> None:
        """After the commit, empty SQLite's write-ahead log, which still has what was overwritten.

        Other writes wait meanwhile, for milliseconds unless a long read prevents it.
        """
        self.empties_log = True

    def notify(self, name: str) -> None:
        """Notify the dispatchers of that name once this transaction is committed."""
        self.notified.add(name)


Work = Callable[[Transaction], T]
Mode = Literal["read", "write", "dry_run"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Some of a long content, and the use case that reads what follows; None after the last."""

    content: bytes
    more: Callable[[Transaction], Part] | None


class Database(ABC):
    """Open with ``engines.open_database``; close when done. Safe to use from several threads."""

    engine: Engine

    def __init__(self, secrets: Secrets, timeout_seconds: float) -> None:
        self.secrets = secrets
        self.config_cache: dict[str, Any] = {}
        self._timeout_seconds = timeout_seconds
        self._listeners: dict[str, Callable[[], None]] = {}

    async def read(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a reading use case: all of its statements see the same moment."""
        return await self._run(use_case, args, kwargs, "read")

    async def read_parts(self, first: Part) -> AsyncIterator[bytes]:
        """The content from its first part on, each other part in a transaction of its own."""
        part = first
        yield part.content
        while part.more is not None:
            part = await self.read(part.more)
            yield part.content

    async def write(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a use case in one transaction, which is rolled back if the use case raises.

        Raises what the use case raises, or DatabaseUnavailable; then nothing has changed.
        Raises OutcomeUnknown where the connection was lost during COMMIT.
        """
        return await self._run(use_case, args, kwargs, "write")

    async def dry_run(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As ``write``, but always rolled back: returns what the use case returns.

        Nothing that the use case did remains or is seen by others: no rows, no cached config
        data, no notifications. Its locks are held until it returns.
        """
        return await self._run(use_case, args, kwargs, "dry_run")

    def read_now(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As ``read``, for callers without an event loop."""
        return self._run_now(use_case, args, kwargs, "read")

    def read_parts_now(self, first: Part) -> Iterator[bytes]:
        """As ``read_parts``, for callers without an event loop."""
        part = first
        yield part.content
        while part.more is not None:
            part = self.read_now(part.more)
            yield part.content

    def write_now(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As ``write``, for callers without an event loop."""
        return self._run_now(use_case, args, kwargs, "write")

    def dry_run_now(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As ``dry_run``, for callers without an event loop."""
        return self._run_now(use_case, args, kwargs, "dry_run")

    async def _run(self, use_case: Callable[..., T], args: Any, kwargs: Any, mode: Mode) -> T:
        started = perf_counter()
        try:
            with self._span(use_case, mode):
                future = self._submit(lambda tx: use_case(tx, *args, **kwargs), mode)
                result = asyncio.wrap_future(future)
                try:
                    await asyncio.wait((result,), timeout=self._timeout_seconds)
                finally:
                    # Only work that no thread has begun can be cancelled.
                    is_dropped = future.cancel()
                if is_dropped:
                    raise self._no_thread()
                return await result
        finally:
            monitoring.TRANSACTIONS[mode].observe(perf_counter() - started)

    def _run_now(self, use_case: Callable[..., T], args: Any, kwargs: Any, mode: Mode) -> T:
        started = perf_counter()
        try:
            with self._span(use_case, mode):
                future = self._submit(lambda tx: use_case(tx, *args, **kwargs), mode)
                futures.wait((future,), self._timeout_seconds)
                if future.cancel():
                    raise self._no_thread()
                return future.result()
        finally:
            monitoring.TRANSACTIONS[mode].observe(perf_counter() - started)

    def _submit(self, work: Work[T], mode: Mode) -> futures.Future[T]:
        """Run ``work`` on a thread, in a transaction of its own and in the caller's context."""
        queued_at = perf_counter()
        wait = monitoring.WRITER_WAITS if self.engine == "sqlite" else monitoring.THREAD_WAITS

        def begin() -> T:
            if mode != "read" or self.engine == "postgresql":
                wait.observe(perf_counter() - queued_at)
            return self._transact(work, mode)

        try:
            # Threads start with an empty context: a view rendered there would lose the reader's
            # language, a log line its request id.
            return self._executor(mode).submit(copy_context().run, begin)
        except RuntimeError as error:
            text = "The database handle is closed."
            raise DatabaseUnavailable(text, kind="closed") from error

    def _no_thread(self) -> DatabaseUnavailable:
        monitoring.count_database_error("no_thread")
        text = "No thread became free: the database is too slow."
        return DatabaseUnavailable(text, kind="no_thread")

    def _span(self, use_case: Any, mode: Mode) -> AbstractContextManager[object]:
        if monitoring.active_tracing is None:
            return _NO_SPAN
        function = getattr(use_case, "func", use_case)
        name = f"{function.__module__}.{function.__qualname__}"
        attributes = {"db.system.name": self.engine, "code.function.name": name}
        return monitoring.active_tracing.inner_span(f"transaction {mode}", attributes)

    @abstractmethod
    def _executor(self, mode: Mode) -> futures.ThreadPoolExecutor:
        """The threads that run such transactions."""

    @abstractmethod
    def _transact(self, work: Work[T], mode: Mode) -> T:
        """Run ``work`` in a transaction of its own, on one of those threads."""

    @abstractmethod
    def close(self) -> None:
        """Finish what is queued and close every connection."""

    def on_notify(self, name: str, call: Callable[[], None]) -> None:
        """Run ``call`` after every commit that notifies ``name``, on the thread that committed.

        It must neither block nor raise: other callers' writes wait behind it.
        """
        self._listeners[name] = call

    def _committed(self, tx: Transaction, cache: dict[str, Any]) -> None:
        """Keep what the transaction has read, and notify."""
        keep_configs(cache, tx.config_cache)
        self._notify(tx.notified)

    def _notify(self, names: set[str]) -> None:
        for name in names:
            listener = self._listeners.get(name)
            if listener is not None:
                listener()

    async def listen(self) -> None:
        """Pass on notifications of other processes until cancelled; SQLite has none."""
        await asyncio.Event().wait()
