"""The outbox of Slack notifications, written in the transaction of the change that causes them.

A notification is a view: it holds ids, and is rendered from the current data when it is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final, Literal

from peewee import Select

from storage.base.event_values import NotificationEvent
from storage.base.ids import new_id
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, User
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.tables import NotificationRow, SlackMessageRow, UserRow
from storage.outbox.organisation_config import OrganisationConfig, of_organisation
from storage.rules import lifecycle

NotificationKind = Literal[
    "approval_card",
    "requester_notice",
    "own_message",
    "webhook_disabled",
    "webhook_failing",
    "digest_refused",
    "reminder",
    "reminder_summary",
    "cover_changed",
    "approver_notice",
    "cover_notice",
    "absence_notice",
    "welcome",
    "time_credit_card",
    "time_credit_notice",
    "time_credit_reminder",
    "closure_notice",
    "slack_status_ended",
    "balance_question",
    "expiry_notice",
]
# The dispatcher that a commit notifies.
NOTIFICATIONS: Final = "notifications"
# The reversal window of a decision has ended: its button is removed.
REVERSAL_WINDOW_ENDED: Final = "leave_request.settled"
# The first of two approvals was given; until the window ends, it can be taken back.
FIRST_APPROVAL: Final = "leave_request.approval_given"
REMINDER: Final = "approval.reminder"
# The requester's message shows other days; they get no new one.
OWN_REFRESH: Final = "own_message.refresh"
# Their leave begins soon: the message offers what to do when they fall ill.
BEGINS_SOON: Final = "own_message.begins_soon"
# Queued long before they are due: they block no notification that is due earlier.
QUEUED_EARLY: Final = (REVERSAL_WINDOW_ENDED, BEGINS_SOON)
# Others learn of leave that was approved at once.
ABSENCE_TOLD: Final = "absence.told"
# Slack revoked the token with which their status was set.
STATUS_ENDED: Final = "slack_status.ended"
# The person joined or installed the app.
JOINED: Final = "user.joined"
# A closure booked leave for the person, or changed it or took it back.
CLOSURE_TOLD: Final = "closure.told"
# Days of the person lapse, or a new leave year has begun.
EXPIRY_TOLD: Final = "expiry_notice.due"
# A person says that their balance is not right.
BALANCE_QUESTIONED: Final = "balance.questioned"
# The balance or the colleagues on a card changed; its request did not.
CARD_REFRESH: Final = "approval_card.refresh"
# What a card shows of a person or their leave was removed: cards that are decided change, too.
CARD_REWRITTEN: Final = "approval_card.rewritten"


def notify(
    tx: Transaction,
    event_type: NotificationEvent,
    request: LeaveRequest,
    *,
    by: Caller,
    approvers: Iterable[User] = (),
    config: OrganisationConfig,
    now: datetime,
) -> None:
    """Queue the notifications of one event; none where no workspace has the app.

    The requester is notified, each of ``approvers`` gets the request's card, and every card that
    was sent is refreshed. A requester who made the change in Slack gets no notification: their own
    message is refreshed instead.
    """
    if not config.is_in_slack:
        return
    organisation_id = config.organisation.id
    # A new request has no cards yet.
    cards = _cards_of(tx, organisation_id, [request]) if request.version > 1 else ()
    card_holders = {user_id for _, user_id in cards}
    is_own = (by.source == "slack" and by.user_id == request.user_id) or event_type == OWN_REFRESH
    people: list[tuple[NotificationKind, str]] = [
        ("own_message" if is_own else "requester_notice", request.user_id)
    ]
    people += [
        ("approval_card", user_id)
        # The requester has a message, but no card.
        for user_id in sorted((card_holders | {user.id for user in approvers}) - {request.user_id})
    ]
    rows = [
        notification_row(organisation_id, kind, user_id, request.id, event_type, now)
        for kind, user_id in people
    ]
    is_first_approval = event_type == FIRST_APPROVAL and request.status == "pending"
    if is_first_approval or lifecycle.is_reversible(request, now):
        # The button that reverses the decision is removed at the end of its window.
        window_ends_at = now + lifecycle.REVERSAL_WINDOW
        rows += [
            notification_row(
                organisation_id, "approval_card", user_id, request.id, REVERSAL_WINDOW_ENDED, now
            )
            | {"due_at": window_ends_at}
            for user_id in sorted(card_holders - {request.user_id})
        ]
    _queue(tx, rows)


def notify_all(
    tx: Transaction,
    event_type: NotificationEvent,
    changed: Sequence[LeaveRequest],
    *,
    notified: Sequence[LeaveRequest] = (),
    approvers: Mapping[str, Iterable[str]] = MappingProxyType({}),
    config: OrganisationConfig,
    now: datetime,
) -> None:
    """As ``notify`` for many requests, in a few statements.

    Every card of ``changed`` requests is refreshed. The requesters of ``notified`` get a message,
    or theirs is refreshed.
    ``approvers`` maps request ids to the ids of people who get its card.
    """
    if not config.is_in_slack or not changed:
        return
    organisation_id = config.organisation.id
    cards = {
        (request_id, user_id) for request_id, user_ids in approvers.items() for user_id in user_ids
    }
    cards |= _cards_of(tx, organisation_id, changed)
    cards -= {(request.id, request.user_id) for request in changed}
    kind: NotificationKind = "own_message" if event_type == OWN_REFRESH else "requester_notice"
    rows = [
        notification_row(organisation_id, kind, request.user_id, request.id, event_type, now)
        for request in notified
    ]
    rows += [
        notification_row(organisation_id, "approval_card", user_id, request_id, event_type, now)
        for request_id, user_id in sorted(cards)
    ]
    _queue(tx, rows)


def welcome(tx: Transaction, user_id: str, *, organisation_id: str, now: datetime) -> None:
    """Queue the greeting, in the transaction in which the person joins or installs the app."""
    row = notification_row(organisation_id, "welcome", user_id, None, JOINED, now)
    _queue(tx, [row])


def tell_status_ended(
    tx: Transaction, user_id: str, *, organisation_id: str, now: datetime
) -> None:
    """Queue the message that the person's Slack status no longer shows their leave."""
    row = notification_row(organisation_id, "slack_status_ended", user_id, None, STATUS_ENDED, now)
    _queue(tx, [row])


def question_balance(tx: Transaction, user_id: str, *, organisation_id: str, now: datetime) -> None:
    """Queue a message to the other admins and owners: the person's balance is not right."""
    rows = [
        notification_row(
            organisation_id, "balance_question", admin_id, None, BALANCE_QUESTIONED, now
        )
        | {"about_user_id": user_id}
        for admin_id in admin_ids(tx, organisation_id)
        if admin_id != user_id
    ]
    _queue(tx, rows)


def tell_expiry(
    tx: Transaction,
    notices: Iterable[tuple[str, str]],
    *,
    organisation_id: str,
    now: datetime,
) -> None:
    """Queue a message for each notice of expiring days: its id, and that of its person."""
    rows = [
        notification_row(organisation_id, "expiry_notice", user_id, None, EXPIRY_TOLD, now)
        | {"expiry_notice_id": notice_id}
        for notice_id, user_id in notices
    ]
    _queue(tx, rows)


def tell_closure(
    tx: Transaction,
    closure_id: str,
    told: Sequence[tuple[str, int]],
    *,
    config: OrganisationConfig,
    now: datetime,
) -> None:
    """Queue a message to each person whose leave of a closure changes.

    ``told`` has their ids with the half-days that the closure booked for them before. People who
    have not got an earlier message yet get only that one, which shows their leave as it is then.
    """
    if not config.is_in_slack or not told:
        return
    organisation_id = config.organisation.id
    queued = {
        row.user_id
        for row in tx.all(
            _queued_closures,
            organisation_id=organisation_id,
            closure_id=closure_id,
            user_ids=[user_id for user_id, _ in told],
        )
    }
    rows = [
        notification_row(organisation_id, "closure_notice", user_id, None, CLOSURE_TOLD, now)
        | {"closure_id": closure_id, "half_days_before": half_days_before}
        for user_id, half_days_before in told
        if user_id not in queued
    ]
    _queue(tx, rows)


@compiled
def _queued_closures(
    organisation_id: Param[str], closure_id: Param[str], user_ids: Param[list[str]]
) -> Select:
    """The people whose message about a closure is queued and not being sent."""
    return NotificationRow.select(NotificationRow.user_id).where(
        NotificationRow.organisation_id == organisation_id,
        any_of(NotificationRow.user_id, user_ids),
        NotificationRow.closure_id == closure_id,
        NotificationRow.status == "pending",
        NotificationRow.claim_id.is_null(),
    )


def refresh_own_message(
    tx: Transaction, request: LeaveRequest, organisation_id: str, *, due_at: datetime, now: datetime
) -> None:
    """Queue a refresh of the requester's message at a later time."""
    row = notification_row(
        organisation_id, "own_message", request.user_id, request.id, BEGINS_SOON, now
    )
    tx.insert(NotificationRow, **row | {"due_at": due_at})


def post_missing_cards(
    tx: Transaction,
    user_id: str,
    requests: Sequence[LeaveRequest],
    *,
    config: OrganisationConfig,
    now: datetime,
) -> None:
    """Queue these requests' cards for one approver, except cards that are queued already.

    The other approvers' cards are not refreshed.
    """
    if not config.is_in_slack or not requests:
        return
    organisation_id = config.organisation.id
    queued = {
        request_id
        for (request_id,) in tx.all(
            _queued_cards,
            organisation_id=organisation_id,
            user_id=user_id,
            leave_request_ids=[request.id for request in requests],
        )
    }
    rows = [
        notification_row(
            organisation_id, "approval_card", user_id, request.id, "leave_request.rerouted", now
        )
        for request in requests
        if request.id not in queued
    ]
    _queue(tx, rows)


def notify_approvers(
    tx: Transaction,
    event_type: NotificationEvent,
    user_ids_by_request: Mapping[str, Iterable[str]],
    *,
    organisation_id: str,
    now: datetime,
) -> None:
    """Queue messages to approvers who need not decide; ``user_ids_by_request`` has their ids."""
    rows = [
        notification_row(organisation_id, "approver_notice", user_id, request_id, event_type, now)
        for request_id, user_ids in user_ids_by_request.items()
        for user_id in sorted(user_ids)
    ]
    _queue(tx, rows)


def tell_absence(
    tx: Transaction,
    request: LeaveRequest,
    user_ids: Iterable[str],
    *,
    organisation_id: str,
    now: datetime,
) -> None:
    """Queue messages about leave that was approved at once, except to people who have one."""
    told = card_holders(tx, organisation_id, request)
    rows = [
        notification_row(organisation_id, "absence_notice", user_id, request.id, ABSENCE_TOLD, now)
        for user_id in sorted(set(user_ids) - told)
    ]
    _queue(tx, rows)


def card_holders(tx: Transaction, organisation_id: str, request: LeaveRequest) -> set[str]:
    """The ids of people who have a message about the request, or will get one; not its owner's."""
    holders = {user_id for _, user_id in _cards_of(tx, organisation_id, [request])}
    return holders - {request.user_id}


def refresh_absences(
    tx: Transaction, organisation_id: str, messages: Iterable[tuple[str, str]], *, now: datetime
) -> None:
    """Queue refreshes of such messages: each is of a request and a person."""
    rows = [
        notification_row(organisation_id, "approval_card", user_id, request_id, ABSENCE_TOLD, now)
        for request_id, user_id in sorted(messages)
    ]
    _queue(tx, rows)


def notification_row(
    organisation_id: str,
    kind: NotificationKind,
    user_id: str,
    leave_request_id: str | None,
    event_type: str,
    now: datetime,
) -> dict[str, object]:
    """The columns of a notification that is due at once."""
    return {
        "organisation_id": organisation_id,
        "id": new_id(now),
        "kind": kind,
        "user_id": user_id,
        "leave_request_id": leave_request_id,
        "event_type": event_type,
        "status": "pending",
        "attempts": 0,
        "due_at": now,
        "created_at": now,
    }


def remind(
    tx: Transaction,
    organisation_id: str,
    single: Sequence[tuple[str, str]] = (),
    summaries: Sequence[str] = (),
    *,
    now: datetime,
) -> None:
    """Queue reminders: ``single`` of a person and one request each, ``summaries`` for people."""
    rows = [
        notification_row(organisation_id, "reminder", user_id, request_id, REMINDER, now)
        for user_id, request_id in single
    ]
    rows += [
        notification_row(organisation_id, "reminder_summary", user_id, None, REMINDER, now)
        for user_id in summaries
    ]
    _queue(tx, rows)


def rewrite_cards(
    tx: Transaction, organisation_id: str, cards: Iterable[tuple[str, str]], *, now: datetime
) -> None:
    """Queue updates of posted cards, open or decided, each given as request and recipient."""
    _queue(
        tx,
        [
            notification_row(
                organisation_id, "approval_card", user_id, request_id, CARD_REWRITTEN, now
            )
            for request_id, user_id in sorted(cards)
        ],
    )


def _queue(tx: Transaction, rows: Sequence[dict[str, object]]) -> None:
    """Add notifications, and notify their dispatcher if there are any."""
    if rows:
        tx.insert_all(NotificationRow, rows)
        tx.notify(NOTIFICATIONS)


def _cards_of(
    tx: Transaction, organisation_id: str, requests: Iterable[LeaveRequest]
) -> set[tuple[str, str]]:
    request_ids = [request.id for request in requests]
    return set(tx.all(_cards, organisation_id=organisation_id, leave_request_ids=request_ids))


@compiled
def _cards(organisation_id: Param[str], leave_request_ids: Param[list[str]]) -> Select:
    """Request and person of cards that are posted, or queued and perhaps posted meanwhile.

    A message about leave that was approved at once is such a card, too.
    """
    posted = SlackMessageRow.select(
        SlackMessageRow.leave_request_id, SlackMessageRow.user_id
    ).where(
        SlackMessageRow.organisation_id == organisation_id,
        any_of(SlackMessageRow.leave_request_id, leave_request_ids),
    )
    queued = NotificationRow.select(
        NotificationRow.leave_request_id, NotificationRow.user_id
    ).where(
        NotificationRow.organisation_id == organisation_id,
        any_of(NotificationRow.leave_request_id, leave_request_ids),
        NotificationRow.kind.in_(("approval_card", "absence_notice")),
        NotificationRow.status == "pending",
    )
    return posted.union(queued)


@compiled
def _queued_cards(
    organisation_id: Param[str], user_id: Param[str], leave_request_ids: Param[list[str]]
) -> Select:
    """The requests whose card a pending notification will post.

    A reminder posts the card where there is none yet; a refresh never does.
    """
    return NotificationRow.select(NotificationRow.leave_request_id).where(
        NotificationRow.organisation_id == organisation_id,
        NotificationRow.user_id == user_id,
        any_of(NotificationRow.leave_request_id, leave_request_ids),
        NotificationRow.kind.in_(("approval_card", "reminder")),
        NotificationRow.event_type.not_in((CARD_REFRESH, CARD_REWRITTEN, REVERSAL_WINDOW_ENDED)),
        NotificationRow.status == "pending",
    )


# Event types of notifications only: no webhook receives them.
_ADMIN_EVENTS: Final = {
    "webhook_disabled": "webhook.disabled",
    "webhook_failing": "webhook.failing",
    "digest_refused": "digest.refused",
}
MAX_NOTIFIED: Final = 50


def notify_admins(
    tx: Transaction,
    organisation_id: str,
    kind: Literal["webhook_disabled", "webhook_failing", "digest_refused"],
    *,
    webhook_id: str | None = None,
    digest_id: str | None = None,
    now: datetime,
) -> None:
    """Notify active admins and owners that a webhook was disabled or has failed for a day, or that
    Slack refuses a digest's channel.
    """
    if not of_organisation(tx, organisation_id).is_in_slack:
        return
    subject = {"webhook_id": webhook_id, "digest_id": digest_id}
    rows = [
        notification_row(organisation_id, kind, user_id, None, _ADMIN_EVENTS[kind], now) | subject
        for user_id in admin_ids(tx, organisation_id)
    ]
    _queue(tx, rows)


def admin_ids(tx: Transaction, organisation_id: str) -> list[str]:
    """The ids of the active admins and owners whom a message is for, at most 50."""
    return [user_id for (user_id,) in tx.all(_admins, organisation_id=organisation_id)]


@compiled
def _admins(organisation_id: Param[str]) -> Select:
    return (
        UserRow.select(UserRow.id)
        .where(
            UserRow.organisation_id == organisation_id,
            UserRow.role << ("admin", "owner"),
            UserRow.status == "active",
        )
        .order_by(UserRow.id)
        .limit(MAX_NOTIFIED)
    )
