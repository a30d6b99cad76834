"""Installing the app by OAuth: from /slack/install to Slack and back to /slack/oauth_redirect.

Bolt's flow with states and installations in our database, and our own pages.
``storage.workspaces.slack_installations`` decides when an existing organisation is linked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from logging import Logger
from typing import Final

import structlog
from slack_bolt.error import BoltError
from slack_bolt.oauth.async_callback_options import (
    AsyncCallbackOptions,
    AsyncFailureArgs,
    AsyncSuccessArgs,
)
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.response import BoltResponse
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient

from bot.base.settings import SlackSettings
from bot.client import slack_web
from bot.service import manifest
from bot.views import install_page
from storage.base.errors import DatabaseUnavailable, DomainError
from storage.db.database import Database
from storage.workspaces import oauth_states, slack_installations
from storage.workspaces.slack_workspaces import NewInstallation

INSTALL_PATH: Final = "/slack/install"
REDIRECT_PATH: Final = "/slack/oauth_redirect"
# The custom value of Bolt's installation that has ours.
_INSTALLED: Final = "hiatus_installed"

_log = structlog.stdlib.get_logger("hiatus.slack")


class NotInstalled(BoltError):
    """Nothing was installed; the sentence is shown to the installer."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.status = status


def oauth_settings(
    settings: SlackSettings,
    slack: AsyncWebClient,
    database: Database,
    clock: Callable[[], datetime],
) -> AsyncOAuthSettings:
    """Bolt's flow with states and installations in our database, and our own pages."""

    async def success(args: AsyncSuccessArgs) -> BoltResponse:
        installation = args.installation
        page = install_page.success(
            installation.custom_values[_INSTALLED],
            settings.command,
            app_id=installation.app_id,
            team_id=installation.team_id,
        )
        return _without_cookie(args.settings, page)

    return AsyncOAuthSettings(
        client_id=settings.client_id,
        client_secret=settings.client_secret,
        scopes=[*manifest.SCOPES, *manifest.OPTIONAL_SCOPES],
        user_scopes=[],
        redirect_uri=f"{settings.base_url}{REDIRECT_PATH}",
        install_path=INSTALL_PATH,
        redirect_uri_path=REDIRECT_PATH,
        install_page_rendering_enabled=False,
        callback_options=AsyncCallbackOptions(success=success, failure=_failure_page),
        authorization_url=f"{settings.api_url.removesuffix('api/')}oauth/v2/authorize",
        installation_store=_Installations(slack, database, clock),
        state_store=_States(database, clock),
        state_expiration_seconds=int(oauth_states.LIFE.total_seconds()),
        logger=slack_web.LOGGER,
    )


class _Installations(AsyncInstallationStore):
    """Bolt's view of ``storage.workspaces.slack_installations``."""

    def __init__(
        self, slack: AsyncWebClient, database: Database, clock: Callable[[], datetime]
    ) -> None:
        self._slack = slack
        self._database = database
        self._clock = clock

    @property
    def logger(self) -> Logger:
        return slack_web.LOGGER

    async def async_save(self, installation: Installation) -> None:
        """Store the installation. Raises NotInstalled and DatabaseUnavailable."""
        client = slack_web.with_token(self._slack, str(installation.bot_token))
        if installation.is_enterprise_install or not installation.team_id:
            await _revoke_token(client)
            raise NotInstalled(install_page.ENTERPRISE, 400)
        new = await _describe(client, installation)
        try:
            done = await self._database.write(slack_installations.install, new, now=self._clock())
        except DomainError as refusal:
            raise NotInstalled(refusal.detail, 403) from refusal
        _log.info("slack.installed", team_id=new.team_id, kind=done.kind)
        installation.set_custom_value(_INSTALLED, done)


async def _describe(client: AsyncWebClient, installation: Installation) -> NewInstallation:
    """Look up the installer. Raises NotInstalled and the errors in ``slack_web.FAILURES``."""
    team_id = str(installation.team_id)
    response = await client.users_info(user=installation.user_id, include_locale=True)
    user: Mapping[str, object] = response["user"]
    if not slack_web.is_full_member(user, team_id):
        raise NotInstalled(install_page.NO_FULL_MEMBER, 403)
    return NewInstallation(
        team_id=team_id,
        team_name=installation.team_name or "",
        enterprise_id=installation.enterprise_id,
        bot_id=str(installation.bot_id),
        bot_user_id=str(installation.bot_user_id),
        bot_token=str(installation.bot_token),
        scopes=tuple(sorted(installation.bot_scopes or ())),
        installer=slack_web.profile_of(user),
    )


async def _revoke_token(client: AsyncWebClient) -> None:
    """Revoke the token of a refused installation, which is not needed."""
    try:
        await client.auth_revoke()
    except slack_web.FAILURES as failure:
        _log.warning("slack.token_not_revoked", reason=slack_web.summary(failure))


def failure_page(error: Exception) -> BoltResponse:
    """The page for a database or a Slack that did not respond."""
    if isinstance(error, DatabaseUnavailable):
        _log.warning(
            "slack.database_unavailable", listener="install", reason=str(error), kind=error.kind
        )
        return install_page.failure(install_page.BUSY, 503)
    _log.warning("slack.not_installed", reason=slack_web.summary(error))
    return install_page.failure(install_page.SLACK_FAILED, 502)


async def _failure_page(args: AsyncFailureArgs) -> BoltResponse:
    if isinstance(args.error, NotInstalled):
        page = install_page.failure(args.error.sentence, args.error.status)
    else:
        page = install_page.not_finished(args.reason)
    return _without_cookie(args.settings, page)


def _without_cookie(settings: AsyncOAuthSettings, page: BoltResponse) -> BoltResponse:
    """The page, which deletes the cookie with the state."""
    page.headers["set-cookie"] = [settings.state_utils.build_set_cookie_for_deletion()]
    return page


class _States(AsyncOAuthStateStore):
    """Bolt's view of ``storage.workspaces.oauth_states``."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    @property
    def logger(self) -> Logger:
        return slack_web.LOGGER

    async def async_issue(self, *args: object, **kwargs: object) -> str:
        return oauth_states.issue(self._database.secrets, now=self._clock())

    async def async_consume(self, state: str) -> bool:
        # Anyone may send any state: a wrong one costs no write.
        if not await self._database.read(oauth_states.is_valid, state, now=self._clock()):
            return False
        return await self._database.write(oauth_states.consume, state, now=self._clock())
