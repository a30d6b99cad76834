"""The shape of what Slack sends. ``bot.service.receiving`` checks it; listeners read it.

Only members that Bolt or a listener reads are named here. Source: docs.slack.dev, "Interaction
payloads".
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, NotRequired

from pydantic import AfterValidator, Field
from typing_extensions import TypedDict


class UnexpectedPayload(Exception):
    """A payload lacks a member that its listener needs: it may be for an older version."""


class Payload(dict[str, object]):
    """A JSON object from Slack. Reading a member that it lacks raises UnexpectedPayload."""

    @classmethod
    def of(cls, sent: Mapping[str, object]) -> Payload:
        """The same JSON, with every object in it as a Payload."""
        return cls((name, _payload(value)) for name, value in sent.items())

    def __missing__(self, name: str) -> object:
        raise UnexpectedPayload(name)


def _payload(value: object) -> object:
    if isinstance(value, dict):
        return Payload.of(value)
    return list(map(_payload, value)) if isinstance(value, list) else value


def _real_day(text: str) -> str:
    date.fromisoformat(text)
    return text


# Ids are opaque, but always short and ASCII.
Id = Annotated[str, Field(pattern=r"^[!-~]*$", max_length=40)]
Stored = Annotated[str, Field(pattern=r"^[^\x00]*$")]
Day = Annotated[str, AfterValidator(_real_day)]
Seconds = Annotated[int, Field(ge=0, le=2**35)]


class Profile(TypedDict, total=False):
    email: str | None
    image_192: str | None


class Entity(TypedDict, total=False):
    """A workspace, person or channel."""

    id: Id | None
    team_id: Id | None
    enterprise_id: Id | None
    name: str | None
    real_name: str | None
    tz: str | None
    locale: str | None
    profile: Profile | None


Named = Id | Entity | None


class Common(TypedDict, total=False):
    """Members that Bolt reads in every payload and event, and the app's id."""

    api_app_id: Id | None
    team: Named
    team_id: Id | None
    user: Named
    user_id: Id | None
    channel: Named
    channel_id: Id | None
    enterprise: Named
    enterprise_id: Id | None
    thread_ts: Id | None
    trigger_id: str
    response_url: str | None


class Event(Common):
    type: str
    subtype: NotRequired[str | None]
    bot_id: NotRequired[Id | None]
    tab: NotRequired[object]
    tokens: NotRequired[dict[str, list[str]] | None]


class EventCallback(Common):
    event: Event
    event_id: NotRequired[Id | None]
    event_time: NotRequired[Seconds | None]
    authorizations: NotRequired[list[Common] | None]


class Option(TypedDict):
    value: Stored


class Answer(TypedDict, total=False):
    """The state of an element."""

    type: str
    value: str | None
    url: str | None
    selected_option: Option | None
    selected_options: list[Option] | None
    selected_date: Day | None
    selected_user: Id | None
    selected_channel: Id | None
    selected_conversation: Id | None


class Action(Answer):
    action_id: str
    block_id: NotRequired[Id]
    action_ts: NotRequired[Id]


# By block id, then by action id.
Values = Mapping[str, Mapping[str, Answer]]


class State(TypedDict):
    values: dict[str, dict[str, Answer]]


class ShownElement(TypedDict, total=False):
    initial_date: Day | None
    initial_option: Option | None


class ShownText(TypedDict):
    text: str


class ShownBlock(TypedDict):
    type: str
    block_id: str
    element: NotRequired[ShownElement]
    text: NotRequired[ShownText]


class ShownView(TypedDict):
    id: Id
    type: str
    callback_id: str
    private_metadata: NotRequired[Stored]
    hash: NotRequired[Id]
    team_id: NotRequired[Id | None]
    app_installed_team_id: NotRequired[Id | None]
    root_view_id: NotRequired[Id | None]
    previous_view_id: NotRequired[Id | None]
    state: NotRequired[State]
    blocks: list[ShownBlock]


class Container(TypedDict, total=False):
    type: str
    channel_id: Id
    message_ts: Id


class BlockActions(Common):
    actions: Annotated[list[Action], Field(min_length=1)]
    container: Container
    view: NotRequired[ShownView]


class OfView(Common):
    view: ShownView


class BlockSuggestion(Common):
    action_id: str
    value: NotRequired[str | None]
    view: NotRequired[ShownView]


class Shortcut(Common):
    callback_id: str


class Command(Common):
    command: str
    text: NotRequired[str | None]


class Verification(TypedDict):
    challenge: str


class Body(Common, total=False):
    """A payload of any kind, as a listener reads it. At run time it is a ``Payload``."""

    action_id: str
    actions: list[Action]
    command: str
    container: Container
    event: Event
    event_id: str | None
    event_time: int | None
    text: str | None
    value: str | None
    view: ShownView
