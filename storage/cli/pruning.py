"""Deletes rows that are no longer needed, in batches, so that other writers wait briefly.

It also drops statistics of SQLite, which someone or an older version may have made.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog
from peewee import SQL

from storage.access import idempotency, oauth_states
from storage.base.errors import DatabaseUnavailable
from storage.db.compiled import compiled
from storage.db.database import Database, Transaction
from storage.db.schema import FORGET_STATISTICS
from storage.notifications import notification_queue
from storage.slack import slack_events
from storage.webhooks import delivery_log

# As long as webhook deliveries.
NOTIFICATIONS_KEPT: Final = timedelta(days=30)
# How many rows one transaction deletes.
BATCH: Final = 1_000

_log = structlog.stdlib.get_logger("hiatus.database")


async def prune(database: Database, *, now: datetime, batch: int = BATCH) -> None:
    """Delete expired rows of each kind, then drop the statistics of SQLite.

    Raises DatabaseUnavailable.
    """
    before = now - NOTIFICATIONS_KEPT
    for name, delete in (
        ("notifications", partial(notification_queue.prune, before=before, limit=batch)),
        ("idempotency_keys", partial(idempotency.prune, now=now, limit=batch)),
        ("slack_events", partial(slack_events.prune, now=now, limit=batch)),
        ("slack_states", partial(oauth_states.prune, now=now, limit=batch)),
        ("deliveries", partial(_prune_deliveries, now=now, limit=batch)),
        ("statistics", _forget_statistics),
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


def _forget_statistics(tx: Transaction) -> int:
    if tx.engine == "sqlite":
        tx.change(_forgetting)
    return 0


@compiled
def _forgetting() -> SQL:
    return SQL(FORGET_STATISTICS)
