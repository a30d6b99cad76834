"""Slack over Socket Mode, for ``hiatus bot``: the same listeners without a public URL.

And its health checks and metrics, as the process serves no other HTTP.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import structlog
from aiohttp import WSMessage, web
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_sdk.errors import SlackApiError

from bot.client import slack_web
from bot.service.app import SlackApp

# A dead connection is noticed after 1.5 times this interval and replaced within five seconds.
PING_SECONDS: Final = 2.5
_CHECK_SECONDS: Final = 0.5
# While disconnected, the tokens are checked at the twentieth check and then once a minute.
_FIRST_TOKEN_CHECK: Final = 20
_TOKEN_CHECKS: Final = 120
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


_METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


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
    health: Health,
    ping_seconds: float = PING_SECONDS,
) -> None:
    """Serve until ``stop`` is set; call inside ``slack.running()``.

    Reconnects when Slack asks for it or the connection breaks. Raises CannotServe.
    """
    # The client itself would retry a bad token forever.
    if not await _tokens_accepted(slack, app_token, stop):
        return
    handler = AsyncSocketModeHandler(
        slack.bolt, app_token, logger=slack_web.LOGGER, ping_interval=ping_seconds
    )
    switched_off = asyncio.Event()

    async def note_switched_off(message: WSMessage) -> None:  # type: ignore[explicit-any]
        """Slack says this once; the client would try to reconnect forever."""
        if '"link_disabled"' in message.data:
            payload = json.loads(message.data)
            if (payload.get("type"), payload.get("reason")) == ("disconnect", "link_disabled"):
                switched_off.set()

    handler.client.on_message_listeners.append(note_switched_off)
    try:
        await handler.connect_async()  # type: ignore[no-untyped-call]
        _log.info("slack.socket_connected")
        lost_checks = 0
        while not stop.is_set():
            if switched_off.is_set():
                raise SocketModeOff
            health.is_connected = await handler.client.is_connected()
            lost_checks = 0 if health.is_connected else lost_checks + 1
            if lost_checks % _TOKEN_CHECKS == _FIRST_TOKEN_CHECK:
                # The client reconnects itself, but would retry a revoked token forever.
                with contextlib.suppress(*slack_web.FAILURES):
                    await _check(slack, app_token)
            await _wait(stop, _CHECK_SECONDS)
    finally:
        health.is_connected = False
        await handler.close_async()  # type: ignore[no-untyped-call]


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()


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


class Health:
    """Whether the process is connected to Slack: ``run`` sets ``is_connected``.

    ``metrics`` returns what Prometheus reads.
    """

    def __init__(self, metrics: Callable[[], Awaitable[bytes]] | None = None) -> None:
        self.is_connected = False
        self._text_of_metrics = metrics

    @asynccontextmanager
    async def served(self, host: str, port: int) -> AsyncIterator[None]:
        """Serve ``/healthz``, ``/readyz`` and, if there are any, ``/metrics``.

        Raises OSError if the port is in use.
        """
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        if self._text_of_metrics is not None:
            app.router.add_get("/metrics", self._metrics)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port).start()
            yield
        finally:
            await runner.cleanup()

    async def _healthz(self, request: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def _readyz(self, request: web.Request) -> web.Response:
        if self.is_connected:
            return web.json_response({"status": "ok"})
        unready = {"status": "unavailable", "reason": "slack_not_connected"}
        return web.json_response(unready, status=503)

    async def _metrics(self, request: web.Request) -> web.Response:
        assert self._text_of_metrics is not None
        body = await self._text_of_metrics()
        return web.Response(body=body, headers={"Content-Type": _METRICS_TYPE})
