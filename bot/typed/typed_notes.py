"""The reason in typed leave, which becomes its note: ", dentist", "because I'm moving". Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import Final

from bot.typed import typed_terms
from bot.typed.phrases import rewriting
from bot.typed.typed_terms import Term
from bot.typed.typed_types import TypeNames, plain
from bot.typed.words.languages import any_of, words_of

MAX_LENGTH: Final = 200
_AROUND: Final = " ,;.!?()-–—"
# Places at which a reason may begin.
_MAX_PLACES: Final = 4
# With fewer letters, too many words are like others.
_MIN_LETTERS: Final = 4
_MIN_LETTERS_TO_REPLACE: Final = 6
# The longest words that say when have 12.
_MAX_LETTERS: Final = 20
# Joiners that are common in reasons: "to the dentist", "kids and dog".
_HARMLESS: Final = frozenset(("to", "and", "und", "&", "before", "after", "vor", "nach"))


def split(
    typed: str, language: str, types: TypeNames, reduced: Callable[[str], str]
) -> tuple[str, str | None]:
    """The text without the reason at its end, and that reason.

    A reason begins after a comma, a dash, a bracket or "because". Nothing in it may be a day, a
    half, a leave type or a word that may change them. ``reduced`` removes politeness.
    """
    for place in islice(_begins(language).finditer(typed), _MAX_PLACES):
        reason = typed[place.end() :].strip(_AROUND)
        if len(reason) > MAX_LENGTH:
            continue
        reason = _thanks(language).sub("", reason).strip(_AROUND)
        if _is_reason(reduced(rewriting.without_symbols(plain(reason))), language, types):
            return typed[: place.start()].rstrip(), _unescaped(reason)
    return typed, None


def _unescaped(typed: str) -> str:
    """The text without Slack's escapes (docs.slack.dev, "Formatting message text")."""
    return typed.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


@lru_cache
def _thanks(language: str) -> re.Pattern[str]:
    courtesies = any_of(words_of(language).courtesies)
    return re.compile(rf"[,;.!]\s*(?:{courtesies})[\s.!]*$", re.IGNORECASE)


@lru_cache
def _begins(language: str) -> re.Pattern[str]:
    reasons = any_of(words_of(language).reasons)
    return re.compile(
        rf"[,;(]\s*(?:(?:{reasons})\s)?|:\s|\s[-–—]+\s|\s(?:{reasons})\s", re.IGNORECASE
    )


def _is_reason(text: str, language: str, types: TypeNames) -> bool:
    words = words_of(language)
    without_types, phrases = types.phrases_of(text)
    terms, groups = typed_terms.terms_of(without_types, language)
    others = [word for group in groups for word in group.words]
    if phrases or not all(map(_is_harmless, terms)) or types.mentions_of(others, words.fillers)[0]:
        return False
    if any(word in words.type_words or may_move(word, language) for word in others):
        return False
    return any(letter.isalpha() for word in others for letter in word)


def _is_harmless(term: Term) -> bool:
    return term.typed in _HARMLESS


def may_move(word: str, language: str) -> bool:
    """Whether an unknown word may say when, or how long: a number, "noon", "except", "tomorow"."""
    words = words_of(language)
    if any(letter.isdigit() for letter in word) or (len(word) == 1 and word.isalpha()):
        return True
    parts = [part for part in re.split(r"[^\w']+", word) if part]
    return any(
        part in words.moving or part in words.exceptions or _is_misspelt(part, language)
        for part in parts
    )


def _is_misspelt(word: str, language: str) -> bool:
    """Whether it is one letter from a word that says when; two letters may be swapped."""
    known, shortened = _known(language)
    if len(word) > _MAX_LETTERS:
        return False
    if word in known or re.sub(r"(.)\1", r"\1", word) in known:
        return True
    swapped = {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)}
    if not swapped.isdisjoint(known):
        return True
    if len(word) < _MIN_LETTERS:
        return False
    shorter = _shorter(word)
    return (
        word in shortened
        or not shorter.isdisjoint(known)
        or (len(word) >= _MIN_LETTERS_TO_REPLACE and not shorter.isdisjoint(shortened))
    )


@lru_cache
def _known(language: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words that say when, and the same without each of their letters."""
    words = words_of(language)
    named = {*words.months, *words.weekdays, *words.days_from_today, *words.halves}
    named |= {*words.which_week, *words.day_units, *words.week_units, *words.moving}
    named |= {*words.since, *words.to, *words.starting, *words.back}
    known = frozenset(word for word in named if len(word) > 2 and word.isalpha())
    known |= {"am", "pm"} & words.halves.keys()
    return known, frozenset(
        shorter for word in known if len(word) > 3 for shorter in _shorter(word)
    )


def _shorter(word: str) -> set[str]:
    return {word[:at] + word[at + 1 :] for at in range(len(word))}
