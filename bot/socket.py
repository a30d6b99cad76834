"""Slack over Socket Mode: what ``hiatus bot`` runs. The same listeners, no public address."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Final

import structlog
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_bolt.adapter.socket_mode.internals import build_headers
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from bot import slack_web
from bot.app import SlackApp
from bot.receiving import dispatch

PING_SECONDS: Final = 10.0
# Slack may be away for a moment; a token that is wrong stays wrong.
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


class BadToken(Exception):
    """Slack does not accept a token; the message names the setting to put right."""


async def run(
    slack: SlackApp,
    app_token: str,
    stop: asyncio.Event,
    *,
    ping_seconds: float = PING_SECONDS,
) -> None:
    """Serve until ``stop`` is set; call inside ``slack.running()``.

    Connects anew whenever Slack asks for it or a connection dies. Raises BadToken.
    """
    # The client itself would go on trying with a bad token for ever.
    if not await _tokens_accepted(slack, app_token, stop):
        return
    handler = _Handler(
        slack.bolt,
        app_token,
        logger=slack_web.LOGGER,
        web_client=slack.bolt.client,
        ping_interval=ping_seconds,
    )
    try:
        await handler.connect_async()  # type: ignore[no-untyped-call]
        _log.info("slack.socket_connected")
        await stop.wait()
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]


class _Handler(AsyncSocketModeHandler):
    """Bolt's, except that payloads are checked before it reads them."""

    async def handle(  # type: ignore[override]
        self, client: SocketModeClient, req: SocketModeRequest
    ) -> None:
        started = time.time()
        answer = await dispatch(self.app, req.payload, build_headers(req) or {})
        await send_async_response(client, req, answer, started)


async def _tokens_accepted(slack: SlackApp, app_token: str, stop: asyncio.Event) -> bool:
    """Whether Slack knows both tokens; False when we are stopped before it has said so."""
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
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_seconds):
                    await stop.wait()
        else:
            return True
    return False


async def _check(slack: SlackApp, app_token: str) -> None:
    try:
        await slack.bolt.client.apps_connections_open(app_token=app_token)
    except SlackApiError as failure:
        raise _named(failure, "HIATUS_SLACK_APP_TOKEN") from failure
    try:
        await slack.workspaces.check_token()
    except SlackApiError as failure:
        raise _named(failure, "HIATUS_SLACK_BOT_TOKEN") from failure


def _named(failure: SlackApiError, setting: str) -> Exception:
    code = slack_web.error_code(failure)
    if code not in _BAD_TOKEN:
        return failure
    return BadToken(f"Slack does not accept {setting}: {code}.")
