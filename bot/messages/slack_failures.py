"""What Slack's errors mean for a message: retried later, or failed for good."""

from __future__ import annotations

from typing import Final

import structlog

from bot.client import slack_web
from storage.notifications.notification_queue import Notification, Outcome

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
