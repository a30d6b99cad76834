"""Deletes rows that are no longer needed, in batches, so that other writers wait briefly."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog

from storage.access import idempotency, oauth_states
from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database, Transaction
from storage.notifications import notification_queue
from storage.slack import slack_events
from storage.webhooks import delivery_log

# As long as webhook deliveries.
NOTIFICATIONS_KEPT: Final = timedelta(days=30)
# How many rows one transaction deletes.
BATCH: Final = 1_000

_log = structlog.stdlib.get_logger("hiatus.database")


async def prune(database: Database, *, now: datetime, batch: int = BATCH) -> None:
    """Delete expired rows of each kind. Raises DatabaseUnavailable."""
    before = now - NOTIFICATIONS_KEPT
    for name, delete in (
        ("notifications", partial(notification_queue.prune, before=before, limit=batch)),
        ("idempotency_keys", partial(idempotency.prune, now=now, limit=batch)),
        ("slack_events", partial(slack_events.prune, now=now, limit=batch)),
        ("slack_states", partial(oauth_states.prune, now=now, limit=batch)),
        ("deliveries", partial(_prune_deliveries, now=now, limit=batch)),
    ):
        try:
            while await database.write(delete) == batch:
                pass
        except DatabaseUnavailable:
            raise
        except Exception:  # noqa: BLE001  # the other kinds are still pruned
            _log.exception("pruning.failed", kind=name)


def _prune_deliveries(tx: Transaction, *, now: datetime, limit: int) -> int:
    pruned = delivery_log.prune(tx, now=now, limit=limit)
    return max(pruned.expired, pruned.deliveries, pruned.events)
