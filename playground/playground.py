"""A workspace on this machine, to try Hiatus without a real one.

It sends the bot signed requests over HTTP, as Slack does, and serves it a Web API on 127.0.0.1.
They are connected in no other way, so the page shows exactly what Slack would receive.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from bot.base.settings import SlackSettings
from playground.loopback.blocks import Payload
from playground.loopback.records import Answer, Message, View
from playground.loopback.server import Delivery, SlackServer
from playground.loopback.slack import Slack
from playground.loopback.web_api import WebApi
from playground.loopback.workspace import Workspace
from storage.base.values import User

CHANNEL_ID: Final = "C0GENERAL00"
# What the page offers. Hiatus speaks these languages.
LOCALES: Final = ("en-GB", "de-DE", "es-ES", "fr-FR")
# Of messages, calls and so on, each.
_MAX_STORED: Final = 500
_MAX_PROBLEMS: Final = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Player:
    """A person to play. ``title`` is shown beside the name."""

    slack_user_id: str
    email: str
    name: str
    title: str
    timezone: str


def player(user: User) -> Player:
    title = ", ".join(filter(None, (user.job_title, user.role)))
    return Player(
        slack_user_id=user.slack_user_id or user.id,
        email=user.email,
        name=user.name,
        title=title,
        timezone=user.timezone or "Europe/London",
    )


class Unseen(Exception):
    """The person does not see this view, message or button, or there is no such person."""


class Playground:
    """A workspace of ``players``, in memory only.

    ``app_url`` is the bot's address, without its path.
    """

    def __init__(self, team_id: str, players: Iterable[Player], app_url: str) -> None:
        self.players = {player.slack_user_id: player for player in players}
        self.workspace = Workspace("A0PLAYGROUND")
        self.slack = Slack(
            SlackServer(WebApi(self.workspace)),
            Delivery(secrets.token_hex(16)),
            team_id,
            f"xoxb-playground-{secrets.token_hex(16)}",
        )
        self.slack.app_url = app_url
        team = self.slack.add_team(team_id, self.slack.token, name="Playground")
        # Optional: the payroll file comes as a file.
        team.scopes.add("files:write")
        self.slack.add_channel(CHANNEL_ID, "general")
        for player in self.players.values():
            self.slack.add_person(
                player.slack_user_id, player.email, player.name, tz=player.timezone
            )

    def first(self, emails: Iterable[str]) -> list[str]:
        """The ids of the players with these addresses; other players replace missing ones."""
        by_email = {player.email: player.slack_user_id for player in self.players.values()}
        addresses = list(emails)
        ids = [by_email[email] for email in addresses if email in by_email]
        return [*ids, *(user_id for user_id in self.players if user_id not in ids)][
            : len(addresses)
        ]

    @property
    def settings(self) -> SlackSettings:
        """The bot's settings for this workspace, once the loopback Slack is started."""
        return SlackSettings(
            signing_secret=self.slack.signing_secret,
            bot_token=self.slack.token,
            api_url=self.slack.api_url,
        )

    @property
    def version(self) -> int:
        """Increases with every change."""
        return self.workspace.version

    def state(self, shown: Iterable[str]) -> Payload:
        """The state of the page: the players, and the screens of those in ``shown``."""
        with self.workspace.changed:
            return {
                "version": self.version,
                "people": [
                    {
                        "id": player.slack_user_id,
                        "name": player.name,
                        "title": player.title,
                        "locale": self.workspace.person(
                            self.slack.team_id, player.slack_user_id
                        ).locale,
                    }
                    for player in self.players.values()
                ],
                "screens": {
                    user_id: screen(self.workspace, self.slack.team_id, user_id)
                    for user_id in shown
                    if user_id in self.players
                },
                "problems": [
                    f"{violation.where}: {violation.code}: {'; '.join(violation.problems)}"
                    for violation in self.workspace.violations[-_MAX_PROBLEMS:]
                ],
            }

    def choose_language(self, user_id: str, locale: str) -> Answer:
        """A person changes the language of their Slack, which tells the bot. Raises Unseen."""
        if locale not in LOCALES:
            raise Unseen("The playground does not speak this language.")
        person = self.workspace.person(self.slack.team_id, user_id)
        with self.workspace.changed:
            person.locale = locale
            self.workspace.note_change()
        user = person.to_slack(with_email=True, with_locale=True)
        answer = self.slack.event({"type": "user_change", "user": user})
        self.slack.open_home(user_id)
        return answer

    def reset(self) -> None:
        """Delete everything in this Slack. Hiatus keeps its data."""
        self.workspace.forget()

    def forget_old(self) -> None:
        """Delete old messages, calls and so on."""
        self.workspace.forget(keep=_MAX_STORED)

    def view(self, user_id: str, view_id: str) -> View:
        """A view that the person has open. Raises Unseen."""
        view = self.workspace.views.get(view_id)
        if view is None or view.user_id != user_id:
            raise Unseen("This form is no longer open.")
        return view

    def message(self, user_id: str, channel: str, ts: str) -> Message:
        """A message that the person sees. Raises Unseen."""
        with self.workspace.changed:
            for message in [*self.workspace.messages, *self.workspace.ephemerals]:
                if (message.channel, message.ts) == (channel, ts) and self._is_seen(
                    user_id, message
                ):
                    return message
        raise Unseen("This message is gone.")

    def _is_seen(self, user_id: str, message: Message) -> bool:
        if message.ephemeral:
            return message.user == user_id
        dm = self.workspace.dm_channel(self.slack.team_id, user_id)
        return message.channel in {dm, CHANNEL_ID}


def groups_in(body: object) -> list[Payload]:
    """The option groups in a response to block_suggestion; options without one are the first."""
    if not isinstance(body, dict):
        return []
    ungrouped = body.get("options") or []
    groups = body.get("option_groups") or []
    return [{"label": None, "options": ungrouped}, *groups] if ungrouped else [*groups]


def options_in(body: object) -> list[Payload]:
    """The options in a response to block_suggestion, with groups flattened."""
    return [option for group in groups_in(body) for option in group.get("options") or []]


# A screen that grows without end is slow to render. Slack loads older messages by scrolling.
MAX_MESSAGES = 40


def screen(workspace: Workspace, team_id: str, user_id: str) -> Payload:
    """One person's modal, Home tab, DM with the app, and the channels."""
    with workspace.changed:
        stack = workspace.stack(team_id, user_id)
        home = workspace.homes.get((team_id, user_id))
        dm = workspace.dm_channel(team_id, user_id)
        return {
            "modal": _view(stack[-1], len(stack)) if stack else None,
            "home": _view(workspace.views[home], 0) if home is not None else None,
            "messages": _messages(workspace, dm, user_id),
            "channels": [
                {
                    "id": channel.id,
                    "name": channel.name,
                    "messages": _messages(workspace, channel.id, user_id),
                }
                for channel in workspace.channels.values()
                if channel.team_id == team_id
            ],
        }


def _messages(workspace: Workspace, channel: str, user_id: str) -> list[Payload]:
    """A conversation, oldest first. Replies are below the first message of their thread.

    A reply that was sent to the conversation too is also a message of its own, as in Slack.
    """
    messages = [message for message in workspace.messages if message.channel == channel]
    by_ts = {message.ts: message for message in messages}
    threads: dict[str, list[Message]] = {}
    for message in messages:
        if message.thread_ts is not None:
            threads.setdefault(message.thread_ts, []).append(message)
    # Slack keeps the place of a deleted message that has replies.
    first = [
        message for message in messages if message.thread_ts is None or message.reply_broadcast
    ]
    first += [message for message in workspace.deleted if message.ts in threads]
    first += [
        message
        for message in workspace.ephemerals
        if (message.channel, message.user) == (channel, user_id)
    ]
    first.sort(key=_position)
    return [
        _message(message, by_ts)
        | {"replies": [_message(reply, by_ts) for reply in threads.get(message.ts, [])]}
        for message in first[-MAX_MESSAGES:]
    ]


def _position(message: Message) -> list[int]:
    return [int(part) for part in message.ts.split(".")]


def _message(message: Message, by_ts: dict[str, Message]) -> Payload:
    is_deleted = not message.ephemeral and message.ts not in by_ts
    root = by_ts.get(message.thread_ts or "")
    return {
        "channel": message.channel,
        "ts": message.ts,
        "author": message.author_id if message.is_written else None,
        "text": "This message was deleted." if is_deleted else message.text,
        "blocks": [] if is_deleted else message.blocks,
        "files": [
            {"name": file.name, "content": (file.content or b"").decode("utf-8", "replace")}
            for file in message.files
        ],
        "ephemeral": message.ephemeral,
        "edited": bool(message.history) and not is_deleted,
        "deleted": is_deleted,
        "thread_ts": message.thread_ts,
        "reply_broadcast": message.reply_broadcast,
        "replied_to": root.text if root is not None else None,
    }


def _view(view: View, depth: int) -> Payload:
    body: Payload = view.body
    return {
        "id": view.id,
        "hash": view.hash,
        "title": view.title,
        "submit": (body.get("submit") or {}).get("text"),
        "close": (body.get("close") or {}).get("text"),
        "blocks": view.blocks,
        "values": view.values,
        "depth": depth,
    }
