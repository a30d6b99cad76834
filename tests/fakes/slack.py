"""A loopback Slack for tests: Web API, Socket Mode, people who click, and Slack's limits.

    with LoopbackSlack(app_url) as slack:          # or slack.app_url = ... later
        AsyncWebClient(token=slack.token, base_url=slack.api_url)

Set up people and workspaces with the methods below, read with those of `slack_reading.py` (copies),
act as people do with those of `playground/loopback/sending.py`, and let calls fail with those of
`slack_failures.py`. Actions that Slack's client does not allow raise `Impossible`.

Actions block: from a coroutine that shares its loop with the app, call them through
`asyncio.to_thread`. Assert `slack.violations == []` at the end of a test.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

from playground.loopback.blocks import Button, buttons, visible_text
from playground.loopback.records import Answer, Impossible, Message, Team, View
from playground.loopback.slack import Slack
from playground.loopback.web_api import WebApi
from playground.loopback.workspace import OAuthCode, Workspace
from tests.fakes.slack_failures import Failure, TestedSlackServer
from tests.fakes.slack_reading import PATIENCE_SECONDS, Reading
from tests.fakes.slack_socket import SocketDelivery, Sockets

__all__ = [
    "Answer",
    "Button",
    "Impossible",
    "LoopbackSlack",
    "Message",
    "View",
    "buttons",
    "visible_text",
]


class LoopbackSlack(Slack, Reading):
    """One app's Slack on 127.0.0.1, with a first workspace (`team_id`) and channel C1."""

    def __init__(
        self,
        app_url: str = "",
        *,
        team_id: str = "T1",
        token: str = "xoxb-hiatus",
        app_token: str = "xapp-hiatus",
        signing_secret: str = "signing-secret",
        app_id: str = "A1",
        client_id: str = "client-id",
        client_secret: str = "client-secret",
        is_strict: bool = True,
    ) -> None:
        workspace = Workspace(app_id)
        self._sockets = Sockets(app_id, workspace.changed)
        api = WebApi(
            workspace,
            app_token=app_token,
            client=(client_id, client_secret),
            socket_url=self._sockets.new_url,
            is_strict=is_strict,
        )
        self._front = TestedSlackServer(api, self._sockets)
        self._socket_delivery = SocketDelivery(self._sockets, signing_secret)
        super().__init__(self._front, self._socket_delivery, team_id, token)
        self.app_url = app_url
        self.app_token = app_token
        self.client_id, self.client_secret = client_id, client_secret
        self.add_team(team_id, token)
        self.add_channel("C1", "general")

    def start(self) -> Self:
        super().start()
        self._sockets.port = self._server.port
        self._socket_delivery.server = self._server
        return self

    @property
    def via(self) -> str:
        """How payloads reach the app by default: "http" or "socket"."""
        return self._socket_delivery.via

    @via.setter
    def via(self, via: str) -> None:
        self._socket_delivery.via = via

    # Setting up

    @property
    def workspace(self) -> Workspace:
        """The live records of the workspace, to read and to change."""
        return self._workspace

    def team(self, team_id: str | None = None) -> Team:
        """The live record: its `scopes` and `token` may be changed."""
        return self._workspace.teams[team_id or self.team_id]

    def change_person(self, id: str, *, team_id: str | None = None, **changes: Any) -> None:
        """Changes the directory; the app gets no event until the test sends user_change."""
        team_id = team_id or self.team_id
        with self._workspace.changed:
            person = self._workspace.person(team_id, id)
            self._workspace.people[team_id, id] = replace(person, **changes)

    def say(self, user_id: str, channel: str, text: str) -> Message:
        """A person writes a message; the app gets no event."""
        ts = self._workspace.next_ts()
        message = Message(self.team_id, channel, ts, text, [], author_id=user_id)
        return copy.deepcopy(self._workspace.add_message(message))

    def oauth_code(self, user_id: str, team_id: str | None = None, *, user_scopes: str = "") -> str:
        """A code for oauth.v2.access, as if `user_id` had agreed to install the app.

        With `user_scopes`, comma-separated, they agreed to a token of their own instead.
        """
        with self._workspace.changed:
            code = f"code-{self._workspace.next_number()}"
            scopes = frozenset(filter(None, user_scopes.split(",")))
            self._workspace.oauth_codes[code] = OAuthCode(team_id or self.team_id, user_id, scopes)
            return code

    @property
    def answers(self) -> list[Answer]:
        """What the app answered to commands, clicks, submissions and events, oldest first."""
        return list(self._socket_delivery.answers)

    @property
    def installer(self) -> tuple[str, str] | None:
        """The user who agrees on the consent page: (team_id, user_id); None refuses."""
        return self._front.installer

    @installer.setter
    def installer(self, installer: tuple[str, str] | None) -> None:
        self._front.installer = installer

    def revoke(self, token: str) -> None:
        """Calls with this token are answered token_revoked from now on."""
        with self._workspace.changed:
            self._workspace.revoked_tokens.add(token)

    def expire_triggers(self) -> None:
        """Makes every trigger_id expire now."""
        with self._workspace.changed:
            for trigger in self._workspace.triggers.values():
                trigger.issued_at -= self._workspace.trigger_seconds + 1

    def keep_triggers(self, seconds: float) -> None:
        """Makes every trigger_id valid for that long, instead of three seconds."""
        self._workspace.trigger_seconds = seconds

    def fail_next(self, method: str, **how: Any) -> None:
        """Makes the next call of `method` fail; ``how`` are fields of `Failure`."""
        failure = Failure(method, **how)
        if failure.error == "ratelimited" and failure.retry_after is None:
            failure.retry_after = 1
        with self._workspace.changed:
            self._front.failures.append(failure)

    def forget_failures(self) -> None:
        with self._workspace.changed:
            self._front.failures.clear()

    # Socket Mode

    def disconnect_sockets(self, reason: str = "refresh_requested") -> None:
        """Asks connected apps to reconnect."""
        self._server.run(self._sockets.disconnect(reason))

    def abort_sockets(self) -> None:
        """Cuts every connection."""
        self._server.run(self._sockets.abort())

    def wait_for_socket(self, count: int = 1, timeout_seconds: float = PATIENCE_SECONDS) -> None:
        """Returns when this many sockets are connected; TimeoutError otherwise."""
        self.wait_until(lambda: self._sockets.count >= count, timeout_seconds)
