"""Values that many requests leave to be written together, shortly after their responses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Generic, TypeVar

import structlog

from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database, Transaction

Value = TypeVar("Value")

# How long values are gathered before they are written: many arrive in the same second.
GATHERING_SECONDS: Final = 1.0

_log = structlog.stdlib.get_logger("hiatus.api")


class DeferredWrites(Generic[Value]):
    """Collects the newest value of each key, and writes them in one transaction.

    What an unavailable database does not take is lost and logged, as ``not_kept`` with how many
    ``counted`` there were: a newer value of each key follows.
    """

    def __init__(
        self,
        database: Database,
        write: Callable[[Transaction, Mapping[str, Value]], None],
        *,
        not_kept: str,
        counted: str,
    ) -> None:
        self._database = database
        self._write = write
        self._not_kept = not_kept
        self._counted = counted
        self._unwritten: dict[str, Value] = {}
        self._writing: asyncio.Task[None] | None = None

    def add(self, key: str, value: Value) -> None:
        """Keep a value to be written; from any thread."""
        self._unwritten[key] = value

    def write_soon(self) -> None:
        """Write what was added without making the request wait; call on the event loop."""
        if self._unwritten and (self._writing is None or self._writing.done()):
            self._writing = asyncio.create_task(self._write_all())

    async def _write_all(self) -> None:
        # Until nothing is left: values that are added during a write start no other one.
        while self._unwritten:
            await asyncio.sleep(GATHERING_SECONDS)
            values, self._unwritten = self._unwritten, {}
            try:
                await self._database.write_long(self._write, values)
            except DatabaseUnavailable as error:
                _log.warning(self._not_kept, **{self._counted: len(values)}, error=str(error))
