"""Texts from users: names, notes and e-mail addresses, checked and normalised."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set
from typing import Final

from storage.base.errors import InvalidInput

MAX_NAME_LENGTH: Final = 200
# RFC 5321, section 4.5.3.1.3, less the two angle brackets.
MAX_EMAIL_LENGTH: Final = 254

_LABEL: Final = r"[^\W_](?:(?:[^\W_]|-){0,61}[^\W_])?"
_EMAIL: Final = re.compile(rf'[^\s@<>()\[\],;:\\"]{{1,64}}@(?:{_LABEL}\.)+{_LABEL}')
# Explicit bidirectional embeddings, overrides and isolates reorder the text around them: one name
# could look like another. The marks U+200E and U+200F only order a name's own letters.
_BIDIRECTIONAL: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
# Controls, lone surrogates, line and paragraph separators. Joiners (Cf) are allowed: scripts need
# them.
_NOT_IN_NAMES: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
_NOT_IN_TEXTS: Final = frozenset({"Cc", "Cs"})

# What Unicode does not decompose.
_PLAIN_LETTERS: Final = str.maketrans("’øØłŁđĐ", "'oOlLdD")


def name(value: object, field: str) -> str:
    """A stripped name of 1 to 200 characters on one line.

    Raises InvalidInput ``invalid_length`` or ``control_character``.
    """
    text = value.strip() if isinstance(value, str) else ""
    if not 1 <= len(text) <= MAX_NAME_LENGTH:
        raise InvalidInput.of(
            field,
            "invalid_length",
            "{field} must have 1 to {most} characters.",
            field=field,
            most=MAX_NAME_LENGTH,
        )
    _check_characters(text, field, _NOT_IN_NAMES)
    return text


def free_text(value: str, field: str, max_length: int) -> str:
    """Stripped text of one or more lines, at most ``max_length`` characters.

    Raises InvalidInput ``invalid_length`` or ``control_character``; line breaks and
    tabs are allowed.
    """
    text = value.strip()
    if len(text) > max_length:
        raise InvalidInput.of(
            field,
            "invalid_length",
            "{field} can have at most {most} characters.",
            field=field,
            most=max_length,
        )
    _check_characters(text, field, _NOT_IN_TEXTS, allowed="\n\r\t")
    return text


def _check_characters(text: str, field: str, categories: Set[str], allowed: str = "") -> None:
    """Raises InvalidInput ``control_character`` with the first one, such as ``U+202E``."""
    for character in text:
        is_unwanted = unicodedata.category(character) in categories
        if (is_unwanted or _BIDIRECTIONAL.match(character)) and character not in allowed:
            code_point = f"U+{ord(character):04X}"
            raise InvalidInput.of(
                field,
                "control_character",
                "{field} contains the invisible character {character}. Remove it.",
                field=field,
                character=code_point,
            )


def optional_text(value: str | None, field: str, max_length: int) -> str | None:
    """As ``free_text``; None for null and blank text."""
    if value is None or not value.strip():
        return None
    return free_text(value, field, max_length)


def without_bidirectional(text: str) -> str:
    """The text without the characters that reorder the text around them."""
    return _BIDIRECTIONAL.sub("", text)


def plain_name(text: str) -> str:
    """A name from another system, cleaned so that ``name`` accepts it; may be empty."""
    readable = without_bidirectional(text)
    characters = (" " if unicodedata.category(c) in _NOT_IN_NAMES else c for c in readable)
    return " ".join("".join(characters).split())[:MAX_NAME_LENGTH].rstrip()


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: ``1 error``, ``1,200 errors``; ``many`` for other plurals."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def slug_of(text: str, max_length: int) -> str:
    """The text as lower-case ASCII letters, digits and hyphens; may be empty."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:max_length].rstrip("-")


def name_key(text: str) -> str:
    """The key by which names are compared: ignores case, spacing and Unicode forms."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def search_key(text: str) -> str:
    """As ``name_key``, also without accents: ``zurich`` for ``Zürich``."""
    letters = unicodedata.normalize("NFKD", text).translate(_PLAIN_LETTERS).casefold()
    return " ".join("".join(each for each in letters if not unicodedata.combining(each)).split())


def email(value: object, field: str) -> str:
    """A stripped address of the form ``local@host.domain``, at most 254 characters.

    Raises InvalidInput ``invalid_email``. Does not check that the address exists.
    """
    text = value.strip() if isinstance(value, str) else ""
    if len(text) > MAX_EMAIL_LENGTH or _EMAIL.fullmatch(text) is None or not text.isprintable():
        raise InvalidInput.of(
            field,
            "invalid_email",
            "{field} must be an e-mail address such as ada@example.com.",
            field=field,
        )
    return text
