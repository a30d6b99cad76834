"""The vocabulary that a person may type: English, and that of their own language. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from bot.typed.words.english import english
from bot.typed.words.german import german
from bot.typed.words.vocabulary import Words
from storage.base.values import as_dict

_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


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


_OTHER_LANGUAGES: Final = {"de": german}
LANGUAGES: Final = ("en", *_OTHER_LANGUAGES)


@lru_cache
def words_of(language: str) -> Words:
    """The vocabulary for people with this language: English and their own."""
    if language not in _OTHER_LANGUAGES:
        return english()
    other = _OTHER_LANGUAGES[language]()
    return _together(english(), _together(_without_umlauts(other), other))


def any_of(names: Iterable[str]) -> str:
    """A regular expression that matches any of the names, the longest first."""
    return "|".join(sorted(names, key=len, reverse=True))
