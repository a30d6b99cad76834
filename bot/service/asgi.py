"""Slack over HTTP: its routes, and the check that a request is signed by Slack."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Final
from urllib.parse import parse_qsl

from slack_bolt.adapter.starlette.async_handler import to_starlette_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.signature import SignatureVerifier
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.service.installing import Installing
from bot.service.receiving import dispatch

# A view has at most 250 kB; percent-encoded it may be three times as long.
MAX_BODY_BYTES: Final = 1_000_000


def routes(bolt: AsyncApp, signing_secret: str) -> list[Route]:
    """``POST /slack/events``: commands, shortcuts, clicks, forms and events."""
    verifier = SignatureVerifier(signing_secret)

    async def slack_events(request: Request) -> Response:
        if not _is_signed_in_form(request):
            return _refused(401, "The request has no valid Slack signature.")
        body = await _body(request)
        if body is None:
            return _refused(400, "The body is too long.")
        try:
            text = body.decode()
            if not verifier.is_valid_request(text, request.headers):
                return _refused(401, "The request has no valid Slack signature.")
            payload = _parsed(text, request.headers.get("content-type"))
        except (ValueError, RecursionError):
            return _refused(400, "The body is not a valid Slack payload.")
        return to_starlette_response(await dispatch(bolt, payload, request.headers))

    return [Route("/slack/events", slack_events, methods=["POST"])]


def installation_routes(installing: Installing) -> list[Route]:
    """``GET /slack/install`` redirects to Slack, which redirects back to the callback."""

    def page(
        show: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]],
    ) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            headers: dict[str, str | Sequence[str]] = dict(request.headers.items())
            shown = await show(AsyncBoltRequest(body="", query=request.url.query, headers=headers))
            response = to_starlette_response(shown)
            # The state and the code are secret and work only once.
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
    """Whether the signature headers are well-formed; the verifier raises on malformed ones."""
    timestamp = request.headers.get("x-slack-request-timestamp", "0")
    signature = request.headers.get("x-slack-signature", "")
    is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12
    return is_number and signature.isascii()


async def _body(request: Request) -> bytes | None:
    """The body, or None if it is longer than any of Slack's."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                return None
    except ClientDisconnect:
        return None
    return bytes(body)


def _parsed(text: str, content_type: str | None) -> object:
    """The payload. Raises ValueError or RecursionError."""
    if content_type is not None and content_type.split(";")[0].strip() == "application/json":
        return json.loads(text)
    form = dict(parse_qsl(text, keep_blank_values=True))
    return json.loads(form["payload"]) if "payload" in form else form


def _refused(status: int, why: str) -> Response:
    return JSONResponse({"error": why}, status_code=status)
