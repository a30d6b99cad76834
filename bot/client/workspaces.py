"""The workspaces that have the app, with their tokens.

Either the one of the configured bot token, or those that installed the app by OAuth.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from storage.base.values import Organisation

_log = structlog.stdlib.get_logger("hiatus.slack")


@dataclass(frozen=True, kw_only=True, slots=True)
class Workspace:
    """A workspace that has the app. ``client`` has its bot token."""

    team_id: str
    client: AsyncWebClient
    bot_id: str | None
    bot_user_id: str | None


class Workspaces(ABC):
    """Gives the ``Workspace`` of a team id; all calls to Slack go through it."""

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
