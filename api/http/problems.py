"""Errors as `application/problem+json` responses. Source: RFC 9457.

Clients see nothing of an unexpected error.
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

from api.http.errors import (
    HTTP_PROBLEMS,
    OUTCOME_UNKNOWN,
    HttpRefusal,
    RateLimited,
    extension_members,
    status_of,
)
from storage.access.idempotency import IdempotencyInProgress
from storage.base import errors
from storage.base.errors import DomainError

RETRY_AFTER_SECONDS: Final = 2

_log = structlog.stdlib.get_logger("hiatus.access")

_EXPECTED: Final = (
    DomainError,
    HttpRefusal,
    HTTPException,
    errors.DatabaseUnavailable,
    errors.SchemaOutOfDate,
)


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
        **extension_members(error),
    )


def exception_handlers(base_url: str) -> dict[type[Exception], ExceptionHandler]:
    """Starlette's handlers for every expected error."""

    async def handle(request: Request, error: Exception) -> Response:
        match error:
            case DomainError():
                return refusal_problem(request, base_url, error)
            case HttpRefusal():
                return _http_refusal_problem(request, base_url, error)
            case HTTPException():
                return _starlette_problem(request, base_url, error)
        _log.warning(
            "request unavailable",
            request_id=request.scope["request_id"],
            reason=str(error).partition("\n")[0],
            # Only its type: a message can have values of the request.
            cause=None if error.__cause__ is None else type(error.__cause__).__name__,
            kind=getattr(error, "kind", None),
        )
        headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
        if isinstance(error, errors.OutcomeUnknown):
            return problem(request, base_url, 503, *OUTCOME_UNKNOWN, headers=headers)
        return http_problem(request, base_url, 503, headers)

    return dict.fromkeys(_EXPECTED, handle)


def _http_refusal_problem(request: Request, base_url: str, error: HttpRefusal) -> Response:
    headers = {}
    if isinstance(error, RateLimited):
        headers["Retry-After"] = str(error.retry_after_seconds)
    return problem(
        request, base_url, error.status, error.code, error.title, error.detail, headers=headers
    )


def _starlette_problem(request: Request, base_url: str, error: HTTPException) -> Response:
    """Starlette's errors, but 204 for OPTIONS, which Starlette does not answer."""
    headers = dict(error.headers or {})
    if "Allow" in headers:
        # Starlette joins an unordered set.
        allowed = {*headers["Allow"].split(", "), "OPTIONS"}
        headers["Allow"] = ", ".join(sorted(allowed))
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=headers)
    return http_problem(request, base_url, error.status_code, headers)
