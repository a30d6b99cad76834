"""The workspaces that have the app, with their tokens, and direct messages to their people.

Either the one of the configured bot token, or those that installed the app by OAuth.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from urllib.parse import urlencode

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.base.block_kit import Message
from bot.base.language import set_locale
from bot.client import slack_web
from storage.base.errors import AlreadyExists, DatabaseUnavailable
from storage.base.values import Organisation, User
from storage.db.database import Database
from storage.notifications.notification_queue import Notification
from storage.notifications.slack_messages import PostedMessage
from storage.workspaces import slack_installations, slack_profiles, slack_workspaces
from storage.workspaces.slack_installations import TokenUnreadable

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


# So that an unresponsive Slack does not delay the start.
INTRODUCTION_SECONDS: Final = 3.0


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


class NoAccount(Exception):
    """The recipient has no Slack account in the workspace; the message is for operators."""

    def __init__(self) -> None:
        super().__init__("no account in the workspace has this confirmed e-mail address")


class Recipients:
    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def slack_user_id(
        self, notification: Notification, recipient: User, workspace: Workspace
    ) -> str:
        """As ``of_person``, for the recipient of a notification."""
        return await self.of_person(notification.organisation_id, recipient, workspace)

    async def of_person(self, organisation_id: str, recipient: User, workspace: Workspace) -> str:
        """The person's Slack user id, looked up by e-mail once and stored.

        The look-up may set the person's language, so messages are rendered after it. Raises
        NoAccount.
        """
        if recipient.slack_user_id is not None:
            return recipient.slack_user_id
        try:
            response = await workspace.client.users_lookupByEmail(email=recipient.email)
        except SlackApiError as failure:
            if slack_web.error_code(failure) == "users_not_found":
                raise NoAccount from failure
            raise
        if not slack_web.is_full_member(response["user"], workspace.team_id):
            raise NoAccount
        # Only users.info returns the locale; it is called once per person.
        response = await workspace.client.users_info(
            user=response["user"]["id"], include_locale=True
        )
        profile = slack_web.profile_of(response["user"])
        linked = await self._database.write(
            slack_profiles.link,
            organisation_id,
            recipient.id,
            profile,
            now=self._clock(),
        )
        if linked is None:
            raise NoAccount
        set_locale(profile.locale)
        return linked


async def post(workspace: Workspace, slack_user_id: str, message: Message) -> PostedMessage:
    """Send a DM. Raises the errors in ``slack_web.FAILURES``."""
    response = await workspace.client.chat_postMessage(channel=slack_user_id, **message)
    return PostedMessage(channel=response["channel"], ts=response["ts"])
