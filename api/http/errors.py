"""Errors as HTTP responses: their status and `application/problem+json` bodies.

Source: RFC 9457. Nothing of an unexpected error reaches a client.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import orjson
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ExceptionHandler
from typing_extensions import TypedDict

from storage.access.idempotency import IdempotencyInProgress, IdempotencyKeyReused
from storage.base import errors
from storage.base.amounts import days_of
from storage.base.errors import DomainError
from storage.base.values import as_dict

# An error has the status of its nearest ancestor in this table.
STATUS: Final[Mapping[type[DomainError], int]] = {
    errors.UnusableCursor: 400,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.InvalidInput: 422,
    errors.InsufficientAllowance: 422,
    IdempotencyKeyReused: 422,
}

RETRY_AFTER_SECONDS: Final = 2

_log = structlog.stdlib.get_logger("hiatus.access")


class FieldErrorRecord(TypedDict):
    """One wrong field. `pointer` is a JSON pointer into the body, or `?name` for a parameter."""

    pointer: str
    code: str
    detail: str


class HttpRefusal(Exception):
    """A malformed request, which is refused before it reaches the domain."""

    status = 400
    code = "bad_request"
    title = "The request cannot be read."

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class UnreadableJson(HttpRefusal):
    code = "invalid_json"
    title = "The body is not valid JSON."


class BodyTooLarge(HttpRefusal):
    status = 413
    code = "body_too_large"
    title = "The body is too large."


class UnsupportedMediaType(HttpRefusal):
    status = 415
    code = "unsupported_media_type"
    title = "The body's media type is not supported."


class PreconditionFailed(HttpRefusal):
    status = 412
    code = "precondition_failed"
    title = "This was changed since you read it."
    cure = "Read it again and send its current ETag."

    def __init__(self) -> None:
        super().__init__(self.cure)


class RateLimited(HttpRefusal):
    """``retry_after_seconds`` is when the limit allows the next request."""

    status = 429
    code = "rate_limited"
    title = "Too many requests."
    cure = "Wait for the number of seconds in Retry-After."

    def __init__(self, detail: str, retry_after_seconds: int) -> None:
        super().__init__(detail)
        self.retry_after_seconds = retry_after_seconds


_EXPECTED: Final = (
    DomainError,
    HttpRefusal,
    HTTPException,
    errors.DatabaseUnavailable,
    errors.SchemaOutOfDate,
)
# Errors of every operation with a body.
HTTP_REFUSALS: Final = (UnreadableJson, BodyTooLarge, UnsupportedMediaType)

# Code, title and detail of errors without an exception of their own, by status.
HTTP_PROBLEMS: Final[Mapping[int, tuple[str, str, str]]] = {
    404: (
        "not_found",
        errors.NotFound.title,
        "There is no such path. /docs lists the paths of this API.",
    ),
    405: (
        "method_not_allowed",
        "The method is not allowed.",
        "Use one of the methods in the header Allow.",
    ),
    412: (PreconditionFailed.code, PreconditionFailed.title, PreconditionFailed.cure),
    429: (RateLimited.code, RateLimited.title, RateLimited.cure),
    500: (
        "internal_error",
        "Something went wrong on our side.",
        "If it happens again, send the request_id to the operator.",
    ),
    503: ("unavailable", "The database is unavailable.", "Nothing was changed. Try again soon."),
}
# A 503 after which something may have changed.
OUTCOME_UNKNOWN: Final = (
    "outcome_unknown",
    "The outcome is unknown.",
    "The change may or may not have been saved. Repeat the request with the same "
    "Idempotency-Key, or check the current state first.",
)


def status_of(refusal: type[DomainError]) -> int:
    """The status of this type of error."""
    return next(STATUS[kind] for kind in refusal.__mro__ if kind in STATUS)


def problem(
    request: Request,
    base_url: str,
    status: int,
    code: str,
    title: str,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    **more: object,
) -> Response:
    """One RFC 9457 body; ``more`` are its extension members."""
    body = {
        "type": f"{base_url}/docs/errors#{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
        "request_id": request.scope.get("request_id"),
        **more,
    }
    # Errors change and may be private, so they are not cached.
    headers = {"Cache-Control": "no-store", **(headers or {})}
    return Response(orjson.dumps(body), status, headers, "application/problem+json")


def http_problem(
    request: Request, base_url: str, status: int, headers: Mapping[str, str] | None = None
) -> Response:
    """A problem with only a status; unlisted statuses become ``bad_request``."""
    code, title, detail = HTTP_PROBLEMS.get(
        status, (HttpRefusal.code, HttpRefusal.title, "The request was refused.")
    )
    return problem(request, base_url, status, code, title, detail, headers=headers)


def refusal_problem(request: Request, base_url: str, error: DomainError) -> Response:
    status = status_of(type(error))
    headers = {}
    if status == 401:
        # RFC 9110, 11.6.1: a 401 names the scheme.
        headers["WWW-Authenticate"] = "Bearer"
    elif isinstance(error, IdempotencyInProgress):
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return problem(
        request,
        base_url,
        status,
        error.code,
        error.title,
        error.detail,
        headers=headers,
        **members(error),
    )


def exception_handlers(base_url: str) -> dict[type[Exception], ExceptionHandler]:
    """Starlette's handlers for every expected error."""

    async def handle(request: Request, error: Exception) -> Response:
        match error:
            case DomainError():
                return refusal_problem(request, base_url, error)
            case HttpRefusal():
                return _unreadable_problem(request, base_url, error)
            case HTTPException():
                return _raised_problem(request, base_url, error)
        _log.warning(
            "request unavailable",
            request_id=request.scope["request_id"],
            reason=str(error).partition("\n")[0],
            cause=None if error.__cause__ is None else repr(error.__cause__),
        )
        headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
        if isinstance(error, errors.OutcomeUnknown):
            return problem(request, base_url, 503, *OUTCOME_UNKNOWN, headers=headers)
        return http_problem(request, base_url, 503, headers)

    return dict.fromkeys(_EXPECTED, handle)


def _unreadable_problem(request: Request, base_url: str, error: HttpRefusal) -> Response:
    headers = {}
    if isinstance(error, RateLimited):
        headers["Retry-After"] = str(error.retry_after_seconds)
    return problem(
        request, base_url, error.status, error.code, error.title, error.detail, headers=headers
    )


def _raised_problem(request: Request, base_url: str, error: HTTPException) -> Response:
    """Starlette's errors; OPTIONS, which it does not support, gets a response."""
    headers = dict(error.headers or {})
    if "Allow" in headers:
        # Starlette joins an unordered set.
        allowed = {*headers["Allow"].split(", "), "OPTIONS"}
        headers["Allow"] = ", ".join(sorted(allowed))
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=headers)
    return http_problem(request, base_url, error.status_code, headers)


def members(error: DomainError) -> dict[str, object]:
    """The extension members of an error, for programs."""
    match error:
        case errors.InvalidInput():
            return {"errors": [as_dict(field) for field in error.errors]}
        case errors.InsufficientAllowance():
            return {
                "remaining_days": days_of(error.remaining_half_days),
                "needed_days": days_of(error.needed_half_days),
                "leave_year": error.leave_year,
            }
        case errors.OverlappingLeave():
            return {"leave_request_id": error.other_id}
        case errors.NameTaken():
            return {"other_id": error.other_id}
        case errors.InvalidTransition():
            return {"leave_status": error.status}
        case errors.InsufficientScope():
            return {"missing_scope": error.missing}
        case errors.InsufficientRole():
            return {"needed_role": error.needed}
        case errors.NotYourField():
            return {"fields": error.fields}
    return {}
