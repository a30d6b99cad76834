"""The queue of digests, and the retry of one that Slack refused.

``notifications.digest_attempts`` claims digests and records the results.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from peewee import Case, Select, Update

from storage.db.compiled import Engine, Expr, Param, compiled
from storage.db.database import Transaction
from storage.db.tables import DigestRow
from storage.events.leased_queue import LeasedQueue


def _due(_: Engine, now: Expr, limit: Expr) -> Select:
    row = DigestRow.alias()
    query: Select = row.select(row.organisation_id).where(row.due_at <= now)
    return query.order_by(row.due_at).limit(limit)


QUEUE: Final = LeasedQueue(
    table=DigestRow,
    key=("organisation_id",),
    due=_due,
    # Longer than posting takes.
    lease=timedelta(minutes=2),
    returned=(DigestRow.organisation_id,),
    owner="due_at",
)


def release(
    tx: Transaction,
    organisation_id: str,
    lease_expires_at: datetime,
    due_at: datetime,
    **changes: str,
) -> bool:
    """End a claim; False when it no longer holds."""
    return QUEUE.release(tx, (organisation_id,), lease_expires_at, {"due_at": due_at, **changes})


def retry(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Post the digest soon although Slack refused its channel: an admin has chosen one."""
    tx.change(_retry, organisation_id=organisation_id, now=now, lease_expires_at=now + QUEUE.lease)


@compiled
def _retry(
    organisation_id: Param[str], now: Param[datetime], lease_expires_at: Param[datetime]
) -> Update:
    row = DigestRow
    # A digest that is due within a lease may be claimed: its process expects the same due_at.
    due_at = Case(None, ((row.due_at > lease_expires_at, now),), row.due_at)
    changes = {row.refused_channel: None, row.refused_because: None, row.due_at: due_at}
    return row.update(changes).where(
        row.organisation_id == organisation_id, row.refused_channel.is_null(False)
    )
