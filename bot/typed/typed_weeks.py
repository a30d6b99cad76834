"""The week that typed words mean: "in two weeks", "week of 14 Dec", "KW 51", "december". Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache

from bot.typed import typed_dates, typed_leave
from bot.typed.typed_leave import ParsingContext
from bot.typed.typed_types import plain
from bot.typed.words.languages import LANGUAGES, any_of, words_of


def day_in(typed: str, context: ParsingContext) -> date | None:
    """A day of that week, or of the first of a month; None if not understood.

    In all languages for everyone, because nothing is requested.
    """
    return next(
        (
            day
            for language in dict.fromkeys((context.language, *LANGUAGES))
            if (day := _day_in(typed, replace(context, language=language)))
        ),
        None,
    )


def _day_in(typed: str, context: ParsingContext) -> date | None:
    if match := _month(context.language).fullmatch(plain(typed)):
        month = words_of(context.language).months[match["month"]]
        return _of_month(month, match["year"], context.today)
    leave = typed_leave.parse(typed, context)
    if [problem.kind for problem in leave.problems] == ["which_year"]:
        # Days of the current week that are over, as in "week 48".
        monday = typed_dates.monday(context.today)
        leave = typed_leave.parse(typed, replace(context, today=monday))
    return None if leave.problems or leave.leave_type_id else leave.start_date


@lru_cache
def _month(language: str) -> re.Pattern[str]:
    months = any_of(words_of(language).months)
    return re.compile(rf"(?:in |im )?(?P<month>{months})\.?(?: (?P<year>\d{{4}}))?")


def _of_month(month: int, year: str | None, today: date) -> date | None:
    """Today in the current month, else the Monday of the week with its first weekday."""
    if year is None and month == today.month:
        return today
    try:
        first = date(int(year or today.year + (month < today.month)), month, 1)
    except ValueError:
        return None
    return first + timedelta(days=2) if first.weekday() > 4 else first
