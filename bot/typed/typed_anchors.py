"""Resolves days beside another: "Friday before Christmas", "the day after Thanksgiving". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from bot.typed import typed_dates
from bot.typed.problems import Unclear
from bot.typed.typed_ranges import Context, is_bare
from bot.typed.typed_terms import Day, Term, Word


def anchored(terms: Sequence[Term], context: Context) -> list[Term]:
    """The terms with a date in place of each weekday before or after another day.

    Raises Unclear for days before or after something else.
    """
    resolved: list[Term] = []
    rest = list(terms)
    while rest:
        term = rest.pop(0)
        if isinstance(term, Word) and term.kind in ("before", "after"):
            anchor = rest.pop(0) if rest else None
            near = resolved.pop() if resolved else None
            if not isinstance(anchor, Day) or near is None or not _is_near(near):
                raise Unclear("which_day", _text_of(near, term, anchor))
            term = _dated(near, term, anchor, context)
        resolved.append(term)
    return resolved


def _is_near(term: Term) -> bool:
    """Whether it is a weekday of any week, or "the day"."""
    if isinstance(term, Word):
        return term.kind == "days" and not term.typed[0].isdigit() and " " not in term.typed
    return term.weekday is not None and term.number is None and term.which_week is None


def _dated(near: Term, side: Word, anchor: Day, context: Context) -> Day:
    typed = _text_of(near, side, anchor)
    if is_bare(anchor):
        raise Unclear("which_month", anchor.typed)
    day = typed_dates.resolved(anchor, context.today, context.today)
    if isinstance(near, Word):
        found = day + timedelta(days=1 if side.kind == "after" else -1)
    elif side.kind == "before":
        found = typed_dates.weekday_before(near, day)
    else:
        found = typed_dates.resolved(near, day, day + timedelta(days=1))
    is_past = found < context.today and not context.prefers_past
    if is_past or (isinstance(near, Day) and _is_christmas(found) and _is_christmas(day)):
        raise Unclear("which_day", typed)
    return Day(typed=typed, number=found.day, month=found.month, year=found.year)


def _is_christmas(day: date) -> bool:
    """Whether "Christmas" may mean this day, too: "the Friday after" it is then ambiguous."""
    return day.month == 12 and 24 <= day.day <= 26


def _text_of(*terms: Term | None) -> str:
    return " ".join(term.typed for term in terms if term is not None)
