"""Which workspaces have the app, and with which token each is spoken to.

Either the one of the settings' bot token, or those that installed it by OAuth, from the database.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.client import slack_web
from storage.base.errors import AlreadyExists, DatabaseUnavailable
from storage.base.values import Organisation
from storage.db.database import Database
from storage.slack import slack_installations, slack_workspaces
from storage.slack.slack_installations import TokenUnreadable

# A Slack that hangs holds up no start.
INTRODUCTION_SECONDS: Final = 3.0

_log = structlog.stdlib.get_logger("hiatus.slack")


@dataclass(frozen=True, kw_only=True, slots=True)
class Workspace:
    """One workspace that has the app. ``client`` carries its bot token, and no other's."""

    team_id: str
    client: AsyncWebClient
    bot_id: str | None
    bot_user_id: str | None


class Workspaces(ABC):
    """Every call to Slack goes through the ``Workspace`` that this gives for a team's id."""

    @abstractmethod
    async def of_request(self, team_id: str) -> Workspace | None:
        """The workspace that Slack sent something from; never calls Slack.

        None where the app is not installed as far as we know. Raises DatabaseUnavailable.
        """

    @abstractmethod
    async def of_delivery(self, team_id: str) -> Workspace | None:
        """The workspace to send something to; None where the app is not installed.

        Raises DatabaseUnavailable, and what ``slack_web.FAILURES`` names.
        """

    @abstractmethod
    async def organisation_of(self, team_id: str) -> Organisation | None:
        """Whose workspace that is, linked now if the settings say so. Raises as above."""

    @abstractmethod
    async def introduce(self) -> None:
        """Get ready, as far as that goes without Slack; what goes wrong is only logged."""

    @abstractmethod
    async def check_token(self) -> None:
        """Raises SlackApiError when Slack does not know the settings' bot token."""

    @abstractmethod
    async def token_refused(self, workspace: Workspace) -> bool:
        """Note that Slack does not accept the token; whether the app is gone from there."""


class OneWorkspace(Workspaces):
    """The bot token's. Asks Slack once whose it is."""

    def __init__(
        self, client: AsyncWebClient, database: Database, clock: Callable[[], datetime]
    ) -> None:
        self.client = client
        self._database = database
        self._clock = clock
        self._asking = asyncio.Lock()
        self._known: Workspace | None = None

    async def of_request(self, team_id: str) -> Workspace | None:
        if self._known is None:
            # Slack was away so far; whose token it is is asked before anything is linked.
            return Workspace(team_id=team_id, client=self.client, bot_id=None, bot_user_id=None)
        return self._known if self._known.team_id == team_id else None

    async def of_delivery(self, team_id: str) -> Workspace | None:
        known = await self._identified()
        return known if known.team_id == team_id else None

    async def organisation_of(self, team_id: str) -> Organisation | None:
        if (await self._identified()).team_id != team_id:
            return None
        try:
            return await self._database.write(
                slack_installations.link_by_token, team_id, now=self._clock()
            )
        except AlreadyExists:  # Somebody tied it to another workspace at this very moment.
            return None

    async def introduce(self) -> None:
        """Tie the workspace to the only organisation, if need be.

        Everybody who comes later does the same again until it has worked.
        """
        try:
            async with asyncio.timeout(INTRODUCTION_SECONDS):
                team_id = (await self._identified()).team_id
                organisation = await self.organisation_of(team_id)
        except (*slack_web.FAILURES, DatabaseUnavailable) as failure:
            if isinstance(failure, DatabaseUnavailable):
                _log.warning("slack.not_introduced", reason="the database does not answer")
            else:
                _log.warning("slack.not_introduced", reason=slack_web.summary(failure))
            return
        if organisation is None:
            _log.warning("slack.no_organisation", team_id=team_id)

    async def check_token(self) -> None:
        await self._identified()

    async def token_refused(self, workspace: Workspace) -> bool:
        """Nothing: the operator puts the setting right, and what waits is sent then."""
        return False

    async def _identified(self) -> Workspace:
        """Raises what ``slack_web.FAILURES`` names."""
        async with self._asking:
            if self._known is None:
                answer = await self.client.auth_test()
                self._known = Workspace(
                    team_id=answer["team_id"],
                    client=self.client,
                    bot_id=answer.get("bot_id"),
                    bot_user_id=answer.get("user_id"),
                )
            return self._known


class InstalledWorkspaces(Workspaces):
    """Those that installed the app by OAuth: one indexed read each time, and no call to Slack."""

    def __init__(
        self, template: AsyncWebClient, database: Database, clock: Callable[[], datetime]
    ) -> None:
        self._template = template
        self._database = database
        self._clock = clock

    async def of_request(self, team_id: str) -> Workspace | None:
        try:
            return await self.of_delivery(team_id)
        except TokenUnreadable:
            _log.error("slack.token_unreadable", team_id=team_id, setting="HIATUS_SECRET_KEYS")
            return None

    async def of_delivery(self, team_id: str) -> Workspace | None:
        found = await self._database.read(slack_installations.find, team_id)
        if found is None:
            return None
        client = slack_web.with_token(self._template, found.bot_token)
        return Workspace(
            team_id=found.team_id, client=client, bot_id=found.bot_id, bot_user_id=found.bot_user_id
        )

    async def organisation_of(self, team_id: str) -> Organisation | None:
        return await self._database.read(slack_workspaces.find, team_id)

    async def introduce(self) -> None:
        """Nothing: workspaces introduce themselves by being installed."""

    async def check_token(self) -> None:
        """Nothing: tokens come with installations."""

    async def token_refused(self, workspace: Workspace) -> bool:
        """As if it had been uninstalled: its event may have been lost."""
        found = await self._database.read(slack_installations.find, workspace.team_id)
        if found is None:
            return True
        if found.bot_token != workspace.client.token:
            return False  # Installed anew meanwhile.
        ended = await self._database.write_long(
            slack_installations.uninstall,
            workspace.team_id,
            at=found.installed_at,
            now=self._clock(),
        )
        if ended:
            _log.warning("slack.installation_ended", team_id=workspace.team_id)
            return True
        # Somebody else ended it, or it was installed anew since it was looked at.
        return await self._database.read(slack_installations.find, workspace.team_id) is None
