"""Events on their way out: written with the change that causes them, delivered at least once.

A webhook is a record: the bytes are frozen here, and every attempt carries the same. A notice is a
view: it holds ids, and whoever delivers it draws what is true by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal

import orjson
from peewee import Select
from typing_extensions import TypedDict

from storage.base import records
from storage.base.ids import new_id
from storage.base.records import LeaveRequestRecord, LeaveTypeRecord, UserSummaryRecord
from storage.base.values import Caller, EventType, LeaveRequest, NoticeEvent, User
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.tables import DeliveryRow, EventRow, NoticeRow, SlackMessageRow, UserRow
from storage.events.organisation_config import Reference, of_organisation
from storage.rules import request_rules

NoticeKind = Literal[
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
]

# Names of the dispatchers that a commit wakes.
WEBHOOKS: Final = "webhooks"
NOTICES: Final = "notices"
# What a notice says that is only due once a decision can no longer be changed.
SETTLED: Final = "leave_request.settled"
# What a notice about a webhook says; no event of that name is ever sent to one.
WEBHOOK_DISABLED: Final = "webhook.disabled"
WEBHOOK_FAILING: Final = "webhook.failing"
DIGEST_REFUSED: Final = "digest.refused"
REMINDER: Final = "approval.reminder"
# The card shows another balance or other colleagues than before; the request is the same.
CARD_REFRESH: Final = "approval_card.refresh"
# How many admins hear of a webhook that was switched off.
MOST_TOLD: Final = 50
# Why a delivery failed without an attempt.
SWITCHED_OFF: Final = "switched_off"
# The one event that nobody subscribes to: it is asked for.
PING: Final = "ping"
# How many requests' events are made and written at a time.
_AT_ONCE: Final = 500


class EventData(LeaveRequestRecord):
    """The leave request, with the names that a receiver would otherwise have to look up."""

    organisation_id: str
    sequence: int
    user: UserSummaryRecord
    leave_type: LeaveTypeRecord


class EventBody(TypedDict):
    """The body of an event."""

    type: str
    timestamp: datetime
    data: EventData


class PingData(TypedDict):
    """The organisation that owns the webhook."""

    organisation_id: str
    webhook_id: str


class PingBody(TypedDict):
    """The body of a ping."""

    type: str
    timestamp: datetime
    data: PingData


def announce(
    tx: Transaction,
    event_type: EventType,
    request: LeaveRequest,
    *,
    requester: User,
    reference: Reference,
    now: datetime,
) -> None:
    """Queue one event for every webhook that subscribes to it; nothing when none does.

    For one that is switched off it is kept as failed, and not sent unless an admin asks for that.

    Call it in the transaction that changes the request, with the request as it is afterwards.
    """
    receivers = _receivers(reference, event_type)
    if not receivers:
        return
    organisation_id = reference.organisation.id
    _enqueue(
        tx,
        organisation_id,
        _body(event_type, request, requester, reference, now),
        receivers,
        leave_request_id=request.id,
        sequence=request.version,
        now=now,
    )


def announce_all(
    tx: Transaction,
    event_type: EventType,
    changed: Sequence[tuple[LeaveRequest, User]],
    *,
    reference: Reference,
    now: datetime,
) -> None:
    """As ``announce`` for many requests and their owners, in a handful of statements."""
    receivers = _receivers(reference, event_type)
    if not receivers:
        return
    organisation_id = reference.organisation.id
    # In portions: frozen bodies of thousands of requests need not be in memory at once.
    for start in range(0, len(changed), _AT_ONCE):
        events: list[dict[str, Any]] = []
        queued: list[dict[str, Any]] = []
        missed: list[dict[str, Any]] = []
        for request, requester in changed[start : start + _AT_ONCE]:
            body = _body(event_type, request, requester, reference, now)
            event = _event_row(
                organisation_id,
                body,
                leave_request_id=request.id,
                sequence=request.version,
                now=now,
            )
            events.append(event)
            for webhook_id, is_active in receivers.items():
                if is_active:
                    queued.append(_delivery_row(event, webhook_id, now))
                else:
                    missed.append(_missed_row(event, webhook_id, now))
        tx.insert_all(EventRow, events)
        tx.insert_all(DeliveryRow, queued)
        tx.insert_all(DeliveryRow, missed)
    tx.wake(WEBHOOKS)


def _receivers(reference: Reference, event_type: EventType) -> dict[str, bool]:
    """The ids of webhooks that subscribe to an event, and whether each is switched on."""
    return {
        webhook.id: webhook.is_active
        for webhook in reference.webhooks
        if event_type in webhook.events or "*" in webhook.events
    }


def _body(
    event_type: EventType,
    request: LeaveRequest,
    requester: User,
    reference: Reference,
    now: datetime,
) -> EventBody:
    leave_type = reference.leave_types[request.leave_type_id]
    data: EventData = {
        **records.leave_request(request),
        "organisation_id": reference.organisation.id,
        "sequence": request.version,
        "user": records.user_summary(requester),
        "leave_type": records.leave_type(leave_type),
    }
    return {"type": event_type, "timestamp": now, "data": data}


def ping(tx: Transaction, organisation_id: str, webhook_id: str, *, now: datetime) -> str:
    """Queue a `ping` for one webhook, whatever it subscribes to; the event's id."""
    body: PingBody = {
        "type": PING,
        "timestamp": now,
        "data": {"organisation_id": organisation_id, "webhook_id": webhook_id},
    }
    return _enqueue(tx, organisation_id, body, {webhook_id: True}, now=now)


def _enqueue(
    tx: Transaction,
    organisation_id: str,
    body: EventBody | PingBody,
    receivers: Mapping[str, bool],
    *,
    leave_request_id: str | None = None,
    sequence: int = 0,
    now: datetime,
) -> str:
    """Freeze the body and put one delivery of it in the queue of each webhook that is on."""
    event = _event_row(
        organisation_id, body, leave_request_id=leave_request_id, sequence=sequence, now=now
    )
    tx.enqueue_insert(EventRow, **event)
    for webhook_id, is_active in receivers.items():
        row = _delivery_row if is_active else _missed_row
        tx.enqueue_insert(DeliveryRow, **row(event, webhook_id, now))
    tx.wake(WEBHOOKS)
    event_id: str = event["id"]
    return event_id


def _event_row(
    organisation_id: str,
    body: EventBody | PingBody,
    *,
    leave_request_id: str | None,
    sequence: int,
    now: datetime,
) -> dict[str, Any]:
    return {
        "organisation_id": organisation_id,
        "id": new_id(now),
        "type": body["type"],
        "leave_request_id": leave_request_id,
        "sequence": sequence,
        "body": orjson.dumps(body, option=orjson.OPT_UTC_Z),
        "created_at": now,
    }


def _delivery_row(event: Mapping[str, Any], webhook_id: str, now: datetime) -> dict[str, Any]:
    return {
        "organisation_id": event["organisation_id"],
        "id": new_id(now),
        "webhook_id": webhook_id,
        "event_id": event["id"],
        "event_type": event["type"],
        "leave_request_id": event["leave_request_id"],
        "sequence": event["sequence"],
        "status": "pending",
        "attempts": 0,
        "due_at": now,
        "created_at": now,
    }


def _missed_row(event: Mapping[str, Any], webhook_id: str, now: datetime) -> dict[str, Any]:
    """What a webhook that is off would have been sent: for its admins to send later."""
    missed = {"status": "failed", "settled_at": now, "last_error": SWITCHED_OFF}
    return _delivery_row(event, webhook_id, now) | missed


def notify(
    tx: Transaction,
    event_type: NoticeEvent,
    request: LeaveRequest,
    *,
    by: Caller,
    approvers: Iterable[User] = (),
    reference: Reference,
    now: datetime,
) -> None:
    """Queue what people should see in Slack; nothing where no workspace has the app.

    The requester is told, each of ``approvers`` gets the request's card, and everybody who has a
    card gets it redrawn. What the requester does in Slack himself is no news to him: the message
    that he has is redrawn, and he is called by nothing.
    """
    if not reference.is_in_slack:
        return
    organisation_id = reference.organisation.id
    holders = {
        user_id
        for (user_id,) in tx.all(
            _card_holders, organisation_id=organisation_id, leave_request_id=request.id
        )
    }
    is_own = by.source == "slack" and by.user_id == request.user_id
    people: list[tuple[NoticeKind, str]] = [
        ("own_message" if is_own else "requester_notice", request.user_id)
    ]
    people += [
        ("approval_card", user_id)
        # A requester has a message, too, and no card.
        for user_id in sorted((holders | {one.id for one in approvers}) - {request.user_id})
    ]
    for kind, user_id in people:
        notice = notice_row(organisation_id, kind, user_id, request.id, event_type, now)
        tx.enqueue_insert(NoticeRow, **notice)
    if request_rules.may_reconsider(request, now):
        # When it is too late to decide otherwise, the button for it goes away.
        later = {"due_at": now + request_rules.SECOND_THOUGHTS}
        for user_id in sorted(holders - {request.user_id}):
            row = notice_row(organisation_id, "approval_card", user_id, request.id, SETTLED, now)
            tx.enqueue_insert(NoticeRow, **row | later)
    tx.wake(NOTICES)


def notify_all(
    tx: Transaction,
    event_type: NoticeEvent,
    changed: Sequence[LeaveRequest],
    *,
    told: Sequence[LeaveRequest] = (),
    approvers: Mapping[str, Iterable[str]] = MappingProxyType({}),
    reference: Reference,
    now: datetime,
) -> None:
    """As ``notify`` for many requests, in a handful of statements.

    Every card of the ``changed`` ones is redrawn; the owners of those ``told`` are told.
    ``approvers`` are people who get a request's card, both by id.
    """
    if not reference.is_in_slack or not changed:
        return
    organisation_id = reference.organisation.id
    cards = {
        (request_id, user_id) for request_id, user_ids in approvers.items() for user_id in user_ids
    }
    cards |= set(
        tx.all(
            _cards_of,
            organisation_id=organisation_id,
            leave_request_ids=[request.id for request in changed],
        )
    )
    cards -= {(request.id, request.user_id) for request in changed}
    notices = [
        notice_row(
            organisation_id, "requester_notice", request.user_id, request.id, event_type, now
        )
        for request in told
    ]
    notices += [
        notice_row(organisation_id, "approval_card", user_id, request_id, event_type, now)
        for request_id, user_id in sorted(cards)
    ]
    tx.insert_all(NoticeRow, notices)
    tx.wake(NOTICES)


def post_missing_cards(
    tx: Transaction,
    user_id: str,
    requests: Sequence[LeaveRequest],
    *,
    reference: Reference,
    now: datetime,
) -> None:
    """Queue these requests' cards for one approver, except cards that are queued already.

    Nothing else changes: the other approvers' cards are not redrawn.
    """
    if not reference.is_in_slack or not requests:
        return
    organisation_id = reference.organisation.id
    queued = {
        request_id
        for (request_id,) in tx.all(
            _queued_cards,
            organisation_id=organisation_id,
            user_id=user_id,
            leave_request_ids=[request.id for request in requests],
        )
    }
    tx.insert_all(
        NoticeRow,
        [
            notice_row(
                organisation_id, "approval_card", user_id, request.id, "leave_request.rerouted", now
            )
            for request in requests
            if request.id not in queued
        ],
    )
    tx.wake(NOTICES)


def tell_approvers(
    tx: Transaction,
    event_type: NoticeEvent,
    told: Mapping[str, Iterable[str]],
    *,
    organisation_id: str,
    now: datetime,
) -> None:
    """Queue a message about each request for these people, who do not have to decide; by id."""
    tx.insert_all(
        NoticeRow,
        [
            notice_row(organisation_id, "approver_notice", user_id, request_id, event_type, now)
            for request_id, user_ids in told.items()
            for user_id in sorted(user_ids)
        ],
    )
    tx.wake(NOTICES)


def notice_row(
    organisation_id: str,
    kind: NoticeKind,
    user_id: str,
    leave_request_id: str | None,
    event_type: NoticeEvent,
    now: datetime,
) -> dict[str, Any]:
    """The columns of a notice about a leave request, due at once."""
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


def notify_of_webhook(
    tx: Transaction, organisation_id: str, webhook_id: str, *, now: datetime
) -> None:
    """Queue the news, for active admins and owners, that a webhook was switched off."""
    _tell_admins(tx, organisation_id, "webhook_disabled", WEBHOOK_DISABLED, webhook_id, now)


def notify_of_failing_webhook(
    tx: Transaction, organisation_id: str, webhook_id: str, *, now: datetime
) -> None:
    """Queue the news, for active admins and owners, that every attempt has failed for a day."""
    _tell_admins(tx, organisation_id, "webhook_failing", WEBHOOK_FAILING, webhook_id, now)


def notify_of_digest(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Queue the news, for active admins and owners, that the digest's channel takes none."""
    _tell_admins(tx, organisation_id, "digest_refused", DIGEST_REFUSED, None, now)


def _tell_admins(
    tx: Transaction,
    organisation_id: str,
    kind: NoticeKind,
    event_type: str,
    webhook_id: str | None,
    now: datetime,
) -> None:
    if not of_organisation(tx, organisation_id).is_in_slack:
        return
    admins = tx.all(_admins, organisation_id=organisation_id)
    tx.insert_all(
        NoticeRow,
        [
            {
                "organisation_id": organisation_id,
                "id": new_id(now),
                "kind": kind,
                "user_id": user_id,
                "webhook_id": webhook_id,
                "event_type": event_type,
                "status": "pending",
                "attempts": 0,
                "due_at": now,
                "created_at": now,
            }
            for (user_id,) in admins
        ],
    )
    tx.wake(NOTICES)


def remind(
    tx: Transaction,
    organisation_id: str,
    user_id: str,
    leave_request_id: str | None,
    *,
    now: datetime,
) -> None:
    """Queue a reminder of one request, or with None of everything that waits for the person."""
    tx.insert(
        NoticeRow,
        organisation_id=organisation_id,
        id=new_id(now),
        kind="reminder_summary" if leave_request_id is None else "reminder",
        user_id=user_id,
        leave_request_id=leave_request_id,
        event_type=REMINDER,
        status="pending",
        attempts=0,
        due_at=now,
        created_at=now,
    )
    tx.wake(NOTICES)


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
        .limit(MOST_TOLD)
    )


@compiled
def _card_holders(organisation_id: Param[str], leave_request_id: Param[str]) -> Select:
    """Who has the card, and who is about to: a card may be posted while the request changes."""
    posted = SlackMessageRow.select(SlackMessageRow.user_id).where(
        SlackMessageRow.organisation_id == organisation_id,
        SlackMessageRow.leave_request_id == leave_request_id,
    )
    on_its_way = NoticeRow.select(NoticeRow.user_id).where(
        NoticeRow.organisation_id == organisation_id,
        NoticeRow.leave_request_id == leave_request_id,
        NoticeRow.kind == "approval_card",
        NoticeRow.status == "pending",
    )
    return posted.union(on_its_way)


@compiled
def _cards_of(organisation_id: Param[str], leave_request_ids: Param[list[str]]) -> Select:
    """As `_card_holders`, for many requests: the request and who has or is about to have it."""
    posted = SlackMessageRow.select(
        SlackMessageRow.leave_request_id, SlackMessageRow.user_id
    ).where(
        SlackMessageRow.organisation_id == organisation_id,
        any_of(SlackMessageRow.leave_request_id, leave_request_ids),
    )
    on_its_way = NoticeRow.select(NoticeRow.leave_request_id, NoticeRow.user_id).where(
        NoticeRow.organisation_id == organisation_id,
        any_of(NoticeRow.leave_request_id, leave_request_ids),
        NoticeRow.kind == "approval_card",
        NoticeRow.status == "pending",
    )
    return posted.union(on_its_way)


@compiled
def _queued_cards(
    organisation_id: Param[str], user_id: Param[str], leave_request_ids: Param[list[str]]
) -> Select:
    """The requests of which a pending notice will post the person's card.

    A reminder posts the card where there is none yet; a refresh never does.
    """
    return NoticeRow.select(NoticeRow.leave_request_id).where(
        NoticeRow.organisation_id == organisation_id,
        NoticeRow.user_id == user_id,
        any_of(NoticeRow.leave_request_id, leave_request_ids),
        NoticeRow.kind.in_(("approval_card", "reminder")),
        NoticeRow.event_type.not_in((CARD_REFRESH, SETTLED)),
        NoticeRow.status == "pending",
    )
