"""Working days, public holidays and allowance of a person on each date, by their records.

A record without a value of its own has the department's or the organisation's, as of today.
"""

from __future__ import annotations

from datetime import date
from typing import Literal

from storage.base.values import EmploymentRecord, User
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import public_holidays
from storage.rules import counted_days, employment_terms
from storage.rules.counted_days import DayCount, Span
from storage.rules.employment_terms import Entitlement, Grant

AllowanceSource = Literal["user", "department", "organisation"]


def working_days(config: OrganisationConfig, person: User | EmploymentRecord) -> tuple[str, ...]:
    """The working days of a record, or of a person today."""
    return person.working_days or config.organisation.working_days


def of_day(user: User, day: date) -> User | EmploymentRecord:
    """What counts for the person on the day: the fields of their record, or of the only one."""
    return (
        user
        if user.employment is None
        else employment_terms.on(employment_terms.records_of(user), day)
    )


def count(config: OrganisationConfig, user: User, span: Span) -> list[DayCount]:
    """The count of every date of the span, each by the record that is valid then."""
    if user.employment is None:
        return _count(config, user, span, date.min, date.max)
    periods = employment_terms.periods(
        employment_terms.records_of(user), span.start_date, span.end_date
    )
    return [
        day
        for period in periods
        for day in _count(config, period.record, span, period.first_day, period.last_day)
    ]


def entitlement(config: OrganisationConfig, user: User) -> Entitlement:
    """What the person is granted over time."""
    grants: tuple[Grant, ...]
    if user.employment is None:
        grants = (Grant(first_day=date.min, half_days=granted_half_days(config, user)[0]),)
    else:
        grants = tuple(
            Grant(
                first_day=employment_terms.begin(record),
                half_days=granted_half_days(config, record)[0],
            )
            for record in employment_terms.records_of(user)
        )
    return Entitlement(
        grants=grants,
        start_date=user.start_date,
        end_date=user.end_date,
        earlier=user.earlier_periods,
    )


def granted_half_days(
    config: OrganisationConfig, person: User | EmploymentRecord
) -> tuple[int, AllowanceSource]:
    """The allowance of a whole leave year: the record's, the department's or the organisation's."""
    if person.leave_allowance_half_days is not None:
        return person.leave_allowance_half_days, "user"
    department = config.departments.get(person.department_id or "")
    if department is not None and department.default_leave_allowance_half_days is not None:
        return department.default_leave_allowance_half_days, "department"
    return config.organisation.default_leave_allowance_half_days, "organisation"


def _count(
    config: OrganisationConfig,
    person: User | EmploymentRecord,
    span: Span,
    first_day: date,
    last_day: date,
) -> list[DayCount]:
    country_code = public_holidays.country_code_of(config, person)
    return counted_days.count_days(
        span,
        counted_days.working_week(working_days(config, person)),
        public_holidays.holidays_between(
            config,
            country_code,
            max(first_day, span.start_date),
            min(last_day, span.end_date),
        ),
        first_day,
        last_day,
    )
