"""Days of a text that names a part of a month: "all of january", "last week of december". Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Final

from bot.parsing.languages import words_of
from bot.parsing.typed_terms import Problem, Unclear, any_of
from bot.parsing.vocabulary import PeriodKind
from storage.base.values import month_end

# With fewer working days at the end of a month, the week before may be meant as well.
_MIN_DAYS_OF_WEEK: Final = 3
# The last day of the first half of a month.
_MIDDLE: Final = 15
# "Die ersten beiden Wochen".
_BOTH: Final = 2
_START, _END = r"(?<![^\s,;-])", r"(?=$|[\s,;.?!-])"


@lru_cache
def _patterns(language: str, *, is_asked: bool) -> Sequence[tuple[PeriodKind, re.Pattern[str]]]:
    words = words_of(language)
    months = any_of(words.months)
    numbers = any_of((*_weeks_by_name(language), "[2-4]"))
    patterns = (*words.periods, *(words.asked_periods if is_asked else ()))
    return [
        (
            kind,
            re.compile(
                _START
                + _with_groups(
                    _with_groups(pattern.replace("{month}", r"{month}\.?"), "month", months),
                    "number",
                    numbers,
                )
                + r"(?: (?:de )?(?P<year>\d{4}))?"
                + _END
            ),
        )
        for kind, pattern in patterns
    ]


def _with_groups(pattern: str, name: str, words: str) -> str:
    """The pattern with a group for each place of the month, or of the number."""
    parts = pattern.split(f"{{{name}}}")
    joined = parts[0]
    for number, part in enumerate(parts[1:]):
        joined += f"(?P<{name}{number}>{words}){part}"
    return f"(?:{joined})"


def _weeks_by_name(language: str) -> Mapping[str, int]:
    numbers = words_of(language).numbers
    return {name: number for name, number in numbers.items() if 2 <= number <= 4}


def _named(groups: Mapping[str, str | None], name: str) -> str | None:
    """What stands at the place of the month, or of the number."""
    return next((word for group, word in groups.items() if group.startswith(name) and word), None)


@lru_cache
def _next_year(language: str) -> re.Pattern[str]:
    words = words_of(language)
    return re.compile(rf"{_START}({any_of(words.months)})\.?,? (?:{any_of(words.next_year)}){_END}")


def _with_years(text: str, language: str, today: date) -> str:
    """The plain text with the number of the year in place of "next year" after a month."""
    return _next_year(language).sub(rf"\1 {today.year + 1}", text)


def with_dates(text: str, language: str, today: date, weekdays: frozenset[int]) -> str:
    """The plain text with ``2026-12-28 - 2026-12-31`` in place of such days, as ISO dates."""

    def dated(match: re.Match[str], kind: PeriodKind) -> str:
        try:
            days = _days(kind, match, language, today, weekdays)
        except Unclear:
            return match.group()
        return f"{days[0]} - {days[1]}"

    text = _with_years(text, language, today)
    for kind, pattern in _patterns(language, is_asked=False):
        text = pattern.sub(lambda match, kind=kind: dated(match, kind), text)  # type: ignore[misc]
    return text


def unclear(
    text: str, language: str, today: date, weekdays: frozenset[int]
) -> tuple[Problem, str] | None:
    """The first such days of a plain text that may be other days, too, and the text without."""
    text = _with_years(text, language, today)
    for kind, pattern in _patterns(language, is_asked=False):
        for match in pattern.finditer(text):
            try:
                _days(kind, match, language, today, weekdays)
            except Unclear as problem:
                return problem.problem, f"{text[: match.start()]} {text[match.end() :]}"
    return None


def asked(
    text: str, language: str, today: date, weekdays: frozenset[int]
) -> tuple[date, date] | None:
    """The first and last day of a plain text that only names such days, for a question."""
    text = _with_years(text, language, today)
    for kind, pattern in _patterns(language, is_asked=True):
        if match := pattern.fullmatch(text):
            try:
                return _days(kind, match, language, today, weekdays, is_asked=True)
            except Unclear:
                return None
    return None


def _days(
    kind: PeriodKind,
    match: re.Match[str],
    language: str,
    today: date,
    weekdays: frozenset[int],
    *,
    is_asked: bool = False,
) -> tuple[date, date]:
    """Raises Unclear if other days may be meant."""
    groups = match.groupdict()
    if kind == "christmas":
        year = today.year + ((today.month, today.day) > (12, 26))
        return date(year, 12, 24), date(year, 12, 26)
    if kind == "year_end":
        return date(today.year, 12, 31), date(today.year, 12, 31)
    if kind in ("this_month", "next_month"):
        first = today.replace(day=1)
        first = first if kind == "this_month" else _next_month(first)
        return first, month_end(first)
    month = words_of(language).months[str(_named(groups, "month"))]
    typed_year = groups.get("year")
    try:
        first = date(int(typed_year or today.year + (month < today.month)), month, 1)
        last = month_end(first)
    except ValueError:
        raise Unclear("impossible_day", match.group()) from None
    if kind == "month_end":
        return last, last
    if typed_year is None and not is_asked and first < today <= last:
        # Part of it is over: this year's or next year's.
        raise Unclear("which_year", match.group())
    if kind == "first_half":
        return first, first.replace(day=_MIDDLE)
    if kind == "second_half":
        return first.replace(day=_MIDDLE + 1), last
    if kind == "month":
        return first, last
    count = 1
    if kind in ("first_weeks", "last_weeks"):
        number = _named(groups, "number")
        count = _weeks_by_name(language).get(number, 0) or int(number) if number else _BOTH
    is_at_start = kind in ("first_week", "first_weeks")
    weeks = _weeks(count, first, last, weekdays, _MIN_DAYS_OF_WEEK, is_at_start=is_at_start)
    if weeks is None and is_asked:
        # The answer is about both weeks, and names its days.
        weeks = _weeks(count + 1, first, last, weekdays, 1, is_at_start=is_at_start)
    if weeks is None:
        raise Unclear("which_day", match.group())
    return weeks


def _weeks(
    count: int, first: date, last: date, weekdays: frozenset[int], least: int, *, is_at_start: bool
) -> tuple[date, date] | None:
    """The working days of the month's first or last weeks; None if others may be meant.

    Others may be where the one at the edge has less than the ``least`` working days.
    """
    days = [first + timedelta(days=index) for index in range((last - first).days + 1)]
    worked = [day for day in days if day.weekday() in weekdays]
    if not worked:
        return None
    edge = worked[0] if is_at_start else worked[-1]
    monday = edge - timedelta(days=edge.weekday())
    week = [day for day in worked if monday <= day < monday + timedelta(weeks=1)]
    if len(week) < min(least, len(weekdays)):
        return None
    if not is_at_start:
        monday -= timedelta(weeks=count - 1)
    weeks = [day for day in worked if monday <= day < monday + timedelta(weeks=count)]
    return weeks[0], weeks[-1]


def _next_month(first: date) -> date:
    return (first + timedelta(days=31)).replace(day=1)
