"""The queue of notifications: each is claimed by one process at a time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from peewee import Select, fn

from storage.base.event_values import NotificationEvent
from storage.db import rows
from storage.db.compiled import Engine, Expr, Param, compiled
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import (
    NotificationRow,
)
from storage.events import notification_outbox
from storage.events.leased_queue import LeasedQueue
from storage.events.notification_outbox import NotificationKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Notification:
    """A notification for a person; ``attempts`` counts earlier ones.

    Its subject is the webhook or digest if it has one, else the leave request, else the person's
    leave between two days. With a request, the days are those that a cover knows of it.
    """

    organisation_id: str
    id: str
    kind: NotificationKind
    user_id: str
    leave_request_id: str
    event_type: NotificationEvent
    attempts: int
    created_at: datetime
    claim_id: str
    webhook_id: str | None = None
    digest_id: str | None = None
    first_day: date | None = None
    last_day: date | None = None

    @property
    def subject(self) -> tuple[str, str]:
        """Equal for the notifications about one request, which are read together."""
        return self.organisation_id, self.leave_request_id or self.id

    @property
    def is_refresh(self) -> bool:
        """Whether it only refreshes a card whose request has not changed."""
        return self.event_type == notification_outbox.CARD_REFRESH


def _due(_: Engine, now: Expr, limit: Expr) -> Select:
    notification, other = NotificationRow.alias(), NotificationRow.alias()
    comes_first = other.select(other.id).where(
        other.organisation_id == notification.organisation_id,
        other.user_id == notification.user_id,
        other.leave_request_id == notification.leave_request_id,
        other.status == "pending",
        # A notification that is due later blocks no other.
        other.event_type.not_in(notification_outbox.QUEUED_EARLY) | (other.due_at <= now),
        (other.id < notification.id)
        | ((other.id > notification.id) & other.claim_id.is_null(False) & (other.due_at > now)),
    )
    query: Select = notification.select(notification.organisation_id, notification.id).where(
        notification.status == "pending", notification.due_at <= now, ~fn.EXISTS(comes_first)
    )
    return query.order_by(notification.due_at).limit(limit)


QUEUE: Final = LeasedQueue(
    table=NotificationRow,
    key=("organisation_id", "id"),
    due=_due,
    # Longer than the longest attempt.
    lease=timedelta(seconds=60),
    returned=(
        NotificationRow.organisation_id,
        NotificationRow.id,
        NotificationRow.kind,
        NotificationRow.user_id,
        NotificationRow.leave_request_id,
        NotificationRow.event_type,
        NotificationRow.attempts,
        NotificationRow.created_at,
        NotificationRow.webhook_id,
        NotificationRow.digest_id,
        NotificationRow.first_day,
        NotificationRow.last_day,
    ),
)


def claim(tx: Transaction, *, limit: int, claim_id: str, now: datetime) -> list[Notification]:
    """Claim up to ``limit`` due notifications, those due longest first.

    A person's notifications of a request are claimed in order, one at a time. ``claim_id`` is new
    for every call.
    """
    claimed = QUEUE.claim(tx, claim_id=claim_id, now=now, limit=limit)
    notifications = [_notification(row, claim_id) for row in claimed]
    return sorted(notifications, key=lambda notification: notification.id)


def _notification(row: Row, claim_id: str) -> Notification:
    return Notification(
        organisation_id=row.organisation_id,
        id=row.id,
        kind=row.kind,
        user_id=row.user_id,
        leave_request_id=row.leave_request_id,
        event_type=row.event_type,
        attempts=row.attempts,
        created_at=rows.instant(row.created_at),
        claim_id=claim_id,
        webhook_id=row.webhook_id,
        digest_id=row.digest_id,
        first_day=rows.day_or_none(row.first_day),
        last_day=rows.day_or_none(row.last_day),
    )


def has_another_pending(tx: Transaction, notification: Notification) -> bool:
    """Whether another notification will render the card anyway."""
    row = tx.first(
        _other_pending,
        organisation_id=notification.organisation_id,
        user_id=notification.user_id,
        leave_request_id=notification.leave_request_id,
        kind=notification.kind,
        notification_id=notification.id,
    )
    return row is not None


@compiled
def _other_pending(
    organisation_id: Param[str],
    user_id: Param[str],
    leave_request_id: Param[str],
    kind: Param[str],
    notification_id: Param[str],
) -> Select:
    return NotificationRow.select(NotificationRow.id).where(
        NotificationRow.organisation_id == organisation_id,
        NotificationRow.user_id == user_id,
        NotificationRow.leave_request_id == leave_request_id,
        NotificationRow.kind == kind,
        NotificationRow.status == "pending",
        NotificationRow.event_type.not_in(notification_outbox.QUEUED_EARLY),
        NotificationRow.id != notification_id,
    )
