"""The `webhooks` part of the OpenAPI document: events and the expected responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import TypeAdapter

from api.documentation.openapi_examples import Examples
from api.documentation.openapi_schemas import Json, Model, SchemaKey
from api.documentation.openapi_vocabulary import OTHER
from storage.base.event_values import EVENT_TYPES
from storage.events import webhook_outbox
from storage.events.webhook_outbox import EventBody, PingBody

# By event: its summary and description.
EVENTS: Final[Mapping[str, tuple[str, str]]] = {
    "leave_request.created": (
        "Leave was requested",
        "A leave request was created through the API, in Slack or by command. If it needs no "
        "approval, `leave_request.approved` follows.",
    ),
    "leave_request.updated": (
        "A leave request was changed",
        "Its dates, halves or note were edited while it was pending, approved leave was changed "
        "at once or with an approved amendment, or its days were recalculated because working "
        "days or public holidays changed. An open amendment has ended if it is null now.",
    ),
    "leave_request.approved": (
        "Leave was approved",
        "By an approver, or immediately if the leave type needs no approval.",
    ),
    "leave_request.declined": (
        "Leave was declined",
        "`data.decision_reason` is the reason, if there is one.",
    ),
    "leave_request.cancelled": (
        "Leave was cancelled",
        "By the requester, an admin or an owner, or because the requester was archived.",
    ),
    "leave_request.amendment_requested": (
        "A change of approved leave was requested",
        "`data.amendment` awaits a decision; it replaces an earlier one. The leave stays as it is. "
        "An approved amendment sends `leave_request.updated`.",
    ),
    "leave_request.amendment_declined": (
        "A change of approved leave was declined",
        "The leave stays as it is.",
    ),
    "leave_request.amendment_withdrawn": (
        "A change of approved leave was withdrawn",
        "By the requester, an admin or an owner. The leave stays as it is.",
    ),
    webhook_outbox.PING: (
        "A test event",
        "Sent once by `POST /webhooks/{id}/test`, even if the webhook does not subscribe to it, "
        "and never retried.",
    ),
}

_HEADERS: Final = (
    (
        "webhook-id",
        "The event's id, the same on every attempt.",
        {"type": "string", "format": "uuid"},
        OTHER,
    ),
    (
        "webhook-timestamp",
        "When this attempt was made, in seconds since 1970. Reject it if it differs from your "
        "clock by minutes.",
        {"type": "string", "pattern": "^[0-9]+$"},
        "1781615100",
    ),
    (
        "webhook-signature",
        "`v1,` and the base64 of the HMAC-SHA256 over "
        "`<webhook-id>.<webhook-timestamp>.<body>`. While a secret is being rotated there are "
        "two signatures, space-separated.",
        {"type": "string"},
        "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    ),
)


def models() -> list[Model]:
    """The bodies of events."""
    return [
        ("event", "serialization", TypeAdapter(EventBody)),
        ("ping", "serialization", TypeAdapter(PingBody)),
    ]


def webhooks(schemas: Mapping[SchemaKey, Json], examples: Examples) -> Json:
    """One entry for each event, in the document's form."""
    assert {*EVENT_TYPES, webhook_outbox.PING} == EVENTS.keys()
    return {event: {"post": _event(event, schemas, examples)} for event in EVENTS}


def _event(event: str, schemas: Mapping[SchemaKey, Json], examples: Examples) -> Json:
    summary, description = EVENTS[event]
    schema = schemas["ping" if event == webhook_outbox.PING else "event", "serialization"]
    return {
        "operationId": f"events.{event.replace('.', '_')}",
        "summary": summary,
        "description": description,
        "tags": ["Events"],
        "security": [],
        "parameters": [
            {
                "name": name,
                "in": "header",
                "required": True,
                "description": text,
                "schema": of_header,
                "example": example,
            }
            for name, text, of_header, example in _HEADERS
        ],
        "requestBody": {
            "required": True,
            "description": "Verify the signature over exactly these bytes.",
            "content": {"application/json": {"schema": schema, "example": _body(event, examples)}},
        },
        "responses": {
            "2XX": {
                "description": "Accepted. The first 4 KiB of the response are kept in the "
                "delivery log."
            },
            "410": {"description": "Gone: the webhook is disabled immediately."},
            "default": {
                "description": "Retried later; redirects are not followed. After a 429, the "
                "next attempt is at least a minute later, and `Retry-After` is respected "
                "within bounds."
            },
        },
    }


def _body(event: str, examples: Examples) -> Json:
    if event == webhook_outbox.PING:
        return examples.of_model("PingBody")
    body = examples.of_model("EventBody")
    if event == "leave_request.amendment_requested":
        amended = {"amendment": examples.of_model("AmendmentRecord"), "sequence": 3, "version": 3}
        return {**body, "type": event, "data": {**body["data"], **amended}}
    return {**body, "type": event, "data": {**body["data"], **_STATE_OF_EVENT.get(event, {})}}


_UNDECIDED: Final[Json] = {"status": "pending", "decided_by": None, "decided_at": None}
_STATE_OF_EVENT: Final[Mapping[str, Json]] = {
    "leave_request.created": {**_UNDECIDED, "sequence": 1, "version": 1},
    "leave_request.updated": _UNDECIDED,
    "leave_request.declined": {
        "status": "declined",
        "decision_reason": "Half of the team is away that week.",
    },
    "leave_request.amendment_declined": {"sequence": 4, "version": 4},
    "leave_request.amendment_withdrawn": {"sequence": 4, "version": 4},
    "leave_request.cancelled": {
        "status": "cancelled",
        "cancelled_at": "2026-06-20T10:00:00.655000Z",
        "sequence": 3,
        "version": 3,
    },
}
