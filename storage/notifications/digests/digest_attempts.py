"""Claims due digests and records the results of posting them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from peewee import JOIN, SQL, Insert

from storage.db.compiled import Expr, Param, compiled
from storage.db.database import Transaction
from storage.db.tables import DigestRow, OrganisationRow
from storage.events import digest_queue, notification_outbox
from storage.events.digest_queue import DigestKey
from storage.notifications.digests.digests import Digest

# How soon a digest that was posted shows a change of leave.
REFRESH_INTERVAL: Final = timedelta(minutes=1)
# The wait after an error in an organisation's data.
BACK_OFF: Final = timedelta(minutes=15)


def claim(tx: Transaction, *, now: datetime, limit: int = 10) -> list[DigestKey]:
    tx.change(_insert_new, limit=limit)
    return digest_queue.claim(tx, now=now, limit=limit)


def back_off(tx: Transaction, key: DigestKey, *, now: datetime) -> None:
    """Retry a claimed digest later, after an error; ``now`` is that of the claim."""
    digest_queue.release(tx, key, now + digest_queue.LEASE, now + BACK_OFF)


def begin(tx: Transaction, digest: Digest, shown_sha256: str) -> bool:
    """Record that the message is about to be posted; False if the claim no longer holds.

    Slack cannot tell whether it has a message already. If the process crashes before it records the
    result, this record keeps other processes from posting the message again.
    """
    changes = _state(digest, None, shown_sha256)
    lease_expires_at = digest.lease_expires_at
    return digest_queue.release(tx, digest.key, lease_expires_at, lease_expires_at, **changes)


def record_result(
    tx: Transaction, digest: Digest, *, ts: str | None, shown_sha256: str | None, now: datetime
) -> None:
    """Record what the channel shows, both None for nothing; due again after the interval."""
    changes = _state(digest, ts, shown_sha256)
    due_at = now + REFRESH_INTERVAL
    digest_queue.release(tx, digest.key, digest.lease_expires_at, due_at, **changes)


def postpone(
    tx: Transaction, digest: Digest, seconds: float, *, is_unconfirmed: bool, now: datetime
) -> None:
    """Retry a digest that Slack did not accept after that time.

    ``is_unconfirmed``: Slack may have accepted it, so a new message is not posted again.
    """
    due_at = now + timedelta(seconds=max(seconds, REFRESH_INTERVAL.total_seconds()))
    changes = {} if is_unconfirmed else _state(digest, digest.ts, digest.shown_sha256)
    digest_queue.release(tx, digest.key, digest.lease_expires_at, due_at, **changes)


def refuse(tx: Transaction, digest: Digest, because: str, *, now: datetime) -> None:
    """Slack refused the channel: notify admins, and post no more in it."""
    changes = _state(digest, digest.ts, digest.shown_sha256) | {"refused_because": because[:64]}
    if digest.key.digest_id is None:
        changes["refused_channel"] = digest.channel
    if digest_queue.release(tx, digest.key, digest.lease_expires_at, digest.tomorrow_at, **changes):
        organisation_id, digest_id = digest.key.organisation_id, digest.key.digest_id
        notification_outbox.notify_of_refused_digest(tx, organisation_id, digest_id, now=now)


def _state(digest: Digest, ts: str | None, shown_sha256: str | None) -> dict[str, str]:
    """The columns that have the digest's last message."""
    state = {"day": digest.day.isoformat(), "ts": ts or "", "shown_sha256": shown_sha256 or ""}
    if digest.key.digest_id is None:
        state["channel"] = digest.channel
    return state


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
