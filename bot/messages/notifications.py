"""Sends notifications to Slack, rendered from the state at the time of sending.

Repeated, late and overtaken notifications have the same result, because they render state.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.base.block_kit import Message
from bot.base.language import set_locale, using_locale
from bot.client import slack_web
from bot.client.slack_users import is_full_member, profile_of
from bot.client.workspaces import Workspace, Workspaces
from bot.message_views import (
    approver_messages,
    digest,
    reminders,
    requester_messages,
    webhook_messages,
)
from bot.message_views import card as cards
from bot.messages.home_tab import Homes
from bot.messages.slack_failures import outcome_of, update_message
from storage.base.errors import DatabaseUnavailable
from storage.base.values import User
from storage.db.database import Database
from storage.notifications import (
    admin_notification_data,
    notification_data,
    notification_queue,
    notifications,
    reminder_summaries,
)
from storage.notifications.admin_notification_data import (
    DigestNotificationData,
    WebhookNotificationData,
)
from storage.notifications.notification_data import NotificationData
from storage.notifications.notification_queue import Notification
from storage.notifications.notifications import Outcome, SentCard
from storage.notifications.reminder_summaries import SummaryNotificationData
from storage.notifications.slack_messages import PostedMessage
from storage.slack import account_links

# The card no longer exists, or belongs to an earlier installation of the app.
_GONE: Final = frozenset({"cant_update_message", "channel_not_found", "message_not_found"})
# Stored with the notification, for operators.
NO_ACCOUNT: Final = "no account in the workspace has this confirmed e-mail address"
_NOT_INSTALLED: Final = Outcome(verdict="failed", error="the app is not installed in the workspace")

_log = structlog.stdlib.get_logger("hiatus.slack")


class Notifier:
    """The dispatcher's target: claims and delivers notifications and records the results."""

    def __init__(
        self,
        database: Database,
        workspaces: Workspaces,
        clock: Callable[[], datetime],
        homes: Homes,
    ) -> None:
        self._homes = homes
        self._database = database
        self._workspaces = workspaces
        self._clock = clock

    async def claim(self, limit: int) -> list[Notification]:
        """Claim due notifications."""
        return await self._database.write(
            notification_queue.claim, limit=limit, claim_id=str(uuid.uuid4()), now=self._clock()
        )

    async def record_results(self, outcomes: Sequence[tuple[Notification, Outcome]]) -> None:
        """Record the results of several attempts in one transaction."""
        await self._database.write(notifications.record_results, outcomes, now=self._clock())
        for notification, _ in outcomes:
            # The recipient may have their Home tab open.
            if notification.kind != "cover_changed":
                self._homes.enqueue(notification.organisation_id, notification.user_id)

    async def deliver(self, notification: Notification) -> Outcome:
        """Make one attempt. Slack's errors become an Outcome. Raises DatabaseUnavailable."""
        try:
            return await self._deliver(notification)
        except DatabaseUnavailable:
            raise
        except Exception as error:  # noqa: BLE001  # an error in one organisation's data
            # Retried with back-off until it fails, like a message that Slack refuses.
            _log.exception("slack.notice_failed", notice_id=notification.id, kind=notification.kind)
            return Outcome(verdict="retry", error=type(error).__name__)

    async def _deliver(self, notification: Notification) -> Outcome:
        if notification.kind in ("webhook_disabled", "webhook_failing"):
            webhook = await self._database.read(admin_notification_data.load_webhook, notification)
            if webhook is None:
                return Outcome(verdict="delivered")
            return await self._attempt(
                notification, webhook.team_id, webhook.locale, partial(self._webhook, webhook)
            )
        if notification.kind == "digest_refused":
            refused = await self._database.read(admin_notification_data.load_digest, notification)
            if refused is None:
                return Outcome(verdict="delivered")
            return await self._attempt(
                notification, refused.team_id, refused.locale, partial(self._digest, refused)
            )
        if notification.kind == "reminder_summary":
            summary = await self._database.read(
                reminder_summaries.load, notification, now=self._clock()
            )
            if summary is None:
                return Outcome(verdict="delivered")
            return await self._attempt(
                notification, summary.team_id, summary.locale, partial(self._summary, summary)
            )
        if notification.kind == "cover_changed":
            await self._database.write_long(notifications.expand, notification, now=self._clock())
            return Outcome(verdict="delivered")
        data = await self._database.read(notification_data.load, notification, now=self._clock())
        if data is None:
            gone = "the request is gone"
            _log.warning(
                "slack.notice_failed",
                notice_id=notification.id,
                kind=notification.kind,
                reason=gone,
            )
            return Outcome(verdict="failed", error=gone)
        send = {
            "approval_card": self._card,
            "approver_notice": self._approver_notice,
            "reminder": self._reminder,
            "requester_notice": self._requester_notice,
            "own_message": self._own_message,
        }[notification.kind]
        return await self._attempt(notification, data.team_id, data.locale, partial(send, data))

    async def _attempt(
        self,
        notification: Notification,
        team_id: str | None,
        locale: str | None,
        send: Callable[[Notification, Workspace], Awaitable[Outcome]],
    ) -> Outcome:
        """Send to the organisation's workspace, if it has the app.

        ``locale`` is the recipient's.
        """
        workspace = None
        try:
            workspace = await self._workspaces.for_delivery(team_id or "")
            if workspace is None:
                return _NOT_INSTALLED
            with using_locale(locale):
                return await send(notification, workspace)
        except slack_web.FAILURES as failure:
            is_refused = slack_web.error_code(failure) in slack_web.TOKEN_REFUSED
            if workspace and is_refused and await self._workspaces.token_refused(workspace):
                # Logged once instead of for every pending notification.
                return _NOT_INSTALLED
            return outcome_of(notification, failure)

    async def _card(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        deleted = None
        if notification.is_refresh and not _is_worth_refreshing(data):
            return Outcome(verdict="delivered")
        if data.message is not None:
            try:
                return await self._refresh_card(notification, data, data.message, workspace.client)
            except SlackApiError as failure:
                if slack_web.error_code(failure) not in _GONE:
                    raise
                deleted = data.message
        if not data.card.may_decide or notification.is_refresh:
            # Already decided, no longer this person's to decide, or nothing new.
            return Outcome(verdict="delivered", deleted_message=deleted)
        outcome = await self._post_card(notification, data, workspace)
        return replace(outcome, deleted_message=deleted)

    async def _refresh_card(
        self,
        notification: Notification,
        data: NotificationData,
        message: PostedMessage,
        client: AsyncWebClient,
    ) -> Outcome:
        content = cards.message(data.card)
        await client.chat_update(channel=message.channel, ts=message.ts, **content)
        if notification.event_type == "leave_request.updated" and data.card.may_decide:
            # Slack sends no notification for an edited message, and the request has changed.
            await client.chat_postMessage(
                channel=message.channel,
                thread_ts=message.ts,
                text=approver_messages.changed_reply(data.card),
            )
        return Outcome(
            verdict="delivered",
            sent_card=SentCard(message=message, version=data.card.request.version),
        )

    async def _post_card(
        self, notification: Notification, data: NotificationData, workspace: Workspace
    ) -> Outcome:
        slack_user_id = await self._slack_user_id(notification, data.recipient, workspace)
        if slack_user_id is None:
            return Outcome(verdict="failed", error=NO_ACCOUNT)
        answer = await workspace.client.chat_postMessage(
            channel=slack_user_id, **cards.message(data.card)
        )
        message = PostedMessage(channel=answer["channel"], ts=answer["ts"])
        return Outcome(
            verdict="delivered",
            sent_card=SentCard(message=message, version=data.card.request.version),
        )

    async def _requester_notice(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        if (
            requester_messages.notification(data.card, notification.event_type, data.total_change)
            is None
        ):
            return Outcome(verdict="delivered")
        if data.recipient.status not in ("pending", "active"):
            return Outcome(verdict="failed", error="the person is switched off")
        slack_user_id = await self._slack_user_id(notification, data.recipient, workspace)
        if slack_user_id is None:
            return Outcome(verdict="failed", error=NO_ACCOUNT)
        # Rendered again: the look-up may have set the person's language.
        message: Message = requester_messages.notification(
            data.card, notification.event_type, data.total_change
        ) or {"text": ""}
        if data.message is not None:
            await update_message(
                data.message, requester_messages.superseded(data.card), workspace.client
            )
        answer = await workspace.client.chat_postMessage(channel=slack_user_id, **message)
        posted = PostedMessage(channel=answer["channel"], ts=answer["ts"])
        return Outcome(
            verdict="delivered",
            sent_card=SentCard(message=posted, version=data.card.request.version),
        )

    async def _own_message(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        """Update the requester's existing message about their own action, or send a new one."""
        message = requester_messages.notification(data.card, notification.event_type)
        if data.message is not None and message is not None:
            if await update_message(data.message, message, workspace.client):
                return Outcome(verdict="delivered")
            data = replace(data, message=None)
        return await self._requester_notice(data, notification, workspace)

    async def _approver_notice(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        """Inform an approver who need not decide: in the card's thread, else in a new message."""
        sentence = approver_messages.notification(data.card, notification.event_type)
        if sentence is None or data.recipient.status != "active":
            return Outcome(verdict="delivered")
        if data.message is not None:
            try:
                await workspace.client.chat_postMessage(
                    channel=data.message.channel,
                    thread_ts=data.message.ts,
                    reply_broadcast=True,
                    text=sentence,
                )
                return Outcome(verdict="delivered")
            except SlackApiError as failure:
                if slack_web.error_code(failure) not in _GONE | {"thread_not_found"}:
                    raise
        slack_user_id = await self._slack_user_id(notification, data.recipient, workspace)
        if slack_user_id is None:
            return Outcome(verdict="failed", error=NO_ACCOUNT)
        # Rendered again: the look-up may have set the person's language.
        sentence = approver_messages.notification(data.card, notification.event_type) or sentence
        await workspace.client.chat_postMessage(channel=slack_user_id, text=sentence)
        return Outcome(verdict="delivered")

    async def _reminder(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        """Reply in the card's thread and in the DM; send the card again if it is gone."""
        if not data.card.may_decide:
            return Outcome(verdict="delivered")
        if data.message is None:
            return await self._card(data, notification, workspace)
        await workspace.client.chat_postMessage(
            channel=data.message.channel,
            thread_ts=data.message.ts,
            reply_broadcast=True,
            text=reminders.reminder(data.card),
        )
        return Outcome(verdict="delivered")

    async def _summary(
        self, data: SummaryNotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        slack_user_id = await self._slack_user_id(notification, data.recipient, workspace)
        if slack_user_id is None:
            return Outcome(verdict="failed", error=NO_ACCOUNT)
        message = reminders.summary(data)
        await workspace.client.chat_postMessage(channel=slack_user_id, **message)
        return Outcome(verdict="delivered")

    async def _digest(
        self, data: DigestNotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        slack_user_id = await self._slack_user_id(notification, data.recipient, workspace)
        if slack_user_id is None:
            return Outcome(verdict="failed", error=NO_ACCOUNT)
        message = digest.refused(data.channel, data.because)
        await workspace.client.chat_postMessage(channel=slack_user_id, **message)
        return Outcome(verdict="delivered")

    async def _webhook(
        self, data: WebhookNotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        slack_user_id = await self._slack_user_id(notification, data.recipient, workspace)
        if slack_user_id is None:
            return Outcome(verdict="failed", error=NO_ACCOUNT)
        message = (
            webhook_messages.disabled(data.webhook)
            if data.failing_since is None
            else webhook_messages.failing(data.webhook, data.failing_since, data.timezone)
        )
        await workspace.client.chat_postMessage(channel=slack_user_id, **message)
        return Outcome(verdict="delivered")

    async def _slack_user_id(
        self, notification: Notification, recipient: User, workspace: Workspace
    ) -> str | None:
        """The person's Slack user id, looked up by e-mail once and stored."""
        if recipient.slack_user_id is not None:
            return recipient.slack_user_id
        try:
            answer = await workspace.client.users_lookupByEmail(email=recipient.email)
        except SlackApiError as failure:
            if slack_web.error_code(failure) == "users_not_found":
                return None
            raise
        if not is_full_member(answer["user"], workspace.team_id):
            return None
        # Only users.info returns the locale; it is called once per person.
        answer = await workspace.client.users_info(user=answer["user"]["id"], include_locale=True)
        profile = profile_of(answer["user"])
        linked = await self._database.write_long(
            account_links.link,
            notification.organisation_id,
            recipient.id,
            profile,
            now=self._clock(),
        )
        if linked is not None:
            set_locale(profile.locale)
        return linked


async def drain(notifier: Notifier, *, limit: int = 32) -> int:
    """Deliver until nothing is due; returns the number of attempts."""
    attempts = 0
    while due := await notifier.claim(limit):
        await notifier.record_results(
            [(notification, await notifier.deliver(notification)) for notification in due]
        )
        attempts += len(due)
    return attempts


def _is_worth_refreshing(data: NotificationData) -> bool:
    """Whether there is an open card to refresh that no later notification refreshes anyway."""
    is_open = data.message is not None and data.card.request.status == "pending"
    return is_open and not data.is_superseded
