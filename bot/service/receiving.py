"""Validates payloads from Slack before Bolt reads them, for HTTP and Socket Mode.

Bolt reads a payload before any listener runs, and raises on members of an unexpected type and on
those that it misses. Such a payload is refused here; others are passed to Bolt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import structlog
from pydantic import TypeAdapter, ValidationError
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from typing_extensions import TypedDict

from bot.base.payloads import (
    BlockActions,
    BlockSuggestion,
    Command,
    EventCallback,
    Payload,
    Shortcut,
    UnexpectedPayload,
    Verification,
    ViewClosed,
    ViewSubmission,
)

# Without it, Slack resends a refused event three times.
_NO_RETRY: Final[dict[str, str | Sequence[str]]] = {"x-slack-no-retry": "1"}
_MAX_LOGGED: Final = 80

_log = structlog.stdlib.get_logger("hiatus.slack")


class _Kinds(TypedDict, total=False):
    """Payloads by kind, so that one validator is built, with each nested shape once."""

    block_actions: BlockActions
    block_suggestion: BlockSuggestion
    command: Command
    event_callback: EventCallback
    message_action: Shortcut
    shortcut: Shortcut
    url_verification: Verification
    view_closed: ViewClosed
    view_submission: ViewSubmission


_PAYLOADS: Final = TypeAdapter(_Kinds)


async def dispatch(
    bolt: AsyncApp, sent: object, headers: Mapping[str, str | Sequence[str]]
) -> BoltResponse:
    """Handle a payload that is known to come from Slack. Never raises.

    Returns 200 if it was handled or ignored, 503 for an event that Slack should resend, 400 if it
    does not match Slack's documentation.
    """
    if isinstance(sent, dict) and sent.get("ssl_check") == "1":
        # Slack checks the certificate of a command's URL regularly.
        return BoltResponse(status=200, body="")
    if not isinstance(sent, dict) or not isinstance(kind := _kind_of(sent), str):
        return _refused("unknown", "it has no type")
    if kind == "app_rate_limited":
        _log.warning(
            "slack.app_rate_limited",
            team_id=_short(sent.get("team_id")),
            minute=_short(sent.get("minute_rate_limited")),
        )
        return BoltResponse(status=200, body="")
    if kind not in _Kinds.__annotations__:
        _log.warning("slack.payload_not_handled", kind=_short(kind))
        return BoltResponse(status=200, body="")
    try:
        payload = Payload.of(sent)
        _PAYLOADS.validate_python({kind: payload}, strict=True)
        request = AsyncBoltRequest(body=payload, headers=dict(headers), mode="socket_mode")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        _, *path = first["loc"]
        return _refused(kind, f"{'/'.join(map(str, path))}: {first['type']}")
    except (
        UnexpectedPayload,
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        RecursionError,
    ) as error:
        # Bolt looks for ids in more places than the schemas cover.
        return _refused(kind, type(error).__name__)
    return await bolt.async_dispatch(request)


def _kind_of(sent: Mapping[str, object]) -> object:
    return "command" if "command" in sent else sent.get("type")


def _refused(kind: str, why: str) -> BoltResponse:
    # Only names and types: user input is not logged.
    _log.warning("slack.payload_refused", kind=kind, reason=_short(why))
    return BoltResponse(
        status=400, body={"error": "The body is not a valid Slack payload."}, headers=_NO_RETRY
    )


def _short(reason: object) -> str:
    return str(reason)[:_MAX_LOGGED]
