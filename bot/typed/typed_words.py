"""The vocabulary for typed leave in each supported language. Pure.

Names of months and weekdays are Babel's. Keys are casefolded; some entries are regular expressions,
for phrases with too many forms to list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

from babel import Locale

from storage.base.values import HalfDay, as_dict

# "coming" is the first such day after today, "next" the one in the next week; "next_or_coming" may
# mean either.
WhichWeek = Literal["this", "next", "last", "coming", "next_or_coming"]


_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """The vocabulary of one language, or of several combined.

    ``leave_words`` only show that the text is about leave, unless a leave type has that name.
    ``prepositions`` look like halves but mean nothing before a day or half, like "am" in German.
    """

    months: dict[str, int]
    weekdays: dict[str, int]
    days_from_today: dict[str, int]
    halves: dict[str, HalfDay]
    unnamed_halves: tuple[str, ...]
    numbers: dict[str, int]
    which_week: dict[str, WhichWeek]
    to: tuple[str, ...]
    since: tuple[str, ...]
    starting: tuple[str, ...]
    within: tuple[str, ...]
    one_day: tuple[str, ...]
    day_units: tuple[str, ...]
    week_units: tuple[str, ...]
    week_of: tuple[str, ...]
    fillers: frozenset[str]
    leave_words: frozenset[str]
    prepositions: frozenset[str] = frozenset()


def _names(language: str, kind: Literal["months", "days"]) -> dict[str, int]:
    """Babel's names and abbreviations without dots; Monday is 0, January is 1."""
    names_by_form = getattr(Locale.parse(language), kind)
    return {
        name.casefold().rstrip("."): number
        for form in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for number, name in names_by_form[form][width].items()
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
    one_day=("day",),
    day_units=("day", "days"),
    week_units=("week", "weeks"),
    week_of=(r"(?:the )?week (?:of|commencing|beginning|starting)(?: the)?",),
    fillers=frozenset(
        ("a", "an", "and", "be", "for", "i", "i'll", "i'm", "in", "inclusive", "leave", "my")
        + ("need", "of", "off", "on", "please", "take", "taking", "the", "time", "want")
    ),
    leave_words=frozenset(("holiday", "holidays", "pto", "vacation")),
)


def _forms(*stems: str) -> tuple[str, ...]:
    """German adjectives as they are declined: ``nächste``, ``nächsten``, ``nächster``, …"""
    return tuple(stem + ending for stem in stems for ending in ("e", "en", "er", "es", "em"))


_GERMAN: Final = Words(
    months=_names("de", "months") | {"jänner": 1, "mrz": 3},
    weekdays=_names("de", "days") | {"sonnabend": 5},
    days_from_today={"vorgestern": -2, "gestern": -1, "heute": 0, "morgen": 1, "übermorgen": 2},
    halves={
        "vormittag": "am",
        "vormittags": "am",
        "früh": "am",
        "nachmittag": "pm",
        "nachmittags": "pm",
    },
    unnamed_halves=(r"halbe[nrsm]?(?: tage?)?", "halbtags", "halb"),
    numbers={
        name: number
        for number, names in enumerate(
            (
                *(("ein", *_forms("ein")), ("zwei",), ("drei",), ("vier",), ("fünf",), ("sechs",)),
                *(("sieben",), ("acht",), ("neun",), ("zehn",)),
            ),
            1,
        )
        for name in names
    },
    which_week={
        **dict.fromkeys(_forms("dies"), "this"),
        **dict.fromkeys(_forms("kommend"), "coming"),
        # For "nächsten Freitag" some people mean the coming one, some that of the next week.
        **dict.fromkeys(_forms("nächst"), "next_or_coming"),
        **dict.fromkeys(_forms("letzt", "vergangen", "vorig"), "last"),
    },
    to=("bis", "bis zum", "bis einschliesslich", "bis einschliesslich zum"),
    since=("seit", "seit dem"),
    starting=("ab", "ab dem", "von", "vom"),
    within=("in",),
    one_day=("tag",),
    day_units=("tag", "tage", "tagen"),
    week_units=("woche", "wochen"),
    week_of=("(?:in )?(?:der |die )?woche (?:vom|ab|ab dem)",),
    fillers=frozenset(
        ("an", "auf", "beantragen", "bin", "bitte", "brauche", "das", "dem", "den", "der", "die")
        + ("einschliesslich", "frei", "für", "gern", "gerne", "habe", "ich", "im", "lang", "mein")
        + ("meinen", "mir", "möchte", "nehme", "nehmen", "um", "und", "zum")
        + ("ein", *_forms("ein"))
    ),
    leave_words=frozenset(("ferien", "urlaub")),
    # "am Freitag" is on Friday, "Freitag am Vormittag" in its morning.
    prepositions=frozenset(("am",)),
)


def _together(words: Words, other: Words) -> Words:
    """The words of both; ``other`` wins where they differ."""
    values, others = as_dict(words), as_dict(other)
    return Words(**{name: _joined(values[name], others[name]) for name in values})


def _joined(value: Any, other: Any) -> Any:  # type: ignore[explicit-any]  # tuples, sets or dicts
    return value + other if isinstance(value, tuple) else value | other


def _without_umlauts(words: Words) -> Words:
    """The words as typed on keyboards without umlauts: ``maerz``."""
    return Words(**{name: _spelt_out(value) for name, value in as_dict(words).items()})


def _spelt_out(words: Any) -> Any:  # type: ignore[explicit-any]  # a tuple, set or dict
    if isinstance(words, Mapping):
        return {name.translate(_UMLAUTS): meant for name, meant in words.items()}
    return type(words)(name.translate(_UMLAUTS) for name in words)


_OTHERS: Final = {"de": _GERMAN}


@lru_cache
def words_of(language: str) -> Words:
    """The vocabulary for people with this language: English and their own."""
    other = _OTHERS.get(language)
    if other is None:
        return _ENGLISH
    return _together(_ENGLISH, _together(_without_umlauts(other), other))


def any_of(names: Iterable[str]) -> str:
    """A regular expression that matches any of the names, the longest first."""
    return "|".join(sorted(names, key=len, reverse=True))
