"""A browser in which a user installs the app, and the settings of such an app."""

from __future__ import annotations

import re
from html import unescape
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.bot.world import World
from tests.fakes.slack import LoopbackSlack


def by_oauth(slack: LoopbackSlack) -> dict[str, Any]:
    """Settings of a deployment that any workspace can install."""
    return {
        "bot_token": None,
        "client_id": slack.client_id,
        "client_secret": slack.client_secret,
    }


_TAG: Final = re.compile(r"<[^>]*>")


class Browser:
    """A user's browser: it stores the state's cookie as browsers do over https."""

    def __init__(self, world: World) -> None:
        self._app_url = world.slack.app_url
        self.cookie = ""

    def begin(self) -> dict[str, str]:
        """Open /slack/install; returns the query of Slack's page, to which it redirects."""
        response = httpx.get(f"{self._app_url}/slack/install")
        assert response.status_code == 302, response.text
        self.cookie = response.headers["set-cookie"].partition(";")[0]
        query = parse_qs(urlsplit(response.headers["location"]).query, keep_blank_values=True)
        return {name: values[0] for name, values in query.items()}

    def come_back(self, **query: str) -> httpx.Response:
        """Open the URL to which Slack redirects the browser."""
        headers = {"Cookie": self.cookie} if self.cookie else {}
        return httpx.get(
            f"{self._app_url}/slack/oauth_redirect", params=query, headers=headers, timeout=10
        )

    def install(self, slack: LoopbackSlack, who: str, team_id: str | None = None) -> httpx.Response:
        """The whole flow, approved by ``who``."""
        state = self.begin()["state"]
        return self.come_back(state=state, code=slack.oauth_code(who, team_id))


def page_text(response: httpx.Response) -> str:
    """The page's text, without tags."""
    return " ".join(unescape(_TAG.sub(" ", response.text.partition("<body>")[2])).split())
