"""When each API key was last used, written to the minute and apart from the requests."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Final

import structlog

from storage.access import authentication
from storage.access.authentication import Recognised
from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database, Transaction

# How long uses are gathered before they are written.
GATHERING_SECONDS: Final = 1.0

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
        if caller.key_id is not None and authentication.needs_touch(recognised, now):
            self._unwritten[caller.key_id] = (caller.organisation_id, now)

    def write_soon(self) -> None:
        """Write what was noted without making anybody wait; call on the event loop."""
        if self._unwritten and (self._writing is None or self._writing.done()):
            self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        # Until nothing is left: uses that come during a write start no other one.
        while self._unwritten:
            # Many keys' first uses of a minute come at once; they share a transaction.
            await asyncio.sleep(GATHERING_SECONDS)
            uses, self._unwritten = self._unwritten, {}
            try:
                await self._database.write_long(_touch_all, uses)
            except DatabaseUnavailable as error:
                # The next use of each key is noted again.
                _log.warning("key uses not kept", keys=len(uses), error=str(error))


def _touch_all(tx: Transaction, uses: Mapping[str, tuple[str, datetime]]) -> None:
    # In one order, so that two processes never wait for each other.
    for key_id, (organisation_id, now) in sorted(uses.items()):
        authentication.touch(tx, organisation_id, key_id, now=now)
