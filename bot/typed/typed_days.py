"""Turns typed terms into the first and last day of leave. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from bot.typed import typed_dates
from bot.typed.puzzles import Puzzle, Unclear
from bot.typed.typed_terms import Day, Term, Word, WordKind
from storage.base.values import HalfDay

# Countries that write the month before the day. Source: CLDR's short date patterns.
_MONTH_FIRST: Final = frozenset(
    ("AS", "CN", "FM", "GU", "HU", "JP", "KP", "KR", "LT", "MH", "MP")
    + ("PA", "PH", "PR", "PW", "TW", "UM", "US", "VI")
)
# Both orders are in use there, so 3/8 is ambiguous.
_EITHER: Final = frozenset(("CA", "ZA"))

# The longest leave between two days without a year; longer leave needs the year.
_MAX_GUESS_DAYS: Final = 183
# How long ago leave without a year may be, for types that are recorded afterwards.
_NEAR_PAST_DAYS: Final = 92


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """The resulting days and halves; all None if no day was named."""

    start_date: date | None = None
    end_date: date | None = None
    start_half_day: HalfDay | None = None
    end_half_day: HalfDay | None = None
    puzzles: tuple[Puzzle, ...] = ()


def is_month_first(country_code: str) -> bool | None:
    """Whether 3/8 is 8 March in a country; None if it may be either."""
    country = country_code.split("-")[0]
    return None if country in _EITHER else country in _MONTH_FIRST


@dataclass(frozen=True, kw_only=True, slots=True)
class _SeenFrom:
    """The person's context, as in ``span_of``."""

    today: date
    weekdays: frozenset[int]
    prefers_past: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class _Typed:
    """The terms, grouped by kind."""

    terms: Sequence[Term]
    days: list[Day]
    lengths: list[Word]
    halves: list[Word]

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
) -> Span:
    """The leave that the terms mean, relative to ``today``. Raises Unclear if it is ambiguous.

    If only a half is ambiguous, it is in the span's ``puzzles``. ``weekdays`` are the person's
    working days. ``prefers_past``: days without a year are the latest such days, if near enough.
    """
    ordered = [_in_order(term, is_month_first) if isinstance(term, Day) else term for term in terms]
    typed = _Typed(terms=ordered, days=[], lengths=[], halves=[])
    typed = replace(
        typed,
        days=[term for term in ordered if isinstance(term, Day)],
        lengths=typed.words("days", "weeks"),
        halves=typed.words("half"),
    )
    try:
        return _span_of(typed, _SeenFrom(today=today, weekdays=weekdays, prefers_past=prefers_past))
    except OverflowError:
        # Python's calendar has the years 1 to 9999.
        raise Unclear("impossible_day", _typed(terms)) from None


def _span_of(typed: _Typed, seen: _SeenFrom) -> Span:
    weeks = typed.words("week")
    if len(typed.days) > 2 or len(weeks) > 1 or (weeks and typed.days):
        raise Unclear("several_days", _typed([*typed.days, *weeks]))
    if len(typed.lengths) > 1 or (typed.lengths and (weeks or len(typed.days) > 1)):
        raise Unclear("which_length", _typed(typed.lengths))
    if weeks:
        _check_not_joined(typed, weeks[0])
        return _halved_range(*_week(weeks[0], seen), None, typed.halves)
    if not typed.days:
        return _without_day(typed)
    _check_places(typed)
    if typed.words("week_of"):
        return _halved_range(*_week_of(typed, seen), None, typed.halves)
    if len(typed.days) == 1:
        return _from_one_day(typed, seen)
    before, between = typed.before(0), typed.before(1)[len(typed.before(0)) :]
    if not any(word.kind == "to" for word in between):
        raise Unclear("several_days", _typed(typed.days))
    is_since = any(word.kind == "since" for word in before)
    first, last = _from_to(typed.days[0], typed.days[1], seen, is_since=is_since)
    of_first = [word for word in [*before, *between] if word.kind == "half"]
    return _halved_range(first, last, of_first, typed.halves[len(of_first) :])


def _typed(terms: Sequence[Term]) -> str:
    return ", ".join(term.typed for term in terms)


def _is_joiner(word: Word) -> bool:
    """Whether it marks a first or last day; a dash may be punctuation."""
    return word.kind in ("since", "starting") or (word.kind == "to" and word.typed[0].isalpha())


def _check_not_joined(typed: _Typed, week: Word) -> None:
    for word in typed.words("to", "since", "starting", "week_of"):
        if word.kind == "week_of" or _is_joiner(word):
            raise Unclear("which_day", f"{word.typed} {week.typed}")


def _without_day(typed: _Typed) -> Span:
    """An empty span. Raises Unclear if a word refers to a day that was not named."""
    if typed.halves:
        raise Unclear("half_of_which_day", typed.halves[0].typed)
    if typed.lengths:
        raise Unclear("which_first_day", typed.lengths[0].typed)
    for word in typed.words("to", "since", "starting", "week_of"):
        if word.kind == "week_of" or _is_joiner(word):
            raise Unclear("which_first_day", word.typed)
    return Span()


def _check_places(typed: _Typed) -> None:
    """Raises Unclear if "until" or "since" is in a place where it means nothing."""
    before = typed.before(0)
    last = len(typed.before(len(typed.days) - 1))
    words = [term for term in typed.terms if isinstance(term, Word)]
    for at, word in enumerate(words):
        is_in_place = at < len(before)
        if word.kind == "to":
            is_in_place = len(before) <= at < last
        if (_is_joiner(word) or word.kind == "week_of") and not is_in_place:
            raise Unclear("which_day", f"{word.typed} {typed.days[-1].typed}")


def _in_order(day: Day, is_month_first: bool | None) -> Day:
    """Resolve a pair of numbers to day and month. Raises Unclear."""
    if day.pair is None:
        return day
    ways = [way for way in (day.pair, day.pair[::-1]) if typed_dates.is_day(*way, day.year)]
    if not ways:
        raise Unclear("impossible_day", day.typed)
    if len(set(ways)) > 1:
        if is_month_first is None or (is_month_first and day.is_dotted):
            raise Unclear("which_day", day.typed)
        ways = [day.pair[::-1] if is_month_first else day.pair]
    return replace(day, number=ways[0][0], month=ways[0][1], pair=None)


def _from_one_day(typed: _Typed, seen: _SeenFrom) -> Span:
    (day,) = typed.days
    if day.number is not None and day.month is None:
        raise Unclear("which_month", day.typed)
    if since := typed.words("since"):
        if typed.lengths:
            raise Unclear("which_length", _typed([*since, *typed.days, *typed.lengths]))
        return _halved_range(_since(day, seen.today), seen.today, None, typed.halves)
    first = _first(day, seen)
    if typed.lengths:
        return _of_length(first, typed.lengths[0], typed.halves, seen)
    if starting := typed.words("starting"):
        raise Unclear("which_last_day", f"{starting[0].typed} {day.typed}")
    return _halved_day(first, typed.halves)


def _of_length(first: date, length: Word, halves: Sequence[Word], seen: _SeenFrom) -> Span:
    """A number of days or weeks. Raises Unclear if working and calendar days differ."""
    if not length.amount:
        raise Unclear("which_length", length.typed)
    last = first + timedelta(days=length.amount * (7 if length.kind == "weeks" else 1) - 1)
    if length.kind == "weeks":
        while last > first and seen.weekdays and last.weekday() not in seen.weekdays:
            last -= timedelta(days=1)
    elif length.amount > 1:
        every = {(first.weekday() + index) % 7 for index in range(min(length.amount, 7))}
        if not every <= seen.weekdays:
            raise Unclear("which_length", length.typed)
    if last == first:
        return _halved_day(first, halves)
    puzzles = tuple(Puzzle(kind="which_half", typed=half.typed) for half in halves[:1])
    return Span(start_date=first, end_date=last, puzzles=puzzles)


def _since(day: Day, today: date) -> date:
    """The latest such day; a weekday is before today. Raises Unclear if it is in the future."""
    if _is_certain(day):
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


def _first(day: Day, seen: _SeenFrom) -> date:
    """The only or first day: the next such day, or the latest if the near past is preferred."""
    today = seen.today
    if seen.prefers_past and typed_dates.is_yearless(day):
        candidate = typed_dates.latest_date(day, today)
        is_near = (today - candidate).days <= _NEAR_PAST_DAYS
        if is_near and day.weekday in (None, candidate.weekday()):
            return candidate
    elif seen.prefers_past and day.month is None and not day.which_week and not _is_certain(day):
        return typed_dates.weekday_before(day, today + timedelta(days=1))
    return typed_dates.resolved(day, today, today)


def _from_to(first: Day, last: Day, seen: _SeenFrom, *, is_since: bool) -> tuple[date, date]:
    """The two days. Raises Unclear if more than one pair is possible."""
    today, typed = seen.today, f"{first.typed} - {last.typed}"
    first, last = _sharing_month(first, last, typed)
    if is_since:
        start = _since(first, today)
        end = typed_dates.resolved(last, today, start)
    elif typed_dates.is_yearless(first) and _is_certain(last):
        end = typed_dates.resolved(last, today, today)
        start = typed_dates.checked(first, typed_dates.latest_date(first, end))
    else:
        start = _first(first, seen)
        end = typed_dates.resolved(last, today, start)
    if _is_certain(first) and _is_certain(last):
        return start, end
    if start > end:
        raise Unclear("which_day", typed)
    is_future = start >= today or not (is_since or seen.prefers_past)
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


def _is_certain(day: Day) -> bool:
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


def _week(term: Word, seen: _SeenFrom) -> tuple[date, date]:
    return _working_week(seen.today + timedelta(weeks=term.amount), term.typed, seen)


def _week_of(typed: _Typed, seen: _SeenFrom) -> tuple[date, date]:
    """The working days of the day's week. Raises Unclear."""
    day, phrase = typed.days[0], f"{typed.words('week_of')[0].typed} {typed.days[0].typed}"
    is_joined = any(map(_is_joiner, typed.words("to", "since", "starting")))
    if len(typed.days) > 1 or typed.lengths or is_joined:
        raise Unclear("several_days", _typed([*typed.days, *typed.lengths]))
    if day.number is not None and day.month is None:
        raise Unclear("which_month", phrase)
    start = _first(day, seen)
    is_guessed = typed_dates.is_yearless(day) and start > seen.today
    if is_guessed and typed_dates.monday(
        typed_dates.latest_date(day, seen.today)
    ) == typed_dates.monday(seen.today):
        # The day is in the current week but has passed, so next year's may not be meant.
        raise Unclear("which_year", phrase)
    return _working_week(start, phrase, seen)


def _working_week(day: date, typed: str, seen: _SeenFrom) -> tuple[date, date]:
    # For people who work at weekends, the first day of the week is ambiguous.
    if not seen.weekdays or max(seen.weekdays) > 4:
        raise Unclear("which_day", typed)
    monday = typed_dates.monday(day)
    return (
        monday + timedelta(days=min(seen.weekdays)),
        monday + timedelta(days=max(seen.weekdays)),
    )


def _halved_day(day: date, halves: Sequence[Word]) -> Span:
    named = {word.half for word in halves if word.half is not None}
    if halves and not named:
        return Span(
            start_date=day,
            end_date=day,
            puzzles=(Puzzle(kind="which_half", typed=halves[0].typed),),
        )
    if named == {"am"}:
        return Span(start_date=day, end_date=day, start_half_day=None, end_half_day="am")
    return Span(
        start_date=day,
        end_date=day,
        start_half_day="pm" if named == {"pm"} else None,
        end_half_day=None,
    )


def _halved_range(
    first: date, last: date, of_first: Sequence[Word] | None, of_last: Sequence[Word]
) -> Span:
    """``of_first`` are the halves typed before the last day; None if unknown."""
    puzzles = [
        Puzzle(kind="which_half", typed=half.typed) for half in [*(of_first or ()), *of_last]
    ]
    begins, ends = ([word.half for word in halves or ()] for halves in (of_first, of_last))
    if len(begins) > 1 or len(ends) > 1 or None in [*begins, *ends]:
        return Span(start_date=first, end_date=last, puzzles=tuple(puzzles[:1]))
    if ends == ["pm"] and not begins:
        # It would have no effect there, so something else is meant.
        return Span(start_date=first, end_date=last, puzzles=tuple(puzzles))
    return Span(
        start_date=first,
        end_date=last,
        start_half_day="pm" if begins == ["pm"] else None,
        end_half_day="am" if ends == ["am"] else None,
    )
