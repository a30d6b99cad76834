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
Days = Annotated[float, Field(description="Days, in steps of a half.")]


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
        Field(description="`monday` … `sunday`, or `friday:am` where only that half is worked."),
    ]
    public_holiday_country_code: str | None
    leave_allowance: Annotated[
        float | None,
        Field(description="Days a leave year; null for the department's or organisation's."),
    ]
    avatar_url: str | None
    is_active: bool
    created_at: datetime
    updated_at: datetime


class UserSummaryRecord(TypedDict):
    """The short shape of a person."""

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
        float | None, Field(description="Days a leave year; null for the organisation's.")
    ]
    created_at: datetime


class LeaveTypeRecord(TypedDict):
    """A kind of leave and its rules."""

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
    """A leave request in its first shape."""

    id: Id
    user_id: Id
    leave_type_id: Id
    status: LeaveStatus
    start_date: date
    end_date: date
    start_half_day: Annotated[HalfDay | None, Field(description="The half in which leave begins.")]
    end_half_day: Annotated[HalfDay | None, Field(description="The half in which leave ends.")]
    total_days: Days
    note: str | None
    decided_by: Id | None
    decided_at: datetime | None
    decision_reason: str | None
    cancelled_at: datetime | None
    created_at: datetime
    updated_at: datetime
    version: Annotated[int, Field(description="Grows with every change.")]


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
        Field(description="Most days that go over into the next leave year; 0: none."),
    ]
    carry_over_expiry_month: Annotated[
        int | None,
        Field(
            description=(
                "The last month in which days carried over can be taken, 1 to 12; null: they last "
                "all year."
            )
        ),
    ]
    day_starts_at: str
    midday_at: str
    day_ends_at: str
    slack_members_join: Annotated[
        bool, Field(description="Unknown full members of the Slack workspace join as members.")
    ]
    digest_channel: Annotated[
        str | None,
        Field(description="Id of the Slack channel that is told who is out; null: none."),
    ]
    created_at: datetime


class HolidayRecord(TypedDict):
    """What a public holiday set makes of one date."""

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
        bool, Field(description="False where an override made the date an ordinary day.")
    ]
    override_id: Annotated[
        Id | None, Field(description="Null where the country's own calendar holds.")
    ]


class HolidayOverrideRecord(TypedDict):
    """A date on which a public holiday set differs from its country's calendar."""

    id: Id
    date: date
    name: str
    is_holiday: Annotated[bool, Field(description="False takes a public holiday away.")]
    half: Annotated[HalfDay | None, Field(description="Null for the whole day.")]
    created_at: datetime


class RegionRecord(TypedDict):
    """A region with public holidays of its own."""

    code: str
    name: str


class CountryRecord(TypedDict):
    """A country whose public holidays are known."""

    code: Annotated[str, Field(description="ISO 3166-1 alpha-2.")]
    name: str
    has_regions: Annotated[bool, Field(description="A closer choice is possible: see `regions`.")]
    regions: list[RegionRecord]


class ApiKeyRecord(TypedDict):
    """An API key, without its secret."""

    id: Id
    user_id: Id
    name: str
    prefix: Annotated[str, Field(description="How the key begins, to recognise it by.")]
    scopes: list[str]
    variant: Annotated[int, Field(description="Which shape `GET /users` answers with: 1 or 2.")]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


class WebhookRecord(TypedDict):
    """A registered receiver of events, without its secret."""

    id: Id
    url: Annotated[str, Field(json_schema_extra={"format": "uri"})]
    events: list[str]
    is_active: bool
    disabled_reason: str | None
    failing_since: Annotated[
        datetime | None,
        Field(description="Since when every attempt has failed; null after a success."),
    ]
    next_attempt_at: Annotated[
        datetime | None,
        Field(description="When the next delivery is tried; null where none waits."),
    ]
    created_at: datetime


class DeliveryAttemptRecord(TypedDict):
    """One try to deliver an event."""

    attempted_at: datetime
    status_code: Annotated[int | None, Field(description="Null where no answer came.")]
    error: Annotated[
        str | None,
        Field(
            description=(
                "Null where it was delivered, else one of `timeout`, `name_not_resolved`, "
                "`connect_failed`, `tls_failed`, `disconnected`, `private_address`, "
                "`invalid_url`, `invalid_response`, `redirect`, `bad_status`, "
                "`secret_unreadable`, `request_failed`."
            )
        ),
    ]
    duration_milliseconds: int
    answer: Annotated[str, Field(description="The first 4 KiB of what the receiver answered.")]


class DeliveryRecord(TypedDict):
    """One event on its way to one webhook."""

    id: Id
    event_id: Annotated[Id, Field(description="The header `webhook-id` of every attempt.")]
    event: DeliveryEvent
    leave_request_id: Id | None
    sequence: Annotated[int, Field(description="Grows with every event of that leave request.")]
    status: DeliveryStatus
    next_attempt_at: Annotated[
        datetime | None,
        Field(description="Null while one is being sent, and once it is delivered or failed."),
    ]
    created_at: datetime
    settled_at: Annotated[datetime | None, Field(description="When it was delivered, or given up.")]
    attempts: Annotated[
        list[DeliveryAttemptRecord], Field(description="The latest 20, oldest first.")
    ]


class DeliveryWithBodyRecord(DeliveryRecord):
    """One delivery with the bytes that every attempt sends."""

    body: str


class ChangeRecord(TypedDict):
    """One field before and after."""

    before: object
    after: object


class ActorRecord(TypedDict):
    """Who did it; `id` is null for the system itself."""

    type: str
    id: Id | None


class SubjectRecord(TypedDict):
    """What it was done to."""

    type: str
    id: Id


class AuditRecord(TypedDict):
    """One change."""

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
