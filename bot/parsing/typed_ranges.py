"""Ranges of typed days: their order, halves, days beside another, and returns. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from bot.parsing import typed_dates
from bot.parsing.typed_terms import Day, Problem, Term, Unclear, Word
from storage.base.leave_values import HalfDay

# The longest leave between two days without a year; longer leave needs the year.
_MAX_GUESS_DAYS: Final = 183
# There may be seven years between two years with a week 53.
_YEARS_TO_WEEK_53: Final = 8
# How long ago a day without a month may be, for types that are recorded afterwards.
_NEAR_DAYS: Final = 14
# How long ago leave without a year may be, for types that are recorded afterwards.
_NEAR_PAST_DAYS: Final = 92


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """The person's context, as in ``span_of``; ``ends_ahead``: it has begun and is not over."""

    today: date
    weekdays: frozenset[int]
    prefers_past: bool
    ends_ahead: bool = False


def since(day: Day, today: date) -> date:
    """The latest such day; a weekday is before today. Raises Unclear if it is in the future."""
    if _is_unambiguous(day):
        start = typed_dates.resolved(day, today, today)
    elif day.month is not None:
        start = typed_dates.checked(day, typed_dates.latest_date(day, today))
        if (today - start).days >= _MAX_GUESS_DAYS:
            raise Unclear("which_year", day.typed)
    elif typed_dates.is_monthless(day):
        start = typed_dates.checked(day, typed_dates.of_latest_month(day, today))
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
    elif context.prefers_past and typed_dates.is_monthless(day):
        candidate = typed_dates.checked(day, typed_dates.of_latest_month(day, today))
        if (today - candidate).days > _NEAR_DAYS:
            raise Unclear("which_month", day.typed)
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
    if is_future and _may_have_begun(first, last, today):
        raise Unclear("which_month", typed)
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


def _may_have_begun(first: Day, last: Day, today: date) -> bool:
    """Whether two days without a month could include today as well as be next month's."""
    if not (typed_dates.is_monthless(first) and typed_dates.is_monthless(last)):
        return False
    start = typed_dates.of_latest_month(first, today)
    return start < today <= typed_dates.of_next_month(last, start)


def _is_unambiguous(day: Day) -> bool:
    """Whether it is one date in any context."""
    return day.year is not None or day.days_from_today is not None


def _sharing_month(first: Day, last: Day, typed: str) -> tuple[Day, Day]:
    """``3-7 aug`` and ``aug 3-7``: both days share the month and year."""
    lacks = [typed_dates.is_monthless(first), typed_dates.is_monthless(last)]
    if first.month is None and last.month is None and not any(map(is_bare, (first, last))):
        return first, last
    if all(lacks) or (lacks[0] and last.month is None) or (lacks[1] and first.month is None):
        raise Unclear("which_month", typed)
    is_backwards = (first.number or 0) > (last.number or 0)
    if lacks[0]:
        first = replace(first, month=last.month, year=first.year or last.year)
    elif lacks[1] and last.is_ordinal and last.year is None and is_backwards:
        return first, last  # "from 28 december to the 4th": of the month after.
    elif lacks[1]:
        last = replace(last, month=first.month, year=last.year or first.year)
        first = replace(first, year=last.year)
    is_one_month = first.month is not None and first.month == last.month
    is_one_year = first.year == last.year
    if is_one_month and is_backwards and is_one_year and (any(lacks) or first.year is None):
        raise Unclear("which_day", typed)
    return first, last


def is_bare(day: Day) -> bool:
    """Whether it is a number that may be something else than a day of a month."""
    return typed_dates.is_monthless(day) and not day.is_ordinal


def week(term: Word, context: Context) -> tuple[date, date]:
    return _working_week(context.today + timedelta(weeks=term.amount), term.typed, context)


def week_of(day: Day, phrase: str, context: Context) -> tuple[date, date]:
    """The working days of the day's week. Raises Unclear."""
    if is_bare(day):
        raise Unclear("which_month", phrase)
    start = first_day(day, context)
    if typed_dates.is_yearless(day) and start > context.today:
        latest = typed_dates.latest_date(day, context.today)
        if typed_dates.monday(latest) == typed_dates.monday(context.today):
            # The day is in the current week but has passed, so next year's may not be meant.
            raise Unclear("which_year", phrase)
    return _working_week(start, phrase, context)


def numbered_week(word: Word, context: Context) -> tuple[date, date]:
    """The next calendar week with that number (ISO 8601). Raises Unclear."""
    this_year = context.today.isocalendar().year
    for year in range(this_year, this_year + _YEARS_TO_WEEK_53):
        try:
            monday = date.fromisocalendar(year, word.amount, 1)
        except ValueError:
            continue
        first, last = _working_week(monday, word.typed, context)
        if last >= context.today:
            if first < context.today:
                raise Unclear("which_year", word.typed)
            return first, last
    raise Unclear("impossible_day", word.typed)


def _working_week(day: date, typed: str, context: Context) -> tuple[date, date]:
    # For people who work at weekends, the first day of the week is ambiguous.
    if not context.weekdays or max(context.weekdays) > 4:
        raise Unclear("which_day", typed)
    monday = typed_dates.monday(day)
    return (
        monday + timedelta(days=min(context.weekdays)),
        monday + timedelta(days=max(context.weekdays)),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """The resulting days and halves; all None if no day was named."""

    start_date: date | None = None
    end_date: date | None = None
    start_half_day: HalfDay | None = None
    end_half_day: HalfDay | None = None
    problems: tuple[Problem, ...] = ()


def day_with_halves(day: date, halves: Sequence[Word]) -> Span:
    named = {word.half for word in halves if word.half is not None}
    if halves and not named:
        return Span(
            start_date=day,
            end_date=day,
            problems=(Problem(kind="which_part_of_day", typed=halves[0].typed),),
        )
    if named == {"am"}:
        return Span(start_date=day, end_date=day, start_half_day=None, end_half_day="am")
    return Span(
        start_date=day,
        end_date=day,
        start_half_day="pm" if named == {"pm"} else None,
        end_half_day=None,
    )


def range_with_halves(
    first: date, last: date, of_first: Sequence[Word] | None, of_last: Sequence[Word]
) -> Span:
    """``of_first`` are the halves typed before the last day; None if unknown."""
    problems = [
        Problem(kind="which_half", typed=half.typed) for half in [*(of_first or ()), *of_last]
    ]
    begins, ends = ([word.half for word in halves or ()] for halves in (of_first, of_last))
    if len(begins) > 1 or len(ends) > 1 or None in [*begins, *ends]:
        return Span(start_date=first, end_date=last, problems=tuple(problems[:1]))
    if ends == ["pm"] and not begins:
        # It would have no effect there, so something else is meant.
        return Span(start_date=first, end_date=last, problems=tuple(problems))
    return Span(
        start_date=first,
        end_date=last,
        start_half_day="pm" if begins == ["pm"] else None,
        end_half_day="am" if ends == ["am"] else None,
    )


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
