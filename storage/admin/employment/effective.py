"""Changes of a person's dated fields: from which day they count, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any, Final

from storage.base.clock import local_day
from storage.base.errors import Conflict, InvalidInput
from storage.base.ids import new_id
from storage.base.values import User
from storage.directory import public_holidays
from storage.events.organisation_config import OrganisationConfig
from storage.leave import balances
from storage.rules import employment_terms, leave_years
from storage.rules.employment_terms import Records

# Bounds the row of a person, where their records are.
MAX_RECORDS: Final = 100


class TooManyRecords(Conflict):
    """A person has at most 100 dated records."""

    code = "too_many_employment_records"
    title = "The person has too many employment records."

    def __init__(self) -> None:
        super().__init__(
            "A person has at most {most} employment records. Delete some that no longer matter.",
            most=MAX_RECORDS,
        )


def with_changes(
    config: OrganisationConfig, user: User, values: Mapping[str, Any], *, now: datetime
) -> User:
    """The person after changes of any fields, which have been checked one by one.

    Those of ``records.FIELDS`` count from ``effective_from`` among the values, or today; an
    allowance alone from the start of the current leave year. Raises InvalidInput or TooManyRecords.
    """
    dated = {name: value for name, value in values.items() if name in employment_terms.FIELDS}
    own = {name: value for name, value in values.items() if name not in employment_terms.FIELDS}
    effective_from = own.pop("effective_from", None)
    after = replace(user, **own)
    if dated or effective_from is not None:
        today = local_day(now, config.organisation.timezone)
        after = _dated(config, after, dated, effective_from, today=today, now=now)
    check_dates(after)
    return after


def _dated(
    config: OrganisationConfig,
    user: User,
    changes: Mapping[str, object],
    effective_from: date | None,
    *,
    today: date,
    now: datetime,
) -> User:
    current = employment_terms.records_of(user)
    if effective_from is None:
        day = _default_day(config, user, current, changes, today)
    else:
        if not changes:
            raise InvalidInput.of(
                "effective_from",
                "nothing_effective",
                "effective_from sets the day for changes of {fields}. Send at least one of them.",
                fields=tuple(name.removesuffix("_half_days") for name in employment_terms.FIELDS),
            )
        check_day(user, effective_from, "effective_from")
        day = effective_from
    first_day = employment_terms.first_day(user)
    is_first = first_day is not None and day <= first_day
    changed = employment_terms.changed_from(
        current, None if is_first else day, changes, new_id(now)
    )
    return with_records(user, changed, today)


def with_records(user: User, changed: Records, today: date) -> User:
    """The person with other records. Raises TooManyRecords."""
    if len(changed) > MAX_RECORDS:
        raise TooManyRecords
    return employment_terms.with_records(user, changed, today)


def check_day(user: User, day: date, field: str) -> None:
    """Raises InvalidInput for a day on which no record of the person can begin."""
    public_holidays.check_year(day.year, field)
    first_day = employment_terms.first_day(user)
    if first_day is not None and day < first_day:
        raise InvalidInput.of(
            field,
            "before_start_date",
            "Employment starts on {start_date}. Choose that day or a later one.",
            start_date=first_day,
        )
    if user.end_date is not None and day > user.end_date:
        raise InvalidInput.of(
            field,
            "after_end_date",
            "Employment ends on {end_date}. Choose that day or an earlier one.",
            end_date=user.end_date,
        )


def check_employment(start_date: date | None, end_date: date | None) -> None:
    """Raises InvalidInput if the last day of employment is before the first."""
    if start_date is not None and end_date is not None and end_date < start_date:
        raise InvalidInput.of(
            "end_date",
            "end_date_before_start_date",
            "Employment starts on {start_date}, so it cannot end before that day.",
            start_date=start_date,
        )


def check_after_earlier(user: User) -> None:
    """Raises InvalidInput unless the present employment begins after the one before it."""
    ended_on = employment_terms.last_ended_on(user)
    if ended_on is not None and (user.start_date is None or user.start_date <= ended_on):
        raise InvalidInput.of(
            "start_date",
            "within_earlier_employment",
            "Their earlier employment ended on {end_date}. Choose a later day.",
            end_date=ended_on,
        )


def check_dates(user: User) -> None:
    """Raises InvalidInput if the first and last day and the records are out of order."""
    check_employment(user.start_date, user.end_date)
    check_after_earlier(user)
    later = employment_terms.records_of(user)[1:]
    first_day = employment_terms.first_day(user)
    if first_day is not None and later and employment_terms.begin(later[0]) <= first_day:
        raise InvalidInput.of(
            "start_date",
            "start_date_after_record",
            "An employment record begins on {valid_from}. Change or delete that record first, or "
            "choose an earlier day.",
            valid_from=employment_terms.begin(later[0]),
        )


def _default_day(
    config: OrganisationConfig,
    user: User,
    current: Records,
    changes: Mapping[str, object],
    today: date,
) -> date:
    """Today; for an allowance alone the start of the leave year, or when it changed since."""
    in_force = employment_terms.on(current, today)
    differing = {name for name, value in changes.items() if getattr(in_force, name) != value}
    if differing != {"leave_allowance_half_days"}:
        return today
    rule = balances.leave_year_rule(config, user)
    year = leave_years.leave_year_containing(rule, today)
    same = in_force
    for period in reversed(list(employment_terms.periods(current, year.first_day, today))):
        if period.record.leave_allowance_half_days != in_force.leave_allowance_half_days:
            break
        same = period.record
    # Not in an earlier employment of the same leave year.
    present = user.start_date if user.earlier_periods else None
    return max(year.first_day, employment_terms.begin(same), present or date.min)
