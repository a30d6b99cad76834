"""Clients of Slack's Web API and the meaning of their failures."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from typing import Any, Final

import aiohttp
from prometheus_client import Counter, Histogram
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.base.settings import SlackSettings
from storage.base import monitoring
from storage.base.monitoring import REGISTRY
from storage.people.people_rows import SlackProfile
from storage.workspaces.slack_installations import TokenUnreadable

# A delivery makes up to three calls and must end before its lease expires.
CALL_SECONDS: Final = 10

# The workspace's token is no longer valid for any call.
TOKEN_REFUSED: Final = frozenset({"account_inactive", "invalid_auth", "token_revoked"})

# Slack refused the call, its outcome is unknown, or it could not be made.
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
# Bolt logs the code of an installation that failed, and for ten minutes the code may be valid.
_INSTALLATION_CODE: Final = re.compile(r"(?<=with code: )\S+")


def _hide_code(record: logging.LogRecord) -> bool:
    record.msg = _INSTALLATION_CODE.sub("…", str(record.msg))
    return True


LOGGER.addFilter(_hide_code)

_CALLS: Final = Counter(
    "hiatus_slack_calls_total",
    "Calls of Slack's Web API by method and outcome.",
    ("method", "outcome"),
    registry=REGISTRY,
)
_DURATIONS: Final = Histogram(
    "hiatus_slack_call_duration_seconds",
    "How long Slack took to respond.",
    ("method",),
    registry=REGISTRY,
    buckets=(0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
_RETRY_AFTER: Final = Histogram(
    "hiatus_slack_retry_after_seconds",
    "How long Slack asked to wait after calls that it limited.",
    registry=REGISTRY,
    buckets=(1, 5, 10, 30, 60, 300, 3_600),
)


class _Client(AsyncWebClient):
    """Slack's client, whose calls are measured."""

    async def api_call(  # type: ignore[explicit-any]  # as the SDK declares them
        self, api_method: str, **arguments: Any
    ) -> AsyncSlackResponse:
        with measured(api_method):
            return await super().api_call(api_method, **arguments)


def new_client(settings: SlackSettings, token: str | None) -> AsyncWebClient:
    """A client without a session; it does not retry, so no message is sent twice."""
    return _Client(
        token=token,
        base_url=settings.api_url,
        timeout=CALL_SECONDS,
        logger=LOGGER,
        retry_handlers=[],
    )


def with_token(template: AsyncWebClient, token: str) -> AsyncWebClient:
    """A client with this token and the session of ``template``."""
    client = _Client(
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
    """Give the clients a shared session, and close it at the end."""
    timeout = aiohttp.ClientTimeout(total=CALL_SECONDS, sock_connect=5)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        for client in clients:
            client.session = session
        try:
            yield
        finally:
            for client in clients:
                client.session = None


@contextmanager
def measured(method: str) -> Iterator[None]:
    """Measure one call. ``method`` is written in the code."""
    started = time.perf_counter()
    outcome = "ok"
    with monitoring.span(f"slack {method}", "client", {"rpc.system": "slack"}) as span:
        try:
            yield
        except BaseException as failure:
            outcome = _outcome_of(failure)
            raise
        finally:
            span.set({"rpc.method": method, "hiatus.outcome": outcome})
            _CALLS.labels(method, outcome).inc()
            _DURATIONS.labels(method).observe(time.perf_counter() - started)


def _outcome_of(failure: BaseException) -> str:
    match failure:
        case asyncio.CancelledError():
            return "cancelled"
        case Exception() if is_rate_limit(failure):
            _RETRY_AFTER.observe(retry_after_seconds(failure) or 0)
            return "rate_limited"
        case TimeoutError():
            return "timeout"
        case SlackApiError() if error_code(failure) in TOKEN_REFUSED:
            return "token_refused"
        case SlackApiError() if not is_temporary(failure):
            return "refused"
        case SlackClientError() | aiohttp.ClientResponseError():
            return "unavailable"
        case aiohttp.ClientError():
            return "connection_failed"
    return "failed"


def error_code(failure: Exception) -> str | None:
    """Slack's error code, or None."""
    if not isinstance(failure, SlackApiError):
        return None
    # An unreadable response is aiohttp's instead of Slack's.
    data = getattr(failure.response, "data", None)
    code = data.get("error") if isinstance(data, dict) else None
    return code if isinstance(code, str) else None


def is_temporary(failure: Exception) -> bool:
    """Whether the same call may succeed later."""
    code = error_code(failure)
    return code is None or code in _TEMPORARY


def is_rate_limit(failure: Exception) -> bool:
    """Whether the call was rate limited; a 429 may have a body that is not Slack's."""
    return error_code(failure) in ("ratelimited", "rate_limited") or status_code(failure) == 429


def is_unconfirmed(failure: Exception) -> bool:
    """Whether Slack may have done what the call asked for, without a readable response."""
    if isinstance(failure, aiohttp.ClientConnectorError) or is_rate_limit(failure):
        return False
    return isinstance(failure, (TimeoutError, aiohttp.ClientError))


def status_code(failure: Exception) -> int | None:
    """The HTTP status of the response, or None."""
    response = getattr(failure, "response", None)
    status = getattr(response, "status_code", None) or getattr(response, "status", None)
    return status if isinstance(status, int) else None


def retry_after_seconds(failure: Exception) -> int | None:
    """The wait that Slack asks for (docs.slack.dev, "Rate limits")."""
    headers = getattr(getattr(failure, "response", None), "headers", None) or {}
    text = str(headers.get("Retry-After", "")).strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else None


def summary(failure: Exception) -> str:
    """A short line for the log and the notification's row, without message contents."""
    code = error_code(failure) or status_code(failure)
    return type(failure).__name__ if code is None else f"{type(failure).__name__}: {code}"


# The year 2100; a later time is malformed.
_MAX_EXPIRY_SECONDS: Final = 4_102_444_800
# The lengths of the columns.
_MAX_LENGTHS: Final = {"id": 32, "locale": 35}


def is_full_member(user: Mapping[str, object], team_id: str) -> bool:
    """Whether Slack's user object is a full member of the workspace.

    Source: docs.slack.dev, "User object".
    """
    return user.get("team_id") == team_id and not any(
        user.get(flag)
        for flag in (
            "deleted",
            "is_bot",
            "is_restricted",
            "is_ultra_restricted",
            "is_stranger",
        )
    )


def is_own(user: Mapping[str, object], team_id: str) -> bool:
    """As ``is_full_member``, also for accounts that were deactivated."""
    return is_full_member({**user, "deleted": False}, team_id)


class MalformedProfile(Exception):
    """Slack's user object is not as documented; ``field`` is the member that is wrong."""

    def __init__(self, field: str) -> None:
        super().__init__(f"Slack's user object has a malformed {field!r}.")
        self.field = field


def profile_of(user: Mapping[str, object]) -> SlackProfile:
    """The profile in Slack's user object. Raises MalformedProfile.

    Source: docs.slack.dev, "User object".
    """
    profile = user.get("profile") or {}
    if not isinstance(profile, Mapping):
        raise MalformedProfile("profile")
    slack_user_id = _text(user, "id")
    if not slack_user_id:
        raise MalformedProfile("id")
    real_name = str(profile.get("real_name") or user.get("real_name") or user.get("name") or "")
    first_name, _, last_name = real_name.partition(" ")
    if profile.get("first_name"):
        first_name, last_name = str(profile["first_name"]), str(profile.get("last_name") or "")
    return SlackProfile(
        slack_user_id=slack_user_id,
        email=_text(profile, "email"),
        first_name=first_name,
        last_name=last_name,
        timezone=_text(user, "tz"),
        locale=_text(user, "locale"),
        avatar_url=_text(profile, "image_192"),
        is_deleted=bool(user.get("deleted")),
        is_email_confirmed=user.get("is_email_confirmed") is True,
        updated_at=_updated_at(user.get("updated")),
    )


def _text(fields: Mapping[str, object], name: str) -> str | None:
    """A text member, or None. The database stores neither NUL nor lone surrogates."""
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not value.isprintable():
        raise MalformedProfile(name)
    max_length = _MAX_LENGTHS.get(name)
    if max_length is not None and len(value) > max_length:
        raise MalformedProfile(name)
    return value


def _updated_at(seconds: object) -> datetime | None:
    if not isinstance(seconds, int) or not 0 < seconds < _MAX_EXPIRY_SECONDS:
        return None
    return datetime.fromtimestamp(seconds, UTC)
