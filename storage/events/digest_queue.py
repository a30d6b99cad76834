"""The queue of digests, and the retry of one that Slack refused.

``notifications.digests`` claims digests and records the results. The organisation's own digest and
those of channels have a table each, so the queue is made of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from peewee import Case, Model, Select, Update

from storage.db.compiled import Engine, Expr, Param, compiled
from storage.db.database import Transaction
from storage.db.tables import ChannelDigestRow, DigestRow
from storage.events.leased_queue import LeasedQueue

# Longer than posting takes.
LEASE: Final = timedelta(minutes=2)


@dataclass(frozen=True, kw_only=True, slots=True)
class DigestKey:
    """A digest; ``digest_id`` is None for the organisation's own."""

    organisation_id: str
    digest_id: str | None = None


def _queue(table: type[Model], *key: str) -> LeasedQueue:
    def due(_: Engine, now: Expr, limit: Expr) -> Select:
        row = table.alias()
        query: Select = row.select(*(getattr(row, name) for name in key)).where(row.due_at <= now)
        return query.order_by(row.due_at).limit(limit)

    returned = tuple(getattr(table, name) for name in key)
    return LeasedQueue(
        table=table, key=key, due=due, lease=LEASE, returned=returned, owner="due_at"
    )


_OF_ORGANISATIONS: Final = _queue(DigestRow, "organisation_id")
_OF_CHANNELS: Final = _queue(ChannelDigestRow, "organisation_id", "id")


def claim(tx: Transaction, *, now: datetime, limit: int) -> list[DigestKey]:
    """Claim due digests, up to ``limit`` of each kind."""
    own = _OF_ORGANISATIONS.claim(tx, now=now, limit=limit)
    of_channels = _OF_CHANNELS.claim(tx, now=now, limit=limit)
    return [
        *(DigestKey(organisation_id=row.organisation_id) for row in own),
        *(DigestKey(organisation_id=row.organisation_id, digest_id=row.id) for row in of_channels),
    ]


def oldest_due_at(tx: Transaction, *, now: datetime) -> int | None:
    """When the first due digest was due, in milliseconds; None where none is, or is new."""
    queues = (_OF_ORGANISATIONS, _OF_CHANNELS)
    # 0 is the due time of an organisation's digest that was never posted.
    return min(filter(None, (queue.oldest_due_at(tx, now=now) for queue in queues)), default=None)


def release(
    tx: Transaction,
    key: DigestKey,
    lease_expires_at: datetime,
    due_at: datetime,
    **changes: str,
) -> bool:
    """End a claim, or keep it with the same ``due_at``; False when it no longer holds."""
    columns = {"due_at": due_at, **changes}
    if key.digest_id is None:
        return _OF_ORGANISATIONS.release(tx, (key.organisation_id,), lease_expires_at, columns)
    return _OF_CHANNELS.release(tx, (key.organisation_id, key.digest_id), lease_expires_at, columns)


def retry(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Post the organisation's digest soon although Slack refused its channel."""
    tx.change(_retry, organisation_id=organisation_id, now=now, lease_expires_at=now + LEASE)


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
