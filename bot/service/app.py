"""Builds the Slack app for serve.py: listeners, notifications, routes and lifespan."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.web.async_client import AsyncWebClient
from starlette.routing import Route

from bot import listeners
from bot.base.language import gettext_noop
from bot.base.settings import SlackSettings
from bot.client import slack_web
from bot.client.installed_workspaces import InstalledWorkspaces
from bot.client.one_workspace import OneWorkspace
from bot.client.workspaces import Workspaces
from bot.interaction import listening
from bot.interaction.interaction import WORKSPACE
from bot.interaction.services import CheckUrl, Services
from bot.messages.digests import Digests
from bot.messages.directory_sync import DirectorySync
from bot.messages.home_tab import Homes
from bot.messages.notifications import Notifier
from bot.messages.reminders import Reminders
from bot.messages.welcomes import Welcomes
from bot.service import asgi
from bot.service.installing import INSTALL_PATH, Installing
from storage.base.errors import DatabaseUnavailable, InvalidInput
from storage.db.database import Database


@dataclass(frozen=True, kw_only=True, slots=True)
class SlackApp:
    """``bolt`` handles incoming payloads, ``notifier`` sends notifications.

    ``installing`` is None with one bot token; ``signing_secret`` is None if Slack sends nothing
    over HTTP.
    """

    bolt: AsyncApp
    notifier: Notifier
    workspaces: Workspaces
    services: Services
    installing: Installing | None
    reminders: Reminders
    digests: Digests
    directory: DirectorySync
    signing_secret: str | None = field(repr=False)

    @property
    def jobs(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """By name. Each job runs in its own task, so that a long one does not delay the others."""
        return {
            "reminders": self.reminders.run,
            "digests": self.digests.run,
            "directory_sync": self.directory.run,
        }

    def routes(self) -> list[Route]:
        """The HTTP routes: Slack's requests, unless Socket Mode is used, and the installation."""
        return [
            *(asgi.routes(self.bolt, self.signing_secret) if self.signing_secret else ()),
            *(asgi.installation_routes(self.installing) if self.installing else ()),
        ]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the connection to Slack open; at the end, wait for running interactions.

        The app only works inside this context. Never fails because of Slack.
        """
        clients = [self.services.slack, self.bolt.client]
        if isinstance(self.workspaces, OneWorkspace):
            clients.append(self.workspaces.client)
        async with slack_web.connected(*clients):
            await self.workspaces.introduce()
            yield
            await self.services.finish()


def build_app(
    settings: SlackSettings,
    database: Database,
    clock: Callable[[], datetime],
    register: Callable[[AsyncApp], None] | None = None,
    check_webhook_url: CheckUrl | None = None,
    support_contact: str = "",
) -> SlackApp:
    """Build the app for one configured workspace, or for those that install it; makes no calls.

    ``clock`` returns aware UTC datetimes. ``register`` registers other listeners than Hiatus's.
    Without ``check_webhook_url``, webhooks cannot be added in Slack.
    """
    slack = slack_web.new_client(settings, None)
    workspaces = _workspaces(settings, slack, database, clock)
    services = Services(
        database,
        slack,
        workspaces,
        clock,
        settings.base_url,
        check_webhook_url or _no_webhooks,
        install_url=f"{settings.base_url}{INSTALL_PATH}" if settings.is_oauth else None,
        support_contact=support_contact,
    )
    homes = Homes(services)
    services.refresh_home = homes.enqueue
    welcomes = Welcomes(command=settings.command, support_contact=support_contact)
    bolt = _bolt(settings, workspaces)
    listening.attach(bolt, services)
    if register is None:
        listeners.register(bolt, settings.command)
    else:
        register(bolt)
    return SlackApp(
        bolt=bolt,
        notifier=Notifier(database, workspaces, clock, homes, welcomes),
        workspaces=workspaces,
        services=services,
        installing=Installing(settings, slack, database, clock) if settings.is_oauth else None,
        reminders=Reminders(database, clock),
        digests=Digests(database, workspaces, clock),
        directory=DirectorySync(database, workspaces, clock),
        signing_secret=settings.signing_secret,
    )


async def _no_webhooks(url: str) -> None:
    raise InvalidInput.of("url", "url_invalid", gettext_noop("Webhooks cannot be added here."))


def _workspaces(
    settings: SlackSettings,
    slack: AsyncWebClient,
    database: Database,
    clock: Callable[[], datetime],
) -> Workspaces:
    if settings.is_oauth:
        return InstalledWorkspaces(slack, database, clock)
    return OneWorkspace(slack_web.new_client(settings, settings.bot_token), database, clock)


def _bolt(settings: SlackSettings, workspaces: Workspaces) -> AsyncApp:
    async def authorize(
        context: AsyncBoltContext, enterprise_id: str | None, team_id: str | None
    ) -> AuthorizeResult:
        # Never refuses, because the reason cannot be shown here; the listeners do.
        try:
            workspace = await workspaces.for_payload(team_id or "")
        except DatabaseUnavailable as failure:
            context[WORKSPACE] = failure
            return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id)
        context[WORKSPACE] = workspace
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_id=workspace.bot_id if workspace else None,
            bot_user_id=workspace.bot_user_id if workspace else None,
            bot_token=workspace.client.token if workspace else None,
        )

    return AsyncApp(
        # With an authorize function Bolt ignores the mode in environment variables; with a client
        # without a token it does not warn about two tokens.
        client=slack_web.new_client(settings, None),
        authorize=authorize,
        # Requests are verified before they reach Bolt (asgi.py).
        request_verification_enabled=False,
        logger=slack_web.LOGGER,
        name="hiatus",
    )
