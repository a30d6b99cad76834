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
from playground.loopback.delivery import Delivery
from playground.loopback.records import Answer, Message, View
from playground.loopback.server import SlackServer
from playground.loopback.slack import Slack
from playground.loopback.web_api import WebApi
from playground.loopback.workspace import Workspace
from playground.screens import screen
from storage.base.values import User

CHANNEL_ID: Final = "C0GENERAL00"
# What the page offers. Hiatus speaks these languages.
LOCALES: Final = ("en-GB", "de-DE")
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
        self.slack.add_team(team_id, self.slack.token, name="Playground")
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
