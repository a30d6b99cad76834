"""Leave years: when they begin, and which one a date belongs to."""

from __future__ import annotations

from calendar import isleap, monthrange
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, timedelta
from typing import Final

from storage.base.errors import InvalidInput
from storage.base.values import LeaveYearType

_DAYS_OF_MONTH: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaveYear:
    """One leave year; both days are included."""

    first_day: date
    last_day: date

    @property
    def name(self) -> str:
        """``2026`` for a year from 1 January, ``2026/27`` for any other."""
        year = self.first_day.year
        if self.first_day.month == 1 and self.first_day.day == 1:
            return str(year)
        return f"{year}/{(year + 1) % 100:02}"


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaveYearRule:
    """When a person's leave years begin.

    ``month`` and ``day`` are the organisation's; ``start_date`` is the person's first day, or None.
    """

    type: LeaveYearType
    month: int
    day: int
    start_date: date | None = None


def check_leave_year_start(month: int, day: int) -> None:
    """Raises InvalidInput ``impossible_date`` at the month or day; 29 February is possible."""
    if not 1 <= month <= 12:
        raise InvalidInput.of(
            "leave_year_start_month",
            "impossible_date",
            "There is no month {month}. Use 1 to 12.",
            month=month,
        )
    if not 1 <= day <= _DAYS_OF_MONTH[month - 1]:
        raise InvalidInput.of(
            "leave_year_start_day",
            "impossible_date",
            "A leave year cannot start on day {day} of month {month}.",
            day=day,
            month=month,
        )


def leave_year_beginning_in(rule: LeaveYearRule, calendar_year: int) -> LeaveYear:
    """The leave year that begins in a calendar year.

    With 29 February as its first day, it begins on the 28th in common years.
    """
    month, day = _anchor(rule)
    first_day = _anniversary(calendar_year, month, day)
    if calendar_year == MAXYEAR:
        return LeaveYear(first_day=first_day, last_day=date.max)
    return LeaveYear(
        first_day=first_day,
        last_day=_anniversary(calendar_year + 1, month, day) - timedelta(days=1),
    )


def leave_year_containing(rule: LeaveYearRule, day: date) -> LeaveYear:
    """The leave year of a date; shorter at the two ends of the calendar."""
    year = leave_year_beginning_in(rule, day.year)
    if day >= year.first_day:
        return year
    if day.year == MINYEAR:
        return LeaveYear(first_day=date.min, last_day=year.first_day - timedelta(days=1))
    return leave_year_beginning_in(rule, day.year - 1)


def leave_year_before(rule: LeaveYearRule, year: LeaveYear) -> LeaveYear:
    """The leave year that ends on the day before."""
    return leave_year_containing(rule, year.first_day - timedelta(days=1))


def leave_years_touched(rule: LeaveYearRule, first_day: date, last_day: date) -> list[LeaveYear]:
    """The leave years from that of ``first_day`` to that of ``last_day``, oldest first."""
    years = [leave_year_containing(rule, first_day)]
    while years[-1].last_day < last_day:
        years.append(leave_year_containing(rule, years[-1].last_day + timedelta(days=1)))
    return years


def months_after(day: date, months: int) -> date:
    """The same day of a later month, or its last day if it is shorter; at most the last date."""
    years, month = divmod(day.month - 1 + months, 12)
    if day.year + years > MAXYEAR:
        return date.max
    last_day = monthrange(day.year + years, month + 1)[1]
    return date(day.year + years, month + 1, min(day.day, last_day))


def _anchor(rule: LeaveYearRule) -> tuple[int, int]:
    """Month and day of the first day of the leave years."""
    if rule.type == "calendar":
        return 1, 1
    if rule.type == "anniversary" and rule.start_date is not None:
        return rule.start_date.month, rule.start_date.day
    return rule.month, rule.day


def _anniversary(calendar_year: int, month: int, day: int) -> date:
    if month == 2 and day == 29 and not isleap(calendar_year):
        return date(calendar_year, 2, 28)
    return date(calendar_year, month, day)
