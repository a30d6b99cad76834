"""Rows that nobody needs any more, deleted a batch at a time so that no writer waits long."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Final

from storage import delivery_log, idempotency, notices, slack_events, slack_states
from storage.database import Database

# As long as contract 9 keeps webhook deliveries.
NOTICES_KEPT: Final = timedelta(days=30)
# How many rows one transaction deletes.
BATCH: Final = 1_000


async def prune(database: Database, *, now: datetime, batch: int = BATCH) -> None:
    """Delete all that was settled or used up long ago."""
    for delete in (
        partial(notices.prune, before=now - NOTICES_KEPT, limit=batch),
        partial(idempotency.prune, now=now, limit=batch),
        partial(slack_events.prune, now=now, limit=batch),
        partial(slack_states.prune, now=now, limit=batch),
    ):
        while await database.write_long(delete) == batch:
            pass
    while batch in await database.write_long(delivery_log.prune, now=now, limit=batch):
        pass
