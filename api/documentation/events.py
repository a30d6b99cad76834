"""What is sent to webhooks: the schemas of the events, and the requests that carry them."""

from __future__ import annotations

from typing import Final

from api.documentation.schemas import REF, Examples, Json, class_name
from storage.base.event_values import (
    EVENTS,
    TIME_CREDIT_EVENT_TYPES,
    USER_EVENT_TYPES,
    DeliveryEvent,
)
from storage.outbox.webhook_outbox import (
    PING,
    ErasedUserData,
    EventBody,
    EventData,
    PingBody,
    PingData,
    TimeCreditEventBody,
    TimeCreditEventData,
    UserEventBody,
)

TAG: Final = {
    "Events": (
        "What is sent to webhooks, signed as [Standard Webhooks](https://www.standardwebhooks.com) "
        "describes. Check the signature over the bytes as they arrived, with any of its libraries "
        "and the webhook's secret; respond with a 2xx status within 15 seconds, and do the work "
        "afterwards. Anything else is retried after about 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, "
        "14 h, 20 h and 24 h; 410 disables the webhook. An event may arrive more than once, "
        "always with the same bytes and the same `webhook-id`: ignore those that you have seen. "
        "`data.sequence` grows with every event of one leave request or time credit."
    ),
}

_HEADERS: Final = [
    {
        "name": "webhook-id",
        "in": "header",
        "required": True,
        "description": "The event's id, the same on every attempt.",
        "schema": {"type": "string", "format": "uuid"},
        "example": "0197c2a4-9d20-7e66-8a31-50fb7c2d4e12",
    },
    {
        "name": "webhook-timestamp",
        "in": "header",
        "required": True,
        "description": "When this attempt was made, in seconds since 1970. Reject it if it differs "
        "from your clock by minutes.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
        "example": "1781615100",
    },
    {
        "name": "webhook-signature",
        "in": "header",
        "required": True,
        "description": "`v1,` and the base64 of the HMAC-SHA256 over "
        "`<webhook-id>.<webhook-timestamp>.<body>`. While a secret is being rotated there are two "
        "signatures, space-separated.",
        "schema": {"type": "string"},
        "example": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    },
]
_RESPONSES: Final = {
    "2XX": {
        "description": "Accepted. The first 4 KiB of the response are kept in the delivery log."
    },
    "410": {"description": "Gone: the webhook is disabled immediately."},
    "default": {
        "description": "Retried later; redirects are not followed. After a 429, the next attempt "
        "is at least a minute later, and `Retry-After` is respected within bounds."
    },
}


def take_schemas(components: Json) -> Json:
    """A schema for each event, told apart by its type, in place of those of every event."""
    examples = Examples(components)
    schemas: Json = {
        model.__name__: {
            **components[model.__name__],
            "examples": [examples.of({"$ref": REF.format(model=model.__name__)})],
        }
        for model in (EventData, TimeCreditEventData, ErasedUserData, PingData)
    }
    of_events, of_credits, of_users, of_pings = (
        components.pop(model.__name__)
        for model in (EventBody, TimeCreditEventBody, UserEventBody, PingBody)
    )
    for event, (_, description) in EVENTS.items():
        body = of_credits if event in TIME_CREDIT_EVENT_TYPES else of_events
        if event in USER_EVENT_TYPES:
            body = of_users
        if event == PING:
            body = of_pings
        schemas[_name(event)] = {
            **body,
            "title": _name(event),
            "description": description,
            "properties": {**body["properties"], "type": {"const": event}},
        }
    references = {event: REF.format(model=_name(event)) for event in EVENTS}
    schemas["WebhookEvent"] = {
        "title": "WebhookEvent",
        "description": "Any event.",
        "oneOf": [{"$ref": reference} for reference in references.values()],
        "discriminator": {"propertyName": "type", "mapping": references},
    }
    return schemas


def webhooks() -> Json:
    """The requests by event."""
    return {event: {"post": _request(event)} for event in EVENTS}


def _request(event: DeliveryEvent) -> Json:
    summary, description = EVENTS[event]
    schema = {"$ref": REF.format(model=_name(event))}
    return {
        "operationId": f"events.{event.replace('.', '_')}",
        "summary": summary,
        "description": description,
        "tags": ["Events"],
        "security": [],
        "parameters": [*_HEADERS],
        "requestBody": {
            "required": True,
            "description": "Verify the signature over exactly these bytes.",
            "content": {"application/json": {"schema": schema}},
        },
        "responses": {**_RESPONSES},
    }


def _name(event: str) -> str:
    return f"{class_name(event)}Event"
