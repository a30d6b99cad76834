"""Notifications about leave requests: cards, decisions and reminders."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.base.block_kit import Message
from bot.client import slack_web
from bot.client.workspaces import Recipients, Workspace, post
from bot.message_views import (
    absence_messages,
    approver_messages,
    cards,
    inbox,
    requester_messages,
)
from storage.base.event_values import NotificationEvent
from storage.notifications.notification_data import NotificationData, SummaryNotificationData
from storage.notifications.notification_queue import Notification, Outcome, SentCard
from storage.notifications.slack_messages import PostedMessage
from storage.outbox import notification_outbox


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
            "absence_notice": self._absence_notice,
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
        await post(workspace, slack_user_id, inbox.message(data.inbox, workspace.home_url))
        return Outcome(verdict="delivered")

    async def _card(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        """Update the person's card, with a reply if they should learn of it; else post it."""
        if notification.is_refresh and not _is_worth_refreshing(data, notification):
            return Outcome(verdict="delivered")
        if data.message is not None:
            refreshed = await _refresh_card(data, data.message, notification, workspace)
            if refreshed is not None:
                return refreshed
        if not data.card.may_decide or notification.is_refresh:
            # Already decided, no longer this person's to decide, or nothing new.
            return Outcome(verdict="delivered", deleted_message=data.message)
        slack_user_id = await self._recipients.slack_user_id(
            notification, data.recipient, workspace
        )
        card = cards.message(data.card, workspace.home_url)
        return _sent(data, await post(workspace, slack_user_id, card))

    async def _requester_notice(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        if _requesters_news(data, notification) is None:
            return Outcome(verdict="delivered")
        if data.recipient.status not in ("pending", "active"):
            return Outcome(verdict="failed", error="the person is switched off")
        slack_user_id = await self._recipients.slack_user_id(
            notification, data.recipient, workspace
        )
        # Rendered after the look-up, which may have set the person's language.
        event_type, total_change = notification.event_type, data.total_change
        is_broadcast = requester_messages.is_broadcast(data.card, event_type)
        if data.message is not None:
            if event_type == "leave_request.decision_changed":
                await _update_reply(data, event_type, workspace)
            reply_ts = await tell(
                workspace.client,
                data.message,
                requester_messages.own_request(data.card),
                requester_messages.reply(data.card, event_type, total_change) or {"text": ""},
                is_broadcast=is_broadcast,
            )
            if reply_ts is not None:
                sent = _sent(data, data.message)
                return replace(sent, reply_ts=reply_ts) if is_broadcast else sent
        news: Message = _requesters_news(data, notification) or {"text": ""}
        return _sent(data, await post(workspace, slack_user_id, news))

    async def _own_message(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        """Update the requester's message about their own action, or send one.

        A refresh never sends one.
        """
        content = _requesters_news(data, notification)
        if content is not None and requester_messages.is_booked(data.card):
            # They changed it themselves: what others know is the news.
            content = requester_messages.own_request(data.card)
        if data.message is not None and content is not None:
            if await update(workspace.client, data.message, content):
                await _update_reply(data, notification.event_type, workspace)
                return Outcome(verdict="delivered")
            data = replace(data, message=None)
        if notification.event_type in (
            notification_outbox.OWN_REFRESH,
            notification_outbox.BEGINS_SOON,
        ):
            return Outcome(verdict="delivered")
        return await self._requester_notice(data, notification, workspace)

    async def _approver_notice(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        """Inform an approver who need not decide: in the card's thread, else in a new message."""
        if _approvers_news(data, notification) is None or data.recipient.status != "active":
            return Outcome(verdict="delivered")
        news = approver_messages.notification_below_card(
            data.card, notification.event_type, data.recipient.id
        )
        if data.message is not None and await tell(
            workspace.client,
            data.message,
            cards.message(data.card, workspace.home_url),
            news or {"text": ""},
            is_broadcast=True,
        ):
            return Outcome(verdict="delivered")
        slack_user_id = await self._recipients.slack_user_id(
            notification, data.recipient, workspace
        )
        # Rendered again: the look-up may have set the person's language.
        await post(workspace, slack_user_id, _approvers_news(data, notification) or {"text": ""})
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

    async def _absence_notice(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        """Tell of leave that was approved at once, in one message, which is updated later."""
        if data.card.told is None or data.recipient.status not in ("pending", "active"):
            return Outcome(verdict="delivered")
        if data.message is None and data.card.request.status != "approved":
            return Outcome(verdict="delivered")
        if data.message is not None and await update(
            workspace.client, data.message, cards.message(data.card, workspace.home_url)
        ):
            return _sent(data, data.message)
        slack_user_id = await self._recipients.slack_user_id(
            notification, data.recipient, workspace
        )
        # Rendered after the look-up, which may have set the person's language.
        content = cards.message(data.card, workspace.home_url)
        return _sent(data, await post(workspace, slack_user_id, content))

    async def _reminder(
        self, data: NotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        """Show the card again in its thread and in the DM; as a new message if it is gone."""
        if not data.card.may_decide:
            return Outcome(verdict="delivered")
        if data.message is not None and await update(
            workspace.client, data.message, cards.message(data.card, workspace.home_url)
        ):
            again = approver_messages.reminder(data.card, workspace.home_url)
            reply_ts = await _show_again(data.message, again, workspace)
            return Outcome(verdict="delivered", reply_ts=reply_ts)
        return await self._card(replace(data, message=None), notification, workspace)


async def _refresh_card(
    data: NotificationData,
    message: PostedMessage,
    notification: Notification,
    workspace: Workspace,
) -> Outcome | None:
    """Update the card wherever it is shown, and reply if there is news; None if it is gone."""
    client, card, home_url = workspace.client, data.card, workspace.home_url
    content = cards.message(card, home_url)
    asks_again = approver_messages.asks_again(card, notification.event_type)
    if message.reply is not None and not asks_again:
        await update(client, message.reply, approver_messages.reminder(card, home_url))
    if not await update(client, message, content):
        return None
    sent = _sent(data, message)
    if asks_again:
        return replace(sent, reply_ts=await _show_again(message, content, workspace))
    news = approver_messages.reply(card, notification.event_type)
    if news is not None:
        # Not broadcast: an edited request still waits on the same card.
        await reply(client, message, news, is_broadcast=False)
    return sent


async def _show_again(message: PostedMessage, content: Message, workspace: Workspace) -> str:
    """Reply with the card, in the DM too, in place of the earlier such reply."""
    if message.reply is not None:
        await delete(workspace.client, message.reply)
    return await reply(workspace.client, message, content, is_broadcast=True)


async def _update_reply(
    data: NotificationData, event_type: NotificationEvent, workspace: Workspace
) -> None:
    """Update the requester's last reply if it is outdated."""
    last = None if data.message is None else data.message.reply
    content = requester_messages.outdated_reply(data.card, event_type)
    if last is not None and content is not None:
        await update(workspace.client, last, content)


def _requesters_news(data: NotificationData, notification: Notification) -> Message | None:
    return requester_messages.notification(data.card, notification.event_type, data.total_change)


def _approvers_news(data: NotificationData, notification: Notification) -> Message | None:
    return approver_messages.notification(data.card, notification.event_type, data.recipient.id)


def _sent(data: NotificationData, message: PostedMessage) -> Outcome:
    return Outcome(
        verdict="delivered",
        sent_card=SentCard(
            message=message,
            version=data.card.request.version,
            is_stored=message is data.message,
        ),
    )


def _cover_sentence(data: NotificationData, notification: Notification) -> str | None:
    request = data.card.request
    return absence_messages.cover_sentence(
        data.card,
        notification.event_type,
        notification.user_id,
        (notification.first_day or request.start_date, notification.last_day or request.end_date),
    )


def _is_worth_refreshing(data: NotificationData, notification: Notification) -> bool:
    """Whether there is an open card to refresh that no later notification refreshes anyway.

    A card that shows what was removed is rewritten even if it is decided.
    """
    is_rewritten = notification.event_type == notification_outbox.CARD_REWRITTEN
    is_open = data.message is not None and (data.card.is_undecided or is_rewritten)
    return is_open and not data.is_superseded


# The message was deleted, belongs to an earlier installation of the app, or is too old to edit.
_GONE: Final = frozenset(
    {
        "cant_delete_message",
        "cant_update_message",
        "channel_not_found",
        "edit_window_closed",
        "message_not_found",
    }
)


async def update(client: AsyncWebClient, message: PostedMessage, content: Message) -> bool:
    """Update a first message; False if there is none to update any more."""
    try:
        await client.chat_update(channel=message.channel, ts=message.ts, **content)
    except SlackApiError as failure:
        if slack_web.error_code(failure) not in _GONE:
            raise
        return False
    return True


async def delete(client: AsyncWebClient, message: PostedMessage) -> None:
    """Delete a message, if it is still there."""
    try:
        await client.chat_delete(channel=message.channel, ts=message.ts)
    except SlackApiError as failure:
        if slack_web.error_code(failure) not in _GONE:
            raise


async def tell(
    client: AsyncWebClient,
    message: PostedMessage,
    content: Message,
    news: Message,
    *,
    is_broadcast: bool,
) -> str | None:
    """Update a first message and reply with the news; returns the time stamp of the reply.

    None if the message is gone, and nothing was told.
    ``is_broadcast``: the reply is shown in the conversation too. The update comes first, because
    it shows whether the message is still there. After an error in between, both are repeated.
    """
    if not await update(client, message, content):
        return None
    return await reply(client, message, news, is_broadcast=is_broadcast)


async def reply(
    client: AsyncWebClient, message: PostedMessage, news: Message, *, is_broadcast: bool
) -> str:
    """Reply to a first message; returns the time stamp of the reply."""
    response = await client.chat_postMessage(
        channel=message.channel, thread_ts=message.ts, reply_broadcast=is_broadcast, **news
    )
    return str(response["ts"])
