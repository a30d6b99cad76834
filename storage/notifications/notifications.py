"""Slack notifications: claimed by one process at a time, retried, their results recorded.

What is shown is read when it is sent; sending is the Slack side's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal

from peewee import Delete, Select, Tuple, Update, fn

from storage.base.event_values import NotificationEvent
from storage.base.ids import new_id
from storage.db import rows
from storage.db.compiled import Engine, Expr, Param, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import (
    LeaveRequestRow,
    NotificationRow,
)
from storage.events import notification_outbox
from storage.events.leased_queue import LeasedQueue, skip_locked, wait_after
from storage.events.notification_outbox import NotificationKind
from storage.leave import card_refreshes
from storage.notifications import reminders, slack_messages
from storage.notifications.slack_messages import Posted

# Waits after the 1st, 2nd … failed attempt; the last one is repeated.
RETRY_AFTER_SECONDS: Final = (5, 30, 120, 600, 1_800, 3_600)
# A notification is given up after this time.
WORTH_TRYING: Final = timedelta(hours=24)

# Events whose cards ask for a decision; other cards only show the result.
_ASKING: Final = ("leave_request.created", "leave_request.updated", "leave_request.rerouted")

Verdict = Literal["delivered", "retry", "failed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Notification:
    """A notification for one person; ``attempts`` counts earlier ones.

    Its subject is the webhook if it has one, the person's leave between two days if it has those,
    else the leave request.
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
    first_day: date | None = None
    last_day: date | None = None

    @property
    def is_refresh(self) -> bool:
        """Whether it only refreshes a card whose request has not changed."""
        return self.event_type == notification_outbox.CARD_REFRESH


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """A card that was sent: its message, and the version of the request that it shows."""

    message: Posted
    version: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The result of an attempt.

    ``error`` says why it was not delivered. ``retry_after_seconds`` is Slack's ``Retry-After``.
    ``drawn`` is set when a card was posted or refreshed, ``gone`` when a known card was deleted.
    """

    verdict: Verdict
    error: str | None = None
    retry_after_seconds: int | None = None
    drawn: Drawn | None = None
    gone: Posted | None = None


def _due(_: Engine, now: Expr, limit: Expr) -> Select:
    notification, other = NotificationRow.alias(), NotificationRow.alias()
    comes_first = other.select(other.id).where(
        other.organisation_id == notification.organisation_id,
        other.user_id == notification.user_id,
        other.leave_request_id == notification.leave_request_id,
        other.status == "pending",
        # A notification that is due later blocks no other.
        (other.event_type != notification_outbox.REVERSAL_WINDOW_ENDED) | (other.due_at <= now),
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
        NotificationRow.first_day,
        NotificationRow.last_day,
    ),
)


def claim(tx: Transaction, *, limit: int, claim_id: str, now: datetime) -> list[Notification]:
    """Claim up to ``limit`` due notifications, those due longest first.

    Of what one person is to see of one request, only the earliest is taken, and nothing while
    something is on its way. ``claim_id`` is new for every call.
    """
    claimed = QUEUE.claim(tx, claim_id=claim_id, now=now, limit=limit)
    claimed_notifications = [_notification(row, claim_id) for row in claimed]
    return sorted(claimed_notifications, key=lambda notification: notification.id)


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
        first_day=rows.day_or_none(row.first_day),
        last_day=rows.day_or_none(row.last_day),
    )


def expand(tx: Transaction, notification: Notification, *, now: datetime) -> None:
    """Queue the refreshes that follow from a ``cover_changed`` notification."""
    if notification.first_day is not None and notification.last_day is not None:
        change = card_refreshes.CoverChange(
            organisation_id=notification.organisation_id,
            user_id=notification.user_id,
            first_day=notification.first_day,
            last_day=notification.last_day,
        )
        card_refreshes.expand(tx, change, now=now)


def record_results(
    tx: Transaction, outcomes: Iterable[tuple[Notification, Outcome]], *, now: datetime
) -> None:
    """Record the results of attempts: delivered, to be retried, or failed.

    The message of a card is recorded even when the claim no longer holds, because it was sent.
    """
    for notification, outcome in outcomes:
        attempts = notification.attempts + 1
        changes: dict[str, object] = {"attempts": attempts, "last_error": outcome.error}
        if outcome.verdict == "retry" and now - notification.created_at < WORTH_TRYING:
            changes["due_at"] = now + timedelta(seconds=retry_delay_seconds(attempts, outcome))
        else:
            status = "delivered" if outcome.verdict == "delivered" else "failed"
            changes |= {"status": status, "settled_at": now}
        QUEUE.release(
            tx, (notification.organisation_id, notification.id), notification.claim_id, changes
        )
        _keep_message(tx, notification, outcome, now)
        if notification.event_type in _ASKING and notification.kind == "approval_card":
            reminders.watch(
                tx,
                notification.organisation_id,
                notification.leave_request_id,
                notification.user_id,
                now=now,
            )


def give_up(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Give up the organisation's notifications: its workspace no longer has the app.

    Rows that another transaction has locked are skipped; their next attempt finds no workspace.
    """
    tx.change(
        _give_up,
        organisation_id=organisation_id,
        now=now,
        error="the app was uninstalled",
    )


def retry_delay_seconds(attempts: int, outcome: Outcome) -> int:
    """The wait after that many attempts; Slack's ``Retry-After`` replaces the schedule."""
    if outcome.retry_after_seconds is not None:
        return min(max(outcome.retry_after_seconds, 1), RETRY_AFTER_SECONDS[-1])
    return wait_after(attempts, RETRY_AFTER_SECONDS)


def prune(tx: Transaction, *, before: datetime, limit: int = 1_000) -> int:
    """Delete up to ``limit`` notifications that ended before that instant; how many there were."""
    return tx.change(_prune, before=before, limit=limit)


def _keep_message(
    tx: Transaction, notification: Notification, outcome: Outcome, now: datetime
) -> None:
    place = (notification.organisation_id, notification.leave_request_id, notification.user_id)
    if outcome.gone is not None:
        slack_messages.forget(tx, *place, outcome.gone)
    if outcome.drawn is None:
        return
    slack_messages.remember(tx, *place, outcome.drawn.message, now=now)
    row = tx.first(
        _version,
        organisation_id=notification.organisation_id,
        request_id=notification.leave_request_id,
    )
    is_outdated = row is not None and row.version != outcome.drawn.version
    # A requester gets a notification of every change.
    if (
        notification.kind == "approval_card"
        and is_outdated
        and not has_another_pending(tx, notification)
    ):
        # The request changed while its card was rendered: its buttons must go.
        tx.insert(
            NotificationRow,
            organisation_id=notification.organisation_id,
            id=new_id(now),
            kind=notification.kind,
            user_id=notification.user_id,
            leave_request_id=notification.leave_request_id,
            event_type="leave_request.updated",
            status="pending",
            attempts=0,
            due_at=now,
            created_at=now,
        )
        tx.notify(notification_outbox.NOTIFICATIONS)


def has_another_pending(tx: Transaction, notification: Notification) -> bool:
    """Whether another notification will render the card anyway."""
    found = tx.first(
        _other_pending,
        organisation_id=notification.organisation_id,
        user_id=notification.user_id,
        leave_request_id=notification.leave_request_id,
        kind=notification.kind,
        notification_id=notification.id,
    )
    return found is not None


@compiled
def _version(organisation_id: Param[str], request_id: Param[str]) -> Select:
    return LeaveRequestRow.select(LeaveRequestRow.version).where(
        LeaveRequestRow.organisation_id == organisation_id, LeaveRequestRow.id == request_id
    )


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
        NotificationRow.event_type != notification_outbox.REVERSAL_WINDOW_ENDED,
        NotificationRow.id != notification_id,
    )


@compiled_per_engine
def _give_up(
    engine: Engine, organisation_id: Param[str], now: Param[datetime], error: Param[str]
) -> Update:
    waiting = NotificationRow.select(NotificationRow.id).where(
        NotificationRow.organisation_id == organisation_id, NotificationRow.status == "pending"
    )
    return NotificationRow.update(
        status="failed", settled_at=now, claim_id=None, last_error=error
    ).where(
        NotificationRow.organisation_id == organisation_id,
        NotificationRow.status == "pending",
        NotificationRow.id.in_(skip_locked(waiting, engine)),
    )


@compiled
def _prune(before: Param[datetime], limit: Param[int]) -> Delete:
    old = (
        NotificationRow.select(NotificationRow.organisation_id, NotificationRow.id)
        .where(NotificationRow.settled_at < before)
        .limit(limit)
    )
    return NotificationRow.delete().where(
        Tuple(NotificationRow.organisation_id, NotificationRow.id).in_(old)
    )
