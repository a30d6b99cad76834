"""Slack played on this machine, for somebody who tries Hiatus without a workspace of Slack's.

The bot is spoken to as Slack would: by signed requests over HTTP, and answered by a Web API of its
own on 127.0.0.1. Nothing else connects the two, so what is seen here is what Slack would be sent.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from bot.base.settings import SlackSettings
from playground.loopback.delivery import Delivery
from playground.loopback.records import Message, Payload, View
from playground.loopback.server import SlackServer
from playground.loopback.showing import screen
from playground.loopback.slack import Slack
from playground.loopback.web_api import WebApi
from playground.loopback.workspace import Workspace
from storage.base.values import User

CHANNEL_ID: Final = "C0GENERAL00"
# Of each kind of thing that happened; older ones are nobody's to see any more.
_KEPT: Final = 500
_MOST_PROBLEMS: Final = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Player:
    """Somebody to play. ``title`` is what to say beside the name."""

    slack_user_id: str
    email: str
    name: str
    title: str
    timezone: str


def player(user: User) -> Player:
    """Somebody of the organisation who has a Slack id."""
    title = ", ".join(filter(None, (user.job_title, user.role)))
    return Player(
        slack_user_id=user.slack_user_id or user.id,
        email=user.email,
        name=user.name,
        title=title,
        timezone=user.timezone or "Europe/London",
    )


class Unseen(Exception):
    """The person has no such view, message or button before his eyes, or nobody is he."""


class Playground:
    """A workspace of ``players``; nothing of it is kept when the process ends.

    ``app_url`` is where the bot listens, without its path.
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
        """The ids of the players with these addresses, filled up with others to as many."""
        by_email = {one.email: one.slack_user_id for one in self.players.values()}
        wanted = list(emails)
        found = [by_email[email] for email in wanted if email in by_email]
        return [*found, *(one for one in self.players if one not in found)][: len(wanted)]

    @property
    def settings(self) -> SlackSettings:
        """What the bot needs to be this workspace's; the loopback Slack has to be started."""
        return SlackSettings(
            signing_secret=self.slack.signing_secret,
            bot_token=self.slack.token,
            api_url=self.slack.api_url,
        )

    @property
    def version(self) -> int:
        """Grows with everything that happens."""
        return self.workspace.version

    def state(self, shown: Iterable[str]) -> Payload:
        """What there is to draw, for those of the players whose screens are ``shown``."""
        with self.workspace.changed:
            return {
                "version": self.version,
                "people": [
                    {"id": one.slack_user_id, "name": one.name, "title": one.title}
                    for one in self.players.values()
                ],
                "screens": {
                    user_id: screen(self.workspace, self.slack.team_id, user_id)
                    for user_id in shown
                    if user_id in self.players
                },
                "problems": [
                    f"{one.where}: {one.code}: {'; '.join(one.problems)}"
                    for one in self.workspace.violations[-_MOST_PROBLEMS:]
                ],
            }

    def reset(self) -> None:
        """Forget everything that happened in Slack; what Hiatus knows stays."""
        self.workspace.forget()

    def forget_old(self) -> None:
        """Keep what happened within bounds."""
        self.workspace.forget(keep=_KEPT)

    def view(self, user_id: str, view_id: str) -> View:
        """A view of that person's. Raises Unseen."""
        view = self.workspace.views.get(view_id)
        if view is None or view.user_id != user_id:
            raise Unseen("This form is gone.")
        return view

    def message(self, user_id: str, channel: str, ts: str) -> Message:
        """A message that the person sees. Raises Unseen."""
        with self.workspace.changed:
            for one in [*self.workspace.messages, *self.workspace.ephemerals]:
                if (one.channel, one.ts) == (channel, ts) and self._is_seen(user_id, one):
                    return one
        raise Unseen("This message is gone.")

    def _is_seen(self, user_id: str, message: Message) -> bool:
        if message.ephemeral:
            return message.user == user_id
        dm = self.workspace.dm_channel(self.slack.team_id, user_id)
        return message.channel in {dm, CHANNEL_ID}


def options_in(body: Any) -> list[Payload]:
    """The options of an answer to what was typed into a menu, groups flattened."""
    if not isinstance(body, dict):
        return []
    groups = [group.get("options") or [] for group in body.get("option_groups") or []]
    return [*(body.get("options") or []), *(one for group in groups for one in group)]
