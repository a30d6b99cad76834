"""The queue of notifications: claimed by one process at a time, and their results recorded.

``bot`` sends them, with what they show at that moment (``notification_data``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal, get_args

import orjson
from peewee import Select, Update, fn

from storage.base.event_values import NotificationEvent
from storage.db import rows
from storage.db.compiled import (
    Engine,
    Expr,
    Param,
    any_of_keys,
    compiled,
    compiled_per_engine,
    json_of_keys,
    milliseconds,
    update_each,
)
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, NotificationRow
from storage.leave import card_refreshes
from storage.notifications import (
    expiry_notices,
    reminders,
    slack_messages,
    time_credit_messages,
)
from storage.notifications.slack_messages import PostedMessage
from storage.outbox import notification_outbox
from storage.outbox.leased_queue import LeasedQueue, skip_locked, wait_after
from storage.outbox.notification_outbox import NotificationKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Notification:
    """A notification for a person; ``attempts`` counts earlier ones.

    Its subject is the webhook, digest or time credit if it has one, else the leave request, else
    the person's leave between two days or of a closure. With a request, the days are those that a
    cover knows of it.
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
    time_credit_id: str | None = None
    closure_id: str | None = None
    half_days_before: int | None = None
    about_user_id: str | None = None
    expiry_notice_id: str | None = None

    @property
    def subject(self) -> tuple[str, str]:
        """Equal for the notifications about one request, which are read together."""
        return self.organisation_id, self.leave_request_id or self.time_credit_id or self.id

    @property
    def is_refresh(self) -> bool:
        """Whether it only refreshes a card whose request has not changed."""
        return self.event_type in (
            notification_outbox.CARD_REFRESH,
            notification_outbox.CARD_REWRITTEN,
        )


# Those that this release can send. Others stay queued for a newer one, and block no others.
_KINDS: Final = get_args(NotificationKind)


def _due(_: Engine, now: Expr, limit: Expr) -> Select:
    notification, other = NotificationRow.alias(), NotificationRow.alias()
    comes_first = other.select(other.id).where(
        other.organisation_id == notification.organisation_id,
        other.user_id == notification.user_id,
        other.leave_request_id == notification.leave_request_id,
        other.status == "pending",
        other.kind.in_(_KINDS),
        # A notification that is due later blocks no other.
        other.event_type.not_in(notification_outbox.QUEUED_EARLY) | (other.due_at <= now),
        (other.id < notification.id)
        | ((other.id > notification.id) & other.claim_id.is_null(False) & (other.due_at > now)),
    )
    credit_comes_first = other.select(other.id).where(
        other.organisation_id == notification.organisation_id,
        other.time_credit_id == notification.time_credit_id,
        other.user_id == notification.user_id,
        other.status == "pending",
        other.kind.in_(_KINDS),
        (other.id < notification.id)
        | ((other.id > notification.id) & other.claim_id.is_null(False) & (other.due_at > now)),
    )
    query: Select = notification.select(notification.organisation_id, notification.id).where(
        notification.status == "pending",
        notification.kind.in_(_KINDS),
        notification.due_at <= now,
        ~fn.EXISTS(comes_first),
        ~fn.EXISTS(credit_comes_first),
    )
    return query.order_by(notification.due_at).limit(limit)


QUEUE: Final = LeasedQueue(
    table=NotificationRow,
    key=("organisation_id", "id"),
    due=_due,
    # Longer than the longest attempt.
    lease=timedelta(seconds=60),
    returned=rows.columns_of(NotificationRow, Notification),
)


def claim(tx: Transaction, *, limit: int, claim_id: str, now: datetime) -> list[Notification]:
    """Claim up to ``limit`` due notifications, those due longest first.

    A person's notifications of a request are claimed in order, one at a time. ``claim_id`` is new
    for every call.
    """
    claimed = QUEUE.claim(tx, claim_id=claim_id, now=now, limit=limit)
    return sorted(map(_notification, claimed), key=lambda notification: notification.id)


_notification: Final = rows.mapper(Notification)


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


# Waits after the 1st, 2nd … failed attempt; the last one is repeated.
RETRY_AFTER_SECONDS: Final = (5, 30, 120, 600, 1_800, 3_600)
# A notification is given up after this time.
RETRIED_FOR: Final = timedelta(hours=24)
# Events whose cards ask for a decision; other cards only show the result.
_DECISION_EVENTS: Final = (
    "leave_request.created",
    "leave_request.updated",
    "leave_request.amendment_requested",
    "leave_request.approval_given",
    "leave_request.approval_taken_back",
    "leave_request.rerouted",
)

Verdict = Literal["delivered", "retry", "failed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SentCard:
    """The message of a card, and the version of the request that it shows.

    ``is_stored``: the message was known before.
    """

    message: PostedMessage
    version: int
    is_stored: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The result of an attempt.

    ``error`` says why it was not delivered. ``retry_after_seconds`` is Slack's ``Retry-After``.
    ``sent_card`` is set when a card was posted or refreshed, ``reply_ts`` when a reply shows it
    again or tells its requester, ``deleted_message`` when Slack no longer has the stored one.
    """

    verdict: Verdict
    error: str | None = None
    retry_after_seconds: int | None = None
    sent_card: SentCard | None = None
    deleted_message: PostedMessage | None = None
    reply_ts: str | None = None


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
    tx: Transaction, outcomes: Sequence[tuple[Notification, Outcome]], *, now: datetime
) -> None:
    """Record the results of attempts: delivered, to be retried, or failed.

    The message of a card is recorded even when the claim no longer holds, because it was sent.
    """
    changes = [_change(notification, outcome, now) for notification, outcome in outcomes]
    tx.change(_record_results, changes=orjson.dumps(changes).decode())
    expiry_notices.record_sent(
        tx,
        [
            (each.organisation_id, each.expiry_notice_id, outcome.sent_card.message)
            for each, outcome in outcomes
            if each.expiry_notice_id is not None and outcome.sent_card is not None
        ],
        now=now,
    )
    for notification, outcome in outcomes:
        _save_message(tx, notification, outcome, now)
        if notification.event_type in _DECISION_EVENTS and notification.kind == "approval_card":
            is_amendment = notification.event_type == "leave_request.amendment_requested"
            start = reminders.start_again if is_amendment else reminders.start
            start(
                tx,
                notification.organisation_id,
                notification.leave_request_id,
                notification.user_id,
                now=now,
            )
    _render_outdated_again(tx, outcomes, now)
    shown = [
        (each.organisation_id, each.time_credit_id, each.user_id, outcome.sent_card.version)
        for each, outcome in outcomes
        if each.kind == "time_credit_card" and each.time_credit_id and outcome.sent_card
    ]
    time_credit_messages.render_outdated_again(tx, shown, now=now)


def give_up(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Give up the organisation's pending notifications: its workspace no longer has the app.

    Rows that another transaction has locked are skipped; their next attempt finds no workspace.
    """
    tx.change(_give_up, organisation_id=organisation_id, now=now, error="the app was uninstalled")


def retry_delay_seconds(attempts: int, outcome: Outcome) -> int:
    """The wait after that many attempts; Slack's ``Retry-After`` overrides the schedule."""
    if outcome.retry_after_seconds is not None:
        return min(max(outcome.retry_after_seconds, 1), RETRY_AFTER_SECONDS[-1])
    return wait_after(attempts, RETRY_AFTER_SECONDS)


def prune(tx: Transaction, *, days: int, now: datetime, limit: int) -> int:
    """Delete up to ``limit`` notifications that ended more than ``days`` ago; their number."""
    return tx.delete_before(NotificationRow, "settled_at", now - timedelta(days=days), limit)


def _change(notification: Notification, outcome: Outcome, now: datetime) -> dict[str, object]:
    """The new values of the notification's row, with its key and the claim that it depends on."""
    attempts = notification.attempts + 1
    change: dict[str, object] = {
        "organisation_id": notification.organisation_id,
        "id": notification.id,
        "claim_id": notification.claim_id,
        "status": "delivered" if outcome.verdict == "delivered" else "failed",
        "attempts": attempts,
        "due_at": milliseconds(now),
        "settled_at": milliseconds(now),
        "last_error": outcome.error,
    }
    if outcome.verdict == "retry" and now - notification.created_at < RETRIED_FOR:
        due_at = now + timedelta(seconds=retry_delay_seconds(attempts, outcome))
        change |= {"status": "pending", "due_at": milliseconds(due_at), "settled_at": None}
    return change


def _save_message(
    tx: Transaction, notification: Notification, outcome: Outcome, now: datetime
) -> None:
    if notification.expiry_notice_id is not None:
        return
    if notification.time_credit_id is not None:
        _save_time_credit_message(tx, notification, notification.time_credit_id, outcome, now)
        return
    card = (notification.organisation_id, notification.leave_request_id, notification.user_id)
    if outcome.deleted_message is not None:
        slack_messages.delete(tx, *card, outcome.deleted_message)
    if outcome.reply_ts is not None:
        slack_messages.save_reply(tx, *card, outcome.reply_ts)
    if outcome.sent_card is not None and not outcome.sent_card.is_stored:
        slack_messages.save(tx, *card, outcome.sent_card.message, now=now)


def _save_time_credit_message(
    tx: Transaction, notification: Notification, credit_id: str, outcome: Outcome, now: datetime
) -> None:
    key = (notification.organisation_id, credit_id, notification.user_id)
    if outcome.deleted_message is not None:
        time_credit_messages.delete(tx, *key, outcome.deleted_message)
    if outcome.sent_card is not None and not outcome.sent_card.is_stored:
        is_reminded = notification.kind != "time_credit_notice"
        message = outcome.sent_card.message
        time_credit_messages.save(tx, *key, message, is_reminded=is_reminded, now=now)
    if outcome.reply_ts is not None:
        time_credit_messages.save_reply(tx, *key, outcome.reply_ts)


def _render_outdated_again(
    tx: Transaction, outcomes: Iterable[tuple[Notification, Outcome]], now: datetime
) -> None:
    """Queue the cards whose request changed while they were rendered: their buttons must go.

    A requester gets a notification of every change.
    """
    shown = [
        (notification, outcome.sent_card.version)
        for notification, outcome in outcomes
        if notification.kind == "approval_card" and outcome.sent_card is not None
    ]
    if not shown:
        return
    keys = {(each.organisation_id, each.leave_request_id) for each, _ in shown}
    versions = {row.id: row.version for row in tx.all(_versions, keys=json_of_keys(keys))}
    outdated = [
        notification_outbox.notification_row(
            notification.organisation_id,
            notification.kind,
            notification.user_id,
            notification.leave_request_id,
            "leave_request.updated",
            now,
        )
        for notification, version in shown
        if versions.get(notification.leave_request_id, version) != version
        and not has_another_pending(tx, notification)
    ]
    if outdated:
        tx.insert_all(NotificationRow, outdated)
        tx.notify(notification_outbox.NOTIFICATIONS)


@compiled
def _versions(keys: Param[str]) -> Select:
    return LeaveRequestRow.select(LeaveRequestRow.id, LeaveRequestRow.version).where(
        any_of_keys(LeaveRequestRow, keys)
    )


@compiled
def _record_results(changes: Param[str]) -> Update:
    """Only of notifications whose claims still hold."""
    names = ("status", "attempts", "due_at", "settled_at", "last_error")
    before = {"claim_id": "claim_id"}
    return update_each(NotificationRow, changes, names, before, {"claim_id": None})


@compiled_per_engine
def _give_up(
    engine: Engine, organisation_id: Param[str], now: Param[datetime], error: Param[str]
) -> Update:
    pending = NotificationRow.select(NotificationRow.id).where(
        NotificationRow.organisation_id == organisation_id, NotificationRow.status == "pending"
    )
    return NotificationRow.update(
        status="failed", settled_at=now, claim_id=None, last_error=error
    ).where(
        NotificationRow.organisation_id == organisation_id,
        NotificationRow.status == "pending",
        NotificationRow.id.in_(skip_locked(pending, engine)),
    )
