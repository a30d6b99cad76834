"""Tells people of days that lapse, once a day in each organisation. Any process may run it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import structlog

from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database
from storage.notifications import expiry_notices

_log = structlog.stdlib.get_logger("hiatus.slack")


class ExpiryNotices:
    """Call ``run`` regularly; what was missed while no process ran is told later."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def run(self) -> None:
        """Queue the notices that are due. Raises DatabaseUnavailable.

        Another failure in one organisation is logged and retried later, and stops no other one.
        """
        now = self._clock()
        for organisation_id in await self._database.read(expiry_notices.due_organisations, now=now):
            try:
                await self._tell_in(organisation_id)
            except DatabaseUnavailable:
                raise
            except Exception:  # noqa: BLE001  # an error in one organisation's data
                _log.exception("slack.expiry_notices_failed", organisation_id=organisation_id)
                await self._database.write(
                    expiry_notices.back_off, organisation_id, now=self._clock()
                )

    async def _tell_in(self, organisation_id: str) -> None:
        """People are checked in batches: most are due no notice, and reading locks no one."""
        now = self._clock()
        if not await self._database.write(expiry_notices.claim, organisation_id, now=now):
            return
        after_id: str | None = None
        while True:
            batch = await self._database.read(
                expiry_notices.due_people, organisation_id, after_id, now=now
            )
            if batch.notices:
                await self._database.write(
                    expiry_notices.tell, organisation_id, batch.notices, now=now
                )
            after_id = batch.after_id
            if after_id is None:
                break
        await self._database.write(expiry_notices.finish, organisation_id, now=now)
