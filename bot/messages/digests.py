"""Posts digests to their channels and keeps them up to date."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime
from typing import Final

import orjson
import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.base.block_kit import Message
from bot.base.language import using_locale
from bot.client import slack_web
from bot.client.workspaces import Workspaces
from bot.message_views import admin_messages
from bot.message_views import digest as views
from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database
from storage.notifications import digests
from storage.notifications.digests import Digest, DigestKey

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
