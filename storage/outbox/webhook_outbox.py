"""The outbox of webhooks: events, written in the transaction of the change that causes them.

An event is a record: its bytes are frozen here, and every attempt sends the same ones. Receivers
rely on the form of the bodies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Final

import orjson
from typing_extensions import TypedDict

from storage.base.event_values import (
    LEAVE_EVENT_TYPES,
    TIME_CREDIT_EVENT_TYPES,
    USER_EVENT_TYPES,
    EventType,
    LeaveEventType,
    TimeCreditEventType,
)
from storage.base.ids import new_id
from storage.base.leave_values import (
    CountedAmendment,
    LeaveRequest,
    LeaveRequestRecord,
    LeaveType,
    TimeCredit,
    TimeCreditRecord,
    leave_request_record,
    time_credit_record,
)
from storage.base.values import About, Id, User, UserSummaryRecord, record, user_summary
from storage.db.database import Transaction
from storage.db.tables import DeliveryRow, EventRow
from storage.outbox.organisation_config import OrganisationConfig

# The dispatcher that a commit notifies.
WEBHOOKS: Final = "webhooks"
# Why a delivery failed without an attempt: its endpoint was disabled.
SWITCHED_OFF: Final = "switched_off"
# Requests whose events are created and written together.
_BATCH_SIZE: Final = 500
# The event that needs no subscription: an admin sends it to one endpoint.
PING: Final = "ping"


class EventData(LeaveRequestRecord):
    """The leave request, with the names that a receiver would otherwise have to look up."""

    organisation_id: Id
    sequence: int
    user: UserSummaryRecord
    leave_type: LeaveType


class EventBody(TypedDict):
    """The body of an event."""

    type: Annotated[str, About(enum=LEAVE_EVENT_TYPES)]
    timestamp: datetime
    data: EventData


class EarnedAllowance(TypedDict):
    """The allowance that a time credit adds days to."""

    id: Id
    name: Annotated[str, About(example="Time in lieu")]
    code: Annotated[str, About(example="time-in-lieu")]


class TimeCreditEventData(TimeCreditRecord):
    """The time credit, with the names that a receiver would otherwise have to look up."""

    organisation_id: Id
    sequence: int
    user: UserSummaryRecord
    allowance: EarnedAllowance


class TimeCreditEventBody(TypedDict):
    """The body of an event of a time credit."""

    type: Annotated[str, About(enum=TIME_CREDIT_EVENT_TYPES)]
    timestamp: datetime
    data: TimeCreditEventData


class ErasedUserData(TypedDict):
    """The person who was erased."""

    id: Id
    organisation_id: Id
    sequence: int


class UserEventBody(TypedDict):
    """The body of an event of a person."""

    type: Annotated[str, About(enum=USER_EVENT_TYPES)]
    timestamp: datetime
    data: ErasedUserData


class PingData(TypedDict):
    """The organisation that owns the webhook."""

    organisation_id: Id
    webhook_id: Id


class PingBody(TypedDict):
    """The body of a ping."""

    type: Annotated[str, About(enum=(PING,))]
    timestamp: datetime
    data: PingData


def enqueue(
    tx: Transaction,
    event_type: LeaveEventType,
    request: LeaveRequest,
    amendment: CountedAmendment | None = None,
    *,
    requester: User,
    config: OrganisationConfig,
    now: datetime,
) -> None:
    """Queue an event for every webhook that subscribes to it; nothing when none does.

    ``amendment`` is the request's open one. A disabled webhook gets a failed delivery, which an
    admin can send later. Call it in the transaction that changes the request, with the changed
    request.
    """
    amendments = {} if amendment is None else {request.id: amendment}
    enqueue_all(tx, event_type, [(request, requester)], amendments, config=config, now=now)


def enqueue_all(
    tx: Transaction,
    event_type: LeaveEventType,
    changed: Sequence[tuple[LeaveRequest, User]],
    amendments: Mapping[str, CountedAmendment] = MappingProxyType({}),
    *,
    config: OrganisationConfig,
    now: datetime,
) -> None:
    """As ``enqueue`` for many requests, each with its requester, in a few statements.

    ``amendments`` are the open ones by the requests' ids.
    """
    receivers = _receivers(config, event_type)
    if not receivers:
        return
    organisation_id = config.organisation.id
    # In batches: the bodies of thousands of requests would fill the memory.
    for start in range(0, len(changed), _BATCH_SIZE):
        events: list[dict[str, object]] = []
        queued: list[dict[str, object]] = []
        missed: list[dict[str, object]] = []
        for request, requester in changed[start : start + _BATCH_SIZE]:
            amendment = amendments.get(request.id)
            body = event_body(event_type, request, requester, config, now, amendment)
            event = _event_row(
                organisation_id,
                body,
                leave_request_id=request.id,
                sequence=request.version,
                now=now,
            )
            events.append(event)
            _add_deliveries(event, receivers, queued, missed, now)
        tx.insert_all(EventRow, events)
        tx.insert_all(DeliveryRow, queued)
        tx.insert_all(DeliveryRow, missed)
    tx.notify(WEBHOOKS)


def enqueue_time_credit(
    tx: Transaction,
    event_type: TimeCreditEventType,
    credit: TimeCredit,
    *,
    user: User,
    config: OrganisationConfig,
    now: datetime,
) -> None:
    """As ``enqueue`` for a time credit of this person."""
    receivers = _receivers(config, event_type)
    if not receivers:
        return
    # The credit's id keeps its events in order, as a request's id does.
    event = _event_row(
        config.organisation.id,
        time_credit_body(event_type, credit, user, config, now),
        leave_request_id=credit.id,
        sequence=credit.version,
        now=now,
    )
    _insert(tx, event, receivers, now)


def enqueue_user_erased(
    tx: Transaction, user_id: str, sequence: int, *, config: OrganisationConfig, now: datetime
) -> None:
    """As ``enqueue``, for a person who was erased; ``sequence`` is the version of their row."""
    receivers = _receivers(config, "user.erased")
    if not receivers:
        return
    organisation_id = config.organisation.id
    body: UserEventBody = {
        "type": "user.erased",
        "timestamp": now,
        "data": {"id": user_id, "organisation_id": organisation_id, "sequence": sequence},
    }
    event = _event_row(organisation_id, body, leave_request_id=None, sequence=sequence, now=now)
    _insert(tx, event, receivers, now)


def _insert(
    tx: Transaction, event: Mapping[str, object], receivers: Mapping[str, bool], now: datetime
) -> None:
    queued: list[dict[str, object]] = []
    missed: list[dict[str, object]] = []
    _add_deliveries(event, receivers, queued, missed, now)
    tx.insert(EventRow, **event)
    tx.insert_all(DeliveryRow, queued)
    tx.insert_all(DeliveryRow, missed)
    tx.notify(WEBHOOKS)


def _add_deliveries(
    event: Mapping[str, object],
    receivers: Mapping[str, bool],
    queued: list[dict[str, object]],
    missed: list[dict[str, object]],
    now: datetime,
) -> None:
    for webhook_id, is_active in receivers.items():
        if is_active:
            queued.append(_delivery_row(event, webhook_id, now))
        else:
            missed.append(_missed_row(event, webhook_id, now))


def _receivers(config: OrganisationConfig, event_type: EventType) -> dict[str, bool]:
    """The ids of webhooks that subscribe to an event, and whether each is active."""
    return {
        webhook.id: webhook.is_active
        for webhook in config.webhooks
        if event_type in webhook.events or "*" in webhook.events
    }


def enqueue_ping(tx: Transaction, organisation_id: str, webhook_id: str, *, now: datetime) -> str:
    """Queue a `ping` for one webhook; the event's id."""
    body = ping_body(organisation_id, webhook_id, now=now)
    event = _event_row(organisation_id, body, leave_request_id=None, sequence=0, now=now)
    tx.insert(EventRow, **event)
    tx.insert(DeliveryRow, **_delivery_row(event, webhook_id, now))
    tx.notify(WEBHOOKS)
    return str(event["id"])


def _event_row(
    organisation_id: str,
    body: EventBody | TimeCreditEventBody | UserEventBody | PingBody,
    *,
    leave_request_id: str | None,
    sequence: int,
    now: datetime,
) -> dict[str, object]:
    return {
        "organisation_id": organisation_id,
        "id": new_id(now),
        "type": body["type"],
        "leave_request_id": leave_request_id,
        "sequence": sequence,
        "body": orjson.dumps(body, option=orjson.OPT_UTC_Z),
        "created_at": now,
    }


def _delivery_row(event: Mapping[str, object], webhook_id: str, now: datetime) -> dict[str, object]:
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


def _missed_row(event: Mapping[str, object], webhook_id: str, now: datetime) -> dict[str, object]:
    """The delivery for a disabled webhook: failed, so that its admins can send it later."""
    missed = {"status": "failed", "settled_at": now, "last_error": SWITCHED_OFF}
    return _delivery_row(event, webhook_id, now) | missed


def event_body(
    event_type: LeaveEventType,
    request: LeaveRequest,
    requester: User,
    config: OrganisationConfig,
    now: datetime,
    amendment: CountedAmendment | None,
) -> EventBody:
    leave_type = config.leave_types[request.leave_type_id]
    shown = record(config.leave_type_as_of(leave_type, request.start_date))
    data: EventData = {
        **leave_request_record(request, amendment),
        "organisation_id": config.organisation.id,
        "sequence": request.version,
        "user": user_summary(requester),
        # As clients see it: the value itself has hidden fields.
        "leave_type": shown,  # type: ignore[typeddict-item]
    }
    return {"type": event_type, "timestamp": now, "data": data}


def time_credit_body(
    event_type: TimeCreditEventType,
    credit: TimeCredit,
    user: User,
    config: OrganisationConfig,
    now: datetime,
) -> TimeCreditEventBody:
    allowance = config.allowances[credit.allowance_id]
    data: TimeCreditEventData = {
        **time_credit_record(credit),
        "organisation_id": config.organisation.id,
        "sequence": credit.version,
        "user": user_summary(user),
        "allowance": {"id": allowance.id, "name": allowance.name, "code": allowance.code},
    }
    return {"type": event_type, "timestamp": now, "data": data}


def ping_body(organisation_id: str, webhook_id: str, *, now: datetime) -> PingBody:
    return {
        "type": PING,
        "timestamp": now,
        "data": {"organisation_id": organisation_id, "webhook_id": webhook_id},
    }
