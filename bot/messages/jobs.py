"""The periodic jobs of Slack: digests, reminders, and the directory. Any process may run them."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

import orjson
import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.base.block_kit import Message
from bot.base.language import using_locale
from bot.client import slack_web
from bot.client.slack_web import MalformedProfile
from bot.client.workspaces import Workspace, Workspaces
from bot.message_views import admin_messages
from bot.message_views import digest as views
from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database
from storage.notifications import digests, reminder_checks, reminders, time_credit_reminders
from storage.notifications.digests import Digest, DigestKey
from storage.people import slack_syncs
from storage.people.people_rows import SlackProfile
from storage.people.slack_syncs import Sync
from storage.workspaces import slack_profiles
from storage.workspaces.slack_profiles import Synced

# Errors that people have to fix; a retry would meet them again.
REFUSED: Final = frozenset(
    {
        "channel_not_found",
        "is_archived",
        "no_permission",
        "not_in_channel",
        "restricted_action",
        "restricted_action_non_threadable_channel",
        "restricted_action_read_only_channel",
        "restricted_action_thread_only_channel",
    }
)
# The message was deleted or can no longer be edited, so it is left alone.
_GONE: Final = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})

_log = structlog.stdlib.get_logger("hiatus.slack")


class Digests:
    def __init__(
        self, database: Database, workspaces: Workspaces, clock: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._workspaces = workspaces
        self._clock = clock

    async def run(self) -> None:
        """Process every due digest. Raises DatabaseUnavailable."""
        while True:
            now = self._clock()
            keys = await self._database.write(digests.claim, now=now)
            if not keys:
                return
            for key in keys:
                await self._process(key, now)

    async def _process(self, key: DigestKey, now: datetime) -> None:
        """Process one digest; its errors do not stop the others."""
        try:
            digest = await self._database.write(digests.load, key, now=now)
            if digest is not None:
                await self._post(digest)
        except DatabaseUnavailable:
            raise
        except Exception:  # noqa: BLE001  # an error in one organisation's data
            _log.exception("slack.digest_failed", organisation_id=key.organisation_id)
            await self._database.write(digests.back_off, key, now=now)

    async def _post(self, digest: Digest) -> None:
        try:
            await self._try_to_post(digest)
        except slack_web.FAILURES as failure:
            code = slack_web.error_code(failure)
            _log.warning("slack.digest_not_posted", reason=slack_web.summary(failure))
            write, now = self._database.write, self._clock()
            if code in REFUSED:
                await write(digests.refuse, digest, str(code), now=now)
                return
            await write(
                digests.postpone,
                digest,
                slack_web.retry_after_seconds(failure) or 0,
                is_unconfirmed=slack_web.is_unconfirmed(failure),
                now=now,
            )

    async def _try_to_post(self, digest: Digest) -> None:
        workspace = await self._workspaces.for_delivery(digest.team_id)
        if workspace is None:
            return  # Claimed again when the lease expires.
        with using_locale(digest.locale):
            message = views.message(digest)
        sha256 = hashlib.sha256(orjson.dumps(message)).hexdigest()
        ts = digest.ts
        if ts is None and digest.absences.out:
            if await _is_shared(workspace.client, digest.channel):
                _log.warning("slack.digest_not_posted", reason=admin_messages.SHARED)
                await self._database.write(
                    digests.refuse, digest, admin_messages.SHARED, now=self._clock()
                )
                return
            if not await self._database.write(digests.begin, digest, sha256):
                return  # Another process has it, or an admin changed it.
            response = await workspace.client.chat_postMessage(channel=digest.channel, **message)
            ts = response["ts"]
        elif ts is not None and sha256 != digest.shown_sha256:
            await _update(workspace.client, digest.channel, ts, message)
        await self._database.write(
            digests.record_result,
            digest,
            ts=ts,
            shown_sha256=sha256 if ts is not None else None,
            now=self._clock(),
        )


async def _is_shared(client: AsyncWebClient, channel: str) -> bool:
    """Whether the channel is shared with another organisation (Slack Connect), or will be.

    Slack's form offers no such channel, but REST accepts any. Raises temporary failures.
    """
    try:
        response = await client.conversations_info(channel=channel)
    except slack_web.FAILURES as failure:
        if slack_web.is_temporary(failure):
            raise
        # Posting reports what is wrong with the channel; older installations may lack the scope
        # for this check.
        if slack_web.error_code(failure) == "missing_scope":
            _log.warning("slack.channel_not_checked", reason=slack_web.summary(failure))
        return False
    info = response.get("channel") or {}
    return bool(info.get("is_ext_shared") or info.get("is_pending_ext_shared"))


async def _update(client: AsyncWebClient, channel: str, ts: str, message: Message) -> None:
    try:
        await client.chat_update(channel=channel, ts=ts, **message)
    except slack_web.FAILURES as failure:
        if slack_web.error_code(failure) not in _GONE:
            raise


class Reminders:
    """Call ``run`` regularly; the interval only bounds how late a reminder can be."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def run(self) -> None:
        """Queue the due reminders. Raises DatabaseUnavailable.

        Another failure in one organisation is logged and retried later, and stops no other one.
        """
        read = self._database.read
        for organisation_id in await read(reminders.due_organisations, now=self._clock()):
            await self._remind_in(organisation_id)
        for organisation_id in await read(
            time_credit_reminders.due_organisations, now=self._clock()
        ):
            await self._remind_in(organisation_id, of_time_credits=True)

    async def _remind_in(self, organisation_id: str, *, of_time_credits: bool = False) -> None:
        now = self._clock()
        run, back_off = reminder_checks.run, reminders.back_off
        if of_time_credits:
            run, back_off = time_credit_reminders.run, time_credit_reminders.back_off
        try:
            while await self._database.write(run, organisation_id, now=now):
                pass
        except DatabaseUnavailable:
            raise
        except Exception:  # noqa: BLE001  # an error in one organisation's data
            _log.exception("slack.reminders_failed", organisation_id=organisation_id)
            await self._database.write(back_off, organisation_id, now=now)


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
# People per transaction, which keeps the changes of everyone else in the organisation waiting.
BATCH: Final = 10
LINKED_PAGE: Final = 500


class _LeaseLost(Exception):
    """Another process has taken over this sync, or a new one was requested."""


class DirectorySync:
    """One ``users.list`` per workspace, page by page; only people who differ are written.

    A failure is logged, and that workspace backs off alone.
    """

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
