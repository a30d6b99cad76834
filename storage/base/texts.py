"""Texts from users: names, notes and e-mail addresses, checked and normalised."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Set
from typing import Final

from storage.base.errors import InvalidInput, NameTaken

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

# Unicode's default ignorables that are letters or marks (no other category hides them), and the
# empty Braille pattern: hangul fillers, joiners of graphemes, variation selectors and such.
_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_NOT_VISIBLE: Final = frozenset("CMZ")
# Scripts that are written together, by the first word of their letters' names.
_JAPANESE: Final = frozenset({"CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"})
_WRITTEN_TOGETHER: Final = (
    _JAPANESE,
    frozenset({"CJK", "IDEOGRAPHIC", "HANGUL"}),
    frozenset({"CJK", "IDEOGRAPHIC", "BOPOMOFO"}),
)

# What Unicode does not decompose.
_PLAIN_LETTERS: Final = str.maketrans("’øØłŁđĐ", "'oOlLdD")


def name(value: object, field: str) -> str:
    """A stripped name of 1 to 200 characters on one line, with a visible letter or digit.

    Raises InvalidInput ``invalid_length``, ``control_character`` or ``no_visible_letter``.
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
    if not _has_letter_or_digit(text):
        raise InvalidInput.of(
            field,
            "no_visible_letter",
            "{field} needs at least one letter or digit that can be seen.",
            field=field,
        )
    return text


MAX_EMPLOYEE_NUMBER_LENGTH: Final = 50


def employee_number(value: object, field: str) -> str:
    """A stripped number as payroll writes it, letters and leading zeros included.

    Raises InvalidInput as ``name``, and ``invalid_length`` for more than 50 characters.
    """
    text = name(value, field)
    if len(text) > MAX_EMPLOYEE_NUMBER_LENGTH:
        raise InvalidInput.of(
            field,
            "invalid_length",
            "{field} must have 1 to {most} characters.",
            field=field,
            most=MAX_EMPLOYEE_NUMBER_LENGTH,
        )
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
    """As ``free_text``; None for null and for text without a visible character."""
    text = "" if value is None else free_text(value, field, max_length)
    return None if is_blank(text) else text


def is_blank(text: str) -> bool:
    """Whether no character of the text can be seen: only spaces, joiners, fillers, lone marks."""
    return all(unicodedata.category(each)[0] in _NOT_VISIBLE or _BLANK.match(each) for each in text)


def _has_letter_or_digit(text: str) -> bool:
    return any(each.isalnum() and not _BLANK.match(each) for each in text)


def without_bidirectional(text: str) -> str:
    """The text without the characters that reorder the text around them."""
    return _BIDIRECTIONAL.sub("", text)


def plain_name(text: str) -> str:
    """A name from another system, cleaned so that ``name`` accepts it; else empty."""
    readable = without_bidirectional(text)
    characters = (" " if unicodedata.category(c) in _NOT_IN_NAMES else c for c in readable)
    cleaned = " ".join("".join(characters).split())[:MAX_NAME_LENGTH].rstrip()
    return cleaned if _has_letter_or_digit(cleaned) else ""


def printable(text: str, allowed: str = "") -> str:
    """The text for a terminal: control and invisible characters as escapes, such as ``\\x1b``."""
    return "".join(
        each if each in allowed or not _is_hidden(each) else each.encode("unicode_escape").decode()
        for each in text
    )


def _is_hidden(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] == "C" or category in ("Zl", "Zp")


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


def check_is_free(name: str, others: Iterable[tuple[str, str]], own_id: str | None = None) -> None:
    """Raises NameTaken; ``others`` are ids with names."""
    key = name_key(name)
    for other_id, other_name in others:
        if other_id != own_id and name_key(other_name) == key:
            raise NameTaken(other_name, other_id)


def search_key(text: str) -> str:
    """As ``name_key``, also without accents: ``zurich`` for ``Zürich``."""
    letters = unicodedata.normalize("NFKD", text).translate(_PLAIN_LETTERS).casefold()
    return " ".join("".join(each for each in letters if not unicodedata.combining(each)).split())


def email(value: object, field: str) -> str:
    """A stripped address of the form ``local@host.domain``, at most 254 characters.

    Raises InvalidInput ``invalid_email``. Does not check that the address exists.
    """
    text = value.strip() if isinstance(value, str) else ""
    is_readable = text.isprintable() and not _BLANK.search(text)
    if len(text) > MAX_EMAIL_LENGTH or _EMAIL.fullmatch(text) is None or not is_readable:
        raise InvalidInput.of(
            field,
            "invalid_email",
            "{field} must be an e-mail address such as ada@example.com.",
            field=field,
        )
    return text


def new_email(value: object, field: str) -> str:
    """As ``email``, for a new person, whose address must not look like another one.

    Raises InvalidInput ``invalid_email`` or ``mixed_scripts``. Existing people keep addresses from
    before this rule.
    """
    text = email(value, field)
    scripts = _scripts(email_key(text).partition("@")[0])
    if len(scripts) > 1 and not any(scripts <= together for together in _WRITTEN_TOGETHER):
        raise InvalidInput.of(
            field,
            "mixed_scripts",
            "{field} mixes letters of different alphabets before the @. Type it again in one "
            "alphabet.",
            field=field,
        )
    return text


def _scripts(text: str) -> set[str]:
    """The scripts of its letters, by the first word of their Unicode names, such as LATIN."""
    letters = (each for each in text if each.isalpha())
    names = (unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    # Modifier letters, such as the apostrophe U+02BC, are used in all scripts.
    return {name for name in names if name != "MODIFIER"}


def email_key(text: str) -> str:
    """The key by which addresses are compared: ignores case and Unicode forms.

    Never change it without a migration: it is stored for each person.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    # Folding can undo the normal form.
    return unicodedata.normalize("NFKC", folded)
