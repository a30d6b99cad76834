"""Slack over Socket Mode, for ``hiatus bot``: the same listeners without a public URL."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from typing import Final

import structlog
from aiohttp import WSMessage
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_bolt.adapter.socket_mode.internals import build_headers
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from bot.client import slack_web
from bot.service.app import SlackApp
from bot.service.receiving import dispatch
from bot.service.socket_health import Health

# A dead connection is noticed after 1.5 times this interval and replaced within five seconds.
PING_SECONDS: Final = 2.5
_CHECK_SECONDS: Final = 0.25
# Retries for a temporary failure; a wrong token is not retried.
_RETRY_SECONDS: Final = (1, 2, 5, 10, 30)
_BAD_TOKEN: Final = frozenset(
    {
        "account_inactive",
        "invalid_auth",
        "missing_scope",
        "not_allowed_token_type",
        "not_authed",
        "token_expired",
        "token_revoked",
    }
)

_log = structlog.stdlib.get_logger("hiatus.slack")


class CannotServe(Exception):
    """A permanent failure; the message says how to fix it."""


class BadToken(CannotServe):
    """Slack does not accept a token; the message names the setting."""


class SocketModeOff(CannotServe):
    """Socket Mode was switched off in the app's settings."""

    def __init__(self) -> None:
        super().__init__(
            "Socket Mode is switched off for this app: switch it on at https://api.slack.com/apps, "
            "or serve Slack over HTTP with `hiatus serve`."
        )


async def run(
    slack: SlackApp,
    app_token: str,
    stop: asyncio.Event,
    *,
    ping_seconds: float = PING_SECONDS,
    health: Health | None = None,
) -> None:
    """Serve until ``stop`` is set; call inside ``slack.running()``.

    Reconnects when Slack asks for it or the connection breaks. Raises CannotServe.
    """
    # The client itself would retry a bad token forever.
    if not await _tokens_accepted(slack, app_token, stop):
        return
    handler = _Handler(
        slack.bolt,
        app_token,
        logger=slack_web.LOGGER,
        web_client=slack.bolt.client,
        ping_interval=ping_seconds,
    )
    handler.client.on_message_listeners.append(handler.note_switched_off)
    handler.client.message_listeners.append(_replace_odd_payload)
    try:
        await handler.connect_async()  # type: ignore[no-untyped-call]
        _log.info("slack.socket_connected")
        await _keep_connected(handler, stop, health or Health())
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]


async def _keep_connected(handler: _Handler, stop: asyncio.Event, health: Health) -> None:
    """Replace broken connections; the client itself only checks them with each ping."""
    client = handler.client
    try:
        while not stop.is_set():
            if handler.is_switched_off:
                raise SocketModeOff
            session = client.current_session
            health.is_connected = session is not None and not session.closed
            if not health.is_connected:
                try:
                    await client.connect_to_new_endpoint()
                except slack_web.FAILURES as failure:
                    _stop_on_bad_token(failure)
                    _log.warning("slack.not_reached", reason=slack_web.summary(failure))
                    await _wait(stop, _RETRY_SECONDS[0])
            await _wait(stop, _CHECK_SECONDS)
    finally:
        health.is_connected = False


def _stop_on_bad_token(failure: Exception) -> None:
    if isinstance(failure, SlackApiError):
        error = _token_error(failure, "HIATUS_SLACK_APP_TOKEN")
        if isinstance(error, BadToken):
            raise error from failure


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()


class _Handler(AsyncSocketModeHandler):
    """Bolt's handler, with payloads validated first."""

    is_switched_off = False

    async def note_switched_off(self, message: WSMessage) -> None:  # type: ignore[explicit-any]
        """Slack says this once; the client would try to reconnect forever."""
        if '"link_disabled"' in message.data:
            payload = json.loads(message.data)
            kind = payload.get("type"), payload.get("reason")
            self.is_switched_off |= kind == ("disconnect", "link_disabled")

    async def handle(  # type: ignore[override]
        self, client: SocketModeClient, req: SocketModeRequest
    ) -> None:
        started = time.time()
        response = await dispatch(self.app, req.payload, build_headers(req) or {})
        await send_async_response(client, req, response, started)


async def _replace_odd_payload(
    client: AsyncBaseSocketModeClient, message: dict[str, object], raw_message: str | None
) -> None:
    """Empty a payload that is not an object: ``dispatch`` refuses it, the SDK would raise."""
    if not isinstance(message.get("payload", {}), dict):
        message["payload"] = {}


async def _tokens_accepted(slack: SlackApp, app_token: str, stop: asyncio.Event) -> bool:
    """Whether Slack accepts both tokens; False if stopped before it responds."""
    attempt = 0
    while not stop.is_set():
        try:
            await _check(slack, app_token)
        except slack_web.FAILURES as failure:
            wait_seconds = _RETRY_SECONDS[min(attempt, len(_RETRY_SECONDS) - 1)]
            attempt += 1
            _log.warning(
                "slack.not_reached",
                reason=slack_web.summary(failure),
                next_attempt_in_seconds=wait_seconds,
            )
            await _wait(stop, wait_seconds)
        else:
            return True
    return False


async def _check(slack: SlackApp, app_token: str) -> None:
    try:
        await slack.bolt.client.apps_connections_open(app_token=app_token)
    except SlackApiError as failure:
        raise _token_error(failure, "HIATUS_SLACK_APP_TOKEN") from failure
    try:
        await slack.workspaces.check_token()
    except SlackApiError as failure:
        raise _token_error(failure, "HIATUS_SLACK_BOT_TOKEN") from failure


def _token_error(failure: SlackApiError, setting: str) -> Exception:
    code = slack_web.error_code(failure)
    if code not in _BAD_TOKEN:
        return failure
    return BadToken(f"Slack does not accept {setting}: {code}.")
