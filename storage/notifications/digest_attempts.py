"""Claims due digests and records the results of posting them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from peewee import JOIN, SQL, Insert

from storage.db.compiled import Expr, Param, compiled
from storage.db.database import Transaction
from storage.db.tables import DigestRow, OrganisationRow
from storage.events import admin_notifications, digest_queue
from storage.notifications.digests import Digest

# How soon a digest that was posted shows a change of leave.
REFRESH_INTERVAL: Final = timedelta(minutes=1)
# The wait after an error in an organisation's data.
BACK_OFF: Final = timedelta(minutes=15)


def claim(tx: Transaction, *, now: datetime, limit: int = 20) -> list[str]:
    """Claim due digests; the ids of their organisations."""
    tx.change(_insert_new, limit=limit)
    return [
        organisation_id for (organisation_id,) in digest_queue.QUEUE.claim(tx, now=now, limit=limit)
    ]


def back_off(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Retry a claimed digest later, after an error in ``load``; ``now`` is that of the claim."""
    digest_queue.release(tx, organisation_id, now + digest_queue.QUEUE.lease, now + BACK_OFF)


def record_result(
    tx: Transaction, digest: Digest, *, ts: str | None, shown_sha256: str | None, now: datetime
) -> None:
    """Record what the channel shows, both None for nothing; due again after the interval."""
    digest_queue.release(
        tx,
        digest.organisation_id,
        digest.lease_expires_at,
        now + REFRESH_INTERVAL,
        channel=digest.channel,
        day=digest.day.isoformat(),
        ts=ts or "",
        shown_sha256=shown_sha256 or "",
    )


def postpone(tx: Transaction, digest: Digest, seconds: float, *, now: datetime) -> None:
    """Retry a digest that Slack did not accept after that time."""
    due_at = now + timedelta(seconds=max(seconds, REFRESH_INTERVAL.total_seconds()))
    digest_queue.release(tx, digest.organisation_id, digest.lease_expires_at, due_at)


def refuse(tx: Transaction, digest: Digest, because: str, *, now: datetime) -> None:
    """Slack refused the channel: notify admins, and post no more in it."""
    is_released = digest_queue.release(
        tx,
        digest.organisation_id,
        digest.lease_expires_at,
        digest.tomorrow_at,
        refused_channel=digest.channel,
        refused_because=because[:64],
    )
    if is_released:
        admin_notifications.notify_of_refused_digest(tx, digest.organisation_id, now=now)


@compiled
def _insert_new(limit: Param[int]) -> Insert:
    """Add organisations that have chosen a channel."""
    new: Expr = (
        OrganisationRow.select(OrganisationRow.id, SQL("0"))
        .join(DigestRow, JOIN.LEFT_OUTER, on=(DigestRow.organisation_id == OrganisationRow.id))
        .where(OrganisationRow.digest_channel.is_null(False), DigestRow.organisation_id.is_null())
        .limit(limit)
    )
    return DigestRow.insert_from(
        new, [DigestRow.organisation_id, DigestRow.due_at]
    ).on_conflict_ignore()
