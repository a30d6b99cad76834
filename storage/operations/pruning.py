"""Deletes rows that are no longer needed, in batches, so that other writers wait briefly.

``storage.base.retention`` has how long each kind is kept; operators choose two of the times.
Organisations may also choose how long texts of leave are kept.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Final

import structlog

from storage.admin import leave_retention
from storage.base.errors import DatabaseUnavailable
from storage.base.retention import Retention
from storage.db.database import Database, Transaction
from storage.keys import idempotency
from storage.notifications import notification_queue
from storage.webhooks import delivery_log
from storage.workspaces import oauth_states, slack_events

# How many rows one transaction deletes.
BATCH: Final = 1_000

_log = structlog.stdlib.get_logger("hiatus.database")


async def prune(
    database: Database,
    *,
    now: datetime,
    batch: int = BATCH,
    retention: Retention = Retention(),  # noqa: B008  # frozen
) -> None:
    """Delete expired rows of each kind. Raises DatabaseUnavailable."""
    for name, delete in (
        ("notifications", partial(notification_queue.prune, days=retention.notification_days)),
        ("idempotency_keys", idempotency.prune),
        ("slack_events", slack_events.prune),
        ("slack_states", oauth_states.prune),
        ("deliveries", partial(_prune_deliveries, days=retention.delivery_days)),
    ):
        try:
            while await database.write(delete, now=now, limit=batch) == batch:
                pass
        except DatabaseUnavailable:
            raise
        except Exception:  # noqa: BLE001  # the other kinds are still pruned
            _log.exception("pruning.failed", kind=name)
    await _remove_old_texts(database, now=now)


async def _remove_old_texts(database: Database, *, now: datetime) -> None:
    for organisation_id in await database.read(leave_retention.due, now=now):
        try:
            while await database.write(leave_retention.remove_next, organisation_id, now=now):
                pass
        except DatabaseUnavailable:
            raise
        except Exception:  # noqa: BLE001  # the other organisations are still served
            _log.exception("pruning.failed", kind="texts", organisation_id=organisation_id)


def _prune_deliveries(tx: Transaction, *, days: int, now: datetime, limit: int) -> int:
    pruned = delivery_log.prune(tx, days=days, now=now, limit=limit)
    return max(pruned.expired, pruned.deliveries, pruned.events)
