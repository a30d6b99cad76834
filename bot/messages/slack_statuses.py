"""Keeps the Slack status of connected people in step with their leave. Any process may run it.

A person's own token sets the status, because an app has none of its own. The current status is read
with the app's token: users.profile.get would need another permission of each person.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.base.language import gettext, using_locale
from bot.blocks import words
from bot.client import slack_web
from bot.client.workspaces import Workspace, Workspaces
from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database
from storage.rules import slack_status
from storage.rules.slack_status import Known, Status
from storage.workspaces import slack_statuses
from storage.workspaces.slack_statuses import Check

# Claimed at once; with three calls each they end before their lease expires.
BATCH: Final = 10
# Slack no longer accepts the person's token for a status (docs.slack.dev, users.profile.set).
_REFUSED: Final = slack_web.TOKEN_REFUSED | {
    "missing_scope",
    "not_allowed_token_type",
    "not_authed",
    "token_expired",
}
_UNKNOWN_EMOJI: Final = "profile_status_set_failed_not_valid_emoji"
_CLEARED: Final = Status(text="", emoji="", expires_at=None)
# The year 2100; a later time is malformed.
_MAX_EXPIRY_SECONDS: Final = 4_102_444_800

_log = structlog.stdlib.get_logger("hiatus.slack")


class _TokenRefused(Exception):
    """Slack refused the person's token."""


class SlackStatuses:
    def __init__(
        self,
        database: Database,
        workspaces: Workspaces,
        template: AsyncWebClient,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._workspaces = workspaces
        self._template = template
        self._clock = clock
        # Until then a workspace takes no calls with the app's token, by team id.
        self._limited_until: dict[str, datetime] = {}

    async def run(self) -> None:
        """Process every due check. Raises DatabaseUnavailable."""
        while True:
            claim_id = str(uuid.uuid4())
            claimed = await self._database.write(
                slack_statuses.claim, claim_id=claim_id, now=self._clock(), limit=BATCH
            )
            if not claimed:
                return
            for organisation_id, id_ in claimed:
                await self._process(organisation_id, id_, claim_id)

    async def _process(self, organisation_id: str, id_: str, claim_id: str) -> None:
        """Process one check; its errors do not stop the others."""
        check = None
        try:
            check = await self._database.write(
                slack_statuses.load, organisation_id, id_, claim_id, now=self._clock()
            )
            if check is not None:
                await self._run_check(check)
        except DatabaseUnavailable:
            raise
        except Exception:  # noqa: BLE001  # an error in one person's data
            _log.exception("slack.status_failed", organisation_id=organisation_id)
            if check is not None:
                await self._database.write(slack_statuses.fail, check, now=self._clock())

    async def _run_check(self, check: Check) -> None:
        write = self._database.write
        try:
            await self._apply(check)
        except _TokenRefused:
            _log.info("slack.status_ended", organisation_id=check.organisation_id)
            await write(slack_statuses.refuse, check, now=self._clock())
        except slack_web.FAILURES as failure:
            _log.warning(
                "slack.status_not_set",
                organisation_id=check.organisation_id,
                reason=slack_web.summary(failure),
            )
            await write(
                slack_statuses.fail,
                check,
                retry_after_seconds=slack_web.retry_after_seconds(failure),
                now=self._clock(),
            )

    async def _apply(self, check: Check) -> None:
        """Raises _TokenRefused, DatabaseUnavailable and the errors in ``slack_web.FAILURES``."""
        write, now = self._database.write, self._clock()
        wanted = None if check.is_ending else _wanted(check)
        if not check.known.is_current(wanted, now):
            limited_until = self._limited_until.get(check.team_id, now)
            workspace = await self._workspaces.for_delivery(check.team_id)
            if workspace is None or limited_until > now:
                until = limited_until if limited_until > now else now + slack_statuses.WAIT
                await write(slack_statuses.postpone, check, until=until)
                return
            current = await self._current(workspace, check)
            await self._change(check, wanted, current)
        elif not check.is_ending:
            known = Known() if wanted is None else check.known
            await write(slack_statuses.record_result, check, known)
        if check.is_ending:
            await _as_person(self._client(check).auth_revoke())
            await write(slack_statuses.finish, check)

    async def _current(self, workspace: Workspace, check: Check) -> Status:
        try:
            response = await workspace.client.users_info(user=check.slack_user_id)
        except slack_web.FAILURES as failure:
            if slack_web.error_code(failure) in slack_web.TOKEN_REFUSED:
                await self._workspaces.token_refused(workspace)
            if slack_web.is_rate_limit(failure):
                seconds = slack_web.retry_after_seconds(failure) or 1
                self._limited_until[check.team_id] = self._clock() + timedelta(seconds=seconds)
            raise
        user: Mapping[str, object] = response["user"]
        return _status_in(user.get("profile")) or _CLEARED

    async def _change(self, check: Check, wanted: Status | None, current: Status) -> None:
        """Do what the status that Slack shows now leaves to do, and record it."""
        write, now = self._database.write, self._clock()
        step = slack_status.next_step(wanted, current, check.known, now)
        if wanted is None:
            if step == "clear":
                await _as_person(self._client(check).users_profile_set(profile=_profile(_CLEARED)))
            if not check.is_ending:
                await write(slack_statuses.record_result, check, Known())
        elif step == "set":
            await self._set(check, wanted)
        elif step == "keep":
            known = Known(sent=wanted, shown=current)
            await write(slack_statuses.record_result, check, known)
        elif step == "leave_alone":
            until = wanted.expires_at
            await write(
                slack_statuses.record_result, check, Known(), due_at=until, left_alone_until=until
            )
        else:
            due_at = min(filter(None, (current.expires_at, now + slack_statuses.WAIT)))
            await write(slack_statuses.record_result, check, Known(), due_at=due_at)

    async def _set(self, check: Check, wanted: Status) -> None:
        if not await self._database.write(slack_statuses.begin, check, wanted):
            return  # The leave has changed meanwhile, and another check is due.
        client, refused_emoji = self._client(check), None
        try:
            response = await _as_person(client.users_profile_set(profile=_profile(wanted)))
        except SlackApiError as failure:
            if slack_web.error_code(failure) != _UNKNOWN_EMOJI:
                raise
            refused_emoji = check.emoji
            wanted = replace(wanted, emoji=f":{slack_status.NEUTRAL_EMOJI}:")
            response = await _as_person(client.users_profile_set(profile=_profile(wanted)))
        # Slack may have another name for the emoji.
        shown = _status_in(response.get("profile")) or wanted
        await self._database.write(
            slack_statuses.record_result,
            check,
            Known(sent=wanted, shown=shown),
            refused_emoji=refused_emoji,
        )

    def _client(self, check: Check) -> AsyncWebClient:
        return slack_web.with_token(self._template, check.token)


async def _as_person(call: Awaitable[AsyncSlackResponse]) -> AsyncSlackResponse:
    """Await a call with the person's token. Raises _TokenRefused and ``slack_web.FAILURES``."""
    try:
        return await call
    except SlackApiError as failure:
        if slack_web.error_code(failure) in _REFUSED:
            raise _TokenRefused from failure
        raise


def _wanted(check: Check) -> Status | None:
    """The status of the absence that goes on now, in the person's language."""
    away = check.away
    if away is None:
        return None
    with using_locale(check.locale):
        if away.returns_on is None:
            text = gettext("Away")
        elif away.returns_at is None:
            text = gettext("Away until {day}", day=words.short_day(away.returns_on))
        else:
            text = gettext(
                "Away until {day}, {time}",
                day=words.short_day(away.returns_on),
                time=words.clock(away.returns_at),
            )
    return Status(text=text, emoji=f":{check.emoji}:", expires_at=away.ends_at)


def _profile(status: Status) -> dict[str, object]:
    """As Slack's ``profile``; an expiration of 0 is none."""
    expires_at = status.expires_at
    return {
        "status_text": status.text,
        "status_emoji": status.emoji,
        "status_expiration": 0 if expires_at is None else int(expires_at.timestamp()),
    }


def _status_in(profile: object) -> Status | None:
    """The status in Slack's ``profile``; None if it has none that is well-formed."""
    if not isinstance(profile, Mapping):
        return None
    text, emoji = profile.get("status_text"), profile.get("status_emoji")
    seconds = profile.get("status_expiration") or 0
    if not isinstance(text, str) or not isinstance(emoji, str) or not isinstance(seconds, int):
        return None
    has_expiry = 0 < seconds < _MAX_EXPIRY_SECONDS
    expires_at = datetime.fromtimestamp(seconds, UTC) if has_expiry else None
    return Status(text=text, emoji=emoji, expires_at=expires_at)
