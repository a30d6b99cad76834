"""The shape of what Slack sends, as far as listeners read it.

A listener that reads a member that is not there raises UnexpectedPayload. Null is the same as
absent. Source: docs.slack.dev, "Interaction payloads".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from typing_extensions import TypedDict


class UnexpectedPayload(Exception):
    """A payload lacks a member that its listener needs: it may be for an older version."""


class _Payload(dict[str, object]):
    def __missing__(self, name: str) -> object:
        raise UnexpectedPayload(name)


def read(body: Mapping[str, object]) -> Body:
    """The payload without null members. Reading a member that it lacks raises UnexpectedPayload."""
    return cast(Body, _read(body))


def _read(value: object) -> object:
    if isinstance(value, Mapping):
        return _Payload(
            (name, _read(member)) for name, member in value.items() if member is not None
        )
    return list(map(_read, value)) if isinstance(value, list) else value


class Person(TypedDict, total=False):
    id: str
    team_id: str


class Event(TypedDict, total=False):
    """``ts`` is when a message was written, in seconds since 1970."""

    type: str
    user: str | Person
    tab: str
    tokens: dict[str, list[str]]
    subtype: str
    bot_id: str
    channel: str
    channel_type: str
    text: str
    ts: str
    thread_ts: str


class Option(TypedDict, total=False):
    value: str


class Answer(TypedDict, total=False):
    """The state of an element."""

    type: str
    value: str
    url: str
    selected_option: Option
    selected_options: list[Option]
    selected_date: str
    selected_user: str
    selected_channel: str
    selected_conversation: str


class Action(Answer, total=False):
    action_id: str
    block_id: str
    action_ts: str


# By block id, then by action id.
Values = Mapping[str, Mapping[str, Answer]]


class State(TypedDict, total=False):
    values: dict[str, dict[str, Answer]]


class ShownElement(TypedDict, total=False):
    initial_date: str
    initial_option: Option


class ShownText(TypedDict, total=False):
    text: str


class ShownBlock(TypedDict, total=False):
    type: str
    block_id: str
    element: ShownElement
    text: ShownText


class ShownView(TypedDict, total=False):
    id: str
    type: str
    callback_id: str
    private_metadata: str
    hash: str
    root_view_id: str
    previous_view_id: str
    state: State
    blocks: list[ShownBlock]


class Container(TypedDict, total=False):
    channel_id: str
    message_ts: str


class Body(TypedDict, total=False):
    """A payload of any kind."""

    type: str
    api_app_id: str
    user: str | Person
    user_id: str
    trigger_id: str
    response_url: str
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
