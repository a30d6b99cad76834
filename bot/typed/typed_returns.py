"""Days of leave that end with a return: "off mon-wed, back thursday". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from bot.typed import typed_dates
from bot.typed.problems import Unclear
from bot.typed.typed_halves import Span
from bot.typed.typed_ranges import Context, is_bare
from bot.typed.typed_terms import Day, Term, Word


@dataclass(frozen=True, kw_only=True, slots=True)
class Return:
    """The day on which the person works again, and the terms that say when they are off."""

    day: Day
    typed: str
    leave: list[Term]

    @property
    def is_from_one_day(self) -> bool:
        """Whether the leave is only said to begin: "off monday, back thursday"."""
        kinds = {term.kind for term in self.leave if isinstance(term, Word)}
        days = [term for term in self.leave if isinstance(term, Day)]
        return len(days) == 1 and kinds <= {"starting", "since", "half"}

    @property
    def start(self) -> list[Term]:
        """The terms of the first day alone."""
        return [
            term for term in self.leave if not (isinstance(term, Word) and term.kind == "starting")
        ]


def split(terms: Sequence[Term]) -> Return | None:
    """The return that the terms mention, if any. Raises Unclear if its day is."""
    backs = [at for at, term in enumerate(terms) if isinstance(term, Word) and term.kind == "back"]
    if not backs:
        return None
    at = backs[0]
    leave, after = list(terms[:at]), list(terms[at + 1 :])
    if not after and leave and isinstance(leave[-1], Day):
        # "…, thursday back"; in German also "ab Donnerstag wieder da".
        after = [leave.pop()]
        if leave and isinstance(leave[-1], Word) and leave[-1].kind == "starting":
            leave.pop()
    typed = terms[at].typed
    if len(backs) > 1 or len(after) != 1 or not isinstance(after[0], Day) or is_bare(after[0]):
        raise Unclear("which_last_day", typed)
    return Return(day=after[0], typed=f"{typed} {after[0].typed}", leave=leave)


def until(back: Return, span: Span, context: Context) -> Span:
    """The span of the leave until the day before the return. Raises Unclear if they disagree."""
    if span.start_date is None or span.end_date is None:
        raise Unclear("which_first_day", back.typed)
    day = typed_dates.resolved(back.day, context.today, span.end_date + timedelta(days=1))
    if day <= span.end_date:
        raise Unclear("which_last_day", back.typed)
    last = _last_working_day(span.end_date, day, context)
    if last == span.end_date:
        return span
    if not back.is_from_one_day or span.end_half_day is not None or span.problems:
        raise Unclear("which_last_day", back.typed)
    return Span(start_date=span.start_date, end_date=last, start_half_day=span.start_half_day)


def _last_working_day(first: date, before: date, context: Context) -> date:
    """The last working day before the return, at least ``first``."""
    day = before - timedelta(days=1)
    while day > first and day.weekday() not in context.weekdays:
        day -= timedelta(days=1)
    return day
