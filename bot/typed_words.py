"""The words in which people type days of leave, in each language that is read. Pure.

Names of months and weekdays are Babel's. Keys are casefolded; a few entries are parts of regular
expressions, where a phrase has too many forms to list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from babel import Locale

from storage.values import HalfDay

# "coming" is the first such day after today, "next" that of the next week, "next_or_coming" is one
# that may mean either.
WhichWeek = Literal["this", "next", "last", "coming", "next_or_coming"]


class Words(NamedTuple):
    """One language, or several together.

    The first of ``day_units`` alone is one day. ``prepositions`` are halves that say nothing before
    a day, as "am" in German.
    """

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    days_from_today: Mapping[str, int]
    halves: Mapping[str, HalfDay]
    unnamed_halves: tuple[str, ...]
    numbers: Mapping[str, int]
    which_week: Mapping[str, WhichWeek]
    to: tuple[str, ...]
    since: tuple[str, ...]
    starting: tuple[str, ...]
    within: tuple[str, ...]
    day_units: tuple[str, ...]
    week_units: tuple[str, ...]
    week_of: tuple[str, ...]
    fillers: frozenset[str]
    prepositions: frozenset[str] = frozenset()


def _names(language: str, kind: Literal["months", "days"]) -> dict[str, int]:
    """Babel's names and abbreviations, without their dots; Monday is 0, January is 1."""
    known = getattr(Locale.parse(language), kind)
    return {
        name.casefold().rstrip("."): number
        for form in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for number, name in known[form][width].items()
    }


_ENGLISH: Final = Words(
    months=_names("en_GB", "months") | {"sep": 9},
    weekdays=_names("en_GB", "days") | {"tues": 1, "weds": 2, "thurs": 3, "thur": 3},
    days_from_today={
        "yesterday": -1,
        "today": 0,
        "tomorrow": 1,
        "tmrw": 1,
        "the day after tomorrow": 2,
        "day after tomorrow": 2,
        "the day before yesterday": -2,
        "day before yesterday": -2,
    },
    halves={"am": "am", "morning": "am", "pm": "pm", "afternoon": "pm"},
    unnamed_halves=(r"half(?:(?: an?)?[ -]?day)?",),
    numbers={
        name: number
        for number, names in enumerate(
            (
                *(("a", "an", "one"), ("two",), ("three",), ("four",), ("five",), ("six",)),
                *(("seven",), ("eight",), ("nine",), ("ten",)),
            ),
            1,
        )
        for name in names
    },
    which_week={"this": "this", "next": "next", "last": "last", "coming": "coming"},
    to=("to", "until", "till", "through"),
    since=("since",),
    starting=("from", "starting"),
    within=("in",),
    day_units=("day", "days"),
    week_units=("week", "weeks"),
    week_of=(r"(?:the )?week (?:of|commencing|beginning|starting)(?: the)?",),
    fillers=frozenset(
        ("a", "an", "and", "be", "for", "i", "i'll", "i'm", "in", "inclusive", "leave", "my")
        + ("need", "of", "off", "on", "please", "take", "taking", "the", "time", "want")
    ),
)


@lru_cache
def words_of(language: str) -> Words:
    """What is read from somebody whose language this is: everybody's English and their own."""
    return _ENGLISH


def any_of(names: Iterable[str]) -> str:
    """A regular expression for any of them, the longest first."""
    return "|".join(sorted(names, key=len, reverse=True))
