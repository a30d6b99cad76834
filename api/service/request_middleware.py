"""Middleware for every request: its id, span and log line, and what unexpected errors return."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Final

import structlog
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.base.logs import begin_request, log_failure
from api.base.metrics import METHODS
from api.http.errors import BadRequest, InternalError, problem
from api.http.rate_limits import client_address
from storage.base import monitoring
from storage.base.ids import random_bytes
from storage.base.monitoring import Span

_VALID_ID: Final = re.compile(r"[\x21-\x7e]{1,128}")

# The server receives the rest of a refused body up to this size, and keeps the connection open.
# If it closed the connection meanwhile, many clients would report that and not the response.
_DISCARDED_BYTES: Final = 1024 * 1024
_CLOSE: Final = (b"connection", b"close")

_log = structlog.stdlib.get_logger("hiatus.access")

# Method, route template, status, seconds.
Observe = Callable[[str, str | None, int, float], None]


class RequestMiddleware:
    """Gives every request an id, a span and one log line, and responds to unexpected errors with
    500.

    ``X-Request-Id`` is taken from the request or generated, and returned. The line has the route's
    template instead of the path, because a feed's path holds its token. Leaves ``request_id`` in
    the scope, and reads ``route``, ``caller`` and the headers in ``rate_limit`` from it. While a
    route that sets ``is_polling`` there succeeds, it is not logged: a page that asks every few
    seconds would fill the log.
    """

    def __init__(self, app: ASGIApp, base_url: str, observe: Observe = lambda *_: None) -> None:
        self._app = app
        self._base_url = base_url
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in METHODS else "_OTHER"
        attributes = {"http.request.method": method}
        with monitoring.span(method, "server", attributes, _trace_headers(scope)) as span:
            try:
                await self._serve(scope, receive, send)
            finally:
                _describe(span, scope, method)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        request_id = _request_id(scope)
        scope["request_id"] = request_id
        request_log = begin_request(request_id)
        id_header = (b"x-request-id", request_id.encode("ascii"))
        status = 0
        is_body_read = False

        async def receive_body() -> Message:
            nonlocal is_body_read
            message = await receive()
            is_body_read = not message.get("more_body", False)
            return message

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                # The SDK for /mcp sends members of HTTPStatus.
                status = scope["status"] = message["status"] = int(message["status"])
                rate_limit = scope.get("rate_limit", ())
                message["headers"] = [*message["headers"], id_header, *rate_limit]
                if not is_body_read and _is_body_long(scope):
                    message["headers"].append(_CLOSE)
            await send(message)

        app = self._app
        if _has_two_lengths(scope):
            # Proxies disagree about its end, and the rest could be another request.
            app = problem(Request(scope), self._base_url, BadRequest)
        try:
            await app(scope, receive_body, send_with_id)
        except Exception as error:
            if not status:
                # Log the traceback with the request id that the client gets.
                _log.error(
                    "request failed",
                    request_id=request_id,
                    reason=type(error).__name__,
                    exc_info=error,
                )
                response = problem(Request(scope), self._base_url, InternalError)
                await response(scope, receive_body, send_with_id)
                scope["is_error_reported"] = True
            raise
        finally:
            seconds = time.perf_counter() - started
            route = getattr(scope.get("route"), "path", None)
            self._observe(scope["method"], route, status, seconds)
            if status >= 500:
                log_failure(request_log, status)
            if status >= 400 or "is_polling" not in scope:
                _log.info("request", **_line(scope, route, status, seconds))


def _trace_headers(scope: Scope) -> dict[str, str]:
    """Those by which the caller's trace is continued."""
    return {
        name.decode("latin-1"): value.decode("latin-1")
        for name, value in scope["headers"]
        if name in (b"traceparent", b"tracestate")
    }


def _describe(span: Span, scope: Scope, method: str) -> None:
    """Without the path, because a feed's path holds its token."""
    status = scope.get("status", 500)
    attributes: dict[str, str | int] = {
        "http.response.status_code": status,
        "hiatus.request_id": scope["request_id"],
    }
    route = getattr(scope.get("route"), "path", None)
    if route is not None:
        span.rename(f"{method} {route}")
        attributes["http.route"] = route
    span.set(attributes)
    if status >= 500:
        span.fail(str(status))


def for_server(app: ASGIApp) -> ASGIApp:
    """The outermost application, which stops errors that have a response and a log line.

    Middleware such as Sentry, which wraps ``app``, sees them raised. The server would log them a
    second time and close the connection.
    """

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except Exception:
            if "is_error_reported" not in scope:
                raise

    return served


def _has_two_lengths(scope: Scope) -> bool:
    """Whether a request says in two ways how long its body is (RFC 9112, 6.3)."""
    names = {name for name, _ in scope["headers"]}
    return names >= {b"transfer-encoding", b"content-length"}


def _is_body_long(scope: Scope) -> bool:
    """Whether the unread rest of a body is too long to be received and discarded."""
    for name, value in scope["headers"]:
        if name == b"transfer-encoding":
            return True
        if name == b"content-length":
            return int(value) > _DISCARDED_BYTES
    return False


def _request_id(scope: Scope) -> str:
    """The first of the headers, if it is valid, or a new one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            request_id: str = value.decode("latin-1")
            if _VALID_ID.fullmatch(request_id):
                return request_id
            break
    return random_bytes(16).hex()


def _line(scope: Scope, route: str | None, status: int, seconds: float) -> dict[str, object]:
    line: dict[str, object] = {
        "method": scope["method"],
        "route": route,
        "status": status,
        "duration_ms": round(seconds * 1_000, 2),
        "request_id": scope["request_id"],
        "client_address": client_address(scope),
    }
    caller = scope.get("caller")
    if caller is not None:
        line["organisation_id"] = caller.organisation_id
        line["key_id"] = caller.key_id
    if "mcp_tool" in scope:
        line["tool"] = scope["mcp_tool"]
    return line
