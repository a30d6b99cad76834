"""Bodies that are forms with a file: `multipart/form-data`, read by Starlette."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import Final

import orjson
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.types import Message

from api.http.errors import BadRequest, UnsupportedMediaType
from api.http.field_errors import refusal_of
from api.http.fields import Form
from storage.base.errors import FieldError, InvalidInput

# The proxies of docs/deploy let no more through.
MAX_FORM_BYTES: Final = 1024 * 1024
_MAX_FIELDS: Final = 20
_MAX_FIELD_BYTES: Final = 1_000
_CHUNK: Final = 64 * 1024


async def parse_form(model: type[Form], content: bytes, request: Request) -> tuple[Form, bytes]:
    """The form, and what identifies its content, however the client has written it.

    Raises UnsupportedMediaType, BadRequest or InvalidInput.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "multipart/form-data":
        raise UnsupportedMediaType("Send the body as multipart/form-data.")
    chunks = [content[start : start + _CHUNK] for start in range(0, len(content), _CHUNK)] or [b""]
    position = 0

    async def receive() -> Message:
        nonlocal position
        # Other requests are served between two parts of a large form.
        await asyncio.sleep(0)
        position += 1
        more = position < len(chunks)
        return {"type": "http.request", "body": chunks[position - 1], "more_body": more}

    scope = {"type": "http", "headers": request.scope["headers"]}
    try:
        async with Request(scope, receive).form(
            max_files=1, max_fields=_MAX_FIELDS, max_part_size=_MAX_FIELD_BYTES
        ) as form:
            return await _parsed(model, form)
    except (HTTPException, MultiPartException, KeyError, UnicodeDecodeError) as error:
        raise BadRequest("The form cannot be read. Send it as multipart/form-data.") from error


async def _parsed(model: type[Form], form: FormData) -> tuple[Form, bytes]:
    values: dict[str, str | bytes] = {}
    for name, value in form.multi_items():
        if name in values:
            raise InvalidInput(
                [FieldError(pointer=f"/{name}", code="repeated_field", detail=f"Send {name} once.")]
            )
        is_file = isinstance(value, UploadFile)
        if is_file != (name == "file"):
            detail = "Send the file as a file: -F file=@people.csv with curl."
            raise InvalidInput.of(name, "wrong_type", detail)
        values[name] = await value.read() if isinstance(value, UploadFile) else value
    try:
        parsed = model.model_validate(values)
    except ValidationError as error:
        raise refusal_of(error, model) from error
    fields = {name: value for name, value in values.items() if name != "file"}
    digest = sha256(parsed.file).hexdigest()
    return parsed, orjson.dumps([digest, fields], option=orjson.OPT_SORT_KEYS)
