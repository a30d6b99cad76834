"""Checks what Slack sends before Bolt and the listeners read it, over HTTP and Socket Mode alike.

Bolt reads a payload before any listener runs, and raises on members of an unexpected type. So a
payload that is not shaped as Slack documents it is refused here; the rest is handed to Bolt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Any, Final, NotRequired

import structlog
from pydantic import AfterValidator, Field, TypeAdapter, ValidationError
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from typing_extensions import TypedDict

from bot.interaction.listening import Payload, UnexpectedPayload

# Without it Slack sends a refused event three times more.
_NO_RETRY: Final[dict[str, str | Sequence[str]]] = {"x-slack-no-retry": "1"}
_LONGEST_LOGGED: Final = 80

_log = structlog.stdlib.get_logger("hiatus.slack")


def _real_day(text: str) -> str:
    date.fromisoformat(text)
    return text


# Ids are opaque, but always short and ASCII.
_Id = Annotated[str, Field(pattern=r"^[!-~]*$", max_length=40)]
_Stored = Annotated[str, Field(pattern=r"^[^\x00]*$")]
_Day = Annotated[str, AfterValidator(_real_day)]
_Seconds = Annotated[int, Field(ge=0, le=2**35)]


class _Profile(TypedDict, total=False):
    email: str | None
    image_192: str | None


class _Entity(TypedDict, total=False):
    """A workspace, person or channel. The members that are absent here are not read."""

    id: _Id | None
    team_id: _Id | None
    enterprise_id: _Id | None
    name: str | None
    real_name: str | None
    tz: str | None
    locale: str | None
    profile: _Profile | None


_Named = _Id | _Entity | None


class _Common(TypedDict, total=False):
    """What Bolt looks for in every payload, and in an event."""

    team: _Named
    team_id: _Id | None
    user: _Named
    user_id: _Id | None
    channel: _Named
    channel_id: _Id | None
    enterprise: _Named
    enterprise_id: _Id | None
    thread_ts: _Id | None
    trigger_id: str
    response_url: str | None


class _Event(_Common):
    type: str
    subtype: NotRequired[str | None]
    bot_id: NotRequired[_Id | None]
    tokens: NotRequired[dict[str, list[str]] | None]


class _EventCallback(_Common):
    event: _Event
    event_id: NotRequired[_Id | None]
    event_time: NotRequired[_Seconds | None]
    authorizations: NotRequired[list[_Common] | None]


class _Option(TypedDict):
    value: _Stored


class _Filled(TypedDict, total=False):
    """What was typed, picked or clicked in an element."""

    type: str
    value: str | None
    url: str | None
    selected_option: _Option | None
    selected_options: list[_Option] | None
    selected_date: _Day | None
    selected_user: _Id | None
    selected_channel: _Id | None
    selected_conversation: _Id | None


class _Action(_Filled):
    action_id: str
    action_ts: NotRequired[_Id]


class _State(TypedDict):
    values: dict[str, dict[str, _Filled]]


class _Block(TypedDict):
    type: str
    block_id: str


class _View(TypedDict):
    id: _Id
    type: str
    callback_id: str
    private_metadata: NotRequired[_Stored]
    hash: NotRequired[_Id]
    team_id: NotRequired[_Id | None]
    app_installed_team_id: NotRequired[_Id | None]
    root_view_id: NotRequired[_Id | None]
    previous_view_id: NotRequired[_Id | None]
    state: NotRequired[_State]
    blocks: list[_Block]


class _Container(TypedDict, total=False):
    type: str
    channel_id: _Id
    message_ts: _Id


class _BlockActions(_Common):
    actions: Annotated[list[_Action], Field(min_length=1)]
    container: _Container
    view: NotRequired[_View]


class _OfView(_Common):
    view: _View


class _BlockSuggestion(_Common):
    action_id: str
    value: NotRequired[str | None]
    view: NotRequired[_View]


class _Shortcut(_Common):
    callback_id: str


class _Command(_Common):
    command: str
    text: NotRequired[str | None]


class _Verification(TypedDict):
    challenge: str


_KINDS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "block_actions": TypeAdapter(_BlockActions),
    "block_suggestion": TypeAdapter(_BlockSuggestion),
    "command": TypeAdapter(_Command),
    "event_callback": TypeAdapter(_EventCallback),
    "message_action": TypeAdapter(_Shortcut),
    "shortcut": TypeAdapter(_Shortcut),
    "url_verification": TypeAdapter(_Verification),
    "view_closed": TypeAdapter(_OfView),
    "view_submission": TypeAdapter(_OfView),
}


async def dispatch(bolt: AsyncApp, sent: object, headers: Mapping[str, Any]) -> BoltResponse:
    """Answer a payload that is known to come from Slack. Never raises.

    200 where it was handled or there is nothing to do, 503 for an event that Slack shall send
    again, 400 where it is not shaped as Slack documents it.
    """
    if isinstance(sent, dict) and sent.get("ssl_check") == "1":
        # Slack looks at the certificate of a command's address now and then.
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
    shape = _KINDS.get(kind)
    if shape is None:
        _log.warning("slack.payload_not_handled", kind=_short(kind))
        return BoltResponse(status=200, body="")
    try:
        shape.validate_python(sent, strict=True)
        request = AsyncBoltRequest(body=Payload.of(sent), headers=dict(headers), mode="socket_mode")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        return _refused(kind, f"{'/'.join(map(str, first['loc']))}: {first['type']}")
    except (
        UnexpectedPayload,
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        RecursionError,
    ) as error:
        # Bolt looks for ids in more places than the shapes name.
        return _refused(kind, type(error).__name__)
    return await bolt.async_dispatch(request)


def _kind_of(sent: dict[str, Any]) -> object:
    return "command" if "command" in sent else sent.get("type")


def _refused(kind: str, why: str) -> BoltResponse:
    # Names and types alone: what people typed is not logged.
    _log.warning("slack.payload_refused", kind=kind, reason=_short(why))
    return BoltResponse(
        status=400, body={"error": "The body is not what Slack sends."}, headers=_NO_RETRY
    )


def _short(found: object) -> str:
    return str(found)[:_LONGEST_LOGGED]
