"""Records the results of sending notifications, which ``notification_queue`` claims.

``bot`` sends them, with what they show at that moment (``notification_data``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

import orjson
from peewee import Delete, Select, Tuple, Update, fn

from storage.db.compiled import (
    Engine,
    Param,
    any_of_keys,
    compiled,
    compiled_per_engine,
    json_of_keys,
    json_table,
    milliseconds,
)
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, NotificationRow
from storage.events import notification_outbox
from storage.events.leased_queue import skip_locked, wait_after
from storage.leave import card_refreshes
from storage.notifications import notification_queue, reminders, slack_messages
from storage.notifications.notification_queue import Notification
from storage.notifications.slack_messages import PostedMessage

# Waits after the 1st, 2nd … failed attempt; the last one is repeated.
RETRY_AFTER_SECONDS: Final = (5, 30, 120, 600, 1_800, 3_600)
# A notification is given up after this time.
RETRIED_FOR: Final = timedelta(hours=24)
# Events whose cards ask for a decision; other cards only show the result.
_DECISION_EVENTS: Final = (
    "leave_request.created",
    "leave_request.updated",
    "leave_request.amendment_requested",
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


def prune(tx: Transaction, *, before: datetime, limit: int = 1_000) -> int:
    """Delete up to ``limit`` notifications that ended before that instant; their number."""
    return tx.change(_prune, before=before, limit=limit)


def _change(notification: Notification, outcome: Outcome, now: datetime) -> dict[str, object]:
    """The columns of an attempt's result, after its key; ``due_at`` None stays as it is."""
    attempts = notification.attempts + 1
    change: dict[str, object] = {
        "organisation_id": notification.organisation_id,
        "id": notification.id,
        "claim_id": notification.claim_id,
        "status": "delivered" if outcome.verdict == "delivered" else "failed",
        "attempts": attempts,
        "due_at": None,
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
    card = (notification.organisation_id, notification.leave_request_id, notification.user_id)
    if outcome.deleted_message is not None:
        slack_messages.delete(tx, *card, outcome.deleted_message)
    if outcome.reply_ts is not None:
        slack_messages.save_reply(tx, *card, outcome.reply_ts)
    if outcome.sent_card is not None and not outcome.sent_card.is_stored:
        slack_messages.save(tx, *card, outcome.sent_card.message, now=now)


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
        and not notification_queue.has_another_pending(tx, notification)
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
    results = json_table(
        changes,
        "results",
        {
            "organisation_id": "uuid",
            "id": "uuid",
            "claim_id": "text",
            "status": "text",
            "attempts": "integer",
            "due_at": "bigint",
            "settled_at": "bigint",
            "last_error": "text",
        },
    )
    columns = {
        name: results.column(name) for name in ("status", "attempts", "settled_at", "last_error")
    }
    return (
        NotificationRow.update(
            claim_id=None,
            due_at=fn.COALESCE(results.column("due_at"), NotificationRow.due_at),
            **columns,
        )
        .from_(results)
        .where(
            NotificationRow.organisation_id == results.column("organisation_id"),
            NotificationRow.id == results.column("id"),
            NotificationRow.claim_id == results.column("claim_id"),
        )
    )


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
