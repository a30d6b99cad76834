"""The recipients of notifications: their Slack account, messages to them, and Slack's errors."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

import structlog
from slack_sdk.errors import SlackApiError

from bot.base.block_kit import Message
from bot.base.language import set_locale
from bot.client import slack_web
from bot.client.workspaces import Workspace
from storage.base.values import User
from storage.db.database import Database
from storage.notifications.notification_queue import Notification, Outcome
from storage.notifications.slack_messages import PostedMessage
from storage.workspaces import slack_profiles


class NoAccount(Exception):
    """The recipient has no Slack account in the workspace; the message is for operators."""

    def __init__(self) -> None:
        super().__init__("no account in the workspace has this confirmed e-mail address")


class Recipients:
    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def slack_user_id(
        self, notification: Notification, recipient: User, workspace: Workspace
    ) -> str:
        """The person's Slack user id, looked up by e-mail once and stored.

        The look-up may set the person's language, so messages are rendered after it. Raises
        NoAccount.
        """
        if recipient.slack_user_id is not None:
            return recipient.slack_user_id
        try:
            response = await workspace.client.users_lookupByEmail(email=recipient.email)
        except SlackApiError as failure:
            if slack_web.error_code(failure) == "users_not_found":
                raise NoAccount from failure
            raise
        if not slack_web.is_full_member(response["user"], workspace.team_id):
            raise NoAccount
        # Only users.info returns the locale; it is called once per person.
        response = await workspace.client.users_info(
            user=response["user"]["id"], include_locale=True
        )
        profile = slack_web.profile_of(response["user"])
        linked = await self._database.write(
            slack_profiles.link,
            notification.organisation_id,
            recipient.id,
            profile,
            now=self._clock(),
        )
        if linked is None:
            raise NoAccount
        set_locale(profile.locale)
        return linked


async def post(workspace: Workspace, slack_user_id: str, message: Message) -> PostedMessage:
    """Send a DM. Raises the errors in ``slack_web.FAILURES``."""
    response = await workspace.client.chat_postMessage(channel=slack_user_id, **message)
    return PostedMessage(channel=response["channel"], ts=response["ts"])


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
