"""Batches writes of many requests, shortly after their responses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Generic, TypeVar

import structlog

from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database, Transaction

Value = TypeVar("Value")

# How long values are collected before they are written in one batch.
BATCH_SECONDS: Final = 1.0

_log = structlog.stdlib.get_logger("hiatus.api")


class DeferredWrites(Generic[Value]):
    """Collects the latest value of each key and writes them in one transaction.

    While the database is unavailable, values are lost, because newer ones follow. The log event
    ``lost`` then has the number of values as ``counted``.
    """

    def __init__(
        self,
        database: Database,
        write: Callable[[Transaction, Mapping[str, Value]], None],
        *,
        lost: str,
        counted: str,
    ) -> None:
        self._database = database
        self._write = write
        self._lost = lost
        self._counted = counted
        self._unwritten: dict[str, Value] = {}
        self._writing: asyncio.Task[None] | None = None

    def add(self, key: str, value: Value) -> None:
        """Add a value, from any thread."""
        self._unwritten[key] = value

    def write_soon(self) -> None:
        """Write in the background; call on the event loop."""
        if self._unwritten and (self._writing is None or self._writing.done()):
            self._writing = asyncio.create_task(self._write_all())

    async def _write_all(self) -> None:
        # Repeats until there are no values, because those added during a write start no task.
        while self._unwritten:
            await asyncio.sleep(BATCH_SECONDS)
            values, self._unwritten = self._unwritten, {}
            try:
                await self._database.write_long(self._write, values)
            except DatabaseUnavailable as error:
                _log.warning(self._lost, **{self._counted: len(values)}, error=str(error))
