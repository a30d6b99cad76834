"""What ``hiatus doctor`` checks of Slack: tokens, their scopes, and the settings."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from slack_sdk.web.async_client import AsyncWebClient

from bot.base.settings import SlackSettings
from bot.client import slack_web
from bot.service.manifest import SCOPES
from storage.db.database import Transaction
from storage.operations.doctor import (
    Check,
    Finding,
    Reader,
    failed,
    leads_to_this_machine,
    ok,
    warning,
)
from storage.workspaces import slack_installations

# The newest installations; more would only repeat what they tell.
MAX_WORKSPACES: Final = 20
_SLACK_SECONDS: Final = 20.0
_AT_ONCE: Final = 5
_SUBJECT: Final = "Slack"
_NEW_TOKEN: Final = (
    "Install the app with the manifest that `hiatus slack manifest` prints, and set the token that "
    "its page shows"
)

# Apps that were created before Hiatus answered messages lack it, and work otherwise.
_OF_CONVERSATION: Final = "im:history"
_NO_ANSWERS: Final = (
    f"its token lacks {_OF_CONVERSATION}, so what people write to the app is not answered"
)

# A code, what is wrong, and whether another token is needed.
_Problem = tuple[str, str, bool]


def checks(settings: SlackSettings | None, reader: Reader) -> list[Check]:
    """The checks of Slack; a sentence if it is not set up."""
    if settings is None:
        text = "is not set up: Hiatus serves REST, calendars and webhooks only"
        return [Check(subject=_SUBJECT, look=partial(ok, _SUBJECT, text))]
    look = partial(_tokens, settings, reader)
    found = [Check(subject=_SUBJECT, look=look, seconds=_SLACK_SECONDS)]
    if settings.app_token is not None:
        app = partial(_app, settings, settings.app_token)
        found.append(Check(subject="Socket Mode", look=app, seconds=_SLACK_SECONDS))
    return found


def _tokens(settings: SlackSettings, reader: Reader) -> list[Finding]:
    """The bot token, or those of the newest of the workspaces that installed the app."""
    if settings.is_oauth:
        team_ids = reader.read(slack_installations.team_ids, limit=MAX_WORKSPACES)
        tokens = {team_id: reader.read(_token, team_id) for team_id in team_ids}
        say, cure = warning, "Its admins can install the app again from /slack/install"
    elif settings.bot_token is None:
        text = "not checked, because HIATUS_SLACK_BOT_TOKEN is missing"
        return warning(_SUBJECT, "no_token", text)
    else:
        tokens = {"HIATUS_SLACK_BOT_TOKEN": settings.bot_token}
        say, cure = failed, _NEW_TOKEN
    if not tokens:
        return ok(_SUBJECT, "no workspace has installed the app yet, from /slack/install")
    problems = asyncio.run(_problems_of(settings, list(tokens.values())))
    found: list[Finding] = []
    for name, problem in zip(tokens, problems, strict=True):
        if problem is not None:
            code, text, is_of_token = problem
            tell = warning if text == _NO_ANSWERS else say
            found += tell(_SUBJECT, code, f"{name}: {text}. {cure}" if is_of_token else text)
    accepted = len(tokens) - len(found)
    if accepted:
        text = f"accepts the tokens, with every scope, of {accepted} of {len(tokens)} workspaces"
        found = [*ok(_SUBJECT, text), *found]
    return found


def _token(tx: Transaction, team_id: str) -> str | None:
    """The workspace's token; None if no key decrypts it."""
    try:
        installation = slack_installations.find(tx, team_id)
    except slack_installations.TokenUnreadable:
        return None
    return installation.bot_token if installation is not None else None


async def _problems_of(settings: SlackSettings, tokens: list[str | None]) -> list[_Problem | None]:
    """What is wrong with each token, after a few calls of auth.test at once."""
    template = slack_web.new_client(settings, None)
    at_once = asyncio.Semaphore(_AT_ONCE)

    async def ask(token: str | None) -> _Problem | None:
        if token is None:
            return "token_unreadable", "its token cannot be decrypted", True
        async with at_once:
            return await _problem_of(slack_web.with_token(template, token))

    async with slack_web.connected(template):
        return await asyncio.gather(*map(ask, tokens))


async def _problem_of(client: AsyncWebClient) -> _Problem | None:
    try:
        response = await client.auth_test()
    except slack_web.FAILURES as failure:
        if slack_web.error_code(failure) in slack_web.TOKEN_REFUSED:
            text = f"Slack does not accept its token ({_reason(failure)})"
            return "token_refused", text, True
        return "slack_unreachable", _not_reached(failure), False
    headers = {name.lower(): value for name, value in response.headers.items()}
    granted = {scope.strip() for scope in headers.get("x-oauth-scopes", "").split(",")}
    missing = [scope for scope in SCOPES if scope not in granted]
    if missing == [_OF_CONVERSATION]:
        return "scope_missing", _NO_ANSWERS, True
    if missing:
        return "scope_missing", f"its token lacks {', '.join(missing)}", True
    return None


def _app(settings: SlackSettings, app_token: str) -> list[Finding]:
    """The app-level token of Socket Mode."""
    subject = "Socket Mode"
    failure = asyncio.run(_open_connection(settings, app_token))
    if failure is None:
        return ok(subject, "Slack accepts the app-level token")
    if slack_web.error_code(failure) is None or slack_web.is_temporary(failure):
        return failed(subject, "slack_unreachable", _not_reached(failure))
    text = (
        f"Slack does not accept HIATUS_SLACK_APP_TOKEN ({_reason(failure)}): create one with the "
        "scope connections:write, and switch on Socket Mode for the app"
    )
    return failed(subject, "token_refused", text)


async def _open_connection(settings: SlackSettings, app_token: str) -> Exception | None:
    """Ask for the URL of a connection, without opening it; how Slack refused, or None."""
    client = slack_web.new_client(settings, None)
    async with slack_web.connected(client):
        try:
            await client.apps_connections_open(app_token=app_token)
        except slack_web.FAILURES as failure:
            return failure
    return None


def _reason(failure: Exception) -> str:
    """Slack's error code in a form that is safe to print."""
    code = slack_web.error_code(failure) or ""
    return code if code.replace("_", "").isalnum() and len(code) < 41 else "unknown"


def _not_reached(failure: Exception) -> str:
    code = _reason(failure) if slack_web.error_code(failure) else type(failure).__name__
    return (
        f"Slack did not answer as expected ({code}): check the network and https://slack-status.com"
    )


def contradictions(settings: SlackSettings | None) -> list[Finding]:
    """Valid settings that contradict each other."""
    if settings is None:
        return []
    is_reachable = settings.base_url.startswith("https://") and not leads_to_this_machine(
        settings.base_url
    )
    needs_it = settings.is_oauth or (
        settings.signing_secret is not None and settings.app_token is None
    )
    if is_reachable or not needs_it:
        return []
    return warning(
        "settings",
        "base_url_not_public",
        "BASE_URL is not a public https:// address: Slack can neither send events to it nor lead "
        "people back who install the app. Set BASE_URL, or use Socket Mode",
    )
