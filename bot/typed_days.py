"""Which days of leave are meant by the terms that somebody typed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final, Literal, NamedTuple

from bot.typed_terms import Day, Term, Word
from storage.values import HalfDay

# Countries that write the month before the day, years aside. Source: CLDR's short date patterns.
_MONTH_FIRST: Final = frozenset(
    ("AS", "CN", "FM", "GU", "HU", "JP", "KP", "KR", "LT", "MH", "MP")
    + ("PA", "PH", "PR", "PW", "TW", "UM", "US", "VI")
)
# Both are in use there, so that 3/8 says nothing.
_EITHER: Final = frozenset(("CA", "ZA"))

# Of leave between two days without a year; whoever means more says the year.
_LONGEST_GUESS_DAYS: Final = 183
# Between two 29 February there may be eight years.
_LEAP_YEARS: Final = 9

PuzzleKind = Literal[
    "unknown",
    "which_day",
    "which_month",
    "which_year",
    "which_half",
    "half_of_which_day",
    "impossible_day",
    "several_days",
    "which_type",
    "several_types",
]


class Puzzle(NamedTuple):
    """Something that was typed and not understood; ``choices`` are what it could mean."""

    kind: PuzzleKind
    typed: str
    choices: tuple[str, ...] = ()


class Unclear(Exception):
    """What was typed can be read in more than one way, or in none."""

    def __init__(self, kind: PuzzleKind, typed: str, choices: tuple[str, ...] = ()) -> None:
        super().__init__(kind)
        self.puzzle = Puzzle(kind, typed, choices)


class Span(NamedTuple):
    """What the days and halves come to; all None where no day was named."""

    start_date: date | None = None
    end_date: date | None = None
    start_half_day: HalfDay | None = None
    end_half_day: HalfDay | None = None
    puzzles: tuple[Puzzle, ...] = ()


def is_month_first(country_code: str) -> bool | None:
    """Whether 3/8 is 8 March in a country; None where it may be either."""
    country = country_code.split("-")[0]
    return None if country in _EITHER else country in _MONTH_FIRST


def span_of(
    terms: Sequence[Term], today: date, is_month_first: bool | None, weekdays: frozenset[int]
) -> Span:
    """The leave that the terms mean, as seen from ``today``. Raises Unclear where it is not sure.

    Where only a half is not sure it is in the span's ``puzzles``.
    """
    named = [one for one in terms if isinstance(one, Day)]
    weeks = [one for one in terms if isinstance(one, Word) and one.kind == "next_week"]
    halves = [one for one in terms if isinstance(one, Word) and one.kind == "half"]
    if len(named) + len(weeks) > 2 or (weeks and (named or len(weeks) > 1)):
        raise Unclear("several_days", _typed([*named, *weeks]))
    if weeks:
        first, last = _next_week(weeks[0], today, weekdays)
        return _halved_range(first, last, None, halves)
    named = [_in_order(one, is_month_first) for one in named]
    if not named:
        if halves:
            raise Unclear("half_of_which_day", halves[0].typed)
        return Span()
    if len(named) == 1:
        return _halved_day(_alone(named[0], terms, today), halves)
    between = _between(terms)
    if not any(one.kind == "to" for one in between):
        raise Unclear("several_days", _typed(named))
    first, last = _from_to(named[0], named[1], today)
    of_first = [one for one in between if one.kind == "half"]
    return _halved_range(first, last, of_first, halves[len(of_first) :])


def _typed(terms: Sequence[Term]) -> str:
    return ", ".join(one.typed for one in terms)


def _between(terms: Sequence[Term]) -> list[Word]:
    """What was typed before the second day, the first day aside."""
    last = max(at for at, one in enumerate(terms) if isinstance(one, Day))
    return [one for one in terms[:last] if isinstance(one, Word)]


def _in_order(day: Day, is_month_first: bool | None) -> Day:
    """Two numbers as day and month. Raises Unclear."""
    if day.pair is None:
        return day
    ways = [way for way in (day.pair, day.pair[::-1]) if _is_day(*way, day.year)]
    if not ways:
        raise Unclear("impossible_day", day.typed)
    if len(set(ways)) > 1:
        if is_month_first is None or (is_month_first and day.is_dotted):
            raise Unclear("which_day", day.typed)
        ways = [day.pair[::-1] if is_month_first else day.pair]
    return day._replace(number=ways[0][0], month=ways[0][1], pair=None)


def _is_day(number: int, month: int, year: int | None) -> bool:
    try:
        date(2024 if year is None else year, month, number)
    except ValueError:
        return False
    return True


def _alone(day: Day, terms: Sequence[Term], today: date) -> date:
    for term in terms:
        # "until fri" says nothing of the first day; a dash may be punctuation.
        if isinstance(term, Word) and term.kind == "to" and term.typed.isalpha():
            raise Unclear("which_day", f"{term.typed} {day.typed}")
    if day.number is not None and day.month is None:
        raise Unclear("which_month", day.typed)
    return _resolved(day, today, today)


def _from_to(first: Day, last: Day, today: date) -> tuple[date, date]:
    """The two days. Raises Unclear where more than one pair of days could be meant."""
    typed = f"{first.typed} - {last.typed}"
    first, last = _sharing_month(first, last, typed)
    if _is_yearless(first) and _is_certain(last):
        end = _resolved(last, today, today)
        start = _checked(first, _latest(first, end))
    else:
        start = _resolved(first, today, today)
        end = _resolved(last, today, start)
    if _is_certain(first) and _is_certain(last):
        return start, end
    if start > end:
        raise Unclear("which_day", typed)
    if (end - start).days >= _LONGEST_GUESS_DAYS or _is_running(first, last, today):
        raise Unclear("which_year", typed)
    return start, end


def _is_running(first: Day, last: Day, today: date) -> bool:
    """Whether two days without a year may be the ones round today as well as next year's."""
    if not (_is_yearless(first) and _is_yearless(last)):
        return False
    start = _latest(first, today)
    end = _next(last, start)
    return start < today <= end and (end - start).days < _LONGEST_GUESS_DAYS


def _is_certain(day: Day) -> bool:
    """Whether it is one date, whatever stands beside it."""
    return day.year is not None or day.days_from_today is not None


def _sharing_month(first: Day, last: Day, typed: str) -> tuple[Day, Day]:
    """``3-7 aug`` and ``aug 3-7``: the month, and the year, belong to both."""
    lacks = [_lacks_month(first), _lacks_month(last)]
    if all(lacks) or (lacks[0] and last.month is None) or (lacks[1] and first.month is None):
        raise Unclear("which_month", typed)
    if lacks[0]:
        first = first._replace(month=last.month, year=first.year or last.year)
    elif lacks[1]:
        last = last._replace(month=first.month, year=last.year or first.year)
        first = first._replace(year=last.year)
    is_one_month = first.month is not None and first.month == last.month
    is_backwards = (first.number or 0) > (last.number or 0) and first.year == last.year
    if is_one_month and is_backwards and (any(lacks) or first.year is None):
        raise Unclear("which_day", typed)
    return first, last


def _lacks_month(day: Day) -> bool:
    return day.number is not None and day.month is None


def _is_yearless(day: Day) -> bool:
    return day.month is not None and day.year is None


def _resolved(day: Day, today: date, not_before: date) -> date:
    """The date; the first such one from ``not_before`` on. Raises Unclear."""
    if day.days_from_today is not None:
        return today + timedelta(days=day.days_from_today)
    if day.month is None:
        return _weekday(day, today, not_before)
    if day.year is None:
        return _checked(day, _next(day, not_before))
    try:
        return _checked(day, date(day.year, day.month, day.number or 0))
    except ValueError:
        raise Unclear("impossible_day", day.typed) from None


def _checked(day: Day, found: date) -> date:
    """Raises Unclear where another weekday was typed before the date."""
    if day.weekday is not None and found.weekday() != day.weekday:
        raise Unclear("impossible_day" if day.year else "which_year", day.typed)
    return found


def _weekday(day: Day, today: date, not_before: date) -> date:
    assert day.weekday is not None
    if not day.which_week:
        return not_before + timedelta(days=(day.weekday - not_before.weekday()) % 7)
    monday = today - timedelta(days=today.weekday())
    weeks = 1 if day.which_week == "next" else 0
    found = monday + timedelta(days=day.weekday, weeks=weeks)
    if found < today:
        raise Unclear("which_day", day.typed)
    return found


def _next_week(term: Word, today: date, weekdays: frozenset[int]) -> tuple[date, date]:
    # Where people work at weekends it is not sure when a week begins.
    if not weekdays or max(weekdays) > 4:
        raise Unclear("which_day", term.typed)
    monday = today + timedelta(days=7 - today.weekday())
    return monday + timedelta(days=min(weekdays)), monday + timedelta(days=max(weekdays))


def _next(day: Day, not_before: date) -> date:
    years = range(not_before.year, not_before.year + _LEAP_YEARS)
    return _first_of(day, [one for one in _in_years(day, years) if one >= not_before])


def _latest(day: Day, not_after: date) -> date:
    years = range(not_after.year, not_after.year - _LEAP_YEARS, -1)
    return _first_of(day, [one for one in _in_years(day, years) if one <= not_after])


def _in_years(day: Day, years: range) -> list[date]:
    """The date in each year that has it."""
    number, month = day.number or 0, day.month or 0
    return [date(year, month, number) for year in years if _is_day(number, month, year)]


def _first_of(day: Day, found: Sequence[date]) -> date:
    if not found:
        raise Unclear("impossible_day", day.typed)
    return found[0]


def _halved_day(day: date, halves: Sequence[Word]) -> Span:
    named = {one.half for one in halves if one.half is not None}
    if halves and not named:
        return Span(day, day, puzzles=(Puzzle("which_half", halves[0].typed),))
    if named == {"am"}:
        return Span(day, day, None, "am")
    return Span(day, day, "pm" if named == {"pm"} else None, None)


def _halved_range(
    first: date, last: date, of_first: Sequence[Word] | None, of_last: Sequence[Word]
) -> Span:
    """``of_first`` are the halves typed before the last day; None where one cannot tell."""
    puzzles = [Puzzle("which_half", one.typed) for one in [*(of_first or ()), *of_last]]
    begins, ends = ([one.half for one in halves or ()] for halves in (of_first, of_last))
    if len(begins) > 1 or len(ends) > 1 or None in [*begins, *ends]:
        return Span(first, last, puzzles=tuple(puzzles[:1]))
    if ends == ["pm"] and not begins:
        # It would change nothing where it stands, so something else is meant.
        return Span(first, last, puzzles=tuple(puzzles))
    return Span(first, last, "pm" if begins == ["pm"] else None, "am" if ends == ["am"] else None)
