"""The bodies of webhook events; receivers rely on them."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from typing_extensions import TypedDict

from storage.base import records
from storage.base.event_values import EventType
from storage.base.records import LeaveRequestRecord, LeaveTypeRecord, UserSummaryRecord
from storage.base.values import CountedAmendment, LeaveRequest, User
from storage.events.organisation_config import OrganisationConfig

# The event that needs no subscription: an admin sends it to one endpoint.
PING: Final = "ping"


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


def event_body(
    event_type: EventType,
    request: LeaveRequest,
    requester: User,
    config: OrganisationConfig,
    now: datetime,
    amendment: CountedAmendment | None,
) -> EventBody:
    leave_type = config.leave_types[request.leave_type_id]
    data: EventData = {
        **records.leave_request(request, amendment),
        "organisation_id": config.organisation.id,
        "sequence": request.version,
        "user": records.user_summary(requester),
        "leave_type": records.leave_type(leave_type),
    }
    return {"type": event_type, "timestamp": now, "data": data}


def ping_body(organisation_id: str, webhook_id: str, *, now: datetime) -> PingBody:
    return {
        "type": PING,
        "timestamp": now,
        "data": {"organisation_id": organisation_id, "webhook_id": webhook_id},
    }
