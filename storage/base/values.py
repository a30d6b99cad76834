"""What leaves this package: immutable values and the words they use.

Field names are the wire's where the wire shows the field. Amounts of leave are whole half-days;
``*_at`` are aware UTC datetimes; dates are inclusive at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, Literal

Role = Literal["member", "approver", "admin", "owner"]
ROLES: Final[tuple[Role, ...]] = ("member", "approver", "admin", "owner")

UserStatus = Literal["pending", "active", "deactivated", "archived"]
USER_STATUSES: Final[tuple[UserStatus, ...]] = ("pending", "active", "deactivated", "archived")

LeaveStatus = Literal["pending", "approved", "declined", "cancelled"]
LEAVE_STATUSES: Final[tuple[LeaveStatus, ...]] = ("pending", "approved", "declined", "cancelled")

HalfDay = Literal["am", "pm"]
LeaveYearType = Literal["calendar", "fiscal", "anniversary"]
Source = Literal["api", "slack", "cli", "scheduler"]
FeedScope = Literal["personal", "team", "org"]

EventType = Literal[
    "leave_request.created",
    "leave_request.updated",
    "leave_request.approved",
    "leave_request.declined",
    "leave_request.cancelled",
]
EVENT_TYPES: Final[tuple[EventType, ...]] = (
    "leave_request.created",
    "leave_request.updated",
    "leave_request.approved",
    "leave_request.declined",
    "leave_request.cancelled",
)

DeliveryStatus = Literal["pending", "delivered", "failed"]
DELIVERY_STATUSES: Final[tuple[DeliveryStatus, ...]] = ("pending", "delivered", "failed")
# What an endpoint is sent: the events that one subscribes to, and the test that is asked for.
DeliveryEvent = Literal[EventType, "ping"]
DELIVERY_EVENTS: Final[tuple[DeliveryEvent, ...]] = (*EVENT_TYPES, "ping")
# What a notice is about: an event, or something that only the audit trail and Slack speak of.
NoticeEvent = (
    EventType
    | Literal[
        "leave_request.recounted",
        "leave_request.rerouted",
        "leave_request.decision_changed",
        "leave_request.settled",
        "approval_card.refresh",
        "leave_request.shortened",
    ]
)

# What the audit trail has entries of. Names are public and never change.
AuditAction = Literal[
    "allowance_adjustment.created",
    "api_key.created",
    "api_key.revoked",
    "calendar_feed.created",
    "calendar_feed.revoked",
    "calendar_feed.token_created",
    "calendar_feed.token_regenerated",
    "department.created",
    "department.deleted",
    "department.updated",
    "holiday_override.created",
    "holiday_override.deleted",
    "holiday_set.created",
    "holiday_set.deleted",
    "leave_request.approved",
    "leave_request.cancelled",
    "leave_request.created",
    "leave_request.declined",
    "leave_request.next_step_asked",
    "leave_request.recounted",
    "leave_request.rerouted",
    "leave_request.shortened",
    "leave_request.updated",
    "leave_type.archived",
    "leave_type.created",
    "leave_type.deleted",
    "leave_type.updated",
    "organisation.created",
    "organisation.slack_linked",
    "organisation.updated",
    "slack_installation.created",
    "slack_installation.ended",
    "slack_installation.renewed",
    "slack_installation.replaced",
    "user.activated",
    "user.archived",
    "user.created",
    "user.deactivated",
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

SCOPES: Final[tuple[str, ...]] = (
    "users:read",
    "users:write",
    "departments:read",
    "departments:write",
    "leave:read",
    "leave:write",
    "approvals:read",
    "approvals:write",
    "calendar:read",
    "calendar:write",
    "organisation:read",
    "organisation:write",
    "webhooks:read",
    "webhooks:write",
    "audit:read",
    "keys:read",
    "keys:write",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """Who acts: ``user_id`` is None for the system; ``scopes`` bound what an API key may do."""

    organisation_id: str
    user_id: str | None
    role: Role
    scopes: frozenset[str]
    source: Source
    request_id: str | None = None
    variant: int = 1
    key_id: str | None = None

    @property
    def is_admin(self) -> bool:
        return self.role in ("admin", "owner")


@dataclass(frozen=True, kw_only=True, slots=True)
class Organisation:
    id: str
    name: str
    slug: str
    domain: str | None
    logo_url: str | None
    country_code: str
    timezone: str
    working_days: tuple[str, ...]
    leave_year_type: LeaveYearType
    leave_year_start_month: int
    leave_year_start_day: int
    default_leave_allowance_half_days: int
    carry_over_half_days: int
    carry_over_expiry_month: int | None
    day_starts_at: str
    midday_at: str
    day_ends_at: str
    slack_team_id: str | None
    slack_members_join: bool
    digest_channel: str | None
    reference_version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class User:
    """A person. ``working_days`` is None where the organisation's list holds for him."""

    id: str
    email: str
    first_name: str
    last_name: str
    role: Role
    status: UserStatus
    department_id: str | None
    manager_id: str | None
    job_title: str | None
    start_date: date | None
    working_days: tuple[str, ...] | None
    public_holiday_country_code: str | None
    leave_allowance_half_days: int | None
    avatar_url: str | None
    timezone: str | None
    slack_user_id: str | None
    created_at: datetime
    updated_at: datetime
    version: int

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip()


@dataclass(frozen=True, kw_only=True, slots=True)
class Department:
    id: str
    name: str
    manager_id: str | None
    default_leave_allowance_half_days: int | None
    created_at: datetime
    updated_at: datetime
    version: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaveType:
    id: str
    name: str
    code: str
    colour: str
    emoji: str | None
    requires_approval: bool
    deducts_allowance: bool
    allow_overdraft: bool
    is_paid: bool
    is_private: bool
    requires_note: bool
    min_notice_days: int
    max_consecutive_days: int | None
    is_archived: bool
    created_at: datetime
    updated_at: datetime
    version: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaveRequest:
    """``counted_halves`` has one digit a date, first to last.

    0: nothing counted, 1: the morning, 2: the afternoon, 3: both.
    """

    id: str
    user_id: str
    leave_type_id: str
    status: LeaveStatus
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    total_half_days: int
    counted_halves: str
    note: str | None
    decided_by: str | None
    decided_at: datetime | None
    decision_reason: str | None
    cancelled_at: datetime | None
    created_at: datetime
    updated_at: datetime
    version: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Adjustment:
    """Half-days that somebody added to, or with a minus took from, a person's leave year.

    ``leave_year`` is the calendar year in which the leave year begins.
    """

    id: str
    user_id: str
    leave_year: int
    half_days: int
    reason: str
    created_by: str | None
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class HolidaySet:
    id: str
    country_code: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class CalendarFeed:
    """A subscription. ``token`` is the secret part of its URL; "" where no key decrypts it.

    ``last_fetched_by`` is the program's name, where it said one. Both are kept once an hour.
    """

    id: str
    name: str
    token: str
    created_at: datetime
    last_fetched_at: datetime | None = None
    last_fetched_by: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class HolidayOverride:
    """A day on which a holiday set differs from its country.

    With ``is_holiday`` it is a public holiday, else it is none; ``half`` None is the whole day.
    """

    id: str
    date: date
    name: str
    is_holiday: bool
    half: HalfDay | None
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class HolidayOnDate:
    """What a set makes of one date.

    ``half`` is the half that is a public holiday, None for the whole day. A date whose holiday an
    override took away is here with ``is_holiday`` False. ``override_id`` is None where the
    country's own calendar holds.
    """

    date: date
    name: str
    source: Literal["country", "override"]
    half: HalfDay | None
    is_holiday: bool
    override_id: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Country:
    """A country that can be chosen. ``regions`` are code and name, by code; often none."""

    code: str
    name: str
    regions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKey:
    id: str
    user_id: str
    name: str
    prefix: str
    scopes: tuple[str, ...]
    variant: int
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Webhook:
    id: str
    url: str
    events: tuple[str, ...]
    is_active: bool
    disabled_reason: str | None
    created_at: datetime
    updated_at: datetime
    version: int


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookHealth:
    """The state of an endpoint. ``failing_since`` is when its unbroken failures began, else None;
    ``next_attempt_at`` is None where no delivery waits for it, or it is switched off."""

    failing_since: datetime | None
    next_attempt_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedAttempt:
    """One try; ``answer`` is how the receiver's answer began, ``error`` a short stable word."""

    attempted_at: datetime
    status_code: int | None
    error: str | None
    duration_milliseconds: int
    answer: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedDelivery:
    """``next_attempt_at`` is None while one is being sent, and once it is settled."""

    id: str
    event_id: str
    event_type: DeliveryEvent
    leave_request_id: str | None
    sequence: int
    status: DeliveryStatus
    next_attempt_at: datetime | None
    created_at: datetime
    settled_at: datetime | None
    attempts: list[LoggedAttempt]


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


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaveEffect:
    """One leave request that another change touches; ``after`` is its next version."""

    user: User
    before: LeaveRequest
    after: LeaveRequest


@dataclass(frozen=True, kw_only=True, slots=True)
class Rerouted:
    """A pending request that awaits other people than before."""

    request: LeaveRequest
    before: tuple[User, ...]
    after: tuple[User, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Absence:
    """One leave request as a calendar may show it to one viewer: nothing here is hidden from him.

    ``summary_type`` is the leave type's name, or None where the viewer sees only "Away".
    ``timezone`` is the person's; ``colour`` is ``#rrggbb`` or None where the type is hidden.
    ``sequence`` rises and ``updated_at`` moves on whenever anything else here changes.
    """

    request_id: str
    person_name: str
    is_own: bool
    status: LeaveStatus
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    summary_type: str | None
    colour: str | None
    timezone: str
    sequence: int
    updated_at: datetime
