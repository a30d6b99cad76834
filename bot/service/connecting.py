"""Connecting a person's Slack status: from the button in Slack to Slack's consent page and back.

The button's link has a state that names the person. The token that Slack gives is kept only if the
person's own account, in their organisation's workspace, agreed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

import structlog
from slack_bolt.adapter.starlette.async_handler import to_starlette_response
from slack_bolt.response import BoltResponse
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from bot.base import language
from bot.base.language import gettext, using_locale
from bot.base.settings import SlackSettings
from bot.client import slack_web
from bot.interaction import errors
from bot.interaction.interaction import Services
from bot.screens.slack_status import CONNECT_PATH
from bot.service import installing, manifest
from bot.views import install_page
from storage.base.errors import DatabaseUnavailable, Forbidden
from storage.db.database import Transaction
from storage.outbox import organisation_config
from storage.people import people_rows
from storage.workspaces import oauth_states, slack_statuses
from storage.workspaces.oauth_states import Person

# Below the address of installations: Slack then needs no further redirect URL in the manifest.
REDIRECT_PATH: Final = f"{installing.REDIRECT_PATH}/status"

_Handler = Callable[[Request], Awaitable[Response]]

_log = structlog.stdlib.get_logger("hiatus.slack")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Begun:
    """A person who connects their status, their workspace, and their language."""

    person: Person
    team_id: str
    locale: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Granted:
    """Who agreed to what, as Slack says."""

    app_id: str
    team_id: str
    slack_user_id: str
    token: str
    has_scopes: bool


def routes(settings: SlackSettings, services: Services) -> list[Route]:
    """The routes for people whose workspace installed the app by OAuth."""
    flow = _Flow(settings, services)
    return [
        Route(path, _secret(answer), methods=["GET"])
        for path, answer in ((CONNECT_PATH, flow.begin), (REDIRECT_PATH, flow.finish))
    ]


def _secret(answer: _Handler) -> _Handler:
    async def endpoint(request: Request) -> Response:
        try:
            response = await answer(request)
        except (DatabaseUnavailable, *slack_web.FAILURES) as failure:
            response = _page(_failed(failure), 503)
        # The state and the code are secret and work only once.
        response.headers["Cache-Control"] = "no-store"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    return endpoint


def _failed(failure: Exception) -> str:
    if isinstance(failure, DatabaseUnavailable):
        return gettext(errors.BUSY)
    _log.warning("slack.status_not_connected", reason=slack_web.summary(failure))
    return gettext("Slack didn't respond as expected. Please try again in a minute.")


class _Flow:
    def __init__(self, settings: SlackSettings, services: Services) -> None:
        self._settings = settings
        self._services = services
        self._redirect_uri = f"{settings.base_url}{REDIRECT_PATH}"

    async def begin(self, request: Request) -> Response:
        """Go on to Slack's consent page."""
        state = request.query_params.get("state", "")
        begun = await self._begun(state)
        if begun is None:
            return _expired()
        query = {
            "client_id": str(self._settings.client_id),
            "scope": "",
            "user_scope": ",".join(manifest.USER_SCOPES),
            "redirect_uri": self._redirect_uri,
            "state": state,
            "team": begun.team_id,
        }
        authorize = f"{self._settings.api_url.removesuffix('api/')}oauth/v2/authorize"
        return RedirectResponse(f"{authorize}?{urlencode(query)}", status_code=302)

    async def finish(self, request: Request) -> Response:
        """Slack sends the browser back, with a code if the person agreed."""
        state = request.query_params.get("state", "")
        begun = await self._begun(state)
        if begun is None:
            return _expired()
        with using_locale(begun.locale):
            code = request.query_params.get("code", "")
            if not code:
                return _page(gettext("You didn't agree, so nothing has changed."), 200)
            now = self._services.clock()
            if not await self._services.database.write(oauth_states.consume_for, state, now=now):
                return _expired()
            return await self._connect(begun, code)

    async def _begun(self, state: str) -> _Begun | None:
        services = self._services
        now = services.clock()
        person = oauth_states.person_of(services.database.secrets, state, now=now)
        if person is None:
            return None
        return await services.database.read(_load, person)

    async def _connect(self, begun: _Begun, code: str) -> Response:
        services = self._services
        response = await services.slack.oauth_v2_access(
            client_id=str(self._settings.client_id),
            client_secret=str(self._settings.client_secret),
            code=code,
            redirect_uri=self._redirect_uri,
        )
        granted = _granted(response.get("authed_user"), response.get("team"), response["app_id"])
        if granted is None or not granted.has_scopes:
            await self._revoke(granted)
            return _page(gettext("You didn't agree, so nothing has changed."), 200)
        person = begun.person
        try:
            await services.database.write(
                slack_statuses.connect,
                organisation_id=person.organisation_id,
                user_id=person.user_id,
                team_id=granted.team_id,
                slack_user_id=granted.slack_user_id,
                token=granted.token,
                now=services.clock(),
            )
        except Forbidden as refusal:
            await self._revoke(granted)
            return _page(errors.sentence(refusal), 403)
        sentences = [
            gettext("While you're off, your Slack status says until when."),
            gettext("To change this, open “Slack status” in the settings on Hiatus's Home tab."),
        ]
        label = gettext("Back to Slack")
        link = install_page.back_to_slack(label, granted.app_id, granted.team_id)
        title = gettext("Your Slack status is connected")
        return _response(install_page.page(title, sentences, 200, link, _language()))

    async def _revoke(self, granted: _Granted | None) -> None:
        """Revoke a token that is not kept, unless it is the one of that person's connection."""
        if granted is None or await self._services.database.read(
            slack_statuses.is_connected, granted.team_id, granted.slack_user_id
        ):
            return
        try:
            await slack_web.with_token(self._services.slack, granted.token).auth_revoke()
        except slack_web.FAILURES as failure:
            _log.warning("slack.token_not_revoked", reason=slack_web.summary(failure))


def _load(tx: Transaction, person: Person) -> _Begun | None:
    organisation = organisation_config.of_organisation(tx, person.organisation_id).organisation
    if organisation.slack_team_id is None:
        return None
    locale = people_rows.locale_of(tx, person.organisation_id, person.user_id)
    return _Begun(person=person, team_id=organisation.slack_team_id, locale=locale)


def _granted(user: object, team: object, app_id: object) -> _Granted | None:
    """None if Slack gave no token of a person."""
    if not isinstance(user, dict) or not isinstance(team, dict):
        return None
    token, scopes = user.get("access_token"), str(user.get("scope") or "").split(",")
    if not isinstance(token, str) or not token:
        return None
    return _Granted(
        app_id=str(app_id),
        team_id=str(team.get("id")),
        slack_user_id=str(user.get("id")),
        token=token,
        has_scopes=manifest.USER_SCOPES.keys() <= set(scopes),
    )


def _expired() -> Response:
    sentence = gettext(
        "This link has expired or was used before. Open “Slack status” in the settings on Hiatus's "
        "Home tab again."
    )
    return _page(sentence, 400)


def _page(sentence: str, status: int) -> Response:
    title = gettext("Your Slack status is not connected")
    return _response(install_page.page(title, [sentence], status, language=_language()))


def _response(page: BoltResponse) -> Response:
    return to_starlette_response(page)


def _language() -> str:
    return str(language.locale()).replace("_", "-")
