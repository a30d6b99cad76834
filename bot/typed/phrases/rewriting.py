"""Reduces typed text to words that the parser knows: "this morning", "today morning". Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import date, timedelta
from functools import lru_cache

from bot.typed.words.languages import any_of, words_of

# Emoji, skin tones and what joins them.
_SYMBOLS = frozenset(("So", "Sk", "Cf", "Mn", "Me"))
# Slack's names of emoji, and smileys; Slack escapes "<".
_SMILEYS = re.compile(
    r"(?<!\S)(?::[\w+'-]+:|[:;=8x][-'^]?[()\[\]dpo3|/\\*]|\^\^|xd|(?:<|&lt;)3)++(?=$|[\s,.!?)])"
)
# What may stand before and after a phrase.
_START, _END = r"(?<![^\s,;-])", r"(?=$|[\s,;.-])"


def without_symbols(text: str) -> str:
    """The plain text without emoji, smileys and colons, as in ``annual leave: 3 aug :pray:``."""
    text = re.sub(r":(?=\s|$)", " ", _SMILEYS.sub(" ", text))
    kept = (" " if unicodedata.category(letter) in _SYMBOLS else letter for letter in text)
    return " ".join("".join(kept).split())


def reduced(
    text: str,
    language: str,
    *,
    today: date,
    weekdays: frozenset[int],
    holidays: Mapping[str, date],
) -> str:
    """The plain text without politeness, with dates in place of public holidays.

    ``holidays`` are the next ones of the person, by name.
    """
    words = words_of(language)
    text = re.sub(r"[!?]+(?=$|[\s,])", " ", text).rstrip(" ")
    # In German, "am 30." ends with the day; elsewhere a full stop ends the sentence.
    if not ("." in words.ordinal_endings and re.search(r"\d\.$", text)):
        text = text.rstrip(" .")
    text = _courtesies(language).sub(" ", f" {text} ")
    for pattern, replacement in words.rewrites.items():
        text = re.sub(f"{_START}(?:{pattern}){_END}", replacement, text)
    text = " ".join(re.sub(r"(?<=\w)( ?)[+&]\1(?=\w)", " & ", text).split())
    if weekdays and today.weekday() <= max(weekdays):
        last = today + timedelta(days=max(weekdays) - today.weekday())
        rest = rf"{_START}(?:{any_of(words.rest_of_week)}){_END}"
        text = re.sub(rest, f"{today} - {last}", text)
    after_next = rf"{_START}(?:{any_of(words.week_after_next)}){_END}"
    text = re.sub(after_next, f"week of {today + timedelta(weeks=2)}", text)
    return _with_dates(
        text, {**_names(holidays, words.months), **_aliases(words.holiday_names, holidays)}
    )


@lru_cache
def _courtesies(language: str) -> re.Pattern[str]:
    return re.compile(rf"{_START}(?:{any_of(words_of(language).courtesies)}){_END}")


def _names(holidays: Mapping[str, date], months: Mapping[str, int]) -> dict[str, str]:
    """The ISO dates of public holidays by name, also without "day" at its end."""
    dates = {name: day.isoformat() for name, day in holidays.items()}
    short = {name.removesuffix(" day"): day for name, day in dates.items()}
    # "May Day" is not "may".
    return {name: day for name, day in short.items() if name not in months} | dates


def _aliases(names: Mapping[str, str], holidays: Mapping[str, date]) -> dict[str, str]:
    """What stands for each further name; none for holidays that the person does not have."""
    return {
        alias: holidays[meant].isoformat() if meant in holidays else meant
        for alias, meant in names.items()
        if meant in holidays or meant[0].isdigit()
    }


def _with_dates(text: str, days: Mapping[str, str]) -> str:
    if not days:
        return text
    names = "|".join(re.escape(name) for name in sorted(days, key=len, reverse=True))
    return re.sub(rf"{_START}({names}){_END}", lambda match: days[match.group()], text)
