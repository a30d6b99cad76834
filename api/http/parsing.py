"""The query and body of a request: read, parsed and validated."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qsl

from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request

from api.http.errors import BodyTooLarge, UnreadableJson, UnsupportedMediaType
from api.http.field_errors import refusal_of
from api.http.fields import Body, Query
from storage.base.errors import FieldError, InvalidInput

MAX_BODY_BYTES: Final = 256 * 1024
MAX_PARAMETERS: Final = 100


async def read_content(request: Request) -> bytes:
    """The body. Raises BodyTooLarge as soon as the limit is exceeded."""
    content = bytearray()
    try:
        async for chunk in request.stream():
            content += chunk
            if len(content) > MAX_BODY_BYTES:
                raise BodyTooLarge(f"A body can have at most {MAX_BODY_BYTES // 1024} KiB.")
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
    if len(parameters) < len(pairs):
        raise InvalidInput(
            [
                FieldError(
                    pointer=f"?{name}", code="repeated_parameter", detail=f"Send {name} once."
                )
                for name in _repeated_names(pairs)
            ]
        )
    try:
        return model.model_validate(parameters)
    except ValidationError as error:
        raise refusal_of(error, model, in_query=True) from error


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
