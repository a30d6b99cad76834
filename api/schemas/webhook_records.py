"""Webhooks and their deliveries."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from storage.base.event_values import (
    EVENT_TYPES,
    DeliveryEvent,
    DeliveryStatus,
    LoggedDelivery,
    Webhook,
    WebhookHealth,
)
from storage.base.records import About, Id


class WebhookRecord(TypedDict):
    """A webhook, without its secret."""

    id: Id
    url: Annotated[str, Field(json_schema_extra={"format": "uri"})]
    events: Annotated[list[str], About(enum=("*", *EVENT_TYPES))]
    is_active: bool
    disabled_reason: str | None
    failing_since: Annotated[
        datetime | None,
        Field(description="The time since which every attempt has failed; null after a success."),
    ]
    next_attempt_at: Annotated[
        datetime | None,
        Field(description="When the next delivery is attempted; null if none is waiting."),
    ]
    created_at: datetime


class DeliveryAttemptRecord(TypedDict):
    """One attempt to deliver an event."""

    attempted_at: datetime
    status_code: Annotated[int | None, Field(description="Null if there was no response.")]
    error: Annotated[
        str | None,
        Field(
            description=(
                "Null if it was delivered, otherwise one of `timeout`, `name_not_resolved`, "
                "`connect_failed`, `tls_failed`, `disconnected`, `private_address`, "
                "`invalid_url`, `invalid_response`, `redirect`, `bad_status`, "
                "`secret_unreadable`, `request_failed`."
            )
        ),
    ]
    duration_milliseconds: int
    answer: Annotated[str, Field(description="The first 4 KiB of the response.", examples=[""])]


class DeliveryRecord(TypedDict):
    """The delivery of one event to one webhook."""

    id: Id
    event_id: Annotated[Id, Field(description="The header `webhook-id` of every attempt.")]
    event: DeliveryEvent
    leave_request_id: Id | None
    sequence: Annotated[int, Field(description="Increases with every event of the leave request.")]
    status: DeliveryStatus
    next_attempt_at: Annotated[
        datetime | None,
        Field(description="Null while it is being sent, and after it was delivered or has failed."),
    ]
    created_at: datetime
    settled_at: Annotated[
        datetime | None, Field(description="When it was delivered or finally failed.")
    ]
    attempts: Annotated[
        list[DeliveryAttemptRecord], Field(description="The latest 20, oldest first.")
    ]


class DeliveryWithBodyRecord(DeliveryRecord):
    """A delivery with the body that every attempt sends."""

    body: Annotated[
        str,
        About(
            example='{"type":"leave_request.approved","timestamp":"2026-06-16T13:05:00.078000Z","data":{}}'
        ),
    ]


class WebhookWithSecretRecord(WebhookRecord):
    """A webhook with the secret that signs its deliveries, shown only once."""

    secret: Annotated[str, About(example="whsec_c2VjcmV0LWV4YW1wbGUtb2YtYS13ZWJob29rLTAxIQ==")]


class PingRecord(TypedDict):
    """A queued ping; `id` is its `webhook-id`."""

    id: Id
    type: Annotated[str, About(enum=("ping",))]


class RedeliveredRecord(TypedDict):
    """The number of deliveries that are sent again."""

    count: int
    has_more: Annotated[bool, Field(description="Whether more deliveries remain: repeat the call.")]


def webhook(value: Webhook, health: WebhookHealth) -> WebhookRecord:
    return {
        "id": value.id,
        "url": value.url,
        "events": list(value.events),
        "is_active": value.is_active,
        "disabled_reason": value.disabled_reason,
        "failing_since": health.failing_since,
        "next_attempt_at": health.next_attempt_at,
        "created_at": value.created_at,
    }


def delivery(value: LoggedDelivery) -> DeliveryRecord:
    return {
        "id": value.id,
        "event_id": value.event_id,
        "event": value.event_type,
        "leave_request_id": value.leave_request_id,
        "sequence": value.sequence,
        "status": value.status,
        "next_attempt_at": value.next_attempt_at,
        "created_at": value.created_at,
        "settled_at": value.settled_at,
        "attempts": [
            {
                "attempted_at": attempt.attempted_at,
                "status_code": attempt.status_code,
                "error": attempt.error,
                "duration_milliseconds": attempt.duration_milliseconds,
                "answer": attempt.answer,
            }
            for attempt in value.attempts
        ],
    }
