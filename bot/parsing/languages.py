"""The languages that typed text is understood in. Pure.

A further language is a module with a vocabulary and phrases, and a line in each table here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Final

from bot.parsing import french, spanish
from bot.parsing.english import english
from bot.parsing.german import german
from bot.parsing.vocabulary import Phrases, Words
from storage.base.values import as_dict

_VOCABULARIES: Final[Mapping[str, Callable[[], Words]]] = {
    "de": german,
    "es": spanish.spanish,
    "fr": french.french,
}
LANGUAGES: Final = ("en", *_VOCABULARIES)
# Those of English and German are in typed_phrases, typed_work and typed_names.
PHRASES: Final[Mapping[str, Phrases]] = {"es": spanish.PHRASES, "fr": french.PHRASES}

# Fields whose words say when. In them a word means what it does in the person's own language:
# "mon" is no Monday in French.
_WHEN: Final = ("months", "weekdays", "days_from_today", "halves", "which_week")
_NEVER_FILLERS: Final = (*_WHEN, "moving", "exceptions")
_FILLERS: Final = ("fillers", "leave_words", "numbers")


@lru_cache
def words_of(language: str) -> Words:
    """The vocabulary for people with this language: English and their own."""
    if language not in _VOCABULARIES:
        return english()
    own = _VOCABULARIES[language]()
    own = _both(_map(own, lambda name: _without_accents(name, language)), own)
    return _both(_yielding(english(), own), own)


def _yielding(words: Words, own: Words) -> Words:
    """The words without those that have another meaning in ``own``."""
    values, others = as_dict(words), as_dict(own)
    for taken, givers in ((_WHEN, ("fillers",)), (_WHEN, _WHEN), (_FILLERS, _NEVER_FILLERS)):
        for name in taken:
            meant = {word for giver in givers if giver != name for word in others[giver]}
            values[name] = _kept(values[name], meant - {*others[name], *others["prepositions"]})
    return Words(**values)


def _kept(value: Any, without: set[str]) -> Any:  # type: ignore[explicit-any]  # a set or dict
    if isinstance(value, Mapping):
        return {word: meant for word, meant in value.items() if word not in without}
    return value - without


def _both(words: Words, other: Words) -> Words:
    """The words of both; ``other`` wins where they differ."""
    values, others = as_dict(words), as_dict(other)
    return Words(**{name: _joined(values[name], others[name]) for name in values})


def _joined(value: Any, other: Any) -> Any:  # type: ignore[explicit-any]  # tuples, sets or dicts
    return value + other if isinstance(value, tuple) else value | other


def _map(words: Words, changed: Callable[[str], str]) -> Words:
    return Words(**{name: _mapped(value, changed) for name, value in as_dict(words).items()})


def _mapped(value: Any, changed: Callable[[str], str]) -> Any:  # type: ignore[explicit-any]  # as above
    if isinstance(value, Mapping):
        return {changed(name): meant for name, meant in value.items()}
    if value and isinstance(value, tuple) and isinstance(value[0], tuple):
        return tuple((kind, changed(pattern)) for kind, pattern in value)
    return type(value)(changed(name) for name in value)


_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def _without_accents(word: str, language: str) -> str:
    """The word as typed on keyboards without its letters: ``maerz``, ``fevrier``."""
    if language == "de":
        return word.translate(_UMLAUTS)
    letters = unicodedata.normalize("NFD", word.replace("œ", "oe"))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


@cache
def _in_english() -> Mapping[str, str]:
    return {
        spelt: english
        for language, phrases in PHRASES.items()
        for word, english in phrases.in_english.items()
        for spelt in (word, _without_accents(word, language))
    }


def in_english(typed: str) -> str:
    """A plain word of the command in English, for words of a language with phrases."""
    return _in_english().get(typed, typed)


def typed_words() -> Mapping[str, str]:
    """Every such word, with its English one."""
    return _in_english()


def further(field: str) -> Iterator[str]:
    """The regular expressions of a field of all phrases, with and without accents."""
    for language, phrases in PHRASES.items():
        patterns: str | tuple[str, ...] = getattr(phrases, field)
        for pattern in (patterns,) if isinstance(patterns, str) else patterns:
            yield from with_and_without_accents(pattern, language)


def with_and_without_accents(pattern: str, language: str) -> Iterable[str]:
    return dict.fromkeys((pattern, _without_accents(pattern, language)))
