"""The workspace of the configured bot token."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Final

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.client import slack_web
from bot.client.workspaces import Workspace, Workspaces
from storage.base.errors import AlreadyExists, DatabaseUnavailable
from storage.base.values import Organisation
from storage.db.database import Database
from storage.slack import slack_installations

# So that an unresponsive Slack does not delay the start.
INTRODUCTION_SECONDS: Final = 3.0

_log = structlog.stdlib.get_logger("hiatus.slack")


class OneWorkspace(Workspaces):
    """The workspace of the configured bot token, identified by one call to Slack."""

    def __init__(
        self, client: AsyncWebClient, database: Database, clock: Callable[[], datetime]
    ) -> None:
        self.client = client
        self._database = database
        self._clock = clock
        self._lock = asyncio.Lock()
        self._workspace: Workspace | None = None

    async def for_payload(self, team_id: str) -> Workspace | None:
        if self._workspace is None:
            # Slack has not responded yet; the token is identified before anything is linked.
            return Workspace(team_id=team_id, client=self.client, bot_id=None, bot_user_id=None)
        return self._workspace if self._workspace.team_id == team_id else None

    async def for_delivery(self, team_id: str) -> Workspace | None:
        workspace = await self._identify()
        return await self._with_home_url(workspace) if workspace.team_id == team_id else None

    async def organisation_of(self, team_id: str) -> Organisation | None:
        if (await self._identify()).team_id != team_id:
            return None
        try:
            return await self._database.write(
                slack_installations.link_by_token, team_id, now=self._clock()
            )
        except AlreadyExists:  # Linked to another workspace at the same time.
            return None

    async def introduce(self) -> None:
        """Link the workspace to the only organisation, if it is not linked yet.

        Later interactions try again until it succeeds.
        """
        try:
            async with asyncio.timeout(INTRODUCTION_SECONDS):
                team_id = (await self._identify()).team_id
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
        await self._identify()

    async def token_refused(self, workspace: Workspace) -> bool:
        """Does nothing: once the operator corrects the token, pending notifications are sent."""
        return False

    async def _identify(self) -> Workspace:
        """Raises the errors in ``slack_web.FAILURES``."""
        async with self._lock:
            if self._workspace is None:
                response = await self.client.auth_test()
                self._workspace = Workspace(
                    team_id=response["team_id"],
                    client=self.client,
                    bot_id=response.get("bot_id"),
                    bot_user_id=response.get("user_id"),
                )
            return self._workspace
