"""Checks of fields, and how a change of several fields is checked.

A check takes a value and its field's name and returns the normalised value.
"""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from storage.base.errors import FieldError, InvalidInput, Sentence

# Raises InvalidInput or returns the value in its normal form, whose type depends on the check.
Check = Callable[[Any, str], Any]
# Checked values by field, each of the type that its check returns.
Checked = dict[str, Any]

_COLOUR: Final = re.compile(r"#[0-9a-f]{6}")
_CLOCK_TIME: Final = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]")


def checked(changes: Mapping[str, object], checks: Mapping[str, Check]) -> Checked:
    """The normalised changes.

    Raises InvalidInput with an error for each invalid field; ``unknown_field`` without a check.
    """
    normalised: Checked = {}
    errors: list[FieldError] = []
    for field, value in changes.items():
        check = checks.get(field)
        if check is None:
            detail = Sentence("There is no field {field}.", field=field)
            errors.append(FieldError(pointer=f"/{field}", code="unknown_field", detail=detail))
            continue
        try:
            normalised[field] = check(value, field)
        except InvalidInput as error:
            errors.extend(error.errors)
    if errors:
        raise InvalidInput(errors)
    return normalised


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


def one_of(*words: str, code: str) -> Check:
    """A check that accepts only these words; ``code`` is that of its error."""

    def check_word(value: object, field: str) -> object:
        if value not in words:
            raise InvalidInput.of(field, code, "Use one of {words}.", words=words)
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


def colour(value: object, field: str) -> str:
    """A colour as ``#rrggbb``, in lower case. Raises InvalidInput ``invalid_colour``."""
    text = value.lower() if isinstance(value, str) else ""
    if _COLOUR.fullmatch(text) is None:
        raise InvalidInput.of(field, "invalid_colour", "Use a colour such as #2e86de.")
    return text


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
    return text in _timezones()


@lru_cache(maxsize=1)
def _timezones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())
