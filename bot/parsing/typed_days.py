"""Turns typed terms into the first and last day of leave. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from bot.parsing import typed_dates, typed_ranges
from bot.parsing.typed_dates import in_order, is_monthless
from bot.parsing.typed_ranges import Context, Span, day_with_halves, range_with_halves
from bot.parsing.typed_terms import Day, Problem, Term, Unclear, Word, WordKind
from bot.parsing.vocabulary import WhichWeek

# Days that are named one by one.
_MAX_LIST_DAYS: Final = 14
# Periods that are requested together.
MAX_PERIODS: Final = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class _GroupedTerms:
    """Terms by kind."""

    terms: Sequence[Term]

    @property
    def days(self) -> list[Day]:
        return [term for term in self.terms if isinstance(term, Day)]

    @property
    def lengths(self) -> list[Word]:
        return self.words("days", "weeks")

    @property
    def halves(self) -> list[Word]:
        return self.words("half")

    def words(self, *kinds: WordKind) -> list[Word]:
        return [term for term in self.terms if isinstance(term, Word) and term.kind in kinds]

    def before(self, day: int) -> list[Word]:
        """The words before the first day (0) or the second (1)."""
        at = [index for index, term in enumerate(self.terms) if isinstance(term, Day)][day]
        return [term for term in self.terms[:at] if isinstance(term, Word)]


def span_of(
    terms: Sequence[Term],
    today: date,
    is_month_first: bool | None,
    weekdays: frozenset[int],
    *,
    prefers_past: bool = False,
    ends_ahead: bool = False,
) -> Span:
    """The leave that the terms mean, relative to ``today``. Raises Unclear if it is ambiguous.

    If only a half is ambiguous, it is in the span's ``problems``. ``weekdays`` are the person's
    working days. ``prefers_past``: days without a year are the latest such days, if near enough.
    ``ends_ahead``: leave of which only the end is named has begun today.
    """
    ordered = [in_order(term, is_month_first) if isinstance(term, Day) else term for term in terms]
    context = Context(
        today=today,
        weekdays=weekdays,
        prefers_past=prefers_past,
        ends_ahead=ends_ahead,
    )
    try:
        dated = typed_ranges.anchored(ordered, context)
        back = typed_ranges.split(dated)
        if back is None:
            return _span_of(_GroupedTerms(terms=dated), context, is_month_first)
        leave = back.start if back.is_from_one_day else back.leave
        span = _span_of(_GroupedTerms(terms=leave), context, is_month_first)
        return typed_ranges.until(back, span, context)
    except OverflowError:
        # Python's calendar has the years 1 to 9999.
        raise Unclear("impossible_day", _text_of(terms)) from None


def spans_of(
    terms: Sequence[Term], today: date, is_month_first: bool | None, weekdays: frozenset[int]
) -> list[Span]:
    """Several periods in order, as in "14-18 dec and the 21st". Raises Unclear."""
    ordered = [in_order(term, is_month_first) if isinstance(term, Day) else term for term in terms]
    parts = _with_months(_parts(ordered))
    unclear = Unclear("several_days", _text_of([term for part in parts for term in part]))
    if not 1 < len(parts) <= MAX_PERIODS:
        raise unclear
    spans = [span_of(part, today, is_month_first, weekdays) for part in parts]
    ends = [span.end_date for span in spans]
    if any(span.start_date is None or span.problems for span in spans):
        raise unclear
    for end, span in zip(ends, spans[1:], strict=False):
        if end is None or span.start_date is None or span.start_date <= end:
            raise unclear
    return spans


def _parts(terms: Sequence[Term]) -> list[list[Term]]:
    """The terms of each period: parts begin after "and", and at days that nothing joins."""
    parts: list[list[Term]] = [[]]
    for term in terms:
        if isinstance(term, Word) and term.kind == "also":
            parts.append([])
            continue
        part = parts[-1]
        has_day = any(isinstance(each, Day) for each in part)
        is_joined = bool(part) and isinstance(part[-1], Word) and part[-1].kind != "half"
        if isinstance(term, Day) and has_day and not is_joined:
            parts.append([])
        parts[-1].append(term)
    return [part for part in parts if part]


def _with_months(parts: Sequence[Sequence[Term]]) -> list[list[Term]]:
    """Days without a month have that of the next part which names one, else of the one before."""
    months = [
        next(
            ((term.month, term.year) for term in part if isinstance(term, Day) and term.month), None
        )
        for part in parts
    ]
    completed = []
    for at, part in enumerate(parts):
        named = months[at] or next((month for month in months[at:] if month), None)
        named = named or next((month for month in reversed(months[:at]) if month), None)
        completed.append(
            [
                replace(term, month=named[0], year=named[1])
                if named is not None and isinstance(term, Day) and is_monthless(term)
                else term
                for term in part
            ]
        )
    return completed


def _span_of(grouped: _GroupedTerms, context: Context, is_month_first: bool | None) -> Span:
    grouped = _in_dated_week(_in_named_week(grouped), context)
    weeks = grouped.words("week", "numbered_week")
    if _is_list(grouped):
        return _of_list(grouped, context)
    if len(grouped.days) > 2 or len(weeks) > 1 or (weeks and grouped.days):
        raise Unclear("several_days", _text_of([*grouped.days, *weeks]))
    if len(grouped.lengths) > 1 or (grouped.lengths and (weeks or len(grouped.days) > 1)):
        raise Unclear("which_length", _text_of(grouped.lengths))
    if weeks:
        _check_not_joined(grouped, weeks[0])
        if weeks[0].kind == "week":
            week = typed_ranges.week(weeks[0], context)
        elif is_month_first is False:
            week = typed_ranges.numbered_week(weeks[0], context)
        else:
            # Countries that write the month first may count weeks in another way, too.
            raise Unclear("which_day", weeks[0].typed)
        return range_with_halves(*week, None, grouped.halves)
    if not grouped.days:
        return _without_day(grouped)
    if context.ends_ahead and _is_until(grouped):
        last = typed_dates.resolved(grouped.days[0], context.today, context.today)
        if last > context.today:
            return range_with_halves(context.today, last, None, grouped.halves)
    _check_places(grouped)
    if grouped.words("week_of"):
        return range_with_halves(*_week_of(grouped, context), None, grouped.halves)
    if len(grouped.days) == 1:
        return _from_one_day(grouped, context)
    before, between = grouped.before(0), grouped.before(1)[len(grouped.before(0)) :]
    if not any(word.kind == "to" for word in between):
        raise Unclear("several_days", _text_of(grouped.days))
    is_since = any(word.kind == "since" for word in before)
    first, last = typed_ranges.from_to(grouped.days[0], grouped.days[1], context, is_since=is_since)
    of_first = [word for word in [*before, *between] if word.kind == "half"]
    return range_with_halves(first, last, of_first, grouped.halves[len(of_first) :])


def _in_named_week(grouped: _GroupedTerms) -> _GroupedTerms:
    """Weekdays beside a week are those of that week: "thursday and friday next week"."""
    weeks, days = grouped.words("week"), grouped.days
    are_weekdays = all(
        day.weekday is not None and day.number is None and day.which_week is None for day in days
    )
    if len(weeks) != 1 or not days or not are_weekdays:
        return grouped
    which_week: WhichWeek = "next" if weeks[0].amount > 0 else "last"
    return _GroupedTerms(
        terms=[
            replace(term, which_week=which_week) if isinstance(term, Day) else term
            for term in grouped.terms
            if term is not weeks[0]
        ]
    )


def _in_dated_week(grouped: _GroupedTerms, context: Context) -> _GroupedTerms:
    """Weekdays beside the week of a date are dates of it: "the week of 15 june, mon to wed"."""
    weeks, days = grouped.words("week_of"), grouped.days
    others = [
        day
        for day in days
        if day.weekday is not None and day.number is None and day.which_week is None
    ]
    anchors = [day for day in days if day.year is not None and day not in others]
    if len(weeks) != 1 or not others or len(anchors) != 1 or len(days) != 1 + len(others):
        return grouped
    monday = typed_dates.monday(typed_dates.resolved(anchors[0], context.today, context.today))

    def dated(day: Day) -> Day:
        found = monday + timedelta(days=day.weekday or 0)
        return Day(typed=day.typed, number=found.day, month=found.month, year=found.year)

    return _GroupedTerms(
        terms=[
            dated(term) if isinstance(term, Day) else term
            for term in grouped.terms
            if term is not weeks[0] and term is not anchors[0]
        ]
    )


def _is_list(grouped: _GroupedTerms) -> bool:
    """Whether it is a list of days, such as "today and tomorrow", "mon, tue and wed"."""
    kinds = {word.kind for word in grouped.terms if isinstance(word, Word)}
    days = grouped.days
    return len(days) > 1 and kinds <= {"also", "half"} and "also" in kinds


def _of_list(grouped: _GroupedTerms, context: Context) -> Span:
    """Days in a row, for a person who may be off between them. Raises Unclear for others."""
    days = grouped.days
    first, last = typed_ranges.from_to(days[0], days[-1], context, is_since=False)
    length = (last - first).days + 1
    if length <= _MAX_LIST_DAYS:
        dates = [first + timedelta(days=index) for index in range(length)]
        worked = [day for day in dates if day in (first, last) or day.weekday() in context.weekdays]
        if len(worked) == len(days):
            if len(days) > 2:
                return range_with_halves(first, last, None, grouped.halves)
            of_first = [word for word in grouped.before(1) if word.kind == "half"]
            of_last = grouped.halves[len(of_first) :]
            # "Monday morning and tuesday" leaves out the afternoon between them.
            is_gap = any(word.half == "am" for word in of_first)
            if not is_gap and not (of_first and any(word.half == "pm" for word in of_last)):
                return range_with_halves(first, last, of_first, of_last)
    raise Unclear("several_days", _text_of(days))


def _check_not_joined(grouped: _GroupedTerms, week: Word) -> None:
    for word in grouped.words("to", "since", "starting", "week_of"):
        if word.kind == "week_of" or _is_joiner(word):
            raise Unclear("which_day", f"{word.typed} {week.typed}")


def _without_day(grouped: _GroupedTerms) -> Span:
    """An empty span. Raises Unclear if a word refers to a day that was not named."""
    if grouped.halves:
        raise Unclear("half_of_which_day", grouped.halves[0].typed)
    if grouped.lengths:
        raise Unclear("which_first_day", grouped.lengths[0].typed)
    for word in grouped.words("to", "since", "starting", "week_of"):
        if word.kind == "week_of" or _is_joiner(word):
            raise Unclear("which_first_day", word.typed)
    return Span()


def _check_places(grouped: _GroupedTerms) -> None:
    """Raises Unclear if "until" or "since" is in a place where it means nothing."""
    before = grouped.before(0)
    last = len(grouped.before(len(grouped.days) - 1))
    words = [term for term in grouped.terms if isinstance(term, Word)]
    for at, word in enumerate(words):
        is_in_place = at < len(before)
        if word.kind == "to":
            is_in_place = len(before) <= at < last
        if (_is_joiner(word) or word.kind == "week_of") and not is_in_place:
            raise Unclear("which_day", f"{word.typed} {grouped.days[-1].typed}")


def _from_one_day(grouped: _GroupedTerms, context: Context) -> Span:
    (day,) = grouped.days
    if typed_ranges.is_bare(day):
        raise Unclear("which_month", day.typed)
    if since := grouped.words("since"):
        if grouped.lengths:
            raise Unclear("which_length", _text_of([*since, *grouped.days, *grouped.lengths]))
        return range_with_halves(
            typed_ranges.since(day, context.today), context.today, None, grouped.halves
        )
    first = typed_ranges.first_day(day, context)
    if grouped.lengths and _is_distance(grouped):
        raise Unclear("which_day", " ".join(term.typed for term in grouped.terms))
    if grouped.lengths:
        return _of_length(first, grouped.lengths[0], grouped.halves, context)
    if starting := grouped.words("starting"):
        raise Unclear("which_last_day", f"{starting[0].typed} {day.typed}")
    return day_with_halves(first, grouped.halves)


def _is_until(grouped: _GroupedTerms) -> bool:
    """Whether it only says until when: "sick until wednesday"."""
    if len(grouped.days) != 1 or typed_ranges.is_bare(grouped.days[0]) or grouped.lengths:
        return False
    joiners = [word.kind for word in grouped.before(0) if word.kind != "half"]
    others = [word for word in grouped.terms if isinstance(word, Word) and word.kind != "half"]
    return joiners == ["to"] and len(others) == 1 and grouped.before(0)[-1].kind == "to"


def _is_distance(grouped: _GroupedTerms) -> bool:
    """Whether it may be one day: "a week from friday", "3 days from today"."""
    (day,) = grouped.days
    is_from = [word.typed for word in grouped.before(0)[-1:]] == ["from"]
    return is_from and grouped.terms[0] in grouped.lengths and day.number is None


def _week_of(grouped: _GroupedTerms, context: Context) -> tuple[date, date]:
    is_joined = any(map(_is_joiner, grouped.words("to", "since", "starting")))
    if len(grouped.days) > 1 or grouped.lengths or is_joined:
        raise Unclear("several_days", _text_of([*grouped.days, *grouped.lengths]))
    day = grouped.days[0]
    phrase = f"{grouped.words('week_of')[0].typed} {day.typed}"
    return typed_ranges.week_of(day, phrase, context)


def _of_length(first: date, length: Word, halves: Sequence[Word], context: Context) -> Span:
    """A number of days or weeks. Raises Unclear if working and calendar days differ."""
    if not length.amount:
        raise Unclear("which_length", length.typed)
    last = first + timedelta(days=length.amount * (7 if length.kind == "weeks" else 1) - 1)
    if length.kind == "weeks":
        while last > first and context.weekdays and last.weekday() not in context.weekdays:
            last -= timedelta(days=1)
    elif length.amount > 1:
        every = {(first.weekday() + index) % 7 for index in range(min(length.amount, 7))}
        if not every <= context.weekdays:
            raise Unclear("which_length", length.typed)
    if last == first:
        return day_with_halves(first, halves)
    problems = tuple(Problem(kind="which_half", typed=half.typed) for half in halves[:1])
    return Span(start_date=first, end_date=last, problems=problems)


def _text_of(terms: Sequence[Term]) -> str:
    return ", ".join(term.typed for term in terms)


def _is_joiner(word: Word) -> bool:
    """Whether it marks a first or last day; a dash may be punctuation."""
    return word.kind in ("since", "starting") or (word.kind == "to" and word.typed[0].isalpha())
