"""Forgives one typing error a word, in words that say when or name a leave type. Pure.

Only where no other word can be meant: never in words that are known, that name people, or that are
words of their own one letter away ("mourning").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Final

from bot.parsing.languages import words_of
from bot.parsing.typed_names import TypeNames
from bot.parsing.vocabulary import Words

Corrections = tuple[tuple[str, str], ...]

# With fewer letters, too many words are like others.
_MIN_LETTERS: Final = 5
_MIN_LETTERS_TO_REPLACE: Final = 7
# The longest words that say when have 12.
_MAX_LETTERS: Final = 20
_MAX_WORDS: Final = 40
_WORD: Final = re.compile(r"(?<![\w'@<>|.-])[^\W\d_]{5,20}(?![\w'@<>|])")


def corrected(
    text: str, language: str, types: TypeNames, names: Collection[str] = ()
) -> tuple[str, Corrections]:
    """The plain text without typing errors, and each word that was taken for another.

    ``names`` are words that name people.
    """
    found: dict[str, str] = {}
    for number, match in enumerate(_WORD.finditer(text)):
        word = match.group()
        if number == _MAX_WORDS:
            break
        if word in names or word in found or types.names_with(word):
            continue
        meant = _meant(word, language, types.long_words)
        if meant is not None:
            found[word] = meant
    if not found:
        return text, ()
    changed = _WORD.sub(lambda match: found.get(match.group(), match.group()), text)
    return changed, tuple(found.items())


@lru_cache(maxsize=4_096)
def _meant(word: str, language: str, type_words: tuple[str, ...]) -> str | None:
    """The only word that it can be. ``type_words`` are those of leave types' names."""
    targets, real_words, by_letters = _vocabulary(language)
    if word in real_words or word in targets:
        return None
    likely = {
        target
        for key in (word, *_without_one(word), _DOUBLED.sub(r"\1", word))
        for target in by_letters.get(key, ())
        if _is_error(word, target)
    }
    likely |= {target for target in type_words if _is_near(word, target)}
    meanings = {targets.get(target, target) for target in likely}
    return min(likely) if len(meanings) == 1 else None


def _is_near(word: str, target: str) -> bool:
    """As ``_is_error``, of any two words."""
    keys = {target, *_without_one(target)}
    return not keys.isdisjoint((word, *_without_one(word))) and _is_error(word, target)


def _is_error(word: str, target: str) -> bool:
    """Whether one letter is missing, doubled or too many, two are swapped, or one is replaced."""
    if _DOUBLED.sub(r"\1", word) == _DOUBLED.sub(r"\1", target):
        return True
    if len(word) == len(target):
        differ = [at for at in range(len(word)) if word[at] != target[at]]
        if len(differ) == 2 and differ[1] == differ[0] + 1:
            return word[differ[0]] == target[differ[1]] and word[differ[1]] == target[differ[0]]
        is_long = len(word) >= _MIN_LETTERS_TO_REPLACE
        return len(differ) == 1 and differ[0] > 0 and is_long
    # "Fridays" and "freitags" are no errors: they are every Friday.
    return len(word) < len(target) or not word.startswith(target)


# "Tommorow" has one letter too many and one too few.
_DOUBLED: Final = re.compile(r"(.)\1")


def _without_one(word: str) -> Iterator[str]:
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


@lru_cache
def _vocabulary(
    language: str,
) -> tuple[Mapping[str, object], frozenset[str], Mapping[str, frozenset[str]]]:
    """The words that may be misspelt, with their meanings; all real words; the former by letters.

    The last has each of them under itself, and under itself without each of its letters.
    """
    words = words_of(language)
    targets = {
        word: meaning
        for word, meaning in _meanings(words)
        if word.isalpha() and _MIN_LETTERS <= len(word) <= _MAX_LETTERS
    }
    by_letters: dict[str, set[str]] = {}
    for target in targets:
        for key in (target, *_without_one(target), _DOUBLED.sub(r"\1", target)):
            by_letters.setdefault(key, set()).add(target)
    return targets, _real_words(words), {key: frozenset(each) for key, each in by_letters.items()}


def _meanings(words: Words) -> Iterator[tuple[str, object]]:
    for field in ("months", "weekdays", "days_from_today", "halves", "which_week", "type_words"):
        meanings: Mapping[str, object] = getattr(words, field)
        for word, meaning in meanings.items():
            yield word, (field, meaning)
    for units in ("day_units", "week_units"):
        for word in getattr(words, units):
            yield word, units
    for word in words.leave_words - words.type_words.keys():
        yield word, word


def _real_words(words: Words) -> frozenset[str]:
    known = {*words.fillers, *words.exceptions, *words.moving, *words.lookalikes, *words.numbers}
    phrases = (
        *(*words.to, *words.since, *words.starting, *words.before, *words.after, *words.back),
        *(*words.courtesies, *words.rewrites, *words.reasons, *words.rest_of_week),
        *(*words.holiday_names, *words.unnamed_halves),
        *(pattern for _, pattern in (*words.periods, *words.asked_periods)),
    )
    for phrase in phrases:
        known |= {*re.findall(r"[^\W\d_]{5,}", phrase)}
    return frozenset(known)
