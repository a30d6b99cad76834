"""Installing the app by OAuth: from /slack/install to Slack and back to /slack/oauth_redirect.

Bolt's flow with states and installations in our database, and our own pages.
``storage.slack.slack_installations`` decides when an existing organisation is linked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from logging import Logger
from typing import Final

import aiohttp
import structlog
from slack_bolt.error import BoltError
from slack_bolt.oauth.async_callback_options import (
    AsyncCallbackOptions,
    AsyncFailureArgs,
    AsyncSuccessArgs,
)
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient

from bot.base.settings import SlackSettings
from bot.client import slack_users, slack_web
from bot.service import manifest
from bot.views import install_page
from storage.access import oauth_states
from storage.base.errors import DatabaseUnavailable, DomainError
from storage.db.database import Database
from storage.slack import slack_installations
from storage.slack.slack_installations import Installed
from storage.slack.slack_workspaces import NewInstallation

INSTALL_PATH: Final = "/slack/install"
REDIRECT_PATH: Final = "/slack/oauth_redirect"
# Keys in Bolt's request context.
_INSTALLED: Final = "hiatus_installed"
_COMMAND: Final = "hiatus_command"
_APP_ID: Final = "hiatus_app_id"

_log = structlog.stdlib.get_logger("hiatus.slack")


class NotInstalled(BoltError):
    """Nothing was installed; the sentence is shown to the installer."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.status = status


class Installing:
    """Installation by OAuth; ``flow`` responds to the browser."""

    def __init__(
        self,
        settings: SlackSettings,
        slack: AsyncWebClient,
        database: Database,
        clock: Callable[[], datetime],
    ) -> None:
        flow_settings = AsyncOAuthSettings(
            client_id=settings.client_id,
            client_secret=settings.client_secret,
            scopes=list(manifest.SCOPES),
            user_scopes=[],
            redirect_uri=f"{settings.base_url}{REDIRECT_PATH}",
            install_path=INSTALL_PATH,
            redirect_uri_path=REDIRECT_PATH,
            install_page_rendering_enabled=False,
            callback_options=AsyncCallbackOptions(success=_success_page, failure=_failure_page),
            authorization_url=f"{settings.api_url.removesuffix('api/')}oauth/v2/authorize",
            installation_store=_NoStore(),
            state_store=_States(database, clock),
            state_expiration_seconds=int(oauth_states.LIFE.total_seconds()),
            logger=slack_web.LOGGER,
        )
        self.flow = _Flow(flow_settings, settings.command, slack, database, clock)


class _Flow(AsyncOAuthFlow):
    """Bolt's flow with our own token exchange and storage."""

    def __init__(
        self,
        settings: AsyncOAuthSettings,
        command: str,
        slack: AsyncWebClient,
        database: Database,
        clock: Callable[[], datetime],
    ) -> None:
        super().__init__(client=slack, logger=slack_web.LOGGER, settings=settings)
        self._credentials = aiohttp.encode_basic_auth(settings.client_id, settings.client_secret)
        self._command = command
        self._database = database
        self._clock = clock

    async def handle_callback(self, request: AsyncBoltRequest) -> BoltResponse:
        try:
            return await super().handle_callback(request)
        except DatabaseUnavailable as error:
            return _unavailable(error)

    async def run_installation(self, code: str) -> Installation | None:
        """Exchange the code for an installation; None if Slack refuses."""
        try:
            # The SDK's own function uses a deprecated part of aiohttp.
            response = await self.client.api_call(
                "oauth.v2.access",
                # In a form body: proxies and servers log query strings.
                data={"code": code, "redirect_uri": self.settings.redirect_uri},
                headers={"Authorization": self._credentials},
            )
        except slack_web.FAILURES as failure:
            _log.warning("slack.not_installed", reason=slack_web.summary(failure))
            return None
        team, enterprise = response.get("team") or {}, response.get("enterprise") or {}
        return Installation(
            app_id=response.get("app_id"),
            team_id=team.get("id"),
            team_name=team.get("name"),
            enterprise_id=enterprise.get("id"),
            is_enterprise_install=bool(response.get("is_enterprise_install")),
            bot_token=response.get("access_token"),
            bot_user_id=response.get("bot_user_id"),
            bot_scopes=response.get("scope") or "",
            user_id=str((response.get("authed_user") or {}).get("id") or ""),
        )

    async def store_installation(
        self, request: AsyncBoltRequest, installation: Installation
    ) -> None:
        """Store the installation. Raises NotInstalled."""
        client = slack_web.with_token(self.client, str(installation.bot_token))
        if installation.is_enterprise_install or not installation.team_id:
            await _revoke_token(client)
            raise NotInstalled(install_page.ENTERPRISE, 400)
        try:
            new = await _describe(client, installation)
            done = await self._database.write(slack_installations.install, new, now=self._clock())
        except DomainError as refusal:
            raise NotInstalled(refusal.detail, 403) from refusal
        except slack_web.FAILURES as failure:
            _log.warning("slack.not_installed", reason=slack_web.summary(failure))
            raise NotInstalled(install_page.SLACK_FAILED, 502) from failure
        _log.info("slack.installed", team_id=new.team_id, kind=done.kind)
        request.context[_INSTALLED] = done
        request.context[_COMMAND] = self._command
        request.context[_APP_ID] = installation.app_id


def _unavailable(error: DatabaseUnavailable) -> BoltResponse:
    _log.warning(
        "slack.database_unavailable", listener="install", reason=str(error), kind=error.kind
    )
    return install_page.failure(install_page.BUSY, 503)


async def _describe(client: AsyncWebClient, installation: Installation) -> NewInstallation:
    """Look up the bot and the installer. Raises NotInstalled and the errors in ``FAILURES``."""
    team_id = str(installation.team_id)
    bot = await client.auth_test()
    if bot["team_id"] != team_id:
        _log.warning("slack.not_installed", reason="the token is of another workspace")
        raise NotInstalled(install_page.SLACK_FAILED, 502)
    response = await client.users_info(user=installation.user_id, include_locale=True)
    user: Mapping[str, object] = response["user"]
    if not slack_users.is_full_member(user, team_id):
        raise NotInstalled(install_page.NO_FULL_MEMBER, 403)
    return NewInstallation(
        team_id=team_id,
        team_name=installation.team_name or "",
        enterprise_id=installation.enterprise_id,
        bot_id=bot["bot_id"],
        bot_user_id=str(installation.bot_user_id or bot["user_id"]),
        bot_token=str(installation.bot_token),
        scopes=tuple(sorted(installation.bot_scopes or ())),
        installer=slack_users.profile_of(user),
    )


async def _revoke_token(client: AsyncWebClient) -> None:
    """Revoke the token of a refused installation, which is not needed."""
    try:
        await client.auth_revoke()
    except slack_web.FAILURES as failure:
        _log.warning("slack.token_not_revoked", reason=slack_web.summary(failure))


async def _success_page(args: AsyncSuccessArgs) -> BoltResponse:
    done: Installed = args.request.context[_INSTALLED]
    context = args.request.context
    page = install_page.success(
        done, context[_COMMAND], app_id=context[_APP_ID], team_id=args.installation.team_id
    )
    page.headers["set-cookie"] = [args.settings.state_utils.build_set_cookie_for_deletion()]
    return page


async def _failure_page(args: AsyncFailureArgs) -> BoltResponse:
    if isinstance(args.error, NotInstalled):
        page = install_page.failure(args.error.sentence, args.error.status)
    else:
        page = install_page.not_finished(args.reason)
    page.headers["set-cookie"] = [args.settings.state_utils.build_set_cookie_for_deletion()]
    return page


class _States(AsyncOAuthStateStore):
    """Bolt's view of ``storage.access.oauth_states``."""

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


class _NoStore(AsyncInstallationStore):
    """Replaces Bolt's default, which writes files to the home folder: the flow stores the data."""

    @property
    def logger(self) -> Logger:
        return slack_web.LOGGER
