"""Slack over HTTP: its routes, and what has to be looked at before Bolt may see a request.

Bolt answers malformed timestamps, signatures and bodies with 500; Slack counts those against us.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl

from slack_bolt.adapter.starlette.async_handler import to_starlette_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.request.async_internals import build_async_context
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.installing import Installing

# A view holds at most 250 kB; percent-encoded it may be three times as long.
LONGEST_BODY_BYTES: Final = 1_000_000


def routes(bolt: AsyncApp) -> list[Route]:
    """``POST /slack/events``: commands, shortcuts, clicks, forms and events."""

    async def slack_events(request: Request) -> Response:
        if not _is_signed_in_form(request):
            return _refused(401, "The request is not signed as Slack signs.")
        body = await _body(request)
        if body is None:
            return _refused(400, "The body is too long.")
        found = _bolt_request(request, body)
        if found is None:
            return _refused(400, "The body is not what Slack sends.")
        return to_starlette_response(await bolt.async_dispatch(found))

    return [Route("/slack/events", slack_events, methods=["POST"])]


def installation_routes(installing: Installing) -> list[Route]:
    """``GET /slack/install`` sends a browser to Slack, and it comes back to the other."""

    def page(show: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]]) -> Any:
        async def endpoint(request: Request) -> Response:
            headers: dict[str, str | Sequence[str]] = dict(request.headers.items())
            shown = await show(AsyncBoltRequest(body="", query=request.url.query, headers=headers))
            response = to_starlette_response(shown)
            # Neither the state nor the code is anybody's business, and neither works twice.
            response.headers["Cache-Control"] = "no-store"
            response.headers["Referrer-Policy"] = "no-referrer"
            return response

        return endpoint

    flow = installing.flow
    return [
        Route(flow.install_path, page(flow.handle_installation), methods=["GET"]),
        Route(flow.redirect_uri_path, page(flow.handle_callback), methods=["GET"]),
    ]


def _is_signed_in_form(request: Request) -> bool:
    """Whether the signature's headers can be verified at all; Bolt does so, absent or not."""
    timestamp = request.headers.get("x-slack-request-timestamp", "0")
    signature = request.headers.get("x-slack-signature", "")
    is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12
    return is_number and signature.isascii()


async def _body(request: Request) -> bytes | None:
    """The body, None when it is longer than Slack's ever are."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LONGEST_BODY_BYTES:
                return None
    except ClientDisconnect:
        return None
    return bytes(body)


def _bolt_request(request: Request, body: bytes) -> AsyncBoltRequest | None:
    try:
        text = body.decode()
        found = AsyncBoltRequest(body=text, headers=dict(request.headers.items()))
        if not found.body and "command=" in text:
            # Bolt takes a command for something else when the word "payload" is typed after it.
            found.body = dict(parse_qsl(text, keep_blank_values=True))
            found.context = build_async_context(AsyncBoltContext({}), found.body)
        return found
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
        # Bolt reads JSON and looks into it before it verifies anything.
        return None


def _refused(status: int, why: str) -> Response:
    return JSONResponse({"error": why}, status_code=status)
