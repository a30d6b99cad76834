"""Slack's Web API as we call it: one client, one session, and what its failures mean."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.base.settings import SlackSettings
from storage.slack.slack_installations import TokenUnreadable

# A delivery makes up to three calls, and ends before its lease does.
CALL_SECONDS: Final = 10

# The workspace's token is good for nothing any more, whatever it is used for.
TOKEN_REFUSED: Final = frozenset({"account_inactive", "invalid_auth", "token_revoked"})

# A call that Slack refused, whose outcome is unknown, or that could not be made.
FAILURES: Final = (SlackClientError, aiohttp.ClientError, TimeoutError, TokenUnreadable)

# Slack's error codes for temporary failures (docs.slack.dev, errors of every method).
_TEMPORARY: Final = frozenset(
    {
        "accesslimited",
        "fatal_error",
        "internal_error",
        "rate_limited",
        "ratelimited",
        "request_timeout",
        "service_unavailable",
        "team_added_to_org",
    }
)

# Bolt logs rejected bodies at INFO and the SDK every argument at DEBUG; notes are personal data.
LOGGER: Final = logging.getLogger("hiatus.slack_library")
LOGGER.setLevel(logging.WARNING)


def new_client(settings: SlackSettings, token: str | None) -> AsyncWebClient:
    """A client without a session yet; it repeats nothing by itself, so nothing is said twice."""
    return AsyncWebClient(
        token=token,
        base_url=settings.api_url,
        timeout=CALL_SECONDS,
        logger=LOGGER,
        retry_handlers=[],
    )


def with_token(template: AsyncWebClient, token: str) -> AsyncWebClient:
    """A client like ``template``, over the same session, that speaks with this token alone."""
    client = AsyncWebClient(
        token=token,
        base_url=template.base_url,
        timeout=template.timeout,
        logger=LOGGER,
        retry_handlers=[],
    )
    client.session = template.session
    return client


@asynccontextmanager
async def connected(*clients: AsyncWebClient) -> AsyncIterator[None]:
    """Give the clients one session of the running event loop, and close it at the end."""
    timeout = aiohttp.ClientTimeout(total=CALL_SECONDS, sock_connect=5)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        for client in clients:
            client.session = session
        try:
            yield
        finally:
            for client in clients:
                client.session = None


def error_code(failure: Exception) -> str | None:
    """Slack's own word for what went wrong, None when it said none."""
    if not isinstance(failure, SlackApiError):
        return None
    # What could not be read carries aiohttp's response instead of Slack's.
    data = getattr(failure.response, "data", None)
    code = data.get("error") if isinstance(data, dict) else None
    return code if isinstance(code, str) else None


def is_temporary(failure: Exception) -> bool:
    """Whether the same call may succeed later: Slack named no lasting error."""
    code = error_code(failure)
    return code is None or code in _TEMPORARY


def is_rate_limit(failure: Exception) -> bool:
    """Whether Slack asks us to call less often; a 429 may have a body that is not Slack's."""
    return error_code(failure) in ("ratelimited", "rate_limited") or status_code(failure) == 429


def status_code(failure: Exception) -> int | None:
    """The HTTP status of the answer, None when there was none."""
    response = getattr(failure, "response", None)
    status = getattr(response, "status_code", None) or getattr(response, "status", None)
    return status if isinstance(status, int) else None


def retry_after_seconds(failure: Exception) -> int | None:
    """How long Slack asks us to wait (docs.slack.dev, "Rate limits")."""
    headers = getattr(getattr(failure, "response", None), "headers", None) or {}
    text = str(headers.get("Retry-After", "")).strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else None


def summary(failure: Exception) -> str:
    """A short line for the log and the notice's row; never what was sent."""
    said = error_code(failure) or status_code(failure)
    return type(failure).__name__ if said is None else f"{type(failure).__name__}: {said}"
