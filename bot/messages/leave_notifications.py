"""Notifications about leave requests: cards, decisions and reminders."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.base.block_kit import Message
from bot.client import slack_web
from bot.client.workspaces import Workspace
from bot.message_views import (
    approver_messages,
    cover_messages,
    reminders,
    requester_messages,
)
from bot.message_views import card as cards
from bot.messages.recipients import Recipients, post
from bot.messages.slack_failures import update_message
from storage.events import notification_outbox
from storage.notifications.notification_data import NotificationData
from storage.notifications.notification_queue import Notification
from storage.notifications.notifications import Outcome, SentCard
from storage.notifications.reminder_summaries import SummaryNotificationData
from storage.notifications.slack_messages import PostedMessage

# The card no longer exists, or belongs to an earlier installation of the app.
_GONE: Final = frozenset({"cant_update_message", "channel_not_found", "message_not_found"})


class LeaveNotifications:
    """Sends them. The methods raise NoAccount and the errors in ``slack_web.FAILURES``."""

    def __init__(self, recipients: Recipients) -> None:
        self._recipients = recipients

    async def send(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        by_kind = {
            "approval_card": self._card,
            "approver_notice": self._approver_notice,
            "cover_notice": self._cover_notice,
            "reminder": self._reminder,
            "requester_notice": self._requester_notice,
            "own_message": self._own_message,
        }
        return await by_kind[notification.kind](data, notification, workspace)

    async def send_summary(
        self, data: SummaryNotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        slack_user_id = await self._recipients.slack_user_id(
            notification, data.recipient, workspace
        )
        await post(workspace, slack_user_id, reminders.summary(data))
        return Outcome(verdict="delivered")

    async def _card(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        deleted = None
        if notification.is_refresh and not _is_worth_refreshing(data):
            return Outcome(verdict="delivered")
        if data.message is not None and _is_new_question(data, notification):
            # Slack sends no notification for an edited message, which may be weeks old.
            await update_message(data.message, cards.superseded(data.card), workspace.client)
        elif data.message is not None:
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
        return _sent(data, message)

    async def _post_card(
        self, notification: Notification, data: NotificationData, workspace: Workspace
    ) -> Outcome:
        slack_user_id = await self._recipients.slack_user_id(
            notification, data.recipient, workspace
        )
        message = await post(workspace, slack_user_id, cards.message(data.card))
        return _sent(data, message)

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
        slack_user_id = await self._recipients.slack_user_id(
            notification, data.recipient, workspace
        )
        # Rendered again: the look-up may have set the person's language.
        message: Message = requester_messages.notification(
            data.card, notification.event_type, data.total_change
        ) or {"text": ""}
        if data.message is not None:
            await update_message(
                data.message, requester_messages.superseded(data.card), workspace.client
            )
        return _sent(data, await post(workspace, slack_user_id, message))

    async def _own_message(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        """Update the requester's existing message about their own action, or send a new one.

        A refresh never sends one.
        """
        message = requester_messages.notification(data.card, notification.event_type)
        if notification.event_type == notification_outbox.OWN_REFRESH:
            if data.message is not None and message is not None:
                await update_message(data.message, message, workspace.client)
            return Outcome(verdict="delivered")
        if data.message is not None and message is not None:
            if await update_message(data.message, message, workspace.client):
                return Outcome(verdict="delivered")
            data = replace(data, message=None)
        return await self._requester_notice(data, notification, workspace)

    async def _approver_notice(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        """Inform an approver who need not decide: in the card's thread, else in a new message."""
        message = approver_messages.notification(
            data.card, notification.event_type, data.recipient.id
        )
        if message is None or data.recipient.status != "active":
            return Outcome(verdict="delivered")
        if data.message is not None:
            try:
                await workspace.client.chat_postMessage(
                    channel=data.message.channel,
                    thread_ts=data.message.ts,
                    reply_broadcast=True,
                    **message,
                )
                return Outcome(verdict="delivered")
            except SlackApiError as failure:
                if slack_web.error_code(failure) not in _GONE | {"thread_not_found"}:
                    raise
        slack_user_id = await self._recipients.slack_user_id(
            notification, data.recipient, workspace
        )
        # Rendered again: the look-up may have set the person's language.
        await post(
            workspace,
            slack_user_id,
            approver_messages.notification(data.card, notification.event_type, data.recipient.id)
            or message,
        )
        return Outcome(verdict="delivered")

    async def _cover_notice(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        """Tell a cover about new, changed or cancelled dates, always in a message of its own."""
        if _cover_sentence(data, notification) is None:
            return Outcome(verdict="delivered")
        if data.recipient.status not in ("pending", "active"):
            return Outcome(verdict="failed", error="the person is switched off")
        slack_user_id = await self._recipients.slack_user_id(
            notification, data.recipient, workspace
        )
        # Rendered after the look-up, which may have set the person's language.
        await post(workspace, slack_user_id, {"text": _cover_sentence(data, notification) or ""})
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


def _sent(data: NotificationData, message: PostedMessage) -> Outcome:
    return Outcome(
        verdict="delivered",
        sent_card=SentCard(message=message, version=data.card.request.version),
    )


def _cover_sentence(data: NotificationData, notification: Notification) -> str | None:
    request = data.card.request
    return cover_messages.notification(
        data.card,
        notification.event_type,
        notification.user_id,
        (notification.first_day or request.start_date, notification.last_day or request.end_date),
    )


def _is_new_question(data: NotificationData, notification: Notification) -> bool:
    """Whether the person is asked about an amendment, which gets a card of its own."""
    is_amendment = notification.event_type == "leave_request.amendment_requested"
    return is_amendment and data.card.may_decide


def _is_worth_refreshing(data: NotificationData) -> bool:
    """Whether there is an open card to refresh that no later notification refreshes anyway."""
    is_open = data.message is not None and data.card.is_undecided
    return is_open and not data.is_superseded
