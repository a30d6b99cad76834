"""What nobody asks for: done by the clock, by whichever process looks first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import structlog

from storage import reminders
from storage.database import Database
from storage.errors import DatabaseUnavailable

_log = structlog.stdlib.get_logger("hiatus.slack")


class Timed:
    """Call ``tick`` every now and then; how often only says how late things may be."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def tick(self) -> None:
        """Queue the reminders that are due."""
        try:
            while await self._database.write_long(reminders.run, now=self._clock()):
                pass
        except DatabaseUnavailable:
            _log.warning("slack.nothing_timed", reason="the database does not answer")
