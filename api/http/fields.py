"""Bodies and queries of requests: their field types and base models, and how they are read.

Strings are not converted to numbers, dates are YYYY-MM-DD, texts are bounded and have no NUL.
The messages of errors begin with ``{field}``, which ``field_errors`` fills in.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, TypeVar
from urllib.parse import parse_qsl

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
)
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError
from starlette.requests import ClientDisconnect, Request
from typing_extensions import TypedDict

from api.http.errors import BodyTooLarge, UnreadableJson, UnsupportedMediaType
from api.http.field_errors import refusal_of
from storage.base.amounts import amount_of
from storage.base.errors import FieldError, InvalidInput
from storage.db.pages import Page, PageOf

MAX_PAGE: Final = 100
DEFAULT_PAGE: Final = 25

_UUID: Final = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WHOLE_NUMBER = re.compile(r"(-?)0*([0-9]+)")
_is_uuid = re.compile(_UUID).fullmatch


def canonical_uuid(text: str) -> str | None:
    """The id in lower case, as stored; None if it is not a UUID."""
    return text.lower() if _is_uuid(text) else None


def _without_nul(text: str) -> str:
    # PostgreSQL stores no NUL in text.
    if "\0" in text:
        raise PydanticCustomError("contains_nul", "{field} cannot contain the character NUL.")
    return text


def _day(value: object) -> date:
    if isinstance(value, str) and _DAY.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    raise PydanticCustomError("invalid_date", "{field} must be a date that exists, as YYYY-MM-DD.")


def _instant(value: object) -> datetime:
    if isinstance(value, str) and _DAY.match(value):
        try:
            instant = datetime.fromisoformat(value)
            if instant.tzinfo is not None:
                # Conversion to UTC may leave the range of years.
                return instant.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    raise PydanticCustomError(
        "invalid_date_time",
        "{field} must be a date and time with a UTC offset, such as 2026-01-31T09:00:00Z.",
    )


def _page_size(value: object) -> int:
    match = _WHOLE_NUMBER.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise PydanticCustomError("not_a_number", "{field} must be a whole number.")
    sign, digits = match.groups()
    # Four digits suffice; Python refuses to parse thousands of digits.
    number = int(digits[:4])
    if sign or number < 1:
        raise PydanticCustomError("out_of_range", "{field} must be 1 or more.")
    return min(number, MAX_PAGE)


def _uuid(text: str) -> str:
    uuid = canonical_uuid(text)
    if uuid is None:
        raise PydanticCustomError("not_a_uuid", "{field} must be an id, which is a UUID.")
    return uuid


def _not_before_first(day: date | None, info: ValidationInfo) -> date | None:
    first_day = info.data.get("first_day")
    if day is not None and first_day is not None and day < first_day:
        raise PydanticCustomError(
            "to_before_from",
            "{field} is before from. Swap the two dates, or leave one of them out.",
        )
    return day


@dataclass(frozen=True, slots=True)
class Codes:
    """The codes with which rules refuse values of a type, besides those of its schema."""

    codes: tuple[str, ...]

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        return {**handler(core_schema), "x-codes": self.codes}


CODES_OF_NAMES: Final = Codes(("control_character", "invalid_length", "no_visible_letter"))
# Last in its Annotated, because pydantic does not know the type after a validator.
NO_NUL: Final = AfterValidator(_without_nul)

Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    CODES_OF_NAMES,
    NO_NUL,
]
LongText = Annotated[
    str, StringConstraints(max_length=2_000), Codes(("control_character",)), NO_NUL
]
Word = Annotated[str, StringConstraints(max_length=100), NO_NUL]
Colour = Annotated[str, Field(max_length=7, description="`#rrggbb`."), NO_NUL]
Cursor = Annotated[str, StringConstraints(max_length=1_000), NO_NUL]
Uuid = Annotated[
    str, AfterValidator(_uuid), Field(max_length=36, json_schema_extra={"format": "uuid"})
]
Day = Annotated[date, BeforeValidator(_day, json_schema_input_type=date)]
Instant = Annotated[datetime, BeforeValidator(_instant, json_schema_input_type=datetime)]
# The bounds are checked by storage.base.amounts, also for Slack.
# The last day of a period in a query whose field ``first_day`` is the parameter `from`.
LastDay = Annotated[Day | None, AfterValidator(_not_before_first)]
Days = Annotated[
    float,
    Field(
        description="Days, with at most two decimals.",
        json_schema_extra={"minimum": 0, "maximum": 366, "multipleOf": 0.01},
    ),
    Codes(("invalid_days",)),
]
PageSize = Annotated[int, BeforeValidator(_page_size)]

# The default of an optional field. It is never used: ``sent()`` omits fields that were not sent.
ABSENT: Any = None


class Body(BaseModel):
    """A request body: no unknown fields, nothing converted."""

    # Each is built at its first request, in at most 3 ms: together they take 15 ms of a start.
    model_config = ConfigDict(
        extra="forbid", strict=True, allow_inf_nan=False, frozen=True, defer_build=True
    )

    def sent(self) -> dict[str, Any]:
        """The fields that the client sent, null ones included: what a PATCH changes."""
        return self.model_dump(exclude_unset=True)


class Form(Body):
    """A form whose field ``file`` is an uploaded file; its other fields are texts."""

    model_config = ConfigDict(strict=False, extra="forbid", frozen=True, allow_inf_nan=False)

    # For the documentation.
    EXAMPLE: ClassVar[Mapping[str, str]] = {}

    file: bytes


class Query(BaseModel):
    """Query parameters: no unknown ones, each at most once unless it is a list."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @property
    def changes_representation(self) -> bool:
        """Whether the response has more than the resource itself, so that it has no entity tag."""
        return False


def _parted(value: object) -> object:
    return tuple(dict.fromkeys(value.split(","))) if isinstance(value, str) else value


# A parameter with several values: separated by commas, or repeated. Empty if it was not sent.
OF_SEVERAL: Final = BeforeValidator(_parted)


class DryRun(Query):
    """For changes that affect others."""

    dry_run: Annotated[
        bool,
        Field(
            description="Respond with 200 and the effects of the change, without making it. "
            "The change is carried out and rolled back. `If-Match` and `Idempotency-Key` are "
            "ignored."
        ),
    ] = False


class Paged(Query):
    """The two parameters of every list."""

    # The schema has no maximum, because a larger number gives 100.
    limit: Annotated[
        PageSize,
        Field(
            description="Page size; more than 100 gives 100.",
            json_schema_extra={"type": "integer", "minimum": 1, "default": DEFAULT_PAGE},
        ),
    ] = DEFAULT_PAGE
    cursor: Annotated[
        Cursor | None,
        Field(
            description="The `next_cursor` of the previous page, with the same filters.",
            examples=["eyJrIjpbIjIwMjYtMDgtMDMiXX0.5uQ0cZ2r"],
        ),
    ] = None

    @property
    def page(self) -> PageOf:
        return PageOf(limit=self.limit, cursor=self.cursor)


def _without_default(schema: JsonDict) -> None:
    # Generated clients would send the default and get a page.
    schema.pop("default", None)
    schema |= {"type": "integer", "minimum": 1}


class PagedOnRequest(Paged):
    """A list that is only paged if ``limit`` or ``cursor`` is sent."""

    limit: Annotated[
        PageSize,
        Field(
            description="Page size; more than 100 gives 100. Without `limit` and `cursor`, "
            "the list is not paged.",
            json_schema_extra=_without_default,
        ),
    ] = DEFAULT_PAGE

    @property
    def is_paged(self) -> bool:
        return not self.model_fields_set.isdisjoint(("limit", "cursor"))


UpdatedSince = Annotated[
    Instant | None,
    Field(
        description="Only what was created or changed at or after this point in time. To follow "
        "changes, send the time at which your previous poll began, less five minutes: a change is "
        "visible once it is saved, which may be a little after its `updated_at`."
    ),
]

# Every weekday in two halves; storage refuses repetitions with their index.
WorkingDays = Annotated[
    list[Word],
    Field(
        max_length=14,
        description="`monday` to `sunday`, or `friday:am` if only that half is worked.",
    ),
    Codes(("duplicate_working_day", "no_working_days", "unknown_working_day")),
]


CountryCode = Annotated[
    str,
    Field(max_length=10, description="ISO 3166-1 alpha-2, with a region if needed: `GB-SCT`."),
    Codes(("unknown_country",)),
    NO_NUL,
]


def in_half_days(changes: dict[str, Any], field: str) -> dict[str, Any]:
    """The same changes with the days in ``field`` as storage takes them. Raises InvalidInput."""
    if field in changes:
        days = changes.pop(field)
        changes[f"{field}_half_days"] = None if days is None else amount_of(days, field)
    return changes


Flag = Literal["true", "false"]


def is_true(flag: Flag | None) -> bool | None:
    """The value of a flag; None if it was not sent."""
    return None if flag is None else flag == "true"


T = TypeVar("T")

R = TypeVar("R")


class PaginationRecord(TypedDict):
    """The cursor of the next page."""

    next_cursor: Annotated[str | None, Field(description="Null on the last page.")]
    has_more: bool


class Listing(TypedDict, Generic[T]):
    """One page of a list."""

    data: list[T]
    pagination: PaginationRecord


def pagination(page: Page[T]) -> PaginationRecord:
    return {"next_cursor": page.next_cursor, "has_more": page.next_cursor is not None}


def listing(page: Page[T]) -> Listing[T]:
    """A page in the wrapper that all lists share."""
    return {"data": page.items, "pagination": pagination(page)}


def listing_of(page: Page[T], record: Callable[[T], R]) -> Listing[R]:
    """As ``listing``, of what ``record`` makes of each item."""
    return {"data": [record(item) for item in page.items], "pagination": pagination(page)}


def whole(items: list[T]) -> Listing[T]:
    """A list that is bounded by its subject, so it has no pages."""
    return {"data": items, "pagination": {"next_cursor": None, "has_more": False}}


MAX_BODY_BYTES: Final = 256 * 1024
MAX_PARAMETERS: Final = 100


async def read_content(request: Request, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """The body. Raises BodyTooLarge as soon as the limit is exceeded."""
    content = bytearray()
    try:
        async for chunk in request.stream():
            content += chunk
            if len(content) > max_bytes:
                raise BodyTooLarge(f"A body can have at most {max_bytes // 1024} KiB.")
    except ClientDisconnect as error:
        raise UnreadableJson("The body ended early.") from error
    return bytes(content)


def parse_query(model: type[Query], query_string: bytes) -> Query:
    """The parameters. Raises InvalidInput for an unknown, repeated or unreadable one."""
    if not query_string:
        return model()
    try:
        pairs = parse_qsl(
            query_string.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MAX_PARAMETERS,
        )
    except ValueError as error:
        raise InvalidInput.at("?", "wrong_format", "The query string cannot be read.") from error
    parameters = dict(pairs)
    lists = _lists_of(model)
    if lists:
        parameters |= {
            name: ",".join(value for other, value in pairs if other == name)
            for name in parameters.keys() & lists
        }
    repeated = _repeated_names([pair for pair in pairs if pair[0] not in lists])
    if repeated:
        raise InvalidInput(
            [
                FieldError(
                    pointer=f"?{name}", code="repeated_parameter", detail=f"Send {name} once."
                )
                for name in repeated
            ]
        )
    try:
        return model.model_validate(parameters)
    except ValidationError as error:
        raise refusal_of(error, model, in_query=True) from error


@cache
def _lists_of(model: type[Query]) -> Collection[str]:
    """The parameters that may have several values."""
    return frozenset(
        field.alias or name
        for name, field in model.model_fields.items()
        if OF_SEVERAL in field.metadata
    )


def parse_body(model: type[Body], content: bytes, content_type: str) -> Body:
    """The body. Raises UnsupportedMediaType, UnreadableJson or InvalidInput."""
    # A missing Content-Type is accepted (RFC 9110, 8.3).
    if content_type.partition(";")[0].strip().lower() not in ("", "application/json"):
        raise UnsupportedMediaType("Send the body as application/json.")
    if not content:
        raise UnreadableJson("The body is empty.")
    try:
        body = model.model_validate_json(content)
    except ValidationError as error:
        raise refusal_of(error, model) from error
    # Every member has a colon, so only more colons than members can mean a repeated name.
    if content.count(b":") > len(body.model_fields_set):
        check_members(content)
    return body


def check_members(content: bytes) -> None:
    """Refuse JSON with a repeated name in an object, which parsers treat differently.

    Raises InvalidInput ``repeated_field``. Source: RFC 8259, section 4.
    """
    json.loads(content, object_pairs_hook=_members)


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    repeated = _repeated_names(pairs)
    if repeated:
        raise InvalidInput(
            [
                FieldError(pointer=f"/{name}", code="repeated_field", detail=f"Send {name} once.")
                for name in repeated
            ]
        )
    return dict(pairs)


def _repeated_names(pairs: Sequence[tuple[str, object]]) -> list[str]:
    counts = Counter(name for name, _ in pairs)
    return [name for name, count in counts.items() if count > 1]
