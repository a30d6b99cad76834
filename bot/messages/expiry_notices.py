"""Tells people of days that lapse, once a day in each organisation. Any process may run it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Final

import structlog

from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database
from storage.notifications import expiry_notices

_log = structlog.stdlib.get_logger("hiatus.slack")


# Balances of many people take seconds, in which everyone else waits. So a run, twice a minute,
# checks a batch and pauses, until it has checked so many; 2,000 people take four minutes.
PEOPLE_A_RUN: Final = 250
PAUSE_SECONDS: Final = 0.1


class ExpiryNotices:
    """Call ``run`` regularly; what was missed while no process ran is told later."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], datetime],
        *,
        people_a_run: int = PEOPLE_A_RUN,
    ) -> None:
        self._database = database
        self._clock = clock
        self._people_a_run = people_a_run
        # After whom the check of an organisation goes on; None: from the beginning.
        self._begun: dict[str, str | None] = {}

    async def run(self) -> None:
        """Queue the notices that are due. Raises DatabaseUnavailable.

        Another failure in one organisation is logged and retried later, and stops no other one.
        """
        now = self._clock()
        due = await self._database.read(expiry_notices.due_organisations, now=now)
        people = self._people_a_run
        for organisation_id in dict.fromkeys([*self._begun, *due]):
            if people <= 0:
                return
            try:
                people -= await self._tell_in(organisation_id, people)
            except DatabaseUnavailable:
                raise
            except Exception:  # noqa: BLE001  # an error in one organisation's data
                _log.exception("slack.expiry_notices_failed", organisation_id=organisation_id)
                self._begun.pop(organisation_id, None)
                await self._database.write(
                    expiry_notices.back_off, organisation_id, now=self._clock()
                )

    async def _tell_in(self, organisation_id: str, people: int) -> int:
        """Check about so many people; how many it were. The next run goes on after them.

        Most are due no notice, and reading locks no one.
        """
        now = self._clock()
        if organisation_id not in self._begun:
            if not await self._database.write(expiry_notices.claim, organisation_id, now=now):
                return 0
            self._begun[organisation_id] = None
        checked = 0
        while checked < people:
            batch = await self._database.read(
                expiry_notices.due_people, organisation_id, self._begun[organisation_id], now=now
            )
            if batch.notices:
                await self._database.write(
                    expiry_notices.tell, organisation_id, batch.notices, now=now
                )
            checked += batch.people
            self._begun[organisation_id] = batch.after_id
            if batch.after_id is None:
                await self._database.write(expiry_notices.finish, organisation_id, now=now)
                del self._begun[organisation_id]
                return checked
            await asyncio.sleep(PAUSE_SECONDS)
        await self._database.write(expiry_notices.go_on_later, organisation_id, now=self._clock())
        return checked
