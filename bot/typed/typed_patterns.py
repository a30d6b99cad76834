"""The regular expressions of typed days, halves and joining words, by language. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from bot.typed.words.languages import any_of, words_of

Joiner = Literal["to", "since", "starting", "also", "before", "after", "back"]
Length = Literal["days", "weeks"]
WordKind = Literal[Joiner, Length, "half", "week", "week_of", "numbered_week"]

# Characters that may follow a term: a space, a comma, the end, or a joiner of two days.
_END: Final = r"(?=$|[\s,;]|-|\.\.)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Patterns:
    """Patterns, in the order in which they are tried."""

    relative: tuple[re.Pattern[str], ...]
    lengths: tuple[tuple[WordKind, re.Pattern[str]], ...]
    days: tuple[re.Pattern[str], ...]
    words: tuple[tuple[WordKind, re.Pattern[str]], ...]
    # A weekday and its half in one word, as in "Freitagnachmittag".
    compound: re.Pattern[str]


@lru_cache
def patterns_of(language: str) -> Patterns:
    words = words_of(language)
    month = rf"(?P<month>{any_of(words.months)})\b\.?"
    endings = "|".join(map(re.escape, words.ordinal_endings))
    ordinal = rf"(?P<number>\d{{1,2}})(?P<ordinal>{endings})(?![.\d])"
    number = rf"(?P<number>\d{{1,2}})(?!\d)(?:(?P<ordinal>{endings})(?![.\d])|\.(?![.\d]))?"
    year = r"(?P<year>\d{4})(?!\d)"
    weekdays = any_of(words.weekdays)
    weekday = rf"(?P<weekday>{weekdays})\b\.?"
    named = rf"(?:{weekday},?\ (?:(?:the|den|dem)\ )?)?"
    count = rf"(?P<count>\d{{1,3}}|{any_of(words.numbers)})"
    which_week = any_of(words.which_week)
    day_units, week_units = any_of(words.day_units), any_of(words.week_units)
    away = rf"(?P<days_away>{day_units})|(?P<weeks_away>{week_units})"
    return Patterns(
        relative=(
            _compiled(rf"(?P<relative>{any_of(words.days_from_today)})"),
            _compiled(rf"(?:{any_of(words.within)})\ {count}\ (?:{away})"),
        ),
        lengths=(
            ("week_of", _compiled(rf"(?:{any_of(words.week_of)})")),
            ("week", _compiled(rf"(?P<which_week>{which_week})\ (?:{week_units})")),
            (
                "numbered_week",
                _compiled(rf"(?:{any_of(words.numbered_week)})\ ?(?P<count>\d{{1,2}})"),
            ),
            ("half", _compiled(rf"(?:{any_of(words.unnamed_halves)})")),
            ("days", _compiled(rf"(?:{count}\ (?:{day_units})|{any_of(words.one_day)})")),
            ("weeks", _compiled(rf"{count}\ (?:{week_units})")),
        ),
        days=tuple(
            _compiled(pattern)
            for pattern in (
                rf"{named}(?P<year>\d{{4}})[-/](?P<iso_month>\d{{1,2}})[-/](?P<number>\d{{1,2}})",
                rf"{named}(?P<first>\d{{1,2}})(?P<between>[/.])(?P<second>\d{{1,2}})"
                r"(?:(?P=between)(?P<pair_year>\d{4}|\d{2})?)?",
                rf"{named}{number}(?:\ of)?[ .-]?\ ?{month}(?:[ ,-]\ ?{year})?",
                rf"{named}{month}[ -]?(?:the\ )?{number}(?:[ ,]\ ?{year})?",
                rf"{weekday},?\ (?:(?:the|den|dem)\ )?{ordinal}",
                rf"(?:(?P<which_week>{which_week})\ )?{weekday}",
                rf"{number}(?:\ {year})?",
            )
        ),
        words=(
            ("half", _compiled(rf"(?P<half>{any_of(words.halves)})")),
            ("also", _compiled(rf"(?:{any_of(words.also)})")),
            ("before", _compiled(rf"(?:{any_of(words.before)})")),
            ("after", _compiled(rf"(?:{any_of(words.after)})")),
            ("back", _compiled(rf"(?:{any_of(words.back)})")),
            ("since", _compiled(rf"(?:{any_of(words.since)})")),
            ("starting", _compiled(rf"(?:{any_of(words.starting)})")),
            ("to", re.compile(rf"(?:{any_of(words.to)})(?=$|\s)|\.\.+|-")),
        ),
        compound=re.compile(rf"(?<!\S)({weekdays})({any_of(words.halves)})(?!\w)"),
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern + _END, re.ASCII)
