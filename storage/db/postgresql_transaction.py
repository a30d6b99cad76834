"""A transaction on PostgreSQL, where every statement is a round trip."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Final, ParamSpec

import peewee
import psycopg

from storage.base.secrets import Secrets
from storage.db.compiled import Compiled
from storage.db.database import DuplicateRow, Transaction

P = ParamSpec("P")

_KEY: Final = re.compile(r"\(([^()]*)\)=\(")


class PostgresqlTransaction(Transaction):
    """Queues changes whose result is not needed, and sends them as one statement."""

    __slots__ = ("_queued",)

    def __init__(
        self,
        cursor: psycopg.Cursor[Any],
        secrets: Secrets,
        config_cache: dict[str, Any],
    ) -> None:
        super().__init__(partial(_execute, cursor), "postgresql", secrets, config_cache)
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
            self._timed(_combined(statements), tuple(chain.from_iterable(values)))


def _execute(cursor: psycopg.Cursor[Any], sql: str, values: Any) -> psycopg.Cursor[Any]:
    try:
        return cursor.execute(sql, values)
    except psycopg.Error as error:
        # The other lines contain values of rows, and tracebacks end up in logs.
        error.args = (str(error).partition("\n")[0],)
        if not isinstance(error, psycopg.errors.UniqueViolation):
            raise
        # "Key (organisation_id, code)=(…, …) already exists.", in the server's language.
        key = _KEY.search(error.diag.message_detail or "")
        raise DuplicateRow(str(error), key.group(1).split(", ") if key else ()) from error


@lru_cache(maxsize=256)
def _combined(statements: tuple[str, ...]) -> str:
    """Several changes as one statement; foreign keys are checked at its end."""
    *first, last = statements
    if not first:
        return last
    parts = [f"c{number} AS ({statement})" for number, statement in enumerate(first)]
    return f"WITH {', '.join(parts)} {last}"
