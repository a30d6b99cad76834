"""Reads the terms of typed text: days, halves, lengths and joining words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from bot.parsing.languages import words_of
from bot.parsing.vocabulary import WhichWeek, Words
from storage.base.leave_values import HalfDay

ProblemKind = Literal[
    "unknown",
    "which_day",
    "which_month",
    "which_year",
    "which_half",
    "which_part_of_day",
    "half_of_which_day",
    "impossible_day",
    "several_days",
    "which_first_day",
    "which_last_day",
    "which_length",
    "which_type",
    "several_types",
    "no_home_office",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """A typed text that was not understood; ``choices`` are its possible meanings."""

    kind: ProblemKind
    typed: str
    choices: tuple[str, ...] = ()


class Unclear(Exception):
    """The typed text has more than one meaning, or none."""

    def __init__(self, kind: ProblemKind, typed: str, choices: tuple[str, ...] = ()) -> None:
        super().__init__(kind)
        self.problem = Problem(kind=kind, typed=typed, choices=choices)


def any_of(names: Iterable[str]) -> str:
    """A regular expression that matches any of the names, the longest first."""
    return "|".join(sorted(names, key=len, reverse=True))


def _any_or_none(names: Iterable[str]) -> str:
    """As ``any_of``, but without names it matches nothing."""
    return any_of(names) or "(?!)"


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
    month = rf"(?P<month>{any_of(words.months)})(?!\w)\.?"
    endings = "|".join(map(re.escape, words.ordinal_endings))
    ordinal = rf"(?P<number>\d{{1,2}})(?P<ordinal>{endings})(?![.\d])"
    number = rf"(?P<number>\d{{1,2}})(?!\d)(?:(?P<ordinal>{endings})(?![.\d])|\.(?![.\d]))?"
    year = r"(?P<year>\d{4})(?!\d)"
    weekdays = any_of(words.weekdays)
    weekday = rf"(?P<weekday>{weekdays})(?!\w)\.?"
    article, of = (rf"(?:(?:{any_of(each)})\ )?" for each in (words.articles, words.of))
    named = rf"(?:{weekday},?\ {article})?"
    count = rf"(?P<count>\d{{1,3}}|{any_of(words.numbers)})"
    which_week = any_of(words.which_week)
    day_units, week_units = any_of(words.day_units), any_of(words.week_units)
    away = rf"(?P<days_away>{day_units})|(?P<weeks_away>{week_units})"
    return Patterns(
        relative=(
            _compiled(rf"{weekday}\ (?P<week_after>{_any_or_none(words.week_after)})"),
            _compiled(rf"(?P<week_after>{_any_or_none(words.week_before)})\ {weekday}"),
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
                rf"{named}{number}[ .-]?\ ?{of}{month}(?:[ ,-]\ ?{of}{year})?",
                rf"{named}{month}[ -]?{article}{number}(?:[ ,]\ ?{year})?",
                rf"{weekday},?\ {article}{ordinal}",
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Day:
    """A day as typed, with the numbers, weekday or name that it has."""

    typed: str
    number: int | None = None
    month: int | None = None
    year: int | None = None
    weekday: int | None = None
    which_week: WhichWeek | None = None
    days_from_today: int | None = None
    # Two numbers in the country's order; dotted ones are day and month nearly everywhere.
    pair: tuple[int, int] | None = None
    is_dotted: bool = False
    # A number that can only be the day of a month, such as "30th".
    is_ordinal: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Word:
    """A term that is not a day.

    ``half`` is None for an unnamed half. ``amount`` is the number of "days" or "weeks"; for a
    "week", its offset from the current one; for a "numbered_week", the number.
    """

    kind: WordKind
    typed: str
    half: HalfDay | None = None
    amount: int = 0


Term = Day | Word

_BETWEEN_WEEKS: Final = {"next": 1, "coming": 1, "next_or_coming": 1, "last": -1}
_OTHER_WORD: Final = re.compile(r"[^\s,;]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherWords:
    """Words in a row that are no terms, with the number of terms before them."""

    words: list[str]
    terms_before: int


def terms_of(text: str, language: str) -> tuple[list[Term], list[OtherWords]]:
    """The days, halves and joining words of a casefolded text, and runs of other words."""
    words, patterns = words_of(language), patterns_of(language)
    text = patterns.compound.sub(r"\1 \2", text)
    terms: list[Term] = []
    groups = [OtherWords(words=[], terms_before=0)]
    at = end_of_day = 0
    while at < len(text):
        if text[at] in " ,;":
            if text[at] == ";":
                groups.append(OtherWords(words=[], terms_before=len(terms)))
            at += 1
            continue
        matched = _term_at(text, at, words, patterns)
        if matched is None:
            match = _OTHER_WORD.match(text, at)
            assert match is not None
            # A full stop may end a sentence.
            groups[-1].words.append(match.group().rstrip(".") or match.group())
        else:
            match, term = matched
            is_after_day = bool(terms) and isinstance(terms[-1], Day) and text[end_of_day:at] == " "
            following = _Following(text=text, at=match.end() + 1, words=words, patterns=patterns)
            if not (term.typed in words.prepositions and following.needs_preposition(is_after_day)):
                if is_after_day and _are_two_dates(terms, term):
                    terms.append(Word(kind="to", typed=" "))
                terms.append(term)
            if isinstance(term, Day):
                end_of_day = match.end()
            groups.append(OtherWords(words=[], terms_before=len(terms)))
        at = match.end()
    return terms, [group for group in groups if group.words]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Following:
    """What follows a word that may be a half or a preposition, such as "am" in German."""

    text: str
    at: int
    words: Words
    patterns: Patterns

    def needs_preposition(self, is_after_day: bool) -> bool:
        """Whether it is a half, or a day: "am Freitag", "am Tag nach …", but "fr am" is a half."""
        half = _word_at(self.text, self.at, self.words, self.patterns.words)
        if half is not None and half[1].kind == "half":
            return True
        every_day = (*self.patterns.relative, *self.patterns.days)
        length = _word_at(self.text, self.at, self.words, self.patterns.lengths)
        is_length = length is not None and length[1].kind == "days"
        is_day = _day_at(self.text, self.at, self.words, every_day) is not None
        return not is_after_day and (is_day or is_length)


def _are_two_dates(terms: list[Term], term: Term) -> bool:
    """Whether two days with years are adjacent, as in ``2027-06-14 2027-06-16``."""
    both = [*terms[-1:], term]
    return len(both) == 2 and all(isinstance(term, Day) and term.year is not None for term in both)


def _term_at(
    text: str, at: int, words: Words, patterns: Patterns
) -> tuple[re.Match[str], Term] | None:
    return (
        _day_at(text, at, words, patterns.relative)
        or _word_at(text, at, words, patterns.lengths)
        or _day_at(text, at, words, patterns.days)
        or _word_at(text, at, words, patterns.words)
    )


def _day_at(
    text: str, at: int, words: Words, patterns: tuple[re.Pattern[str], ...]
) -> tuple[re.Match[str], Day] | None:
    for pattern in patterns:
        if match := pattern.match(text, at):
            return match, _day_of(match, words)
    return None


def _word_at(
    text: str, at: int, words: Words, patterns: tuple[tuple[WordKind, re.Pattern[str]], ...]
) -> tuple[re.Match[str], Word] | None:
    for kind, pattern in patterns:
        if match := pattern.match(text, at):
            groups = match.groupdict()
            which_week = words.which_week.get(groups.get("which_week") or "")
            if kind == "week" and which_week not in _BETWEEN_WEEKS:
                continue
            half = words.halves.get(groups.get("half") or "")
            amount = _BETWEEN_WEEKS[which_week] if which_week else _count(groups, words)
            return match, Word(kind=kind, typed=match.group(), half=half, amount=amount)
    return None


def _count(groups: dict[str, str | None], words: Words) -> int:
    """The number in digits or words; 1 if there is none."""
    typed = groups.get("count") or ""
    return int(typed) if typed.isdecimal() else words.numbers.get(typed, 1)


def _day_of(match: re.Match[str], words: Words) -> Day:
    groups = match.groupdict()

    def number(name: str) -> int | None:
        return int(groups[name]) if groups.get(name) else None

    first, second, year = number("first"), number("second"), number("year")
    pair_year = number("pair_year")
    if pair_year is not None:
        year = pair_year + 2000 if pair_year < 100 else pair_year
    days_from_today = words.days_from_today.get(groups.get("relative") or "")
    if groups.get("days_away") or groups.get("weeks_away"):
        days_from_today = _count(groups, words) * (7 if groups.get("weeks_away") else 1)
    return Day(
        typed=match.group(),
        number=number("number"),
        month=words.months.get(groups.get("month") or "") or number("iso_month"),
        year=year,
        weekday=words.weekdays.get(groups.get("weekday") or ""),
        which_week=(
            "after_coming"
            if groups.get("week_after")
            else words.which_week.get(groups.get("which_week") or "")
        ),
        days_from_today=days_from_today,
        pair=None if first is None or second is None else (first, second),
        is_dotted=groups.get("between") == ".",
        is_ordinal=bool(groups.get("ordinal")),
    )
