"""Values of the audit trail, and of webhooks with their deliveries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final, Literal, get_args

from pydantic import ConfigDict, Field

from storage.base.values import HIDDEN, About, Id, Source

LeaveEventType = Literal[
    "leave_request.created",
    "leave_request.updated",
    "leave_request.approved",
    "leave_request.declined",
    "leave_request.cancelled",
    "leave_request.amendment_requested",
    "leave_request.amendment_declined",
    "leave_request.amendment_withdrawn",
]

TimeCreditEventType = Literal[
    "time_credit.created",
    "time_credit.approved",
    "time_credit.declined",
    "time_credit.cancelled",
]

UserEventType = Literal["user.erased"]

EventType = Literal[LeaveEventType, TimeCreditEventType, UserEventType]

LEAVE_EVENT_TYPES: Final[tuple[LeaveEventType, ...]] = get_args(LeaveEventType)

TIME_CREDIT_EVENT_TYPES: Final[tuple[TimeCreditEventType, ...]] = get_args(TimeCreditEventType)

USER_EVENT_TYPES: Final[tuple[UserEventType, ...]] = get_args(UserEventType)

EVENT_TYPES: Final[tuple[EventType, ...]] = get_args(EventType)

DeliveryStatus = Literal["pending", "delivered", "failed"]

DELIVERY_STATUSES: Final[tuple[DeliveryStatus, ...]] = get_args(DeliveryStatus)

# Endpoints receive the events that they subscribe to, and pings on request.
DeliveryEvent = Literal[EventType, "ping"]

DELIVERY_EVENTS: Final[tuple[DeliveryEvent, ...]] = get_args(DeliveryEvent)

# By event: its summary and description, for the documentation.
EVENTS: Final[Mapping[DeliveryEvent, tuple[str, str]]] = {
    "leave_request.created": (
        "Leave was requested",
        "A leave request was created through the API, in Slack or by command. If it needs no "
        "approval, `leave_request.approved` follows.",
    ),
    "leave_request.updated": (
        "A leave request was changed",
        "Its dates, halves or note were edited while it was pending, it got the first of two "
        "approvals (`approvals`; it stays pending) or lost it, approved leave was changed "
        "at once or with an approved amendment, or its days were recalculated because working "
        "days or public holidays changed. An open amendment has ended if it is null now.",
    ),
    "leave_request.approved": (
        "Leave was approved",
        "By an approver, or immediately if the leave type needs no approval or a closure booked "
        "it. Sent once, after the last approval, if it needs two.",
    ),
    "leave_request.declined": (
        "Leave was declined",
        "`data.decision_reason` is the reason, if there is one.",
    ),
    "leave_request.cancelled": (
        "Leave was cancelled",
        "By the requester, an admin or an owner, because the requester was archived, or because "
        "the closure that booked it was changed or deleted.",
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
    "time_credit.created": (
        "Time in lieu was claimed",
        "A person claimed days of an allowance for work outside of working time, or an admin "
        "recorded it for them. If it needs no approval, `time_credit.approved` follows.",
    ),
    "time_credit.approved": (
        "Time in lieu was approved",
        "By an approver, or immediately if an admin recorded it or no one else could decide.",
    ),
    "time_credit.declined": (
        "Time in lieu was declined",
        "`data.decision_reason` is the reason, if there is one.",
    ),
    "time_credit.cancelled": (
        "Time in lieu was cancelled",
        "By the person while it was pending, or by an admin or owner.",
    ),
    "user.erased": (
        "A person was erased",
        "Delete what you keep about them: `data` has the person's id and nothing else that "
        "identifies them.",
    ),
    "ping": (
        "A test event",
        "Sent once by `POST /webhooks/{id}/test`, even if the webhook does not subscribe to it, "
        "and never retried.",
    ),
}

# The subject of a notification: an event, or a change that only Slack and the audit trail show.
NotificationEvent = (
    LeaveEventType
    | TimeCreditEventType
    | Literal[
        "leave_request.recounted",
        "leave_request.rerouted",
        "leave_request.decision_changed",
        "leave_request.settled",
        "approval_card.refresh",
        "approval_card.rewritten",
        "leave_request.shortened",
        "leave_request.objected",
        "leave_request.dates_suggested",
        "leave_request.suggestion_declined",
        "leave_request.amendment_approved",
        "leave_request.approval_given",
        "leave_request.approval_taken_back",
        "cover.assigned",
        "cover.changed",
        "cover.ended",
        "cover.left",
        "leave_request.interrupted",
        "leave_request.interruption_ended",
        "own_message.refresh",
        "own_message.begins_soon",
        "absence.told",
        "time_credit.rerouted",
        "closure.told",
        "expiry_notice.due",
    ]
)

# The actions in the audit trail. Names are public and never change.
AuditAction = Literal[
    "absence_limit.created",
    "absence_limit.deleted",
    "absence_limit.updated",
    "allowance.archived",
    "allowance.created",
    "allowance.deleted",
    "allowance.updated",
    "allowance_adjustment.created",
    "balance.questioned",
    "api_key.created",
    "api_key.revoked",
    "calendar_feed.created",
    "calendar_feed.revoked",
    "calendar_feed.token_created",
    "calendar_feed.token_regenerated",
    "closure.created",
    "closure.deleted",
    "closure.updated",
    "department.created",
    "department.deleted",
    "department.updated",
    "digest.created",
    "digest.deleted",
    "digest.updated",
    "display_link.created",
    "display_link.revoked",
    "display_link.updated",
    "employment_record.created",
    "employment_record.deleted",
    "employment_record.updated",
    "expiry_notice.seen",
    "expiry_notice.sent",
    "holiday_override.created",
    "holiday_override.deleted",
    "holiday_set.created",
    "holiday_set.updated",
    "holiday_set.deleted",
    "leave_request.amendment_declined",
    "leave_request.amendment_requested",
    "leave_request.amendment_withdrawn",
    "leave_request.approval_given",
    "leave_request.approval_taken_back",
    "leave_request.approved",
    "leave_request.cancelled",
    "leave_request.created",
    "leave_request.dates_suggested",
    "leave_request.declined",
    "leave_request.next_step_asked",
    "leave_request.objected",
    "leave_request.recounted",
    "leave_request.rerouted",
    "leave_request.shortened",
    "leave_request.suggestion_accepted",
    "leave_request.suggestion_declined",
    "leave_request.updated",
    "leave_type.archived",
    "leave_type.created",
    "leave_type.deleted",
    "leave_type.updated",
    "organisation.created",
    "organisation.slack_linked",
    "organisation.updated",
    "setup_checklist.allowance_checked",
    "setup_checklist.carry_over_checked",
    "setup_checklist.country_checked",
    "setup_checklist.hidden",
    "setup_checklist.leave_types_checked",
    "setup_checklist.leave_year_checked",
    "setup_checklist.opening_figures_checked",
    "slack_installation.created",
    "slack_installation.ended",
    "slack_installation.renewed",
    "slack_installation.replaced",
    "slack_status.connected",
    "slack_status.disconnected",
    "slack_status.ended",
    "time_credit.approved",
    "time_credit.cancelled",
    "time_credit.created",
    "time_credit.declined",
    "time_credit.next_step_asked",
    "user.activated",
    "user.archived",
    "user.created",
    "user.deactivated",
    "user.erased",
    "user.linked_to_slack",
    "user.reactivated",
    "user.restored",
    "user.unlinked_from_slack",
    "user.updated",
    "webhook.created",
    "webhook.deleted",
    "webhook.disabled",
    "webhook.redelivery_requested",
    "webhook.secret_rotated",
    "webhook.updated",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Webhook:
    """A webhook, without its secret."""

    id: Id
    url: Annotated[str, About(format="uri")]
    events: Annotated[tuple[str, ...], About(enum=("*", *EVENT_TYPES))]
    is_active: bool
    disabled_reason: str | None
    created_at: datetime
    updated_at: Annotated[datetime, HIDDEN]
    version: Annotated[int, HIDDEN]


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookHealth:
    """The state of an endpoint.

    ``failing_since`` is the first of its failures in a row, or None. ``next_attempt_at`` is None
    where no delivery is pending or the endpoint is disabled.
    """

    failing_since: datetime | None
    next_attempt_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedAttempt:
    """One attempt to deliver an event."""

    __pydantic_config__ = ConfigDict(title="DeliveryAttempt")

    attempted_at: datetime
    status_code: Annotated[int | None, About(description="Null if there was no response.")]
    error: Annotated[
        str | None,
        About(
            description="Null if it was delivered, otherwise one of `timeout`, "
            "`name_not_resolved`, `connect_failed`, `tls_failed`, `disconnected`, "
            "`private_address`, `invalid_url`, `invalid_response`, `redirect`, `bad_status`, "
            "`secret_unreadable`, `request_failed`."
        ),
    ]
    duration_milliseconds: int
    answer: Annotated[str, About(description="The first 4 KiB of the response.", example="")]


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedDelivery:
    """The delivery of one event to one webhook."""

    __pydantic_config__ = ConfigDict(title="Delivery")

    id: Id
    event_id: Annotated[Id, About(description="The header `webhook-id` of every attempt.")]
    event_type: Annotated[DeliveryEvent, Field(serialization_alias="event")]
    leave_request_id: Id | None
    sequence: Annotated[
        int,
        About(description="Increases with every event of the leave request or time credit."),
    ]
    status: DeliveryStatus
    next_attempt_at: Annotated[
        datetime | None,
        About(description="Null while it is being sent, and after it was delivered or has failed."),
    ]
    created_at: datetime
    settled_at: Annotated[
        datetime | None, About(description="When it was delivered or finally failed.")
    ]
    attempts: Annotated[list[LoggedAttempt], About(description="The latest 20, oldest first.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditEntry:
    """``changes`` maps a field to its ``before`` and ``after``; it never holds a secret."""

    id: str
    action: str
    timestamp: datetime
    actor_id: str | None
    source: Source
    subject_type: str
    subject_id: str
    changes: dict[str, dict[str, object]]
    request_id: str | None
