"""Sends the welcome to people who join, and to those who installed the app."""

from __future__ import annotations

from dataclasses import dataclass

from bot.client.workspaces import Workspace
from bot.message_views import admin_messages
from bot.messages.recipients import NoAccount, post
from storage.notifications.notification_data import Welcome
from storage.notifications.notification_queue import Notification, Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class Welcomes:
    """``command`` and ``support_contact`` are those of the settings."""

    command: str
    support_contact: str

    async def send(
        self, welcome: Welcome, notification: Notification, workspace: Workspace
    ) -> Outcome:
        """Raises NoAccount and the errors in ``slack_web.FAILURES``."""
        slack_user_id = welcome.recipient.slack_user_id
        if slack_user_id is None:
            # The account was unlinked meanwhile.
            raise NoAccount
        message = admin_messages.welcome_message(welcome, self.command, self.support_contact)
        await post(workspace, slack_user_id, message)
        return Outcome(verdict="delivered")
