"""The directory of the loopback Slack, and what its methods and posts leave behind."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict
from zoneinfo import ZoneInfo

from playground.loopback.blocks import Button, Payload, buttons, visible_text

# The scopes of the manifest, and im:write for conversations.open.
DEFAULT_SCOPES = (
    "commands",
    "chat:write",
    "channels:read",
    "groups:read",
    "im:history",
    "users:read",
    "users:read.email",
    "im:write",
)


@dataclass
class Team:
    """A workspace that has the app; `token` is its bot token, None before it is installed."""

    id: str
    name: str
    domain: str
    email_domain: str
    token: str | None
    bot_user_id: str
    bot_id: str
    scopes: set[str] = field(default_factory=lambda: set(DEFAULT_SCOPES))


@dataclass
class Channel:
    """A channel; the app can post where `is_member`."""

    id: str
    team_id: str
    name: str
    is_member: bool = True
    is_archived: bool = False
    is_private: bool = False
    is_ext_shared: bool = False


class PersonFields(TypedDict, total=False):
    """Fields of ``Person`` that a test may set."""

    display_name: str
    name: str
    tz: str
    locale: str
    deleted: bool
    is_restricted: bool
    is_ultra_restricted: bool
    is_bot: bool
    is_stranger: bool
    is_admin: bool
    is_owner: bool
    home_team_id: str | None
    is_email_confirmed: bool
    updated: int | None
    status_text: str
    status_emoji: str
    status_expiration: int


@dataclass
class Person:
    """A person in a workspace's directory. `home_team_id` differs for a stranger."""

    id: str
    team_id: str
    email: str | None = None
    real_name: str = ""
    display_name: str = ""
    name: str = ""
    tz: str = "Europe/Berlin"
    locale: str = "en-GB"
    deleted: bool = False
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_bot: bool = False
    is_stranger: bool = False
    is_admin: bool = False
    is_owner: bool = False
    home_team_id: str | None = None
    is_email_confirmed: bool = True
    # Seconds since 1970; None is now.
    updated: int | None = None
    # As the app or the person set it last; 0 never expires.
    status_text: str = ""
    status_emoji: str = ""
    status_expiration: int = 0

    def __post_init__(self) -> None:
        self.real_name = self.real_name or self.id
        self.name = self.name or self.real_name.split(" ")[0].lower()
        if self.is_stranger and self.home_team_id is None:
            self.home_team_id = "T0STRANGERS"

    @property
    def tz_offset(self) -> int:
        """Seconds east of Greenwich, now."""
        offset = datetime.fromtimestamp(time.time(), ZoneInfo(self.tz)).utcoffset()
        return int(offset.total_seconds()) if offset is not None else 0

    @property
    def status(self) -> Payload:
        """The members of the profile that are the status."""
        return {
            "status_text": self.status_text,
            "status_emoji": self.status_emoji,
            "status_expiration": self.status_expiration,
        }

    def to_slack(self, *, with_email: bool, with_locale: bool) -> Payload:
        """The `user` object. Deactivated people lack time zone and roles, strangers the e-mail."""
        profile: Payload = {
            "real_name": self.real_name,
            "display_name": self.display_name,
            "real_name_normalized": self.real_name,
            "display_name_normalized": self.display_name,
            "team": self.home_team_id or self.team_id,
            **self.status,
        }
        if with_email and self.email is not None and not (self.is_bot or self.is_stranger):
            profile["email"] = self.email
        user: Payload = {
            "id": self.id,
            "team_id": self.home_team_id or self.team_id,
            "name": self.name,
            "deleted": self.deleted,
            "profile": profile,
            "is_bot": self.is_bot,
            "is_app_user": False,
            "updated": int(time.time()) if self.updated is None else self.updated,
        }
        if not self.deleted:
            user |= self._alive_fields()
        if self.is_stranger:
            user["is_stranger"] = True
        if with_locale:
            user["locale"] = self.locale
        return user

    def _alive_fields(self) -> Payload:
        return {
            "color": "9f69e7",
            "real_name": self.real_name,
            "tz": self.tz,
            "tz_label": self.tz,
            "tz_offset": self.tz_offset,
            "is_admin": self.is_admin or self.is_owner,
            "is_owner": self.is_owner,
            "is_primary_owner": False,
            "is_restricted": self.is_restricted or self.is_ultra_restricted,
            "is_ultra_restricted": self.is_ultra_restricted,
            "is_email_confirmed": self.is_email_confirmed,
        }


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
class File:
    """A file that the app uploads: first announced, then sent, then shared in a conversation."""

    id: str
    team_id: str
    name: str
    length: int
    content: bytes | None = None
    title: str = ""
    is_shared: bool = False

    def to_slack(self) -> Payload:
        return {"id": self.id, "name": self.name, "title": self.title, "size": self.length}


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
    # Whether a person wrote it, not the app.
    is_written: bool = False
    files: list[File] = field(default_factory=list)

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
        }
        if not self.is_written:
            shape |= {"bot_id": bot_id, "app_id": app_id}
        optional = {
            "blocks": self.blocks,
            "thread_ts": self.thread_ts,
            "subtype": "thread_broadcast" if self.reply_broadcast else None,
            "metadata": self.metadata,
            "files": [file.to_slack() for file in self.files],
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
