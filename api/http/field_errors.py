"""Pydantic errors as our field errors."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from pydantic_core.core_schema import ErrorType

from api.http.errors import UnreadableJson
from storage.base.errors import FieldError, InvalidInput

# By pydantic's error type: our code and sentence, which is filled from the error's context. Codes
# are stable, because clients act on them. Errors of our own validators have both already.
SENTENCES: Final[Mapping[str, tuple[str, str]]] = {
    "missing": ("required", "{field} is required."),
    "model_type": ("wrong_type", "{field} must be an object."),
    "dict_type": ("wrong_type", "{field} must be an object."),
    "list_type": ("wrong_type", "{field} must be an array."),
    "string_type": ("wrong_type", "{field} must be a string."),
    "int_type": ("wrong_type", "{field} must be a whole number."),
    "int_parsing": ("wrong_type", "{field} must be a whole number."),
    "float_type": ("wrong_type", "{field} must be a number."),
    "bool_type": ("wrong_type", "{field} must be true or false."),
    "bool_parsing": ("wrong_type", "{field} must be true or false."),
    "literal_error": ("not_one_of", "{field} must be {expected}."),
    "string_too_short": ("too_short", "{field} must have {min_length} or more characters."),
    "string_too_long": ("too_long", "{field} can have at most {max_length} characters."),
    "too_long": ("too_long", "{field} can have at most {max_length} items."),
    "int_parsing_size": ("out_of_range", "{field} is too large."),
    "finite_number": ("out_of_range", "{field} must be a finite number."),
    "greater_than_equal": ("out_of_range", "{field} must be {ge} or more."),
    "less_than_equal": ("out_of_range", "{field} must be {le} or less."),
    "string_unicode": ("invalid_value", "{field} must be valid Unicode."),
}
OTHER: Final = ("invalid_value", "{field} is not a valid value.")
OF_UNKNOWN: Final = {"field": "unknown_field", "parameter": "unknown_parameter"}
_TYPES_OF_PYDANTIC: Final = frozenset(get_args(ErrorType))


def refusal_of(
    error: ValidationError, model: type[BaseModel], *, in_query: bool = False
) -> InvalidInput | UnreadableJson:
    """The errors that pydantic found in a ``model``, one field error each."""
    details = error.errors(include_url=False, include_input=False)
    if details[0]["type"] == "json_invalid":
        reason = str(details[0]["ctx"]["error"])
        return UnreadableJson(f"{reason[:1].upper()}{reason[1:]}.")
    return InvalidInput([_field_error(entry, model, in_query) for entry in details])


def _field_error(entry: ErrorDetails, model: type[BaseModel], in_query: bool) -> FieldError:
    # Each sentence names the field, because a problem's `detail` joins them without their pointers.
    location = entry["loc"]
    field = next((part for part in reversed(location) if isinstance(part, str)), "The body")
    if entry["type"] == "extra_forbidden":
        kind = "parameter" if in_query else "field"
        code, detail = OF_UNKNOWN[kind], _unknown(field, model, kind)
    elif entry["type"] in _TYPES_OF_PYDANTIC:
        code, sentence = SENTENCES.get(entry["type"], OTHER)
        detail = sentence.format(field=field, **entry.get("ctx", {}))
    else:
        code, detail = entry["type"], entry["msg"].format(field=field)
    pointer = f"?{location[0]}" if in_query else "".join(f"/{_escaped(part)}" for part in location)
    return FieldError(pointer=pointer, code=code, detail=detail)


def _unknown(name: str, model: type[BaseModel], kind: str) -> str:
    """An unknown field's sentence, with the nearest or all field names."""
    names = [field.alias or own for own, field in model.model_fields.items()]
    sentence = f"There is no {kind} {name}."
    if not names:
        return sentence
    near = get_close_matches(name, names, n=1)
    return (
        f"{sentence} Did you mean {near[0]}?"
        if near
        else f"{sentence} Available: {', '.join(names)}."
    )


def _escaped(part: object) -> str:
    # RFC 6901, 3.
    return str(part).replace("~", "~0").replace("/", "~1")
