"""Checks of single fields that several use cases share: texts, e-mail addresses, ids, time zones.

A check takes a value and its field's name and returns the normalised value.
"""

from __future__ import annotations

import re
import unicodedata
import zoneinfo
from collections.abc import Callable, Mapping, Set
from functools import lru_cache
from typing import Any, Final

from storage.base.errors import FieldError, InvalidInput, Sentence

# Raises InvalidInput or returns the value in its normal form, whose type depends on the check.
Check = Callable[[Any, str], Any]
# Checked values by field, each of the type that its check returns.
Checked = dict[str, Any]

MAX_NAME_LENGTH: Final = 200
# RFC 5321, section 4.5.3.1.3, less the two angle brackets.
MAX_EMAIL: Final = 254

_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LABEL: Final = r"[^\W_](?:(?:[^\W_]|-){0,61}[^\W_])?"
_EMAIL: Final = re.compile(rf'[^\s@<>()\[\],;:\\"]{{1,64}}@(?:{_LABEL}\.)+{_LABEL}')
_CLOCK_TIME: Final = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]")
# Explicit bidirectional embeddings, overrides and isolates reorder the text around them: one name
# could look like another. The marks U+200E and U+200F only order a name's own letters.
_BIDIRECTIONAL: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
# Controls, lone surrogates, line and paragraph separators. Joiners (Cf) are allowed: scripts need
# them.
_NOT_IN_NAMES: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
_NOT_IN_TEXTS: Final = frozenset({"Cc", "Cs"})


def checked(changes: Mapping[str, object], checks: Mapping[str, Check]) -> Checked:
    """The normalised changes.

    Raises InvalidInput with an error for each invalid field; ``unknown_field`` without a check.
    """
    normal: Checked = {}
    errors: list[FieldError] = []
    for field, value in changes.items():
        check = checks.get(field)
        if check is None:
            detail = Sentence("There is no field {field}.", field=field)
            errors.append(FieldError(pointer=f"/{field}", code="unknown_field", detail=detail))
            continue
        try:
            normal[field] = check(value, field)
        except InvalidInput as refusal:
            errors.extend(refusal.errors)
    if errors:
        raise InvalidInput(errors)
    return normal


def require(fields: Mapping[str, object], *names: str) -> None:
    """Raises InvalidInput with an error ``required`` for each field that is missing or null."""
    missing = [name for name in names if fields.get(name) is None]
    if missing:
        raise InvalidInput(
            [
                FieldError(
                    pointer=f"/{name}",
                    code="required",
                    detail=Sentence("{field} is required.", field=name),
                )
                for name in missing
            ]
        )


def optional(check: Check) -> Check:
    """The check, which also accepts null."""

    def check_unless_none(value: object, field: str) -> object:
        return None if value is None else check(value, field)

    return check_unless_none


def unchecked(value: object, field: str) -> object:
    """Accepts any value: a later step checks it against the database."""
    return value


def one_of(*words: str) -> Check:
    """A check that accepts only these words; its code is ``unknown_<field>``."""

    def check_word(value: object, field: str) -> object:
        if value not in words:
            raise InvalidInput.of(field, f"unknown_{field}", "Use one of {words}.", words=words)
        return value

    return check_word


def boolean(value: object, field: str) -> bool:
    """True or false, not null. Raises InvalidInput ``not_a_boolean``."""
    if not isinstance(value, bool):
        raise InvalidInput.of(field, "not_a_boolean", "{field} must be true or false.", field=field)
    return value


def clock_time(value: object, field: str) -> str:
    """A time of day such as ``09:00``. Raises InvalidInput ``invalid_time``."""
    if not isinstance(value, str) or _CLOCK_TIME.fullmatch(value) is None:
        raise InvalidInput.of(
            field, "invalid_time", "{field} must be a time as HH:MM, such as 09:00.", field=field
        )
    return value


def whole_number(least: int, most: int) -> Check:
    """A check for whole numbers, both bounds included; its code is ``out_of_range``."""

    def check_number(value: object, field: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise InvalidInput.of(
                field,
                "out_of_range",
                "{field} must be a whole number from {least} to {most}.",
                field=field,
                least=least,
                most=most,
            )
        return value

    return check_number


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
    _refuse_invisible(text, field, _NOT_IN_NAMES)
    return text


def free_text(value: str, field: str, longest: int) -> str:
    """Stripped text of one or more lines, at most ``longest`` characters.

    Raises InvalidInput ``invalid_length`` or ``control_character``; line breaks and
    tabs are allowed.
    """
    text = value.strip()
    if len(text) > longest:
        raise InvalidInput.of(
            field,
            "invalid_length",
            "{field} can have at most {most} characters.",
            field=field,
            most=longest,
        )
    _refuse_invisible(text, field, _NOT_IN_TEXTS, allowed="\n\r\t")
    return text


def _refuse_invisible(text: str, field: str, categories: Set[str], allowed: str = "") -> None:
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


def optional_text(value: str | None, field: str, longest: int) -> str | None:
    """As ``free_text``; None for null and blank text."""
    if value is None or not value.strip():
        return None
    return free_text(value, field, longest)


def without_bidirectional(text: str) -> str:
    """The text without the characters that reorder the text around them."""
    return _BIDIRECTIONAL.sub("", text)


def plain_name(text: str) -> str:
    """A name from another system, cleaned so that ``name`` accepts it; may be empty."""
    readable = without_bidirectional(text)
    kept = (" " if unicodedata.category(c) in _NOT_IN_NAMES else c for c in readable)
    return " ".join("".join(kept).split())[:MAX_NAME_LENGTH].rstrip()


def slug_of(text: str, longest: int) -> str:
    """The text as lower-case ASCII letters, digits and hyphens; may be empty."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:longest].rstrip("-")


def name_key(text: str) -> str:
    """The key by which names are compared: ignores case, spacing and Unicode forms."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def email(value: object, field: str) -> str:
    """A stripped address of the form ``local@host.domain``, at most 254 characters.

    Raises InvalidInput ``invalid_email``. Does not check that the address exists.
    """
    text = value.strip() if isinstance(value, str) else ""
    if len(text) > MAX_EMAIL or _EMAIL.fullmatch(text) is None or not text.isprintable():
        raise InvalidInput.of(
            field,
            "invalid_email",
            "{field} must be an e-mail address such as ada@example.com.",
            field=field,
        )
    return text


def is_id(text: str) -> bool:
    """Whether the text is a UUID in lower case with hyphens."""
    return _ID.fullmatch(text) is not None


def timezone(value: object, field: str) -> str:
    """An IANA name. Raises InvalidInput ``unknown_timezone``."""
    if not isinstance(value, str) or not is_timezone(value):
        raise InvalidInput.of(
            field,
            "unknown_timezone",
            "{value} is not a time zone. Use an IANA name such as Europe/London.",
            value=repr(value),
        )
    return value


def is_timezone(text: str) -> bool:
    """Whether the time zone database knows the name."""
    return text in _timezones()


@lru_cache(maxsize=1)
def _timezones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())
