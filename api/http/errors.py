"""Errors as `application/problem+json` responses (RFC 9457), and the errors of HTTP itself.

Clients see nothing of an unexpected error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, NotRequired

import orjson
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ExceptionHandler
from typing_extensions import TypedDict

from storage.base import errors
from storage.base.errors import DomainError
from storage.base.values import About
from storage.keys.idempotency import IdempotencyInProgress, IdempotencyKeyReused

RETRY_AFTER_SECONDS: Final = 2

# An error has the status of its nearest ancestor in this table.
STATUS: Final[Mapping[type[DomainError], int]] = {
    errors.UnusableCursor: 400,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.InvalidInput: 422,
    errors.InsufficientAllowance: 422,
    errors.AbsenceLimitExceeded: 422,
    IdempotencyKeyReused: 422,
}

_log = structlog.stdlib.get_logger("hiatus.access")


class HttpError(Exception):
    """An error of HTTP itself. The docstring of each kind says what it means, ``cure`` what to do,
    and ``detail`` is its sentence in responses.
    """

    status: ClassVar[int]
    code: ClassVar[str]
    title: ClassVar[str]
    cure: ClassVar[str]
    detail: str

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail or self.detail)
        if detail is not None:
            self.detail = detail


class BadRequest(HttpError):
    """The request is not valid HTTP."""

    status = 400
    code = "bad_request"
    title = "The request cannot be read."
    cure = "Compare it with the examples in the documentation."
    detail = "The request was refused."


class UnreadableJson(HttpError):
    """The body is empty, is not JSON, or is not valid UTF-8."""

    status = 400
    code = "invalid_json"
    title = "The body is not valid JSON."
    cure = "Send a JSON object; check quotation marks, commas and encoding."
    detail = "The body is empty."


class OriginNotAllowed(HttpError):
    """A page of another website sent the request: browsers say so in the header `Origin`."""

    status = 403
    code = "origin_not_allowed"
    title = "Pages of other websites cannot use this."
    cure = "Send the request from a program, or from a page of this server."
    detail = "The header Origin names another website."


class PathNotFound(HttpError):
    """There is no such path."""

    status = 404
    code = errors.NotFound.code
    title = errors.NotFound.title
    cure = errors.NotFound.cure
    detail = "There is no such path. /docs lists the paths of this API."


class MethodNotAllowed(HttpError):
    """The path does not support this method; the header `Allow` lists the methods that it
    supports.
    """

    status = 405
    code = "method_not_allowed"
    title = "The method is not allowed."
    cure = "Use one of them."
    detail = "Use one of the methods in the header Allow."


class Gone(HttpError):
    """The link worked once and has been used, or its day is over."""

    status = 410
    code = "gone"
    title = "This link no longer works."
    cure = "Ask for a new one where you got it."
    detail = "The link works once, within a day. Ask for a new one where you got it."


class PreconditionFailed(HttpError):
    """The resource no longer matches `If-Match`: it has changed since you read it. Nothing was
    changed now.
    """

    status = 412
    code = "precondition_failed"
    title = "This was changed since you read it."
    cure = "Read it again, and send its new `ETag` if you still want the change."
    detail = "Read it again and send its current ETag."


class BodyTooLarge(HttpError):
    """A body can have at most 256 KiB, or 1 MiB with an imported file."""

    status = 413
    code = "body_too_large"
    title = "The body is too large."
    cure = "Send less in one request."
    detail = "A body can have at most 256 KiB."


class UnsupportedMediaType(HttpError):
    """The body must be JSON, but the request declares another type."""

    status = 415
    code = "unsupported_media_type"
    title = "The body's media type is not supported."
    cure = "Send the header `Content-Type: application/json`."
    detail = "Send the body as application/json."


class RateLimited(HttpError):
    """The API key, feed or address has exceeded its rate limit. The headers `RateLimit` and
    `RateLimit-Policy` of every response show what is left.
    """

    status = 429
    code = "rate_limited"
    title = "Too many requests."
    cure = (
        "Wait for the seconds in `Retry-After`. Spread requests out, and request more items in "
        "each (`limit`)."
    )
    detail = "Wait for the number of seconds in Retry-After."

    def __init__(self, detail: str, retry_after_seconds: int) -> None:
        super().__init__(detail)
        # When the limit allows the next request.
        self.retry_after_seconds = retry_after_seconds


class InternalError(HttpError):
    """Hiatus failed. The error was logged with the request's id."""

    status = 500
    code = "internal_error"
    title = "Something went wrong on our side."
    cure = "Try again. If it happens again, send the `request_id` to the operator."
    detail = "If it happens again, send the request_id to the operator."


class PicturesUnavailable(HttpError):
    """PNG pictures of wallcharts need packages that this server does not have."""

    status = 501
    code = "pictures_unavailable"
    title = "This server draws no PNG pictures."
    cure = "Use `.svg` instead of `.png`, or ask the operator to install the extra `pictures`."
    detail = (
        "Use the SVG: .svg instead of .png in the address. The operator can install the extra "
        "`pictures`."
    )


class McpUnavailable(HttpError):
    """Tools for assistants at `/mcp` need a package that this server does not have."""

    status = 501
    code = "mcp_unavailable"
    title = "This server has no tools for assistants."
    cure = "Ask the operator to install the extra `mcp`."
    detail = "The operator can install the extra `mcp`."


class Unavailable(HttpError):
    """The database cannot be reached right now. Nothing was changed."""

    status = 503
    code = "unavailable"
    title = "The database is unavailable."
    cure = "Wait for the seconds in `Retry-After` and send the same request again."
    detail = "Nothing was changed. Try again soon."


class OutcomeUnknown(HttpError):
    """The connection to the database was lost while the change was being saved. It may or may not
    have been saved.
    """

    status = 503
    code = "outcome_unknown"
    title = "The outcome is unknown."
    cure = (
        "Send a `POST` again with the same `Idempotency-Key`: it is carried out once. Without one, "
        "and for other methods, check the current state before you repeat the request."
    )
    detail = (
        "The change may or may not have been saved. Repeat the request with the same "
        "Idempotency-Key, or check the current state first."
    )


# What a status means that Starlette or the middleware responds with.
_BY_STATUS: Final[Mapping[int, type[HttpError]]] = {
    kind.status: kind
    for kind in (
        *(PathNotFound, MethodNotAllowed, Gone, PreconditionFailed, RateLimited, InternalError),
        PicturesUnavailable,
    )
}


class FieldErrorRecord(TypedDict):
    """One wrong field. `pointer` is a JSON pointer into the body, or `?name` for a parameter.

    Every body can have `unknown_field`, `repeated_field` and `wrong_type`, every query
    `unknown_parameter`, `repeated_parameter` and `wrong_format`.
    """

    pointer: Annotated[str, About(example="/end_date")]
    code: Annotated[str, About(example="end_before_start")]
    detail: Annotated[str, About(example="2026-08-01 is before the first day, 2026-08-03.")]


class Problem(TypedDict):
    """An error (RFC 9457). Some codes add their own members. If one field is invalid, `code` is
    that field's; if several are, it is `invalid_input`.
    """

    type: Annotated[str, About(format="uri", description="A link to the explanation of the code.")]
    title: Annotated[str, About(description="The meaning of the code, for people.")]
    status: Annotated[int, About(description="The HTTP status of the response.")]
    detail: Annotated[str, About(description="What is wrong with this request, for people.")]
    code: str
    request_id: Annotated[str | None, About(description="Include it when you ask for help.")]
    errors: NotRequired[
        Annotated[
            list[FieldErrorRecord], About(description="Every invalid field, if fields are invalid.")
        ]
    ]


def status_of(refusal: type[DomainError]) -> int:
    return next(STATUS[kind] for kind in refusal.__mro__ if kind in STATUS)


def extension_members(error: DomainError) -> dict[str, object]:
    """The members that an error adds to its problem, for programs."""
    return {name: getattr(error, name) for name in error.members}


def problem(
    request: Request,
    base_url: str,
    error: HttpError | type[HttpError] | DomainError,
    *,
    headers: Mapping[str, str] | None = None,
    **more: object,
) -> Response:
    """The response to an error. ``more`` are extension members."""
    if isinstance(error, DomainError):
        status, more = status_of(type(error)), extension_members(error) | more
    else:
        status = error.status
    body = {
        "type": f"{base_url}/docs/errors#{error.code}",
        "title": error.title,
        "status": status,
        "detail": error.detail,
        "code": error.code,
        "request_id": request.scope.get("request_id"),
        **more,
    }
    # Errors change and may be private, so they are not cached.
    headers = {"Cache-Control": "no-store", **_headers(error, status), **(headers or {})}
    return Response(orjson.dumps(body), status, headers, "application/problem+json")


def _headers(error: HttpError | type[HttpError] | DomainError, status: int) -> dict[str, str]:
    if status == 401:
        # RFC 9110, 11.6.1: a 401 names the scheme.
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, RateLimited):
        return {"Retry-After": str(error.retry_after_seconds)}
    if status == 503 or isinstance(error, IdempotencyInProgress):
        return {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return {}


def exception_handlers(base_url: str) -> dict[type[Exception], ExceptionHandler]:
    """Starlette's handlers for every expected error."""

    async def refuse(request: Request, error: Exception) -> Response:
        assert isinstance(error, (DomainError, HttpError))
        return problem(request, base_url, error)

    async def starlettes(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        headers = dict(error.headers or {})
        if "Allow" in headers:
            # Starlette joins an unordered set.
            allowed = {*headers["Allow"].split(", "), "OPTIONS"}
            headers["Allow"] = ", ".join(sorted(allowed))
            if request.method == "OPTIONS":
                return Response(status_code=204, headers=headers)
        kind = _BY_STATUS.get(error.status_code, BadRequest)
        return problem(request, base_url, kind, headers=headers)

    async def unavailable(request: Request, error: Exception) -> Response:
        _log.warning(
            "request unavailable",
            request_id=request.scope["request_id"],
            reason=str(error).partition("\n")[0],
            # Only its type: a message can have values of the request.
            cause=None if error.__cause__ is None else type(error.__cause__).__name__,
            kind=getattr(error, "kind", None),
        )
        is_unknown = isinstance(error, errors.OutcomeUnknown)
        return problem(request, base_url, OutcomeUnknown if is_unknown else Unavailable)

    return {
        DomainError: refuse,
        HttpError: refuse,
        HTTPException: starlettes,
        errors.DatabaseUnavailable: unavailable,
        errors.SchemaOutOfDate: unavailable,
    }
