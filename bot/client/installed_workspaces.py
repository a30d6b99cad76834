"""The workspaces that installed the app by OAuth."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.client import slack_web
from bot.client.workspaces import Workspace, Workspaces
from storage.base.values import Organisation
from storage.db.database import Database
from storage.slack import slack_installations, slack_workspaces
from storage.slack.slack_installations import TokenUnreadable

_log = structlog.stdlib.get_logger("hiatus.slack")


class InstalledWorkspaces(Workspaces):
    """Workspaces that installed the app by OAuth: one indexed read for each payload."""

    def __init__(
        self, template: AsyncWebClient, database: Database, clock: Callable[[], datetime]
    ) -> None:
        self._template = template
        self._database = database
        self._clock = clock

    async def for_payload(self, team_id: str) -> Workspace | None:
        try:
            return await self._installed(team_id)
        except TokenUnreadable:
            _log.error("slack.token_unreadable", team_id=team_id, setting="HIATUS_SECRET_KEYS")
            return None

    async def for_delivery(self, team_id: str) -> Workspace | None:
        workspace = await self._installed(team_id)
        return None if workspace is None else await self._with_home_url(workspace)

    async def _installed(self, team_id: str) -> Workspace | None:
        installation = await self._database.read(slack_installations.find, team_id)
        if installation is None:
            return None
        client = slack_web.with_token(self._template, installation.bot_token)
        return Workspace(
            team_id=installation.team_id,
            client=client,
            bot_id=installation.bot_id,
            bot_user_id=installation.bot_user_id,
        )

    async def organisation_of(self, team_id: str) -> Organisation | None:
        return await self._database.read(slack_workspaces.find, team_id)

    async def introduce(self) -> None:
        """Does nothing: workspaces are known once installed."""

    async def check_token(self) -> None:
        """Does nothing: tokens come with installations."""

    async def token_refused(self, workspace: Workspace) -> bool:
        """Treat it as uninstalled, because the event may have been lost."""
        installation = await self._database.read(slack_installations.find, workspace.team_id)
        if installation is None:
            return True
        if installation.bot_token != workspace.client.token:
            return False  # Reinstalled in the meantime.
        ended = await self._database.write(
            slack_installations.uninstall,
            workspace.team_id,
            at=installation.installed_at,
            now=self._clock(),
        )
        if ended:
            _log.warning("slack.installation_ended", team_id=workspace.team_id)
            return True
        # Another process ended it, or it was reinstalled since it was read.
        return await self._database.read(slack_installations.find, workspace.team_id) is None
