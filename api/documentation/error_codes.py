"""The codes of errors with their documentation, which stands at the errors themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from api.http import conditions
from api.http import errors as http
from api.http.errors import HttpError
from api.http.fields import Paged
from api.http.operations import Operation
from storage.base import errors
from storage.base.errors import DomainError, InvalidInput
from storage.base.errors.field_codes import FIELD_CODES

Kind = type[DomainError] | type[HttpError]


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """One code as the documentation shows it. ``detail`` and ``members`` are an example's.

    A few codes are also those of a field, with status 422.
    """

    code: str
    status: int
    title: str
    meaning: str
    cure: str
    detail: str
    members: Mapping[str, object]


def of_error(kind: Kind) -> Code:
    """The code of one type of error."""
    if issubclass(kind, DomainError):
        example = kind.documented()
        status, detail = http.status_of(kind), str(example.detail)
        members = http.extension_members(example)
    else:
        status, detail, members = kind.status, kind.detail, {}
    return Code(
        code=kind.code,
        status=status,
        title=kind.title,
        meaning=" ".join(inspect.cleandoc(kind.__doc__ or "").split()),
        cure=kind.cure,
        detail=detail,
        members=members,
    )


def of_field(code: str) -> Code:
    """A field's code as the whole problem's. Raises KeyError."""
    meaning, cure = FIELD_CODES[code]
    return Code(
        code=code,
        status=http.status_of(InvalidInput),
        title=InvalidInput.title,
        meaning=meaning,
        cure=cure,
        detail=meaning,
        members={"errors": [{"pointer": "/field", "code": code, "detail": meaning}]},
    )


def errors_of(operation: Operation) -> Iterator[Kind]:
    """The errors that the operation may respond with, except those of single fields."""
    yield errors.Unauthenticated
    yield errors.InsufficientScope
    if operation.role is not None:
        yield errors.InsufficientRole
    if issubclass(operation.query, Paged):
        yield errors.UnusableCursor
    if "{" in operation.path:
        yield errors.NotFound
    yield from operation.refusals
    if operation.method == "POST":
        yield from conditions.IDEMPOTENCY_REFUSALS
    if operation.body is not None:
        yield from (http.UnreadableJson, http.UnsupportedMediaType)
    if operation.form is not None:
        yield from (http.BadRequest, http.UnsupportedMediaType)
    if operation.method != "GET":
        # An unexpected body is read, too.
        yield http.BodyTooLarge
    if operation.changes_resource:
        yield http.PreconditionFailed
    yield from (http.RateLimited, http.InternalError, http.Unavailable)
    if operation.method != "GET" or operation.writes:
        yield http.OutcomeUnknown


def every_code(operations: Iterable[Operation]) -> list[Code]:
    """All codes that the API responds with, by code and status."""
    kinds: dict[Kind, None] = {InvalidInput: None, errors.Forbidden: None, errors.NotFound: None}
    for operation in operations:
        kinds |= dict.fromkeys(errors_of(operation))
    kinds |= dict.fromkeys(HttpError.__subclasses__())
    del kinds[http.PathNotFound]
    codes = [*map(of_error, kinds), *map(of_field, FIELD_CODES)]
    return sorted(codes, key=lambda row: (row.code, row.status))
