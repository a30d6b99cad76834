"""Days, halves and what joins them, found in what people type. Pure.

Which dates they mean is decided in typed_days.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from storage.values import HalfDay

_MONTHS: Final = (
    ("january", "jan"),
    ("february", "feb"),
    ("march", "mar"),
    ("april", "apr"),
    ("may",),
    ("june", "jun"),
    ("july", "jul"),
    ("august", "aug"),
    ("september", "sept", "sep"),
    ("october", "oct"),
    ("november", "nov"),
    ("december", "dec"),
)
_WEEKDAYS: Final = (
    ("monday", "mon"),
    ("tuesday", "tues", "tue"),
    ("wednesday", "weds", "wed"),
    ("thursday", "thurs", "thur", "thu"),
    ("friday", "fri"),
    ("saturday", "sat"),
    ("sunday", "sun"),
)
_MONTH_OF: Final = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_WEEKDAY_OF: Final = {name: number for number, names in enumerate(_WEEKDAYS) for name in names}
_DAYS_FROM_TODAY: Final = {"yesterday": -1, "today": 0, "tomorrow": 1, "tmrw": 1}
_HALF_OF: Final[dict[str, HalfDay]] = {
    "am": "am",
    "morning": "am",
    "pm": "pm",
    "afternoon": "pm",
}


class Day(NamedTuple):
    """A day as typed: by as much of its numbers, weekday or name as there is."""

    typed: str
    number: int | None = None
    month: int | None = None
    year: int | None = None
    weekday: int | None = None
    which_week: str = ""
    days_from_today: int | None = None
    # Two numbers whose order is the country's; dotted ones are day and month nearly everywhere.
    pair: tuple[int, int] | None = None
    is_dotted: bool = False


class Word(NamedTuple):
    """``half``: which one; None for a half that nobody named. Or what joins two days."""

    kind: Literal["half", "to", "next_week"]
    typed: str
    half: HalfDay | None = None


Term = Day | Word


def _any_of(names: Iterator[str] | Sequence[str]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


_MONTH: Final = rf"(?P<month>{_any_of(list(_MONTH_OF))})\b\.?"
_NUMBER: Final = r"(?P<number>\d{1,2})(?!\d)(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>\d{4})(?!\d)"
_NAMED_DAY: Final = rf"(?:(?P<weekday>{_any_of(list(_WEEKDAY_OF))})\b\.?,?\ )?"
# What may follow a term: a space, a comma, the end, or what joins two days.
_END: Final = r"(?=$|[\s,;]|-|\.\.)"

_DAYS: Final = tuple(
    re.compile(pattern + _END, re.ASCII)
    for pattern in (
        rf"{_NAMED_DAY}(?P<year>\d{{4}})[-/](?P<iso_month>\d{{1,2}})[-/](?P<number>\d{{1,2}})",
        rf"{_NAMED_DAY}(?P<first>\d{{1,2}})(?P<between>[/.])(?P<second>\d{{1,2}})"
        r"(?:(?P=between)(?P<pair_year>\d{4}|\d{2})?)?",
        rf"{_NAMED_DAY}{_NUMBER}(?:\ of)?[ .-]?\ ?{_MONTH}(?:[ ,-]\ ?{_YEAR})?",
        rf"{_NAMED_DAY}{_MONTH}[ -]?(?:the\ )?{_NUMBER}(?:[ ,]\ ?{_YEAR})?",
        rf"(?P<relative>{_any_of(list(_DAYS_FROM_TODAY))})",
        rf"(?:(?P<which_week>next|this)\ )?(?P<weekday>{_any_of(list(_WEEKDAY_OF))})",
        rf"{_NUMBER}(?:\ {_YEAR})?",
    )
)
_WORDS: Final = (
    ("next_week", re.compile(r"next week" + _END)),
    ("half", re.compile(rf"(?P<half>{_any_of(list(_HALF_OF))})" + _END)),
    ("half", re.compile(r"half(?:[ -]?day)?" + _END)),
    ("to", re.compile(r"(?:to|until|till|through)(?=$|\s)|\.\.+|-")),
)


def terms_of(text: str) -> tuple[list[Term], list[list[str]]]:
    """The days, halves and joining words of a lower-case text, and runs of other words."""
    terms: list[Term] = []
    groups: list[list[str]] = [[]]
    at = 0
    while at < len(text):
        if text[at] in " ,;":
            if text[at] == ";":
                groups.append([])
            at += 1
            continue
        found = _term_at(text, at)
        if found is None:
            match = re.compile(r"[^\s,;]+").match(text, at)
            assert match is not None
            groups[-1].append(match.group())
        else:
            match, term = found
            terms.append(term)
            groups.append([])
        at = match.end()
    return terms, [group for group in groups if group]


def _term_at(text: str, at: int) -> tuple[re.Match[str], Term] | None:
    for pattern in _DAYS:
        if match := pattern.match(text, at):
            return match, _day_of(match)
    for kind, pattern in _WORDS:
        if match := pattern.match(text, at):
            half = _HALF_OF.get(match.groupdict().get("half") or "")
            return match, Word(kind, match.group(), half)  # type: ignore[arg-type]
    return None


def _day_of(match: re.Match[str]) -> Day:
    found = match.groupdict()

    def number(name: str) -> int | None:
        return int(found[name]) if found.get(name) else None

    first, second, year = number("first"), number("second"), number("year")
    pair_year = number("pair_year")
    if pair_year is not None:
        year = pair_year + 2000 if pair_year < 100 else pair_year
    relative = found.get("relative")
    return Day(
        match.group(),
        number("number"),
        _MONTH_OF.get(found.get("month") or "") or number("iso_month"),
        year,
        _WEEKDAY_OF.get(found.get("weekday") or ""),
        found.get("which_week") or "",
        None if relative is None else _DAYS_FROM_TODAY[relative],
        None if first is None or second is None else (first, second),
        found.get("between") == ".",
    )
