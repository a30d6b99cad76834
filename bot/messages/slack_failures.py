"""What Slack's errors mean for a message: retried later, or failed for good."""

from __future__ import annotations

from typing import Final

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.base.block_kit import Message
from bot.client import slack_web
from storage.notifications.notification_queue import Notification
from storage.notifications.notifications import Outcome
from storage.notifications.slack_messages import PostedMessage

# Errors that a retry would meet again.
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


async def update_message(message: PostedMessage, content: Message, client: AsyncWebClient) -> bool:
    """Update a message; False if Slack refuses it for good."""
    try:
        await client.chat_update(channel=message.channel, ts=message.ts, **content)
    except SlackApiError as failure:
        if slack_web.error_code(failure) not in FINAL_ERRORS:
            raise
        return False
    return True


def outcome_of(notification: Notification, failure: Exception) -> Outcome:
    """The outcome of a notification after an error of Slack: failed for good, or to be retried."""
    summary = slack_web.summary(failure)
    is_final = slack_web.error_code(failure) in FINAL_ERRORS
    _log.warning(
        "slack.notification_not_delivered",
        notification_id=notification.id,
        kind=notification.kind,
        reason=summary,
        is_final=is_final,
    )
    if is_final:
        return Outcome(verdict="failed", error=summary)
    return Outcome(
        verdict="retry", error=summary, retry_after_seconds=slack_web.retry_after_seconds(failure)
    )
