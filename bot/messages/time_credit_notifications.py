"""Notifications about time in lieu: approvers' cards, reminders, and the claimer's news."""

from __future__ import annotations

from dataclasses import replace

from bot.base.block_kit import Message
from bot.client.workspaces import Recipients, Workspace, post
from bot.message_views import time_credit_messages
from bot.messages.leave_notifications import delete, reply, tell, update
from storage.notifications.notification_queue import Notification, Outcome, SentCard
from storage.notifications.slack_messages import PostedMessage
from storage.notifications.time_credit_cards import TimeCreditNotificationData

_DELIVERED = Outcome(verdict="delivered")


async def send(
    data: TimeCreditNotificationData,
    notification: Notification,
    workspace: Workspace,
    recipients: Recipients,
) -> Outcome:
    """Send it. Raises NoAccount and the errors in ``slack_web.FAILURES``."""
    if data.recipient.status not in ("pending", "active"):
        return _DELIVERED
    if data.card.is_own:
        return await _tell_claimer(data, notification, workspace, recipients)
    gone = None
    if data.message is not None:
        refreshed = await _refresh(data, data.message, notification, workspace)
        if refreshed is not None:
            return refreshed
        gone = data.message
    if not data.card.may_decide:
        # Already decided, or no longer this person's to decide.
        return replace(_DELIVERED, deleted_message=gone)
    slack_user_id = await recipients.slack_user_id(notification, data.recipient, workspace)
    # Rendered after the look-up, which may have set the person's language.
    card = time_credit_messages.message(data.card)
    return _sent(data, await post(workspace, slack_user_id, card))


async def _refresh(
    data: TimeCreditNotificationData,
    message: PostedMessage,
    notification: Notification,
    workspace: Workspace,
) -> Outcome | None:
    """Update the card wherever it is shown, or show it again; None if it is gone."""
    client, card = workspace.client, data.card
    if not await update(client, message, time_credit_messages.message(card)):
        return None
    sent = _sent(data, message)
    again = time_credit_messages.reminder(card)
    if notification.kind == "time_credit_reminder" and card.may_decide:
        if message.reply is not None:
            await delete(client, message.reply)
        return replace(sent, reply_ts=await reply(client, message, again, is_broadcast=True))
    if message.reply is not None:
        await update(client, message.reply, again)
    return sent


async def _tell_claimer(
    data: TimeCreditNotificationData,
    notification: Notification,
    workspace: Workspace,
    recipients: Recipients,
) -> Outcome:
    """Update their message and reply with the news, or post it; their own action only updates."""
    news = time_credit_messages.own_news(data.card, notification.event_type)
    if news is None:
        return _DELIVERED
    if notification.kind == "time_credit_card":
        if data.message is not None:
            await update(workspace.client, data.message, news)
        return _DELIVERED
    if data.message is not None:
        told: Message = {"text": news["text"], "blocks": _without_buttons(news)}
        if await tell(workspace.client, data.message, news, told, is_broadcast=True):
            return _sent(data, data.message)
    slack_user_id = await recipients.slack_user_id(notification, data.recipient, workspace)
    # Rendered again: the look-up may have set the person's language.
    return _sent(
        data, await post(workspace, slack_user_id, time_credit_messages.own_message(data.card))
    )


def _without_buttons(news: Message) -> list[dict[str, object]]:
    return [block for block in news["blocks"] if block["type"] != "actions"]


def _sent(data: TimeCreditNotificationData, message: PostedMessage) -> Outcome:
    version = data.card.credit.version
    is_stored = message is data.message
    return Outcome(
        verdict="delivered",
        sent_card=SentCard(message=message, version=version, is_stored=is_stored),
    )
