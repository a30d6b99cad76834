"""What ``hiatus doctor`` checks of Slack: tokens, scopes, its clock, and the settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Final

from slack_sdk.web.async_client import AsyncWebClient

from bot.base.settings import SlackSettings
from bot.client import slack_web
from bot.service.manifest import SCOPES
from storage.base.errors import DatabaseUnavailable
from storage.cli.doctor.findings import (
    Check,
    Finding,
    clock_finding,
    failed,
    leads_to_this_machine,
    ok,
    warning,
)
from storage.cli.doctor.reading import Reader
from storage.db.database import Transaction
from storage.slack import slack_installations

# The newest installations; more would only repeat what they tell.
MAX_WORKSPACES: Final = 20
SLACK_SECONDS: Final = 20.0
_AT_ONCE: Final = 5
_SUBJECT: Final = "Slack"

Clock = Callable[[], datetime]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    """What Slack says of one token; ``failure`` is None if it accepts the token."""

    failure: Exception | None
    missing: tuple[str, ...] = ()
    at: datetime | None = None


def checks(settings: SlackSettings | None, reader: Reader, clock: Clock) -> list[Check]:
    """The checks of Slack; a sentence if it is not set up."""
    if settings is None:
        text = "is not set up: Hiatus serves REST, calendars and webhooks only"
        return [Check(subject=_SUBJECT, look=partial(ok, _SUBJECT, text))]
    look = partial(_workspaces, settings, reader) if settings.is_oauth else partial(_bot, settings)
    found = [Check(subject=_SUBJECT, look=partial(look, clock), seconds=SLACK_SECONDS)]
    if settings.app_token is not None:
        app = partial(_app, settings, settings.app_token)
        found.append(Check(subject="Socket Mode", look=app, seconds=SLACK_SECONDS))
    return found


def _bot(settings: SlackSettings, clock: Clock) -> list[Finding]:
    """The one workspace of the bot token."""
    if settings.bot_token is None:
        return warning(_SUBJECT, "not checked, because HIATUS_SLACK_BOT_TOKEN is missing")
    [answer] = asyncio.run(_ask(settings, [settings.bot_token]))
    if answer.failure is not None:
        if slack_web.error_code(answer.failure) in slack_web.TOKEN_REFUSED:
            text = (
                f"does not accept the token ({_reason(answer.failure)}): set "
                "HIATUS_SLACK_BOT_TOKEN to the one that the app's page shows"
            )
            return failed(_SUBJECT, text)
        return failed(_SUBJECT, _not_reached(answer.failure))
    if answer.missing:
        text = (
            f"the token lacks {', '.join(answer.missing)}: give the app the manifest that `hiatus "
            "slack manifest` prints, and install it again"
        )
        return [*failed(_SUBJECT, text), *_clock([answer], clock)]
    text = "accepts the token, which has every scope of the manifest"
    return [*ok(_SUBJECT, text), *_clock([answer], clock)]


def _workspaces(settings: SlackSettings, reader: Reader, clock: Clock) -> list[Finding]:
    """The newest of the workspaces that installed the app."""
    try:
        team_ids = reader.read(slack_installations.team_ids, limit=MAX_WORKSPACES)
        tokens = {team_id: reader.read(_token, team_id) for team_id in team_ids}
    except DatabaseUnavailable:
        return warning(_SUBJECT, "not checked, because the database cannot be read")
    if not tokens:
        return ok(_SUBJECT, "no workspace has installed the app yet, from /slack/install")
    readable = {team_id: token for team_id, token in tokens.items() if token is not None}
    answers = asyncio.run(_ask(settings, [*readable.values()]))
    of_team = dict(zip(readable, answers, strict=True))
    found: list[Finding] = []
    for team_id in team_ids:
        found += _about(team_id, of_team.get(team_id))
    accepted = len(tokens) - len(found)
    if accepted:
        text = f"accepts the tokens of {accepted} of the {len(tokens)} newest workspaces"
        found = [*ok(_SUBJECT, text), *found]
    return [*found, *_clock(answers, clock)]


def _token(tx: Transaction, team_id: str) -> str | None:
    """The workspace's token; None if no key decrypts it."""
    try:
        installation = slack_installations.find(tx, team_id)
    except slack_installations.TokenUnreadable:
        return None
    return installation.bot_token if installation is not None else None


def _about(team_id: str, answer: _Answer | None) -> list[Finding]:
    """What is wrong with one of many workspaces; nothing if all is well."""
    if answer is None:
        text = f"{team_id}: its token cannot be decrypted. Restore the keys, or install again"
        return failed(_SUBJECT, text)
    if answer.failure is not None:
        if slack_web.error_code(answer.failure) in slack_web.TOKEN_REFUSED:
            text = (
                f"{team_id}: its token is refused ({_reason(answer.failure)}). Its admins can "
                "install the app again from /slack/install"
            )
            return warning(_SUBJECT, text)
        return failed(_SUBJECT, f"{team_id}: {_not_reached(answer.failure)}")
    if answer.missing:
        text = (
            f"{team_id}: its token lacks {', '.join(answer.missing)}. Its admins can install the "
            "app again from /slack/install"
        )
        return warning(_SUBJECT, text)
    return []


def _app(settings: SlackSettings, app_token: str) -> list[Finding]:
    """The app-level token of Socket Mode."""
    subject = "Socket Mode"
    failure = asyncio.run(_open_connection(settings, app_token))
    if failure is None:
        return ok(subject, "Slack accepts the app-level token")
    if slack_web.error_code(failure) is None or slack_web.is_temporary(failure):
        return failed(subject, _not_reached(failure))
    text = (
        f"Slack does not accept HIATUS_SLACK_APP_TOKEN ({_reason(failure)}): create one with the "
        "scope connections:write, and switch on Socket Mode for the app"
    )
    return failed(subject, text)


def _clock(answers: Sequence[_Answer], clock: Clock) -> list[Finding]:
    now = clock()
    slack_times = [answer.at for answer in answers if answer.at is not None]
    return clock_finding("Slack", now - max(slack_times)) if slack_times else []


async def _ask(settings: SlackSettings, tokens: Sequence[str]) -> list[_Answer]:
    """Call auth.test with each token, a few at once."""
    template = slack_web.new_client(settings, None)
    at_once = asyncio.Semaphore(_AT_ONCE)

    async def ask(token: str) -> _Answer:
        async with at_once:
            return await _test(slack_web.with_token(template, token))

    async with slack_web.connected(template):
        return await asyncio.gather(*map(ask, tokens))


async def _test(client: AsyncWebClient) -> _Answer:
    try:
        response = await client.auth_test()
    except slack_web.FAILURES as failure:
        return _Answer(failure=failure)
    headers = {name.lower(): value for name, value in response.headers.items()}
    granted = {scope.strip() for scope in headers.get("x-oauth-scopes", "").split(",")}
    missing = tuple(scope for scope in SCOPES if scope not in granted)
    return _Answer(failure=None, missing=missing, at=_date(headers.get("date", "")))


async def _open_connection(settings: SlackSettings, app_token: str) -> Exception | None:
    """Ask for the URL of a connection, without opening it; how Slack refused, or None."""
    client = slack_web.new_client(settings, None)
    async with slack_web.connected(client):
        try:
            await client.apps_connections_open(app_token=app_token)
        except slack_web.FAILURES as failure:
            return failure
    return None


def _date(header: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return None
    # None for a date whose time zone is unknown.
    return date if date.tzinfo is not None else None


def _reason(failure: Exception) -> str:
    """Slack's error code in a form that is safe to print."""
    code = slack_web.error_code(failure) or ""
    return code if code.replace("_", "").isalnum() and len(code) < 41 else "unknown"


def _not_reached(failure: Exception) -> str:
    code = _reason(failure) if slack_web.error_code(failure) else type(failure).__name__
    return f"did not answer as expected ({code}): check the network and https://slack-status.com"


def contradictions(settings: SlackSettings | None) -> list[Finding]:
    """Valid settings that contradict each other."""
    if settings is None:
        return []
    base_url = settings.base_url
    if base_url.startswith("https://") and not leads_to_this_machine(base_url):
        return []
    if settings.is_oauth:
        return warning(
            "settings",
            "HIATUS_SLACK_CLIENT_ID with a BASE_URL that is not a public https:// address: Slack "
            "cannot send people who install the app back to it. Set BASE_URL",
        )
    if settings.signing_secret is not None and settings.app_token is None:
        return warning(
            "settings",
            "HIATUS_SLACK_SIGNING_SECRET with a BASE_URL that is not a public https:// address: "
            "Slack cannot send events to it. Set BASE_URL, or use Socket Mode",
        )
    return []
