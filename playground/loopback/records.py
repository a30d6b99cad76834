"""Values of the loopback Slack: messages, views, calls, responses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playground.loopback.blocks import Button, Payload, buttons, visible_text


class Impossible(Exception):
    """A person could not do this in Slack: no such button, option, open view or shown message."""


class SlackRefusal(Exception):
    """An API method responds with `ok: false`, this code and these further fields."""

    def __init__(self, code: str, status: int = 200, **fields: object) -> None:
        super().__init__(code)
        self.code = code
        self.status = status
        self.fields = fields


@dataclass
class Message:
    """A message. `history` has its earlier (text, blocks), oldest first.

    A reply in a thread is seen there; one with `reply_broadcast` in the conversation, too.
    """

    team_id: str
    channel: str
    ts: str
    text: str
    blocks: list[Payload]
    author_id: str
    user: str | None = None
    ephemeral: bool = False
    # The first message of the thread that this one is a reply in.
    thread_ts: str | None = None
    # Whether the reply is shown in the conversation, too.
    reply_broadcast: bool = False
    metadata: Payload | None = None
    history: list[tuple[str, list[Payload]]] = field(default_factory=list)

    @property
    def visible_text(self) -> str:
        """The text that a person reads: the blocks, or the text where there are none."""
        return visible_text(self.blocks) if self.blocks else self.text

    @property
    def buttons(self) -> list[Button]:
        return buttons(self.blocks)

    def to_slack(self, app_id: str, bot_id: str) -> Payload:
        """The message's own fields of Slack's `message` object."""
        shape: Payload = {
            "type": "message",
            "user": self.author_id,
            "ts": self.ts,
            "text": self.text,
            "team": self.team_id,
            "bot_id": bot_id,
            "app_id": app_id,
        }
        optional = {
            "blocks": self.blocks,
            "thread_ts": self.thread_ts,
            "subtype": "thread_broadcast" if self.reply_broadcast else None,
            "metadata": self.metadata,
        }
        return shape | {key: value for key, value in optional.items() if value}


@dataclass
class View:
    """A modal or Home tab. `body` is Slack's view object, with its state."""

    id: str
    team_id: str
    user_id: str
    body: Payload
    is_open: bool = True
    history: list[Payload] = field(default_factory=list)

    @property
    def type(self) -> str:
        return str(self.body["type"])

    @property
    def hash(self) -> str:
        return str(self.body["hash"])

    @property
    def callback_id(self) -> str:
        return str(self.body["callback_id"])

    @property
    def private_metadata(self) -> str:
        return str(self.body["private_metadata"])

    @property
    def title(self) -> str:
        return str((self.body.get("title") or {}).get("text", ""))

    @property
    def blocks(self) -> list[Payload]:
        return list(self.body["blocks"])

    @property
    def values(self) -> dict[str, dict[str, Payload]]:
        """The inputs: `state.values`, by block id, then action id."""
        values: dict[str, dict[str, Payload]] = self.body["state"]["values"]
        return values

    @property
    def visible_text(self) -> str:
        return visible_text(self.blocks)

    @property
    def buttons(self) -> list[Button]:
        return buttons(self.blocks)


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One call of the Web API: `answer` is None where the connection was reset."""

    method: str
    arguments: Payload
    token: str | None
    at_seconds: float
    status: int
    answer: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Violation:
    """What Slack would have refused, cut or shown badly, and the method that sent it."""

    where: str
    code: str
    problems: tuple[str, ...]
    payload: Payload


@dataclass(frozen=True, kw_only=True, slots=True)
class ResponsePost:
    """One POST to a response_url."""

    response_id: str
    user_id: str
    channel: str
    body: Payload
    status: int


@dataclass
class Answer:
    """The app's response to a request from Slack.

    `status` is the HTTP status; over a socket 200 for an acknowledgement and 0 for none. `body` is
    parsed JSON, else text. `in_time`: within Slack's three seconds; a late response has no effect.
    `sent` is False where Slack's client would have sent nothing.
    """

    status: int
    body: Any = ""
    headers: dict[str, str] = field(default_factory=dict)
    elapsed_seconds: float = 0.0
    payload: Payload = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    sent: bool = True

    @property
    def in_time(self) -> bool:
        return self.elapsed_seconds < 3.0

    @property
    def ok(self) -> bool:
        return self.status == 200 and self.in_time
