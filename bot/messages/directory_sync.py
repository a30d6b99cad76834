"""The daily sync of people with their Slack workspace, which makes up for missed events.

One ``users.list`` per workspace, page by page; only people who differ are written. A failure is
logged, and that workspace backs off alone.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.client import slack_web
from bot.client.slack_web import MalformedProfile
from bot.client.workspaces import Workspace, Workspaces
from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database
from storage.directory import slack_syncs
from storage.directory.slack_accounts import SlackProfile
from storage.directory.slack_syncs import Sync
from storage.slack import slack_profiles
from storage.slack.slack_profiles import Synced

# Slack's recommended maximum page size (docs.slack.dev, "users.list").
PAGE: Final = 200
# 100,000 members; stops a list that never ends.
MAX_PAGES: Final = 500
# Workspaces synced concurrently, so that a rate-limited one does not delay the others.
MAX_CONCURRENT: Final = 8
# How often a run claims more workspaces while slow ones are still running.
CLAIM_SECONDS: Final = 30.0
# A longer wait is left to the next attempt.
MAX_WAIT_SECONDS: Final = 60
MAX_WAITS: Final = 3
# People per transaction.
BATCH: Final = 50
LINKED_PAGE: Final = 500

_log = structlog.stdlib.get_logger("hiatus.slack")


class _LeaseLost(Exception):
    """Another process has taken over this sync, or a new one was requested."""


class DirectorySync:
    def __init__(
        self,
        database: Database,
        workspaces: Workspaces,
        clock: Callable[[], datetime],
        *,
        claim_seconds: float = CLAIM_SECONDS,
    ) -> None:
        self._database = database
        self._workspaces = workspaces
        self._clock = clock
        self._claim_seconds = claim_seconds

    async def run(self) -> None:
        """Sync every due workspace, ``MAX_CONCURRENT`` at a time; their failures are logged.

        Raises DatabaseUnavailable when no workspace could be claimed.
        """
        due = await self._claim(MAX_CONCURRENT)
        running: set[asyncio.Task[None]] = set()
        async with asyncio.TaskGroup() as group:
            while True:
                for sync in due:
                    running.add(group.create_task(self._sync_one(sync)))
                if not running:
                    return
                _, running = await asyncio.wait(
                    running, timeout=self._claim_seconds, return_when=asyncio.FIRST_COMPLETED
                )
                due = await self._claim_more(MAX_CONCURRENT - len(running))

    async def _claim(self, limit: int) -> list[Sync]:
        return await self._database.write(
            slack_syncs.claim, claim_id=str(uuid.uuid4()), now=self._clock(), limit=limit
        )

    async def _claim_more(self, limit: int) -> list[Sync]:
        """As ``_claim``; an error does not stop the running syncs."""
        if limit == 0:
            return []
        try:
            return await self._claim(limit)
        except DatabaseUnavailable as failure:
            _log.warning("slack.not_synced", reason=str(failure))
            return []

    async def _sync_one(self, sync: Sync) -> None:
        """Sync one workspace; its errors do not stop the others."""
        try:
            await self._sync(sync)
        except _LeaseLost:
            return
        except DatabaseUnavailable as failure:
            # Claimed again when the lease expires.
            _log.warning(
                "slack.not_synced", organisation_id=sync.organisation_id, reason=str(failure)
            )

    async def _sync(self, sync: Sync) -> None:
        """Raises _LeaseLost and DatabaseUnavailable."""
        workspace = None
        try:
            workspace = await self._workspaces.for_delivery(sync.team_id)
            if workspace is not None:
                await self._compare(sync, workspace)
            await self._database.write(slack_syncs.finish, sync, now=self._clock())
        except (_LeaseLost, DatabaseUnavailable):
            raise
        except slack_web.FAILURES as failure:
            if workspace and slack_web.error_code(failure) in slack_web.TOKEN_REFUSED:
                await self._workspaces.token_refused(workspace)
            reason = slack_web.summary(failure)
            await self._record_failure(sync, reason, slack_web.retry_after_seconds(failure))
        except Exception as failure:  # noqa: BLE001  # an error in one organisation's data
            _log.exception("slack.sync_failed", organisation_id=sync.organisation_id)
            await self._record_failure(sync, type(failure).__name__)

    async def _record_failure(
        self, sync: Sync, reason: str, retry_after: int | None = None
    ) -> None:
        _log.warning("slack.not_synced", organisation_id=sync.organisation_id, reason=reason)
        await self._database.write(
            slack_syncs.fail, sync, reason, retry_after_seconds=retry_after, now=self._clock()
        )

    async def _compare(self, sync: Sync, workspace: Workspace) -> None:
        """Raises _LeaseLost, DatabaseUnavailable and the errors in ``slack_web.FAILURES``."""
        listed_ids: set[str] = set()
        # A member without an id would look like a missing one.
        are_ids_known = True
        changed = 0
        cursor = ""
        for _ in range(MAX_PAGES):
            response = await self._page(workspace, cursor)
            members = response.get("members") or ()
            ids = [member.get("id") if isinstance(member, dict) else None for member in members]
            are_ids_known = are_ids_known and all(isinstance(id_, str) for id_ in ids)
            listed_ids |= {id_ for id_ in ids if isinstance(id_, str)}
            changed += await self._keep_in_step(sync, _profiles(sync, members))
            if not await self._database.write(slack_syncs.renew, sync, now=self._clock()):
                raise _LeaseLost
            cursor = (response.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                break
        # Only a complete list shows who is missing; it always has the app's own bot.
        if listed_ids and are_ids_known and not cursor:
            changed += await self._deactivate_missing(sync, listed_ids)
        _log.info(
            "slack.synced",
            organisation_id=sync.organisation_id,
            members=len(listed_ids),
            changed=changed,
        )

    async def _page(self, workspace: Workspace, cursor: str) -> AsyncSlackResponse:
        for waits in range(MAX_WAITS + 1):
            try:
                return await workspace.client.users_list(
                    limit=PAGE, cursor=cursor, include_locale=True
                )
            except SlackApiError as failure:
                seconds = slack_web.retry_after_seconds(failure)
                if seconds is None or seconds > MAX_WAIT_SECONDS or waits == MAX_WAITS:
                    raise
                await asyncio.sleep(seconds)
        raise AssertionError("unreachable")

    async def _keep_in_step(self, sync: Sync, profiles: Sequence[SlackProfile]) -> int:
        different = await self._database.read(
            slack_profiles.changed, sync.organisation_id, profiles
        )
        for start in range(0, len(different), BATCH):
            synced = await self._database.write(
                slack_profiles.sync_all,
                sync.organisation_id,
                different[start : start + BATCH],
                now=self._clock(),
            )
            _log_owners_kept(synced)
        return len(different)

    async def _deactivate_missing(self, sync: Sync, listed_ids: set[str]) -> int:
        deactivated = 0
        after_id = None
        while linked := await self._database.read(
            slack_profiles.linked_accounts,
            sync.organisation_id,
            after_id=after_id,
            limit=LINKED_PAGE,
        ):
            missing = [user_id for user_id, account in linked if account not in listed_ids]
            for start in range(0, len(missing), BATCH):
                synced = await self._database.write(
                    slack_profiles.deactivate_missing,
                    sync.organisation_id,
                    missing[start : start + BATCH],
                    listed_at=sync.started_at,
                    now=self._clock(),
                )
                deactivated += len(synced)
                _log_owners_kept(synced)
            after_id = linked[-1][0]
        return deactivated


def _profiles(sync: Sync, members: Sequence[object]) -> list[SlackProfile]:
    """The profiles of the workspace's own members; malformed ones are logged and skipped."""
    profiles = []
    for member in members:
        try:
            if not isinstance(member, dict):
                raise MalformedProfile("member")
            if slack_web.is_own(member, sync.team_id):
                profiles.append(slack_web.profile_of(member))
        except MalformedProfile as malformed:
            _log.warning(
                "slack.member_skipped",
                organisation_id=sync.organisation_id,
                malformed_field=malformed.field,
            )
    return profiles


def _log_owners_kept(synced: Sequence[Synced]) -> None:
    for change in synced:
        if change.is_last_owner:
            _log.warning("slack.last_owner_switched_off", user_id=change.user.id)
