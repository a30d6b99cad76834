"""The public shape of people, the organisation, its holidays and its audit trail."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from storage.base.amounts import days_of
from storage.base.calendar_values import Country, HolidayOnDate, HolidayOverride
from storage.base.event_values import AuditEntry
from storage.base.records import Days, Id
from storage.base.values import (
    Department,
    HalfDay,
    LeaveYearType,
    Organisation,
    Role,
    Source,
    User,
    UserStatus,
)


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


def department(value: Department) -> DepartmentRecord:
    return {
        "id": value.id,
        "name": value.name,
        "manager_id": value.manager_id,
        "default_leave_allowance": _days_or_none(value.default_leave_allowance_half_days),
        "created_at": value.created_at,
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
        "default_leave_allowance": days_of(value.default_leave_allowance_half_days),
        "carry_over": days_of(value.carry_over_half_days),
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


def _days_or_none(half_days: int | None) -> float | None:
    return None if half_days is None else days_of(half_days)
