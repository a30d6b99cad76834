"""The Slack app put together, for serve.py to compose: listeners, notices, routes, their life."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient
from starlette.routing import Route

from bot import asgi, errors, slack_web
from bot.listeners import commands, decisions, request_form, shortcuts
from bot.listening import Edge
from bot.notifications import Notifier
from bot.settings import SlackSettings
from bot.workspace import Workspace
from storage.database import Database


@dataclass(frozen=True)
class SlackApp:
    """``bolt`` takes what people do, ``notifier`` carries what they should see."""

    bolt: AsyncApp
    notifier: Notifier
    workspace: Workspace
    edge: Edge

    def routes(self) -> list[Route]:
        """What is served over HTTP."""
        return asgi.routes(self.bolt)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hold the connection to Slack open; at the end let what people began come to its end.

        Nothing else in here works outside. Never fails because of Slack.
        """
        async with slack_web.connected(self.edge.client, self.bolt.client):
            await self.workspace.introduce()
            yield
            await self.edge.finish()


def build_app(
    settings: SlackSettings, database: Database, clock: Callable[[], datetime]
) -> SlackApp:
    """Wire the app for the workspace of the settings' bot token; no call is made yet.

    ``clock`` gives aware UTC datetimes.
    """
    client = slack_web.new_client(settings, settings.bot_token)
    workspace = Workspace(client, database, clock)
    edge = Edge(database, client, workspace, clock)
    bolt = _bolt(settings, workspace)
    for listeners in (commands, shortcuts, request_form, decisions):
        listeners.register(bolt, edge)
    return SlackApp(bolt, Notifier(database, workspace, clock), workspace, edge)


def _bolt(settings: SlackSettings, workspace: Workspace) -> AsyncApp:
    async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
        # Without a call to Slack: who may do what is asked by the listeners.
        bot = workspace.bot
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_id=bot and bot.bot_id,
            bot_user_id=bot and bot.user_id,
            bot_token=workspace.client.token,
        )

    bolt = AsyncApp(
        # With an authorize function Bolt takes its mode from no environment variable, and with a
        # client that has no token it does not complain about two of them.
        client=_tokenless(settings),
        authorize=authorize,
        signing_secret=settings.signing_secret or "",
        logger=slack_web.LOGGER,
        name="hiatus",
    )
    bolt.error(errors.on_error)
    return bolt


def _tokenless(settings: SlackSettings) -> AsyncWebClient:
    return slack_web.new_client(settings, None)
