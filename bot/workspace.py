"""The one workspace that the bot token belongs to, and the organisation that it is tied to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot import slack_web
from storage import slack_workspaces
from storage.database import Database
from storage.errors import AlreadyExists, DatabaseUnavailable
from storage.values import Organisation

# A Slack that hangs holds up no start.
INTRODUCTION_SECONDS: Final = 3.0

_log = structlog.stdlib.get_logger("hiatus.slack")


class Bot(NamedTuple):
    """Who we are there, as auth.test says."""

    team_id: str
    bot_id: str | None
    user_id: str | None


class Workspace:
    """Asks Slack once whose the token is. Many workspaces by OAuth take this class's place."""

    def __init__(
        self, client: AsyncWebClient, database: Database, clock: Callable[[], datetime]
    ) -> None:
        self.client = client
        self._database = database
        self._clock = clock
        self._asking = asyncio.Lock()
        self.bot: Bot | None = None

    async def identify(self) -> Bot:
        """Whose the token is. Raises what ``slack_web.FAILURES`` names."""
        async with self._asking:
            if self.bot is None:
                answer = await self.client.auth_test()
                self.bot = Bot(answer["team_id"], answer.get("bot_id"), answer.get("user_id"))
            return self.bot

    async def introduce(self) -> None:
        """Tie the workspace to the only organisation, if need be; what goes wrong is only logged.

        Everybody who comes later does the same again until it has worked.
        """
        try:
            async with asyncio.timeout(INTRODUCTION_SECONDS):
                bot = await self.identify()
                organisation = await self.organisation_of(bot.team_id)
        except (*slack_web.FAILURES, DatabaseUnavailable) as failure:
            if isinstance(failure, DatabaseUnavailable):
                _log.warning("slack.not_introduced", reason="the database does not answer")
            else:
                _log.warning("slack.not_introduced", reason=slack_web.summary(failure))
            return
        if organisation is None:
            _log.warning("slack.no_organisation", team_id=bot.team_id)

    async def organisation_of(self, team_id: str) -> Organisation | None:
        """Whose workspace that is; None where it is nobody's, or not the token's.

        Raises what ``identify`` raises, and DatabaseUnavailable.
        """
        bot = await self.identify()
        if bot.team_id != team_id:
            return None
        try:
            return await self._database.write(
                slack_workspaces.link_only_organisation, team_id, now=self._clock()
            )
        except AlreadyExists:  # Somebody tied it to another workspace at this very moment.
            return None

    def is_foreign(self, team_id: str) -> bool:
        """Whether the token is known to be another workspace's."""
        return self.bot is not None and self.bot.team_id != team_id
