"""A span for each request, which continues the trace of the caller's ``traceparent``."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.base.metrics import METHODS
from storage.base.monitoring import tracing


class TracingMiddleware:
    """Only part of the application while tracing is on. Reads ``route`` and ``request_id``.

    The path is not recorded, because a feed's path holds its token.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        headers = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
            if name in (b"traceparent", b"tracestate")
        }
        method = scope["method"] if scope["method"] in METHODS else "_OTHER"
        with tracing.span(method, "server", {"http.request.method": method}, headers) as span:
            try:
                await self._app(scope, receive, send_and_note)
            finally:
                attributes: dict[str, str | int] = {
                    "http.response.status_code": status,
                    "hiatus.request_id": scope.get("request_id", ""),
                }
                route = getattr(scope.get("route"), "path", None)
                if route is not None:
                    span.rename(f"{method} {route}")
                    attributes["http.route"] = route
                span.set(attributes)
                if status >= 500:
                    span.fail(str(status))
