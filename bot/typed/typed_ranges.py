"""Finds the first and last day that typed days and weeks mean. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from bot.typed import typed_dates
from bot.typed.problems import Unclear
from bot.typed.typed_terms import Day, Word

# The longest leave between two days without a year; longer leave needs the year.
_MAX_GUESS_DAYS: Final = 183
# How long ago leave without a year may be, for types that are recorded afterwards.
_NEAR_PAST_DAYS: Final = 92


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """The person's context, as in ``span_of``."""

    today: date
    weekdays: frozenset[int]
    prefers_past: bool


def since(day: Day, today: date) -> date:
    """The latest such day; a weekday is before today. Raises Unclear if it is in the future."""
    if _is_unambiguous(day):
        start = typed_dates.resolved(day, today, today)
    elif day.month is not None:
        start = typed_dates.checked(day, typed_dates.latest_date(day, today))
        if (today - start).days >= _MAX_GUESS_DAYS:
            raise Unclear("which_year", day.typed)
    elif day.which_week is None:
        start = typed_dates.weekday_before(day, today)
    elif day.which_week == "this":
        start = typed_dates.of_week(day, today, 0)
    else:
        start = typed_dates.weekday(day, today, today)
    if start > today:
        raise Unclear("which_day", day.typed)
    return start


def first_day(day: Day, context: Context) -> date:
    """The only or first day: the next such day, or the latest if the near past is preferred."""
    today = context.today
    if context.prefers_past and typed_dates.is_yearless(day):
        candidate = typed_dates.latest_date(day, today)
        is_near = (today - candidate).days <= _NEAR_PAST_DAYS
        if is_near and day.weekday in (None, candidate.weekday()):
            return candidate
    elif (
        context.prefers_past
        and day.month is None
        and not day.which_week
        and not _is_unambiguous(day)
    ):
        return typed_dates.weekday_before(day, today + timedelta(days=1))
    return typed_dates.resolved(day, today, today)


def from_to(first: Day, last: Day, context: Context, *, is_since: bool) -> tuple[date, date]:
    """The two days. Raises Unclear if more than one pair is possible."""
    today, typed = context.today, f"{first.typed} - {last.typed}"
    first, last = _sharing_month(first, last, typed)
    if is_since:
        start = since(first, today)
        end = typed_dates.resolved(last, today, start)
    elif typed_dates.is_yearless(first) and _is_unambiguous(last):
        end = typed_dates.resolved(last, today, today)
        start = typed_dates.checked(first, typed_dates.latest_date(first, end))
    else:
        start = first_day(first, context)
        end = typed_dates.resolved(last, today, start)
    if _is_unambiguous(first) and _is_unambiguous(last):
        return start, end
    if start > end:
        raise Unclear("which_day", typed)
    is_future = start >= today or not (is_since or context.prefers_past)
    is_running = is_future and _is_running(first, last, today)
    if (end - start).days >= _MAX_GUESS_DAYS or is_running:
        raise Unclear("which_year", typed)
    return start, end


def _is_running(first: Day, last: Day, today: date) -> bool:
    """Whether two days without a year could include today as well as be next year's."""
    if not (typed_dates.is_yearless(first) and typed_dates.is_yearless(last)):
        return False
    start = typed_dates.latest_date(first, today)
    end = typed_dates.next_date(last, start)
    return start < today <= end and (end - start).days < _MAX_GUESS_DAYS


def _is_unambiguous(day: Day) -> bool:
    """Whether it is one date in any context."""
    return day.year is not None or day.days_from_today is not None


def _sharing_month(first: Day, last: Day, typed: str) -> tuple[Day, Day]:
    """``3-7 aug`` and ``aug 3-7``: both days share the month and year."""
    lacks = [_lacks_month(first), _lacks_month(last)]
    if all(lacks) or (lacks[0] and last.month is None) or (lacks[1] and first.month is None):
        raise Unclear("which_month", typed)
    if lacks[0]:
        first = replace(first, month=last.month, year=first.year or last.year)
    elif lacks[1]:
        last = replace(last, month=first.month, year=last.year or first.year)
        first = replace(first, year=last.year)
    is_one_month = first.month is not None and first.month == last.month
    is_backwards = (first.number or 0) > (last.number or 0) and first.year == last.year
    if is_one_month and is_backwards and (any(lacks) or first.year is None):
        raise Unclear("which_day", typed)
    return first, last


def _lacks_month(day: Day) -> bool:
    return day.number is not None and day.month is None


def week(term: Word, context: Context) -> tuple[date, date]:
    return _working_week(context.today + timedelta(weeks=term.amount), term.typed, context)


def week_of(day: Day, phrase: str, context: Context) -> tuple[date, date]:
    """The working days of the day's week. Raises Unclear."""
    if day.number is not None and day.month is None:
        raise Unclear("which_month", phrase)
    start = first_day(day, context)
    if typed_dates.is_yearless(day) and start > context.today:
        latest = typed_dates.latest_date(day, context.today)
        if typed_dates.monday(latest) == typed_dates.monday(context.today):
            # The day is in the current week but has passed, so next year's may not be meant.
            raise Unclear("which_year", phrase)
    return _working_week(start, phrase, context)


def _working_week(day: date, typed: str, context: Context) -> tuple[date, date]:
    # For people who work at weekends, the first day of the week is ambiguous.
    if not context.weekdays or max(context.weekdays) > 4:
        raise Unclear("which_day", typed)
    monday = typed_dates.monday(day)
    return (
        monday + timedelta(days=min(context.weekdays)),
        monday + timedelta(days=max(context.weekdays)),
    )
