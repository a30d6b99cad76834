"""The shape of what Slack sends. ``bot.service.receiving`` checks it; listeners read it.

Only members that Bolt or a listener reads are named here, and only those that Bolt reads are
required: a listener that needs another one says so by reading it. Null is the same as absent.
Source: docs.slack.dev, "Interaction payloads".
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Required

from pydantic import AfterValidator, Field
from typing_extensions import TypedDict


class UnexpectedPayload(Exception):
    """A payload lacks a member that its listener needs: it may be for an older version."""


class Payload(dict[str, object]):
    """A JSON object from Slack. Reading a member that it lacks raises UnexpectedPayload."""

    @classmethod
    def of(cls, sent: Mapping[str, object]) -> Payload:
        """The same JSON without null members, with every object in it as a Payload."""
        return cls((name, _payload(value)) for name, value in sent.items() if value is not None)

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
    email: str
    image_192: str


class Entity(TypedDict, total=False):
    """A workspace, person or channel."""

    id: Id
    team_id: Id
    enterprise_id: Id
    name: str
    real_name: str
    tz: str
    locale: str
    profile: Profile


Named = Id | Entity


class Common(TypedDict, total=False):
    """Members that Bolt reads in every payload and event, and the app's id."""

    api_app_id: Id
    team: Named
    team_id: Id
    user: Named
    user_id: Id
    channel: Named
    channel_id: Id
    enterprise: Named
    enterprise_id: Id
    thread_ts: Id
    trigger_id: str
    response_url: str


class Event(Common, total=False):
    type: Required[str]
    subtype: str
    bot_id: Id
    tab: object
    tokens: dict[str, list[str]]


class EventCallback(Common, total=False):
    event: Required[Event]
    event_id: Id
    event_time: Seconds
    authorizations: list[Common]


class Option(TypedDict, total=False):
    value: Stored


class Answer(TypedDict, total=False):
    """The state of an element."""

    type: str
    value: str
    url: str
    selected_option: Option
    selected_options: list[Option]
    selected_date: Day
    selected_user: Id
    selected_channel: Id
    selected_conversation: Id


class Action(Answer, total=False):
    action_id: Required[str]
    block_id: Id
    action_ts: Id


# By block id, then by action id.
Values = Mapping[str, Mapping[str, Answer]]


class State(TypedDict, total=False):
    values: dict[str, dict[str, Answer]]


class ShownElement(TypedDict, total=False):
    initial_date: Day
    initial_option: Option


class ShownText(TypedDict, total=False):
    text: str


class ShownBlock(TypedDict, total=False):
    type: str
    block_id: str
    element: ShownElement
    text: ShownText


class View(TypedDict, total=False):
    id: Id
    private_metadata: Stored
    hash: Id
    team_id: Id
    app_installed_team_id: Id
    root_view_id: Id
    previous_view_id: Id
    state: State
    blocks: list[ShownBlock]


class ShownView(View, total=False):
    type: str
    callback_id: str


class ClosedView(View):
    callback_id: str


class SubmittedView(ClosedView):
    type: str


class Container(TypedDict, total=False):
    channel_id: Id
    message_ts: Id


class BlockActions(Common, total=False):
    actions: Required[Annotated[list[Action], Field(min_length=1)]]
    container: Container
    view: ShownView


class BlockSuggestion(Common, total=False):
    action_id: Required[str]
    value: str
    view: ShownView


class ViewClosed(Common):
    view: ClosedView


class ViewSubmission(Common):
    view: SubmittedView


class Shortcut(Common):
    callback_id: str


class Command(Common, total=False):
    command: Required[str]
    text: str


class Verification(TypedDict):
    challenge: str


class Body(Common, total=False):
    """A payload of any kind, as a listener reads it. At run time it is a ``Payload``."""

    type: str
    action_id: str
    actions: list[Action]
    callback_id: str
    command: str
    container: Container
    event: Event
    event_id: str
    event_time: int
    text: str
    value: str
    view: ShownView


def inputs(view: ShownView) -> list[str]:
    """The ids of the input blocks of a view."""
    return [
        block["block_id"]
        for block in view.get("blocks", ())
        if block.get("type") == "input" and "block_id" in block
    ]
