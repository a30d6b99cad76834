"""Notices on their way to Slack: each is drawn from what is true when it is sent.

Repeated, late and overtaken notices all end in the same picture, because they draw state.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot import slack_web
from bot.identity import is_full_member
from bot.views import card as cards
from bot.views import replies
from bot.workspace import Workspace
from storage import notices, slack_workspaces
from storage.database import Database
from storage.notices import Drawn, Notice, Outcome, Sight
from storage.posted import Posted
from storage.values import User

# Trying again would meet the same answer.
FINAL_ERRORS: Final = frozenset(
    {
        "account_inactive",
        "cannot_dm_bot",
        "cant_update_message",
        "channel_not_found",
        "edit_window_closed",
        "is_archived",
        "message_not_found",
        "restricted_action",
        "user_disabled",
        "user_not_found",
        "users_not_found",
    }
)

_log = structlog.stdlib.get_logger("hiatus.slack")


class Notifier:
    """What the dispatcher of notices does: claim, deliver, settle."""

    def __init__(
        self, database: Database, workspace: Workspace, clock: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._workspace = workspace
        self._clock = clock

    async def claim(self, limit: int) -> list[Notice]:
        """Take due notices that no other process has."""
        return await self._database.write(
            notices.claim, limit=limit, claim_id=str(uuid.uuid4()), now=self._clock()
        )

    async def settle(self, outcomes: Sequence[tuple[Notice, Outcome]]) -> None:
        """Record what came of several attempts in one transaction."""
        await self._database.write(notices.settle, outcomes, now=self._clock())

    async def deliver(self, notice: Notice) -> Outcome:
        """Make one attempt; raises nothing that Slack does. Raises DatabaseUnavailable."""
        if notice.kind == "webhook_disabled":
            return await self._webhook_notice(notice)
        sight = await self._database.read(notices.look, notice, now=self._clock())
        if sight is None:
            return Outcome("failed", "the request is gone")
        try:
            bot = await self._workspace.identify()
            if sight.team_id != bot.team_id:
                return Outcome("failed", "the organisation is not in the token's workspace")
            if notice.kind == "approval_card":
                return await self._card(notice, sight)
            return await self._requester_notice(notice, sight)
        except slack_web.FAILURES as failure:
            return _outcome_of(notice, failure)

    async def _card(self, notice: Notice, sight: Sight) -> Outcome:
        gone = None
        if sight.message is not None:
            try:
                return await self._redrawn(notice, sight, sight.message)
            except SlackApiError as failure:
                if slack_web.error_code(failure) != "message_not_found":
                    raise
                gone = sight.message
        if not sight.card.may_decide:
            # Decided before it was shown, or no longer this person's to decide.
            return Outcome("delivered", gone=gone)
        drawn = await self._posted(notice, sight)
        return drawn._replace(gone=gone)

    async def _redrawn(self, notice: Notice, sight: Sight, message: Posted) -> Outcome:
        picture = cards.message(sight.card)
        client = self._client
        await client.chat_update(channel=message.channel, ts=message.ts, **picture)
        if notice.event_type == "leave_request.updated" and sight.card.may_decide:
            # An edited message alone notifies nobody, and what is asked for has changed.
            await client.chat_postMessage(
                channel=message.channel,
                thread_ts=message.ts,
                text=replies.changed_reply(sight.card),
            )
        return Outcome("delivered", drawn=Drawn(message, sight.card.request.version))

    async def _posted(self, notice: Notice, sight: Sight) -> Outcome:
        slack_user_id = await self._slack_user_id(notice, sight.recipient)
        if slack_user_id is None:
            return Outcome("failed", "nobody in the workspace has this e-mail address")
        answer = await self._client.chat_postMessage(
            channel=slack_user_id, **cards.message(sight.card)
        )
        message = Posted(answer["channel"], answer["ts"])
        return Outcome("delivered", drawn=Drawn(message, sight.card.request.version))

    async def _requester_notice(self, notice: Notice, sight: Sight) -> Outcome:
        message = replies.requester_notice(sight.card, notice.event_type, sight.news)
        if message is None:
            return Outcome("delivered")
        if sight.recipient.status not in ("pending", "active"):
            return Outcome("failed", "the person is switched off")
        slack_user_id = await self._slack_user_id(notice, sight.recipient)
        if slack_user_id is None:
            return Outcome("failed", "nobody in the workspace has this e-mail address")
        await self._client.chat_postMessage(channel=slack_user_id, **message)
        return Outcome("delivered")

    async def _webhook_notice(self, notice: Notice) -> Outcome:
        sight = await self._database.read(notices.look_at_webhook, notice)
        if sight is None:
            return Outcome("delivered")
        try:
            bot = await self._workspace.identify()
            if sight.team_id != bot.team_id:
                return Outcome("failed", "the organisation is not in the token's workspace")
            slack_user_id = await self._slack_user_id(notice, sight.recipient)
            if slack_user_id is None:
                return Outcome("failed", "nobody in the workspace has this e-mail address")
            message = replies.webhook_disabled(sight.webhook)
            await self._client.chat_postMessage(channel=slack_user_id, **message)
        except slack_web.FAILURES as failure:
            return _outcome_of(notice, failure)
        return Outcome("delivered")

    @property
    def _client(self) -> AsyncWebClient:
        return self._workspace.client

    async def _slack_user_id(self, notice: Notice, recipient: User) -> str | None:
        """Who the person is in Slack, asked by e-mail once and kept."""
        if recipient.slack_user_id is not None:
            return recipient.slack_user_id
        bot = await self._workspace.identify()
        try:
            answer = await self._client.users_lookupByEmail(email=recipient.email)
        except SlackApiError as failure:
            if slack_web.error_code(failure) == "users_not_found":
                return None
            raise
        if not is_full_member(answer["user"], bot.team_id):
            return None
        found: str = answer["user"]["id"]
        await self._database.write(
            slack_workspaces.remember_slack_id,
            notice.organisation_id,
            recipient.id,
            found,
            now=self._clock(),
        )
        return found


async def drain(notifier: Notifier, *, limit: int = 32) -> int:
    """Deliver whatever is due until nothing is; how many attempts that took."""
    attempts = 0
    while due := await notifier.claim(limit):
        await notifier.settle([(notice, await notifier.deliver(notice)) for notice in due])
        attempts += len(due)
    return attempts


def _outcome_of(notice: Notice, failure: Exception) -> Outcome:
    summary = slack_web.summary(failure)
    is_final = slack_web.error_code(failure) in FINAL_ERRORS
    _log.warning(
        "slack.notice_not_delivered",
        notice_id=notice.id,
        kind=notice.kind,
        reason=summary,
        is_final=is_final,
    )
    if is_final:
        return Outcome("failed", summary)
    return Outcome("retry", summary, slack_web.retry_after_seconds(failure))
