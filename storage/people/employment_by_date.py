"""Working days and public holidays on each date, of a person or of a country.

What counts for a person is in their records. A record without a value of its own has the
department's or the organisation's, as of today. Public holidays are those of the country's set,
with the organisation's overrides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import Final, Literal

from storage.base.calendar_values import HolidayOnDate
from storage.base.errors import InvalidInput
from storage.base.leave_values import HalfDay
from storage.base.values import EmploymentRecord, User
from storage.outbox.organisation_config import OrganisationConfig, Override
from storage.rules import counted_days, employment_terms, holiday_calendar
from storage.rules.counted_days import (
    AFTERNOON,
    MORNING,
    NOTHING,
    WHOLE_DAY,
    DayCount,
    Holiday,
    Span,
)


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


def _count(
    config: OrganisationConfig,
    person: User | EmploymentRecord,
    span: Span,
    first_day: date,
    last_day: date,
) -> list[DayCount]:
    country_code = country_code_of(config, person)
    return counted_days.count_days(
        span,
        counted_days.working_week(working_days(config, person)),
        holidays_between(
            config,
            country_code,
            max(first_day, span.start_date),
            min(last_day, span.end_date),
        ),
        first_day,
        last_day,
    )


# Lunar calendars are computed for these years only.
EARLIEST_YEAR: Final = 1900
LATEST_YEAR: Final = 2100
_MASK_OF_HALF: Final[Mapping[HalfDay | None, int]] = {
    None: WHOLE_DAY,
    "am": MORNING,
    "pm": AFTERNOON,
}


_HALF_OF_MASK: Final = {mask: half for half, mask in _MASK_OF_HALF.items()}


def check_year(year: int, field: str) -> None:
    """Raises InvalidInput ``out_of_range`` for a year whose public holidays are unknown."""
    if not EARLIEST_YEAR <= year <= LATEST_YEAR:
        raise InvalidInput.of(
            field,
            "out_of_range",
            "Choose a year from {first} to {last}.",
            first=str(EARLIEST_YEAR),
            last=str(LATEST_YEAR),
        )


def holidays_of_year(
    config: OrganisationConfig, country_code: str, year: int
) -> list[HolidayOnDate]:
    """The public holidays of a calendar year and those that overrides remove, earliest first.

    Raises InvalidInput ``out_of_range`` or ``unknown_country``.
    """
    check_year(year, "year")
    first_day, last_day = date(year, 1, 1), date(year, 12, 31)
    in_force = holidays_between(config, country_code, first_day, last_day)
    overrides = overrides_between(config, country_code, first_day, last_day)
    dates: list[HolidayOnDate] = []
    for day, holiday in in_force.items():
        half = _HALF_OF_MASK[holiday.halves]
        override = overrides.pop(day, None)
        source: Literal["country", "override"] = "country" if override is None else "override"
        dates.append(
            HolidayOnDate(
                date=day,
                name=holiday.name,
                source=source,
                half=half,
                is_holiday=True,
                override_id=None if override is None else override.id,
            )
        )
    # The other overrides remove a holiday, or a day that was none.
    dates += [
        HolidayOnDate(
            date=day,
            name=override.name,
            source="override",
            half=None,
            is_holiday=False,
            override_id=override.id,
        )
        for day, override in overrides.items()
    ]
    return sorted(dates, key=lambda on_date: on_date.date)


def holidays_ahead(
    config: OrganisationConfig, country_code: str, today: date
) -> list[HolidayOnDate]:
    """As ``holidays_of_year``, from today to the day before a year from now.

    Raises InvalidInput ``unknown_country``.
    """
    last_day = today + timedelta(days=364)
    years = range(today.year, min(last_day.year, LATEST_YEAR) + 1)
    return [
        on_date
        for year in years
        for on_date in holidays_of_year(config, country_code, year)
        if today <= on_date.date <= last_day
    ]


def country_code_of(config: OrganisationConfig, person: User | EmploymentRecord) -> str:
    """The country whose public holidays a person has: their choice, else the organisation's.

    Of a person, that of today; of a record, that of its days.
    """
    return person.public_holiday_country_code or config.organisation.country_code


def holidays_between(
    config: OrganisationConfig, country_code: str, first_day: date, last_day: date
) -> Mapping[date, Holiday]:
    """The public holidays between two dates, both included, with the overrides of that set.

    An override replaces the country's holiday on that date, or removes it or one half of it. A
    country without a set has its default categories. Raises InvalidInput ``unknown_country``.
    """
    holidays = _of_country(config, country_code, first_day, last_day)
    overrides = overrides_between(config, country_code, first_day, last_day)
    for day, override in overrides.items():
        halves = _MASK_OF_HALF[override.half]
        if override.is_holiday:
            holidays[day] = Holiday(name=override.name, halves=halves)
        elif day in holidays:
            other_halves = holidays[day].halves & ~halves
            if other_halves == NOTHING:
                del holidays[day]
            else:
                holidays[day] = replace(holidays[day], halves=other_halves)
    return holidays


def holiday_of_country(config: OrganisationConfig, country_code: str, day: date) -> Holiday | None:
    """The country's own holiday on a day, whatever overrides say."""
    return _of_country(config, country_code, day, day).get(day)


def _of_country(
    config: OrganisationConfig, country_code: str, first_day: date, last_day: date
) -> dict[date, Holiday]:
    categories = config.holiday_categories.get(country_code)
    if categories is None:
        categories = holiday_calendar.default_categories(country_code)
    return holiday_calendar.holidays_between(country_code, first_day, last_day, categories)


def overrides_between(
    config: OrganisationConfig, country_code: str, first_day: date, last_day: date
) -> dict[date, Override]:
    """The overrides of a set in force between two dates, by date.

    One of every year holds from its own date on; one of a single date replaces it on that date.
    """
    in_force: dict[date, Override] = {}
    single: dict[date, Override] = {}
    for override in config.overrides.get(country_code, ()):
        day = date.fromisoformat(override.date)
        if override.every_year:
            years = range(max(day.year, first_day.year), last_day.year + 1)
            in_force |= {each: override for year in years if (each := in_year(day, year))}
        else:
            single[day] = override
    return {
        day: override
        for day, override in (in_force | single).items()
        if first_day <= day <= last_day
    }


def in_year(day: date, year: int) -> date | None:
    """The same day of another year; None for 29 February of an ordinary year."""
    try:
        return day.replace(year=year)
    except ValueError:
        return None


def holiday_count(config: OrganisationConfig, country_code: str, year: int) -> int:
    """How many dates of a calendar year are public holidays at least in part."""
    return len(holidays_between(config, country_code, date(year, 1, 1), date(year, 12, 31)))
