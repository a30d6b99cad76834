"""People and departments."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from api.schemas.lists import PaginationRecord
from storage.base.records import About, Id, UserSummaryRecord
from storage.base.values import (
    Department,
    EmploymentRecord,
    Role,
    User,
    UserStatus,
    days_or_none,
)


class EarlierEmploymentRecord(TypedDict):
    """An employment that has ended, first and last day inclusive."""

    start_date: date | None
    end_date: date | None


class UserRecord(TypedDict):
    """A person of the organisation."""

    id: Id
    email: Annotated[str, Field(json_schema_extra={"format": "email"})]
    first_name: Annotated[str, About(example="Ada")]
    last_name: Annotated[str, About(example="Lovelace")]
    role: Role
    status: UserStatus
    department_id: Id | None
    manager_id: Id | None
    job_title: str | None
    start_date: date | None
    end_date: Annotated[
        date | None,
        Field(
            description="The last day of employment. Only the person, their approvers, admins and "
            "owners read it; for others it is null."
        ),
    ]
    earlier_employment: Annotated[
        list[EarlierEmploymentRecord],
        Field(
            description="Before the present one, of people who were hired again; oldest first. "
            "Only the person, their approvers, admins and owners read it; for others it is empty."
        ),
    ]
    working_days: Annotated[
        list[str],
        Field(
            description="`monday` to `sunday`, or `friday:am` if only that half is worked.",
            examples=[["monday", "tuesday", "wednesday", "thursday", "friday"]],
        ),
    ]
    public_holiday_country_code: str | None
    leave_allowance: Annotated[
        float | None,
        Field(
            description="Days per leave year; null for the department's or organisation's "
            "allowance. Only the person, their approvers, admins and owners read it; for others "
            "it is null."
        ),
    ]
    avatar_url: str | None
    is_active: bool
    created_at: datetime
    updated_at: datetime


class UserListing(TypedDict):
    """Users in variant 2."""

    users: list[UserSummaryRecord]


class PagedUserListing(TypedDict):
    """One page of users in either variant, if `limit` or `cursor` was sent."""

    data: list[UserRecord] | list[UserSummaryRecord]
    pagination: PaginationRecord


class DatedRecord(TypedDict):
    """What counts for a person from a day on, until the next record begins."""

    id: Id
    valid_from: Annotated[
        date | None,
        Field(description="The first day; of the first record `start_date`, or null without one."),
    ]
    working_days: Annotated[
        list[str],
        Field(
            description="`monday` to `sunday`, or `friday:am` if only that half is worked.",
            examples=[["monday", "tuesday", "wednesday"]],
        ),
    ]
    leave_allowance: Annotated[
        float | None,
        Field(
            description="Days for a whole leave year, of which the record gives its part by "
            "calendar days; null for the department's or organisation's allowance."
        ),
    ]
    public_holiday_country_code: str | None
    department_id: Id | None


class DepartmentRecord(TypedDict):
    """A department."""

    id: Id
    name: Annotated[str, About(example="Research")]
    manager_id: Id | None
    default_leave_allowance: Annotated[
        float | None,
        Field(description="Days per leave year; null for the organisation's allowance."),
    ]
    created_at: datetime


def user(
    value: User, organisation_working_days: tuple[str, ...], *, shows_employment: bool
) -> UserRecord:
    """``shows_employment``: the reader may see the person's last day and allowance."""
    allowance = days_or_none(value.leave_allowance_half_days)
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
        "end_date": value.end_date if shows_employment else None,
        "earlier_employment": [
            {"start_date": period.start_date, "end_date": period.end_date}
            for period in (value.earlier_periods if shows_employment else ())
        ],
        "working_days": list(value.working_days or organisation_working_days),
        "public_holiday_country_code": value.public_holiday_country_code,
        "leave_allowance": allowance if shows_employment else None,
        "avatar_url": value.avatar_url,
        "is_active": value.status == "active",
        "created_at": value.created_at,
        "updated_at": value.updated_at,
    }


def dated_record(
    value: EmploymentRecord, valid_from: date | None, organisation_working_days: tuple[str, ...]
) -> DatedRecord:
    return {
        "id": value.id,
        "valid_from": valid_from,
        "working_days": list(value.working_days or organisation_working_days),
        "leave_allowance": days_or_none(value.leave_allowance_half_days),
        "public_holiday_country_code": value.public_holiday_country_code,
        "department_id": value.department_id,
    }


def department(value: Department) -> DepartmentRecord:
    return {
        "id": value.id,
        "name": value.name,
        "manager_id": value.manager_id,
        "default_leave_allowance": days_or_none(value.default_leave_allowance_half_days),
        "created_at": value.created_at,
    }
