"""The public shape of what Hiatus keeps: REST shows it, webhooks carry it. One definition of each.

Every function turns a value into a dict that orjson writes as it stands.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from storage.base.values import (
    ApiKey,
    AuditEntry,
    Country,
    DeliveryEvent,
    DeliveryStatus,
    Department,
    HalfDay,
    HolidayOnDate,
    HolidayOverride,
    LeaveRequest,
    LeaveStatus,
    LeaveType,
    LeaveYearType,
    LoggedDelivery,
    Organisation,
    Role,
    Source,
    User,
    UserStatus,
    Webhook,
    WebhookHealth,
)

Id = Annotated[str, Field(json_schema_extra={"format": "uuid"})]
Days = Annotated[float, Field(description="Days, in half-day steps.")]


class UserRecord(TypedDict):
    """A person of the organisation."""

    id: Id
    email: Annotated[str, Field(json_schema_extra={"format": "email"})]
    first_name: str
    last_name: str
    role: Role
    status: UserStatus
    department_id: Id | None
    manager_id: Id | None
    job_title: str | None
    start_date: date | None
    working_days: Annotated[
        list[str],
        Field(description="`monday` to `sunday`, or `friday:am` if only that half is worked."),
    ]
    public_holiday_country_code: str | None
    leave_allowance: Annotated[
        float | None,
        Field(
            description="Days per leave year; null for the department's or organisation's "
            "allowance."
        ),
    ]
    avatar_url: str | None
    is_active: bool
    created_at: datetime
    updated_at: datetime


class UserSummaryRecord(TypedDict):
    """A person in the short shape."""

    id: Id
    email: Annotated[str, Field(json_schema_extra={"format": "email"})]
    first_name: str
    last_name: str
    role: Role
    department_id: Id | None
    start_date: date | None
    status: UserStatus


class DepartmentRecord(TypedDict):
    """A department."""

    id: Id
    name: str
    manager_id: Id | None
    default_leave_allowance: Annotated[
        float | None,
        Field(description="Days per leave year; null for the organisation's allowance."),
    ]
    created_at: datetime


class LeaveTypeRecord(TypedDict):
    """A leave type and its rules."""

    id: Id
    name: str
    code: str
    colour: Annotated[str, Field(description="`#rrggbb`.")]
    emoji: Annotated[str | None, Field(description="A Slack short name, without colons.")]
    requires_approval: bool
    deducts_allowance: bool
    allow_overdraft: bool
    is_paid: bool
    is_private: Annotated[bool, Field(description='Colleagues see only "Away".')]
    requires_note: bool
    min_notice_days: int
    max_consecutive_days: int | None
    is_archived: bool
    created_at: datetime


class LeaveRequestRecord(TypedDict):
    """A leave request."""

    id: Id
    user_id: Id
    leave_type_id: Id
    status: LeaveStatus
    start_date: date
    end_date: date
    start_half_day: Annotated[
        HalfDay | None, Field(description="The half of the first day in which leave starts.")
    ]
    end_half_day: Annotated[
        HalfDay | None, Field(description="The half of the last day in which leave ends.")
    ]
    total_days: Days
    note: str | None
    decided_by: Id | None
    decided_at: datetime | None
    decision_reason: str | None
    cancelled_at: datetime | None
    created_at: datetime
    updated_at: datetime
    version: Annotated[int, Field(description="Increases with every change.")]


class OrganisationRecord(TypedDict):
    """The organisation that owns the API key."""

    id: Id
    name: str
    slug: str
    domain: str | None
    logo_url: str | None
    country_code: str
    timezone: str
    working_days: list[str]
    leave_year_type: LeaveYearType
    leave_year_start_month: int
    leave_year_start_day: int
    default_leave_allowance: Days
    carry_over: Annotated[
        float,
        Field(description="The most days carried over into the next leave year; 0 for none."),
    ]
    carry_over_expiry_month: Annotated[
        int | None,
        Field(
            description=(
                "Days carried over expire at the end of this month, 1 to 12; null if they never "
                "expire within the leave year."
            )
        ),
    ]
    day_starts_at: str
    midday_at: str
    day_ends_at: str
    slack_members_join: Annotated[
        bool,
        Field(
            description="Whether new full members of the Slack workspace are added "
            "automatically, with the "
            "role `member`."
        ),
    ]
    digest_channel: Annotated[
        str | None,
        Field(description="Id of the Slack channel for the who's-out message; null for none."),
    ]
    created_at: datetime


class HolidayRecord(TypedDict):
    """One date in a public holiday set."""

    date: date
    name: str
    source: Annotated[
        Literal["country", "override"],
        Field(description="The country's own calendar, or an override of this set."),
    ]
    half: Annotated[
        HalfDay | None,
        Field(description="The half that is a public holiday; null for the whole day."),
    ]
    is_holiday: Annotated[
        bool, Field(description="False if an override turned the date into an ordinary day.")
    ]
    override_id: Annotated[
        Id | None, Field(description="Null if the date follows the country's calendar.")
    ]


class HolidayOverrideRecord(TypedDict):
    """A date on which a public holiday set differs from its country's calendar."""

    id: Id
    date: date
    name: str
    is_holiday: Annotated[
        bool, Field(description="False turns a public holiday into an ordinary day.")
    ]
    half: Annotated[HalfDay | None, Field(description="Null for the whole day.")]
    created_at: datetime


class RegionRecord(TypedDict):
    """A region with its own public holidays."""

    code: str
    name: str


class CountryRecord(TypedDict):
    """A country whose public holidays are known."""

    code: Annotated[str, Field(description="ISO 3166-1 alpha-2.")]
    name: str
    has_regions: Annotated[bool, Field(description="Whether `regions` has more specific choices.")]
    regions: list[RegionRecord]


class ApiKeyRecord(TypedDict):
    """An API key, without its secret."""

    id: Id
    user_id: Id
    name: str
    prefix: Annotated[
        str, Field(description="The first characters of the key, to recognise it by.")
    ]
    scopes: list[str]
    variant: Annotated[int, Field(description="The shape of the response of `GET /users`: 1 or 2.")]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


class WebhookRecord(TypedDict):
    """A webhook, without its secret."""

    id: Id
    url: Annotated[str, Field(json_schema_extra={"format": "uri"})]
    events: list[str]
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
    answer: Annotated[str, Field(description="The first 4 KiB of the response.")]


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

    body: str


class ChangeRecord(TypedDict):
    """One field before and after."""

    before: object
    after: object


class ActorRecord(TypedDict):
    """Who made the change; `id` is null for the system itself."""

    type: str
    id: Id | None


class SubjectRecord(TypedDict):
    """The object that was changed."""

    type: str
    id: Id


class AuditRecord(TypedDict):
    """One audited change."""

    id: Id
    action: str
    timestamp: datetime
    actor: ActorRecord
    source: Source
    subject: SubjectRecord
    changes: dict[str, ChangeRecord]
    request_id: str | None


def days(half_days: int) -> float:
    """Half-days as the number of days that the wire shows: whole numbers without a fraction."""
    return half_days // 2 if half_days % 2 == 0 else half_days / 2


def _days_or_none(half_days: int | None) -> float | None:
    return None if half_days is None else days(half_days)


def user(value: User, organisation_working_days: tuple[str, ...]) -> UserRecord:
    return {
        "id": value.id,
        "email": value.email,
        "first_name": value.first_name,
        "last_name": value.last_name,
        "role": value.role,
        "status": value.status,
        "department_id": value.department_id,
        "manager_id": value.manager_id,
        "job_title": value.job_title,
        "start_date": value.start_date,
        "working_days": list(value.working_days or organisation_working_days),
        "public_holiday_country_code": value.public_holiday_country_code,
        "leave_allowance": _days_or_none(value.leave_allowance_half_days),
        "avatar_url": value.avatar_url,
        "is_active": value.status == "active",
        "created_at": value.created_at,
        "updated_at": value.updated_at,
    }


def user_summary(value: User) -> UserSummaryRecord:
    return {
        "id": value.id,
        "email": value.email,
        "first_name": value.first_name,
        "last_name": value.last_name,
        "role": value.role,
        "department_id": value.department_id,
        "start_date": value.start_date,
        "status": value.status,
    }


def department(value: Department) -> DepartmentRecord:
    return {
        "id": value.id,
        "name": value.name,
        "manager_id": value.manager_id,
        "default_leave_allowance": _days_or_none(value.default_leave_allowance_half_days),
        "created_at": value.created_at,
    }


def leave_type(value: LeaveType) -> LeaveTypeRecord:
    return {
        "id": value.id,
        "name": value.name,
        "code": value.code,
        "colour": value.colour,
        "emoji": value.emoji,
        "requires_approval": value.requires_approval,
        "deducts_allowance": value.deducts_allowance,
        "allow_overdraft": value.allow_overdraft,
        "is_paid": value.is_paid,
        "is_private": value.is_private,
        "requires_note": value.requires_note,
        "min_notice_days": value.min_notice_days,
        "max_consecutive_days": value.max_consecutive_days,
        "is_archived": value.is_archived,
        "created_at": value.created_at,
    }


def leave_request(value: LeaveRequest) -> LeaveRequestRecord:
    return {
        "id": value.id,
        "user_id": value.user_id,
        "leave_type_id": value.leave_type_id,
        "status": value.status,
        "start_date": value.start_date,
        "end_date": value.end_date,
        "start_half_day": value.start_half_day,
        "end_half_day": value.end_half_day,
        "total_days": days(value.total_half_days),
        "note": value.note,
        "decided_by": value.decided_by,
        "decided_at": value.decided_at,
        "decision_reason": value.decision_reason,
        "cancelled_at": value.cancelled_at,
        "created_at": value.created_at,
        "updated_at": value.updated_at,
        "version": value.version,
    }


def organisation(value: Organisation) -> OrganisationRecord:
    return {
        "id": value.id,
        "name": value.name,
        "slug": value.slug,
        "domain": value.domain,
        "logo_url": value.logo_url,
        "country_code": value.country_code,
        "timezone": value.timezone,
        "working_days": list(value.working_days),
        "leave_year_type": value.leave_year_type,
        "leave_year_start_month": value.leave_year_start_month,
        "leave_year_start_day": value.leave_year_start_day,
        "default_leave_allowance": days(value.default_leave_allowance_half_days),
        "carry_over": days(value.carry_over_half_days),
        "carry_over_expiry_month": value.carry_over_expiry_month,
        "day_starts_at": value.day_starts_at,
        "midday_at": value.midday_at,
        "day_ends_at": value.day_ends_at,
        "slack_members_join": value.slack_members_join,
        "digest_channel": value.digest_channel,
        "created_at": value.created_at,
    }


def holiday(value: HolidayOnDate) -> HolidayRecord:
    return {
        "date": value.date,
        "name": value.name,
        "source": value.source,
        "half": value.half,
        "is_holiday": value.is_holiday,
        "override_id": value.override_id,
    }


def holiday_override(value: HolidayOverride) -> HolidayOverrideRecord:
    return {
        "id": value.id,
        "date": value.date,
        "name": value.name,
        "is_holiday": value.is_holiday,
        "half": value.half,
        "created_at": value.created_at,
    }


def country(value: Country) -> CountryRecord:
    return {
        "code": value.code,
        "name": value.name,
        "has_regions": bool(value.regions),
        "regions": [{"code": code, "name": name} for code, name in value.regions],
    }


def api_key(value: ApiKey) -> ApiKeyRecord:
    return {
        "id": value.id,
        "user_id": value.user_id,
        "name": value.name,
        "prefix": value.prefix,
        "scopes": list(value.scopes),
        "variant": value.variant,
        "created_at": value.created_at,
        "expires_at": value.expires_at,
        "last_used_at": value.last_used_at,
        "revoked_at": value.revoked_at,
    }


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


def audit_entry(value: AuditEntry) -> AuditRecord:
    return {
        "id": value.id,
        "action": value.action,
        "timestamp": value.timestamp,
        "actor": {"type": "user" if value.actor_id else "system", "id": value.actor_id},
        "source": value.source,
        "subject": {"type": value.subject_type, "id": value.subject_id},
        "changes": value.changes,  # type: ignore[typeddict-item]  # stored in this very shape
        "request_id": value.request_id,
    }
