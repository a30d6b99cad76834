"""Translations: the current language and its gettext catalogue.

English is the source language; other languages have a catalogue (``catalogues/de.po``).
``bot.interaction.listening`` and ``bot.messages.notifications`` set the reader's language for the
rest of the task; the views only call ``gettext``.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Final

from babel import Locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

CATALOGUES: Final = Path(__file__).parents[1] / "catalogues"


@dataclass(frozen=True, kw_only=True, slots=True)
class Language:
    """A locale for dates and numbers, and the translations of the English sentences."""

    locale: Locale
    translations: NullTranslations


ENGLISH: Final = Language(locale=Locale("en", "GB"), translations=NullTranslations())

_current: ContextVar[Language] = ContextVar("language", default=ENGLISH)


def gettext(message: str, **values: object) -> str:
    """The sentence in the current language, with ``{names}`` filled in.

    >>> gettext("Awaiting {names}", names="Grace")
    'Awaiting Grace'
    """
    # For an empty message gettext returns the catalogue's header.
    return _filled(_current.get().translations.gettext(message) if message else "", values)


def ngettext(one: str, many: str, count: int, **values: object) -> str:
    """As ``gettext``, in the plural form for ``count``, which also fills in ``{count}``.

    >>> ngettext("{count} request", "{count} requests", 2)
    '2 requests'
    """
    translated = _current.get().translations.ngettext(one, many, count)
    return _filled(translated, {"count": count, **values})


def gettext_noop(message: str) -> str:
    """Mark a sentence for the catalogues; the caller translates it with ``gettext`` later."""
    return message


def locale() -> Locale:
    """The Babel locale of the current language."""
    return _current.get().locale


def set_locale(slack_locale: str | None) -> None:
    """Use the language of a Slack locale such as ``de-DE`` for the rest of the task.

    English if there is no such catalogue.
    """
    _current.set(_language(slack_locale or ""))


@contextmanager
def using_locale(slack_locale: str | None) -> Iterator[None]:
    """As ``set_locale``, inside the block alone."""
    token = _current.set(_language(slack_locale or ""))
    try:
        yield
    finally:
        _current.reset(token)


def available() -> dict[str, Path]:
    """The catalogues by locale, such as ``de`` or ``pt_BR``."""
    return {path.stem: path for path in sorted(CATALOGUES.glob("*.po"))}


@lru_cache(maxsize=256)
def _language(slack_locale: str) -> Language:
    locale_name = slack_locale.replace("-", "_")
    catalogues = available()
    for name in (locale_name, locale_name.partition("_")[0]):
        if name in catalogues:
            return _read(name)
    return ENGLISH


@lru_cache(maxsize=64)
def _read(name: str) -> Language:
    """Read a catalogue; there is no compiled file beside it that could be older than it."""
    locale = Locale.parse(name)
    with available()[name].open("rb") as file:
        catalogue = read_po(file, locale=locale)
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Language(locale=locale, translations=GNUTranslations(compiled))


def _filled(message: str, values: Mapping[str, object]) -> str:
    if not values:
        return message
    if _current.get().locale.language == "fr":
        message = _BEFORE_NAME.sub(lambda match: _elided(match, values), message)
    filled = message.format(**values)
    # "Personne n'est absent jusqu'au ven. 1 janv." ends with one full stop.
    return filled[:-1] if _ENDS_WITH_TWO_STOPS.search(filled) else filled


_ENDS_WITH_TWO_STOPS: Final = re.compile(r"[^.]\.\.\Z")


# French "de" before a name: "le congé d'Amir".
_BEFORE_NAME: Final = re.compile(r"\bde (?=\*?\{(?P<name>\w+)\})")
_VOWELS: Final = frozenset("AEIOUÀÁÂÄÅÈÉÊËÌÍÎÏÒÓÔÖÙÚÛÜŒ")


def _elided(match: re.Match[str], values: Mapping[str, object]) -> str:
    """Capital letters begin names only; dates and amounts keep "de"."""
    value = str(values.get(match["name"], ""))
    return "d'" if value[:1] in _VOWELS else match.group()
