"""Events on their way out: written with the change that causes them, delivered at least once.

A webhook is a record: the bytes are frozen here, and every attempt carries the same. A notice is a
view: it holds ids, and whoever delivers it draws what is true by then.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final, Literal

import orjson
from peewee import Select
from typing_extensions import TypedDict

from storage import records
from storage.compiled import Place, compiled
from storage.database import Transaction
from storage.ids import new_id
from storage.records import LeaveRequestRecord, LeaveTypeRecord, UserSummaryRecord
from storage.reference import Reference, of_organisation
from storage.tables import DeliveryRow, EventRow, NoticeRow, SlackMessageRow, UserRow
from storage.values import EventType, LeaveRequest, User

NoticeKind = Literal["approval_card", "requester_notice", "webhook_disabled"]

# Names of the dispatchers that a commit wakes.
WEBHOOKS: Final = "webhooks"
NOTICES: Final = "notices"
# What a notice about a webhook says; no event of that name is ever sent to one.
WEBHOOK_DISABLED: Final = "webhook.disabled"
# How many admins hear of a webhook that was switched off.
MOST_TOLD: Final = 50
# The one event that nobody subscribes to: it is asked for.
PING: Final = "ping"


class EventData(LeaveRequestRecord):
    """The leave request in its first shape, and what a receiver would have to look up."""

    organisation_id: str
    sequence: int
    user: UserSummaryRecord
    leave_type: LeaveTypeRecord


class EventBody(TypedDict):
    """What a webhook receives (contract 9)."""

    type: str
    timestamp: datetime
    data: EventData


class PingData(TypedDict):
    """Whose webhook is tried."""

    organisation_id: str
    webhook_id: str


class PingBody(TypedDict):
    """What a test sends (contract 9)."""

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

    Call it in the transaction that changes the request, with the request as it is afterwards.
    """
    receivers = [
        webhook
        for webhook in reference.webhooks
        if event_type in webhook.events or "*" in webhook.events
    ]
    if not receivers:
        return
    organisation_id = reference.organisation.id
    leave_type = reference.leave_types[request.leave_type_id]
    data: EventData = {
        **records.leave_request(request),
        "organisation_id": organisation_id,
        "sequence": request.version,
        "user": records.user_summary(requester),
        "leave_type": records.leave_type(leave_type),
    }
    body: EventBody = {"type": event_type, "timestamp": now, "data": data}
    _enqueue(
        tx,
        organisation_id,
        body,
        [webhook.id for webhook in receivers],
        leave_request_id=request.id,
        sequence=request.version,
        now=now,
    )


def ping(tx: Transaction, organisation_id: str, webhook_id: str, *, now: datetime) -> str:
    """Queue a `ping` for one webhook, whatever it subscribes to; the event's id."""
    body: PingBody = {
        "type": PING,
        "timestamp": now,
        "data": {"organisation_id": organisation_id, "webhook_id": webhook_id},
    }
    return _enqueue(tx, organisation_id, body, [webhook_id], now=now)


def _enqueue(
    tx: Transaction,
    organisation_id: str,
    body: EventBody | PingBody,
    webhook_ids: Iterable[str],
    *,
    leave_request_id: str | None = None,
    sequence: int = 0,
    now: datetime,
) -> str:
    """Freeze the body and put one delivery of it in each webhook's queue."""
    event_id = new_id(now)
    tx.insert_soon(
        EventRow,
        organisation_id=organisation_id,
        id=event_id,
        type=body["type"],
        leave_request_id=leave_request_id,
        sequence=sequence,
        body=orjson.dumps(body, option=orjson.OPT_UTC_Z),
        created_at=now,
    )
    for webhook_id in webhook_ids:
        tx.insert_soon(
            DeliveryRow,
            organisation_id=organisation_id,
            id=new_id(now),
            webhook_id=webhook_id,
            event_id=event_id,
            event_type=body["type"],
            leave_request_id=leave_request_id,
            sequence=sequence,
            status="pending",
            attempts=0,
            due_at=now,
            created_at=now,
        )
    tx.wake(WEBHOOKS)
    return event_id


def notify(
    tx: Transaction,
    event_type: EventType,
    request: LeaveRequest,
    *,
    approvers: Iterable[User] = (),
    reference: Reference,
    now: datetime,
) -> None:
    """Queue what people should see in Slack; nothing when the organisation has no workspace.

    The requester is told, each of ``approvers`` gets the request's card, and everybody who has a
    card gets it redrawn.
    """
    if reference.organisation.slack_team_id is None:
        return
    organisation_id = reference.organisation.id
    holders = {
        user_id
        for (user_id,) in tx.all(
            _card_holders, organisation_id=organisation_id, leave_request_id=request.id
        )
    }
    people: list[tuple[NoticeKind, str]] = [("requester_notice", request.user_id)]
    people += [
        ("approval_card", user_id)
        for user_id in sorted(holders | {approver.id for approver in approvers})
    ]
    for kind, user_id in people:
        tx.insert_soon(
            NoticeRow,
            organisation_id=organisation_id,
            id=new_id(now),
            kind=kind,
            user_id=user_id,
            leave_request_id=request.id,
            event_type=event_type,
            status="pending",
            attempts=0,
            due_at=now,
            created_at=now,
        )
    tx.wake(NOTICES)


def notify_of_webhook(
    tx: Transaction, organisation_id: str, webhook_id: str, *, now: datetime
) -> None:
    """Queue the news, for active admins and owners, that a webhook was switched off."""
    if of_organisation(tx, organisation_id).organisation.slack_team_id is None:
        return
    admins = tx.all(_admins, organisation_id=organisation_id)
    tx.insert_all(
        NoticeRow,
        [
            {
                "organisation_id": organisation_id,
                "id": new_id(now),
                "kind": "webhook_disabled",
                "user_id": user_id,
                "webhook_id": webhook_id,
                "event_type": WEBHOOK_DISABLED,
                "status": "pending",
                "attempts": 0,
                "due_at": now,
                "created_at": now,
            }
            for (user_id,) in admins
        ],
    )
    tx.wake(NOTICES)


@compiled
def _admins(organisation_id: Place) -> Select:
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
def _card_holders(organisation_id: Place, leave_request_id: Place) -> Select:
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
