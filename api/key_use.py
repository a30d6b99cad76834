"""When each API key was last used, written to the minute and apart from the requests."""

from __future__ import annotations

import asyncio
from datetime import datetime

import structlog

from storage import access
from storage.access import Recognised
from storage.database import Database
from storage.errors import DatabaseUnavailable

_log = structlog.stdlib.get_logger("hiatus.api")


class KeyUse:
    """Collects uses from any thread; ``write`` keeps those of a new minute."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._unwritten: dict[str, tuple[str, datetime]] = {}
        self._writing: asyncio.Task[None] | None = None

    def note(self, recognised: Recognised, now: datetime) -> None:
        """Remember a use that the database does not show yet."""
        caller = recognised.caller
        if caller.key_id is not None and access.needs_touch(recognised, now):
            self._unwritten[caller.key_id] = (caller.organisation_id, now)

    def write_soon(self) -> None:
        """Write what was noted without making anybody wait; call on the event loop."""
        if self._unwritten and (self._writing is None or self._writing.done()):
            self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        uses, self._unwritten = self._unwritten, {}
        for key_id, (organisation_id, now) in list(uses.items()):
            try:
                await self._database.write(access.touch, organisation_id, key_id, now=now)
            except DatabaseUnavailable as error:
                # The next use of the key is noted again.
                _log.warning("key use not kept", key_id=key_id, error=str(error))
