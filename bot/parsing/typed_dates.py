"""Resolves one typed day to a date, relative to another. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from bot.parsing.typed_terms import Day, Unclear

# There may be eight years between two 29 February.
_LEAP_YEARS: Final = 9


def resolved(day: Day, today: date, not_before: date) -> date:
    """The first such date from ``not_before`` on. Raises Unclear."""
    if day.days_from_today is not None:
        return today + timedelta(days=day.days_from_today)
    if is_monthless(day):
        return checked(day, of_next_month(day, not_before))
    if day.month is None:
        return weekday(day, today, not_before)
    if day.year is None:
        return checked(day, next_date(day, not_before))
    try:
        return checked(day, date(day.year, day.month, day.number or 0))
    except ValueError:
        raise Unclear("impossible_day", day.typed) from None


def checked(day: Day, date_: date) -> date:
    """Raises Unclear if the typed weekday does not match the date."""
    if day.weekday is not None and date_.weekday() != day.weekday:
        if day.year:
            raise Unclear("impossible_day", day.typed)
        raise Unclear("which_month" if day.month is None else "which_year", day.typed)
    return date_


def weekday(day: Day, today: date, not_before: date) -> date:
    assert day.weekday is not None
    coming = today + timedelta(days=(day.weekday - today.weekday() - 1) % 7 + 1)
    match day.which_week:
        case "this":
            named = of_week(day, today, 0)
            if named < today:
                raise Unclear("which_day", day.typed)
            return named
        case "next":
            return of_week(day, today, 1)
        case "coming":
            return coming
        case "after_coming":
            if day.weekday == today.weekday():
                # "Monday week" on a Monday: in one week, or in two.
                raise Unclear("which_day", day.typed)
            return coming + timedelta(weeks=1)
        case "next_or_coming":
            return _agreed(day, coming, of_week(day, today, 1))
        case "last":
            return _agreed(day, weekday_before(day, today), of_week(day, today, -1))
    return not_before + timedelta(days=(day.weekday - not_before.weekday()) % 7)


def _agreed(day: Day, coming: date, named: date) -> date:
    """Raises Unclear if the named week is not that of the weekday nearest to today."""
    if coming != named:
        raise Unclear("which_day", day.typed)
    return coming


def of_week(day: Day, today: date, weeks: int) -> date:
    return monday(today) + timedelta(days=day.weekday or 0, weeks=weeks)


def weekday_before(day: Day, before: date) -> date:
    assert day.weekday is not None
    return before - timedelta(days=(before.weekday() - day.weekday - 1) % 7 + 1)


def monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def next_date(day: Day, not_before: date) -> date:
    years = range(not_before.year, not_before.year + _LEAP_YEARS)
    return _first_of(day, [match for match in _in_years(day, years) if match >= not_before])


def latest_date(day: Day, not_after: date) -> date:
    years = range(not_after.year, not_after.year - _LEAP_YEARS, -1)
    return _first_of(day, [match for match in _in_years(day, years) if match <= not_after])


def of_next_month(day: Day, not_before: date) -> date:
    """The next day with that number. Raises Unclear if the month has no such day."""
    month = not_before
    if (day.number or 0) < not_before.day:
        month = not_before.replace(day=28) + timedelta(days=4)
    return _of_month(day, month)


def of_latest_month(day: Day, not_after: date) -> date:
    """The latest day with that number. Raises Unclear if the month has no such day."""
    month = not_after
    if (day.number or 0) > not_after.day:
        month = not_after.replace(day=1) - timedelta(days=1)
    return _of_month(day, month)


def _of_month(day: Day, month: date) -> date:
    try:
        return month.replace(day=day.number or 0)
    except ValueError:
        raise Unclear("which_month", day.typed) from None


def is_monthless(day: Day) -> bool:
    """Whether it is a day of any month, such as "the 30th"."""
    return day.number is not None and day.month is None


def is_yearless(day: Day) -> bool:
    return day.month is not None and day.year is None


def _in_years(day: Day, years: range) -> list[date]:
    """The date in each year that has it."""
    number, month = day.number or 0, day.month or 0
    return [date(year, month, number) for year in years if is_day(number, month, year)]


def is_day(number: int, month: int, year: int | None) -> bool:
    try:
        date(2024 if year is None else year, month, number)
    except ValueError:
        return False
    return True


def _first_of(day: Day, matches: Sequence[date]) -> date:
    if not matches:
        raise Unclear("impossible_day", day.typed)
    return matches[0]


# Countries that write the month before the day. Source: CLDR's short date patterns.
_MONTH_FIRST: Final = frozenset(
    ("AS", "CN", "FM", "GU", "HU", "JP", "KP", "KR", "LT", "MH", "MP")
    + ("PA", "PH", "PR", "PW", "TW", "UM", "US", "VI")
)
# Both orders are in use there, so 3/8 is ambiguous.
_EITHER: Final = frozenset(("CA", "ZA"))


def is_month_first(country_code: str) -> bool | None:
    """Whether 3/8 is 8 March in a country; None if it may be either."""
    country = country_code.split("-")[0]
    return None if country in _EITHER else country in _MONTH_FIRST


def in_order(day: Day, is_month_first: bool | None) -> Day:
    """Resolve a pair of numbers to day and month. Raises Unclear."""
    if day.pair is None:
        return day
    ways = [way for way in (day.pair, day.pair[::-1]) if is_day(*way, day.year)]
    if not ways:
        raise Unclear("impossible_day", day.typed)
    if len(set(ways)) > 1:
        if is_month_first is None or (is_month_first and day.is_dotted):
            raise Unclear("which_day", day.typed)
        ways = [day.pair[::-1] if is_month_first else day.pair]
    return replace(day, number=ways[0][0], month=ways[0][1], pair=None)
