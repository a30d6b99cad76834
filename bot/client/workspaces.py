"""The workspaces that have the app, with their tokens.

Either the one of the configured bot token, or those that installed the app by OAuth.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from urllib.parse import urlencode

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.client import slack_web
from storage.base.values import Organisation

_log = structlog.stdlib.get_logger("hiatus.slack")


@dataclass(frozen=True, kw_only=True, slots=True)
class Workspace:
    """A workspace that has the app. ``client`` has its bot token.

    ``home_url`` opens the app's Home tab in Slack; None if Slack's id of the app is not known.
    """

    team_id: str
    client: AsyncWebClient
    bot_id: str | None
    bot_user_id: str | None
    home_url: str | None = None


def home_url(team_id: str, app_id: str) -> str:
    """Source: docs.slack.dev, "Deep linking into Slack"."""
    return f"slack://app?{urlencode({'team': team_id, 'id': app_id, 'tab': 'home'})}"


class Workspaces(ABC):
    """Gives the ``Workspace`` of a team id; all calls to Slack go through it."""

    # The same in all workspaces.
    _app_id: str | None = None

    @abstractmethod
    async def for_payload(self, team_id: str) -> Workspace | None:
        """The workspace of an incoming payload; never calls Slack.

        None if the app is not known to be installed. Raises DatabaseUnavailable.
        """

    @abstractmethod
    async def for_delivery(self, team_id: str) -> Workspace | None:
        """The workspace to send to; None if the app is not installed.

        Raises DatabaseUnavailable and the errors in ``slack_web.FAILURES``.
        """

    @abstractmethod
    async def organisation_of(self, team_id: str) -> Organisation | None:
        """The workspace's organisation; links it now if configured. Raises as ``of_delivery``."""

    @abstractmethod
    async def introduce(self) -> None:
        """Prepare at the start; errors are only logged."""

    @abstractmethod
    async def check_token(self) -> None:
        """Raises SlackApiError if Slack does not accept the configured bot token."""

    @abstractmethod
    async def token_refused(self, workspace: Workspace) -> bool:
        """Record that Slack refused the token; returns whether the app was uninstalled."""

    async def _with_home_url(self, workspace: Workspace) -> Workspace:
        """Asks Slack for the app's id once; without an answer, again at the next delivery."""
        if self._app_id is None and workspace.bot_id is not None:
            try:
                response = await workspace.client.bots_info(bot=workspace.bot_id)
            except slack_web.FAILURES as failure:
                _log.info("slack.app_unknown", reason=slack_web.summary(failure))
                return workspace
            self._app_id = response["bot"].get("app_id")
        if self._app_id is None:
            return workspace
        return replace(workspace, home_url=home_url(workspace.team_id, self._app_id))
