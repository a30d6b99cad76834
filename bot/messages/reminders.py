"""The periodic job that queues reminders. Any process may run it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import structlog

from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database
from storage.notifications import reminder_checks, reminders

_log = structlog.stdlib.get_logger("hiatus.slack")


class Reminders:
    """Call ``run`` regularly; the interval only bounds how late a reminder can be."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def run(self) -> None:
        """Queue the due reminders. Raises DatabaseUnavailable.

        Another failure in one organisation is logged and retried later, and stops no other one.
        """
        due = await self._database.read(reminders.due_organisations, now=self._clock())
        for organisation_id in due:
            await self._remind_in(organisation_id)

    async def _remind_in(self, organisation_id: str) -> None:
        now = self._clock()
        try:
            while await self._database.write(reminder_checks.run, organisation_id, now=now):
                pass
        except DatabaseUnavailable:
            raise
        except Exception:  # noqa: BLE001  # an error in one organisation's data
            _log.exception("slack.reminders_failed", organisation_id=organisation_id)
            await self._database.write(reminders.back_off, organisation_id, now=now)
