"""Sends notifications to Slack, rendered from the state at the time of sending.

Repeated, late and overtaken notifications have the same result, because they render state.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Final

import structlog

from bot.base.language import using_locale
from bot.client import slack_web
from bot.client.workspaces import Workspace, Workspaces
from bot.messages.admin_notifications import AdminNotifications
from bot.messages.home_tab import Homes
from bot.messages.leave_notifications import LeaveNotifications
from bot.messages.recipients import NoAccount, Recipients
from bot.messages.slack_failures import outcome_of
from bot.messages.welcomes import Welcomes
from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database
from storage.notifications import (
    admin_notification_data,
    notification_data,
    notification_queue,
    notifications,
    reminder_summaries,
)
from storage.notifications.notification_queue import Notification
from storage.notifications.notifications import Outcome
from storage.slack import welcomes as storage_welcomes

# Stored with the notification, for operators.
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
        welcomes: Welcomes,
    ) -> None:
        self._homes = homes
        self._welcomes = welcomes
        self._database = database
        self._workspaces = workspaces
        self._clock = clock
        recipients = Recipients(database, clock)
        self._leave = LeaveNotifications(recipients)
        self._admin = AdminNotifications(recipients)

    async def claim(self, limit: int) -> list[Notification]:
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
            _log.exception(
                "slack.notification_failed", notification_id=notification.id, kind=notification.kind
            )
            return Outcome(verdict="retry", error=type(error).__name__)

    async def _deliver(self, notification: Notification) -> Outcome:
        if notification.kind in ("webhook_disabled", "webhook_failing"):
            webhook = await self._database.read(admin_notification_data.load_webhook, notification)
            if webhook is None:
                return Outcome(verdict="delivered")
            return await self._attempt(
                notification,
                webhook.team_id,
                webhook.locale,
                partial(self._admin.send_webhook, webhook),
            )
        if notification.kind == "digest_refused":
            refused = await self._database.read(admin_notification_data.load_digest, notification)
            if refused is None:
                return Outcome(verdict="delivered")
            return await self._attempt(
                notification,
                refused.team_id,
                refused.locale,
                partial(self._admin.send_digest, refused),
            )
        if notification.kind == "reminder_summary":
            summary = await self._database.read(
                reminder_summaries.load, notification, now=self._clock()
            )
            if summary is None:
                return Outcome(verdict="delivered")
            return await self._attempt(
                notification,
                summary.team_id,
                summary.locale,
                partial(self._leave.send_summary, summary),
            )
        if notification.kind == "welcome":
            welcome = await self._database.read(storage_welcomes.load, notification)
            if welcome is None:
                return Outcome(verdict="delivered")
            return await self._attempt(
                notification,
                welcome.organisation.slack_team_id,
                welcome.locale,
                partial(self._welcomes.send, welcome),
            )
        if notification.kind == "cover_changed":
            await self._database.write_long(notifications.expand, notification, now=self._clock())
            return Outcome(verdict="delivered")
        data = await self._database.read(notification_data.load, notification, now=self._clock())
        if data is None:
            reason = "the request no longer exists"
            _log.warning(
                "slack.notification_failed",
                notification_id=notification.id,
                kind=notification.kind,
                reason=reason,
            )
            return Outcome(verdict="failed", error=reason)
        return await self._attempt(
            notification, data.team_id, data.locale, partial(self._leave.send, data)
        )

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
        except NoAccount as missing:
            return Outcome(verdict="failed", error=str(missing))
        except slack_web.FAILURES as failure:
            is_refused = slack_web.error_code(failure) in slack_web.TOKEN_REFUSED
            if workspace and is_refused and await self._workspaces.token_refused(workspace):
                # Logged once instead of for every pending notification.
                return _NOT_INSTALLED
            return outcome_of(notification, failure)
