"""One app's Slack: its server, its directory, and what its people do (`Sending`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Self, Unpack

from playground.loopback.blocks import Payload
from playground.loopback.records import (
    Channel,
    Person,
    PersonFields,
    Team,
)
from playground.loopback.sending import Sending
from playground.loopback.server import Delivery, LoopbackServer, SlackServer


class Slack(Sending):
    """Served on 127.0.0.1 while it is used as a context manager; callable from any thread.

    What people do blocks until the app has answered: never call it on the app's own event loop.
    """

    def __init__(self, front: SlackServer, delivery: Delivery, team_id: str, token: str) -> None:
        super().__init__(front.api, delivery, team_id)
        self._server = LoopbackServer(front.app, "loopback-slack")
        self._web_api = front.api
        self.token = token
        self.signing_secret = delivery.signing_secret
        self.app_id = self._workspace.app_id

    def start(self) -> Self:
        self._server.start()
        self.url = f"http://127.0.0.1:{self._server.port}"
        self._web_api.upload_url = f"{self.url}/upload/"
        return self

    def stop(self) -> None:
        self._server.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *failure: object) -> None:
        self.stop()

    @property
    def api_url(self) -> str:
        """For `AsyncWebClient(base_url=...)`."""
        return f"{self.url}/api/"

    @property
    def app_url(self) -> str:
        """The address of the app, without /slack/events."""
        return self._delivery.app_url

    @app_url.setter
    def app_url(self, url: str) -> None:
        self._delivery.app_url = url.rstrip("/")

    def add_team(self, id: str, token: str | None = None, name: str = "", domain: str = "") -> Team:
        """A workspace; without a token the app is not installed there yet."""
        domain = domain or f"workspace-{id.lower()}"
        team = Team(
            id, name or domain, domain, f"{domain}.example", token, f"UBOT{id}", f"BBOT{id}"
        )
        with self._workspace.changed:
            self._workspace.teams[id] = team
        self.add_person(team.bot_user_id, team_id=id, real_name="Hiatus", is_bot=True)
        return team

    def add_channel(
        self, id: str, name: str, *, team_id: str | None = None, **flags: bool
    ) -> Channel:
        """A channel; `flags` are those of `Channel`."""
        channel = Channel(id, team_id or self.team_id, name, **flags)
        with self._workspace.changed:
            self._workspace.channels[id] = channel
        return channel

    def add_person(
        self,
        id: str,
        email: str | None = None,
        real_name: str = "",
        *,
        team_id: str | None = None,
        **fields: Unpack[PersonFields],
    ) -> Person:
        """Adds a person to the directory. `fields` are those of `Person`."""
        team_id = team_id or self.team_id
        person = Person(id, team_id, email, real_name, **fields)
        with self._workspace.changed:
            self._workspace.people[team_id, id] = person
        return replace(person)

    def user(self, id: str, *, team_id: str | None = None) -> Payload:
        """Slack's user object, for a user_change event."""
        person = self._workspace.person(team_id or self.team_id, id)
        return person.to_slack(with_email=True, with_locale=False)
