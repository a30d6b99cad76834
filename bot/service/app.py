"""Builds the Slack app for serve.py: listeners, notifications, routes and lifespan."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import parse_qsl

import structlog
from slack_bolt.adapter.starlette.async_handler import (
    AsyncSlackRequestHandler,
    to_starlette_response,
)
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.web.async_client import AsyncWebClient
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot import listeners
from bot.base.language import gettext_noop
from bot.base.settings import SlackSettings
from bot.client import slack_web
from bot.client.workspaces import InstalledWorkspaces, OneWorkspace, Workspaces
from bot.interaction import listening
from bot.interaction.interaction import WORKSPACE, CheckUrl, Services
from bot.messages.expiry_notices import ExpiryNotices
from bot.messages.home_tab import Homes
from bot.messages.jobs import Digests, DirectorySync, Reminders
from bot.messages.notifications import Notifier
from bot.messages.slack_statuses import SlackStatuses
from bot.service import connecting, installing
from storage.base.errors import DatabaseUnavailable, InvalidInput
from storage.db.database import Database

# A view has at most 250 kB; percent-encoded it may be three times as long.
MAX_BODY_BYTES: Final = 1_000_000

_log = structlog.stdlib.get_logger("hiatus.slack")


@dataclass(frozen=True, kw_only=True, slots=True)
class SlackApp:
    """``bolt`` handles incoming payloads, ``notifier`` sends notifications.

    ``connections`` are the routes on which people connect their Slack status. ``is_signed``: Slack
    sends its payloads over HTTP, with a signature.
    """

    bolt: AsyncApp
    notifier: Notifier
    workspaces: Workspaces
    services: Services
    reminders: Reminders
    digests: Digests
    directory: DirectorySync
    statuses: SlackStatuses
    expiry: ExpiryNotices
    connections: list[Route]
    is_signed: bool

    @property
    def jobs(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """By name. Each job runs in its own task, so that a long one does not delay the others."""
        return {
            "reminders": self.reminders.run,
            "digests": self.digests.run,
            "directory_sync": self.directory.run,
            "slack_statuses": self.statuses.run,
            "expiry_notices": self.expiry.run,
        }

    def routes(self) -> list[Route]:
        """The HTTP routes: Slack's requests, unless Socket Mode is used, and the installation."""
        return [*_routes(self.bolt, is_signed=self.is_signed), *self.connections]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the connection to Slack open; at the end, wait for running interactions.

        The app only works inside this context. Never fails because of Slack.
        """
        clients = [self.services.slack]
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
        install_url=f"{settings.base_url}{installing.INSTALL_PATH}" if settings.is_oauth else None,
        support_contact=support_contact,
    )
    homes = Homes(services)
    services.refresh_home = homes.enqueue
    bolt = AsyncApp(
        name="hiatus",
        client=slack,
        before_authorize=_read_command,
        authorize=_Authorize(workspaces),
        oauth_settings=installing.oauth_settings(settings, slack, database, clock)
        if settings.is_oauth
        else None,
        signing_secret=settings.signing_secret,
        logger=slack_web.LOGGER,
    )
    listening.attach(bolt, services)
    if register is None:
        listeners.register(bolt, settings.command)
    else:
        register(bolt)
    return SlackApp(
        bolt=bolt,
        notifier=Notifier(
            database,
            workspaces,
            clock,
            homes,
            command=settings.command,
            support_contact=support_contact,
        ),
        workspaces=workspaces,
        services=services,
        reminders=Reminders(database, clock),
        digests=Digests(database, workspaces, clock),
        directory=DirectorySync(database, workspaces, clock),
        statuses=SlackStatuses(database, workspaces, slack, clock),
        expiry=ExpiryNotices(database, clock),
        connections=connecting.routes(settings, services) if settings.is_oauth else [],
        is_signed=settings.signing_secret is not None,
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


async def _read_command(req: AsyncBoltRequest, next_: Callable[[], Awaitable[None]]) -> None:
    """Read a command that has the word "payload" in it, which Bolt takes for an interaction."""
    if req.raw_body and not req.body:
        req.body = dict(parse_qsl(req.raw_body, keep_blank_values=True))
        req.context.update(AsyncBoltRequest(body=json.dumps(req.body)).context)
    await next_()


class _Authorize(AsyncAuthorize):
    """Stores the workspace in Bolt's context.

    Never refuses, because the reason cannot be shown here; the listeners do.
    """

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    async def __call__(
        self,
        *,
        context: AsyncBoltContext,
        enterprise_id: str | None,
        team_id: str | None,
        user_id: str | None,
        **others: object,
    ) -> AuthorizeResult:
        workspace = None
        try:
            workspace = await self._workspaces.for_payload(team_id or "")
            context[WORKSPACE] = workspace
        except DatabaseUnavailable as failure:
            context[WORKSPACE] = failure
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_id=workspace.bot_id if workspace else None,
            bot_user_id=workspace.bot_user_id if workspace else None,
            bot_token=workspace.client.token if workspace else None,
        )


def _routes(bolt: AsyncApp, *, is_signed: bool) -> list[Route]:
    """``POST /slack/events``, if there is a signing secret, and the pages of the installation."""
    handler = AsyncSlackRequestHandler(bolt)

    async def events(request: Request) -> Response:
        try:
            return await handler.handle(request)
        except (*listening.UNREADABLE, ClientDisconnect) as error:
            # Bolt reads a body before it checks the signature; Slack sends none of these.
            _log.warning("slack.payload_refused", reason=type(error).__name__)
            return JSONResponse({"error": "invalid request"}, status_code=400)

    async def installation(request: Request) -> Response:
        try:
            response = await handler.handle(request)
        except (DatabaseUnavailable, *slack_web.FAILURES) as error:
            response = to_starlette_response(installing.failure_page(error))
        # The state and the code are secret and work only once.
        response.headers["Cache-Control"] = "no-store"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    routes = []
    if is_signed:
        routes.append(
            Route("/slack/events", events, methods=["POST"], max_body_size=MAX_BODY_BYTES)
        )
    if bolt.oauth_flow is not None:
        paths = (installing.INSTALL_PATH, installing.REDIRECT_PATH)
        routes += [Route(path, installation, methods=["GET"]) for path in paths]
    return routes
