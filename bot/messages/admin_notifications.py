"""Notifications to admins: failing webhooks and a digest that cannot be posted."""

from __future__ import annotations

from bot.client.workspaces import Workspace
from bot.message_views import admin_messages
from bot.messages.recipients import Recipients, post
from storage.notifications.notification_data import DigestNotificationData, WebhookNotificationData
from storage.notifications.notification_queue import Notification, Outcome


class AdminNotifications:
    """Sends them. The methods raise NoAccount and the errors in ``slack_web.FAILURES``."""

    def __init__(self, recipients: Recipients) -> None:
        self._recipients = recipients

    async def send_webhook(
        self, data: WebhookNotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        slack_user_id = await self._recipients.slack_user_id(
            notification, data.recipient, workspace
        )
        message = (
            admin_messages.webhook_disabled(data.webhook)
            if data.failing_since is None
            else admin_messages.webhook_failing(data.webhook, data.failing_since, data.timezone)
        )
        await post(workspace, slack_user_id, message)
        return Outcome(verdict="delivered")

    async def send_digest(
        self, data: DigestNotificationData, notification: Notification, workspace: Workspace
    ) -> Outcome:
        slack_user_id = await self._recipients.slack_user_id(
            notification, data.recipient, workspace
        )
        await post(
            workspace, slack_user_id, admin_messages.digest_refused(data.channel, data.because)
        )
        return Outcome(verdict="delivered")
