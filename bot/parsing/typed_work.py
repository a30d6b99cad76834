"""Parses work typed after the command: ``worked sat 1 day release``. Pure.

The day and the days may come in either order; everything after them is the reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from bot.parsing import typed_dates, typed_leave, typed_names, typed_phrases, typed_terms
from bot.parsing.languages import PHRASES, further, with_and_without_accents, words_of
from bot.parsing.typed_leave import ParsingContext
from bot.parsing.typed_terms import Day, Problem, Unclear, any_of

# In all languages for everyone, as subcommands are; the word says in which language the rest is.
# Who worked from home asks for no time in lieu.
_WORKED_BY_LANGUAGE: Final = {
    "en": r"(?:(?:i|i've|i have) )?worked",
    "de": r"(?:(?:ich )?habe )?gearbeitet",
    **{
        language: any_of(with_and_without_accents(phrases.worked, language))
        for language, phrases in PHRASES.items()
    },
}
_FROM_HOME: Final = any_of(further("from_home"))
_WORKED: Final = re.compile(
    rf"(?:{'|'.join(f'(?P<{name}>{worked})' for name, worked in _WORKED_BY_LANGUAGE.items())})"
    r"(?:\s|$)(?!(?:(?:from|at) home|remote(?:ly)?|von (?:zu ?hause|daheim)"
    rf"|(?:im )?home[ -]?office|{_FROM_HOME})\b)",
    re.IGNORECASE,
)
# The longest day: "on the 14th of november 2026".
_MAX_DAY_WORDS: Final = 6
_UNIT: Final = rf"(?:days?|d|tage?n?|t|{any_of(further('day_units'))})"
_HALF: Final = (
    r"½|half(?: (?:a|an|of a))?|(?:ein(?:en)? )?halbe[nr]?|a half|halber|1/2"
    rf"|{any_of(further('half'))}",
    rf"a|an|one|eine?n?|{any_of(further('one'))}",
    rf"two|zwei|{any_of(further('two'))}",
)
_AMOUNT: Final = re.compile(
    rf"(?:(?P<number>\d{{1,3}}(?:[.,]\d{{1,2}})?)|(?P<half>{_HALF[0]})|(?P<one>{_HALF[1]})"
    rf"|(?P<two>{_HALF[2]}))(?P<unit>[ -]?{_UNIT}\b\.?)?(?=$|[\s,;:.–—-])",
    re.IGNORECASE,
)
# After a weekday, "1.5" is days and "1.5." a date.
_FIGURE: Final = re.compile(r"[0-3][.,][05]")
_JOINTS: Final = " ,;:.!()-–—"
_BEFORE_REASON: Final = re.compile(
    rf"(?:for|because(?: of)?|due to|für|wegen|weil|{any_of(further('before_reason'))})\s",
    re.IGNORECASE,
)
_BEFORE_AMOUNT: Final = re.compile(
    rf"(?:for|für|{any_of(further('before_amount'))})\s", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedWork:
    """The parsed text; None where a part is absent or unclear.

    ``days`` is the number as typed, which need not be possible. ``problems`` are about the day.
    """

    worked_on: date | None = None
    days: float | None = None
    reason: str | None = None
    problems: tuple[Problem, ...] = ()


def language_of(typed: str) -> str | None:
    """The language of the word that says that someone worked; None without one at the start."""
    match = _WORKED.match(typed.strip())
    return None if match is None else str(match.lastgroup)


def parse(typed: str, context: ParsingContext) -> ParsedWork:
    """Parse the text after the word that says so. Days without a year are the latest such days."""
    typed = typed.strip()
    if match := _WORKED.match(typed):
        if match.lastgroup not in (None, "en"):
            context = replace(context, language=str(match.lastgroup))
        typed = typed[match.end() :]
    parsed = ParsedWork()
    rest = typed.strip(_JOINTS)
    has_day = False
    for _ in range(2):
        if parsed.days is None and (found := _amount(rest, is_after_day=has_day)):
            days, rest = found
            parsed = replace(parsed, days=days)
        if not has_day and (day := _day(rest, context)):
            has_day = True
            term, rest = day
            try:
                parsed = replace(parsed, worked_on=_resolved(term, context))
            except Unclear as unclear:
                parsed = replace(parsed, problems=(unclear.problem,))
    reason = typed_leave.unescaped(_BEFORE_REASON.sub("", rest, count=1).strip(_JOINTS))
    return replace(parsed, reason=reason or None)


def _amount(text: str, *, is_after_day: bool) -> tuple[float, str] | None:
    """The number of days at the start of the text, and the text after it.

    A whole number needs a unit, unless the text ends after it: "sat 2 servers failed".
    """
    text = _BEFORE_AMOUNT.sub("", text, count=1) if is_after_day else text
    match = _AMOUNT.match(text)
    if match is None:
        return None
    number, rest = match["number"], text[match.end() :].strip(_JOINTS)
    is_fraction = bool(match["half"]) or bool(number and re.search("[.,]", number))
    if not match["unit"] and not (is_after_day and (is_fraction or (number and not rest))):
        return None
    if number:
        return float(number.replace(",", ".")), rest
    return (0.5 if match["half"] else 1.0 if match["one"] else 2.0), rest


def _day(text: str, context: ParsingContext) -> tuple[Day, str] | None:
    """The longest day at the start of the text, and the text after it."""
    words = text.split()
    fillers = words_of(context.language).fillers
    for count in range(min(len(words), _MAX_DAY_WORDS), 0, -1):
        if count > 1 and _FIGURE.fullmatch(words[count - 1]):
            continue
        if count < len(words) and words[count - 1].casefold() in fillers:
            continue
        typed = typed_names.plain(" ".join(words[:count])).strip(",;:")
        # "Samedi dernier" is "dernier samedi".
        typed = typed_phrases.reduced(
            typed, context.language, today=context.today, weekdays=context.weekdays, holidays={}
        )
        terms, others = typed_terms.terms_of(typed, context.language)
        unknown = {word for group in others for word in group.words} - fillers
        # The day ends the words: those after it belong to the reason.
        if unknown or len(terms) != 1 or (others and others[-1].terms_before > 0):
            continue
        term = terms[0]
        if isinstance(term, Day):
            return term, " ".join(words[count:]).strip(_JOINTS)
    return None


def _resolved(day: Day, context: ParsingContext) -> date:
    """The latest such day up to today. Raises Unclear."""
    today = context.today
    day = typed_dates.in_order(day, context.is_month_first)
    if day.days_from_today is not None:
        return today + timedelta(days=day.days_from_today)
    if typed_dates.is_monthless(day):
        return typed_dates.checked(day, typed_dates.of_latest_month(day, today))
    if day.month is not None and day.year is None:
        return typed_dates.checked(day, typed_dates.latest_date(day, today))
    if day.month is not None:
        return typed_dates.resolved(day, today, today)
    match day.which_week:
        case "this":
            return typed_dates.of_week(day, today, 0)
        case "next" | "coming" | "next_or_coming":
            raise Unclear("which_day", day.typed)
        case "last":
            return typed_dates.weekday(day, today, today)
    return typed_dates.weekday_before(day, today + timedelta(days=1))
