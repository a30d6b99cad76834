"""Sends notifications to Slack, rendered from the state at the time of sending.

Repeated, late and overtaken notifications have the same result, because they render state.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, TypeAlias

import structlog

from bot.base.language import using_locale
from bot.client import slack_web
from bot.client.workspaces import NoAccount, Recipients, Workspace, Workspaces, post
from bot.message_views import admin_messages, closure_messages, expiry_messages, welcome
from bot.messages import time_credit_notifications
from bot.messages.home_tab import Homes
from bot.messages.leave_notifications import LeaveNotifications
from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database, Transaction
from storage.notifications import notification_data, notification_queue, time_credit_cards
from storage.notifications.notification_data import (
    BalanceQuestion,
    ClosureNotificationData,
    DigestNotificationData,
    ExpiryNoticeData,
    NotificationData,
    StatusEndedData,
    SummaryNotificationData,
    WebhookNotificationData,
    Welcome,
)
from storage.notifications.notification_queue import Notification, Outcome, SentCard
from storage.notifications.time_credit_cards import TimeCreditNotificationData
from storage.workspaces import slack_workspaces

# Stored with the notification, for operators.
_NOT_INSTALLED: Final = Outcome(verdict="failed", error="the app is not installed in the workspace")
_DELIVERED: Final = Outcome(verdict="delivered")
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

Data: TypeAlias = (
    NotificationData
    | WebhookNotificationData
    | DigestNotificationData
    | SummaryNotificationData
    | ClosureNotificationData
    | StatusEndedData
    | Welcome
    | BalanceQuestion
    | ExpiryNoticeData
    | TimeCreditNotificationData
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Claimed:
    """A claimed notification with the data that it shows; without data, its outcome is known."""

    notification: Notification
    data: Data | None = None
    outcome: Outcome = _DELIVERED


class Notifier:
    """The dispatcher's target: claims and delivers notifications and records the results.

    ``command`` and ``support_contact`` are those of the settings, for the welcome.
    """

    def __init__(
        self,
        database: Database,
        workspaces: Workspaces,
        clock: Callable[[], datetime],
        homes: Homes,
        *,
        command: str,
        support_contact: str,
    ) -> None:
        self._homes = homes
        self._command = command
        self._support_contact = support_contact
        self._database = database
        self._workspaces = workspaces
        self._clock = clock
        self._recipients = Recipients(database, clock)
        self._leave = LeaveNotifications(self._recipients)

    async def claim(self, limit: int) -> list[Claimed]:
        """Claim due notifications and read what they show, once for all of the same request.

        Raises DatabaseUnavailable.
        """
        claimed = await self._database.write(
            notification_queue.claim, limit=limit, claim_id=str(uuid.uuid4()), now=self._clock()
        )
        batches: dict[tuple[str, str], list[Notification]] = {}
        for notification in claimed:
            batches.setdefault(notification.subject, []).append(notification)
        read = await asyncio.gather(*(self._read(batch) for batch in batches.values()))
        return [each for batch in read for each in batch]

    async def record_results(self, outcomes: Sequence[tuple[Claimed, Outcome]]) -> None:
        """Record the results of several attempts in one transaction.

        The recipients may have their Home tab open.
        """
        viewers = await self._database.write(
            _record_results,
            [(claimed.notification, outcome) for claimed, outcome in outcomes],
            now=self._clock(),
        )
        for organisation_id, user_id in viewers:
            self._homes.enqueue(organisation_id, user_id)

    async def deliver(self, claimed: Claimed) -> Outcome:
        """Make one attempt. Slack's errors become an Outcome. Raises DatabaseUnavailable."""
        if claimed.data is None:
            return claimed.outcome
        try:
            return await self._attempt(claimed.notification, claimed.data)
        except DatabaseUnavailable:
            raise
        except Exception as error:  # noqa: BLE001  # an error in one organisation's data
            return _internal_error(claimed.notification, error)

    async def _read(self, batch: Sequence[Notification]) -> list[Claimed]:
        try:
            return await self._claimed_of(batch)
        except DatabaseUnavailable:
            raise
        except Exception as error:  # noqa: BLE001  # an error in one organisation's data
            return [
                Claimed(notification=each, outcome=_internal_error(each, error)) for each in batch
            ]

    async def _claimed_of(self, batch: Sequence[Notification]) -> list[Claimed]:
        """``batch``: notifications with the same subject."""
        first = batch[0]
        if first.kind == "cover_changed":
            await self._database.write(notification_queue.expand, first, now=self._clock())
            return [Claimed(notification=first)]
        if not first.leave_request_id and not first.time_credit_id:
            data = await self._database.read(_load_other, first, now=self._clock())
            return [Claimed(notification=first, data=data)]
        found: dict[str, NotificationData] | dict[str, TimeCreditNotificationData]
        if first.time_credit_id:
            found = await self._database.read(time_credit_cards.load, batch, now=self._clock())
        else:
            found = await self._database.read(
                notification_data.load_leave, batch, now=self._clock()
            )
        return [
            Claimed(notification=each, data=found[each.id])
            if each.id in found
            else Claimed(
                notification=each,
                outcome=Outcome(verdict="failed", error="the request no longer exists"),
            )
            for each in batch
        ]

    async def _attempt(self, notification: Notification, data: Data) -> Outcome:
        """Send to the organisation's workspace, if it has the app."""
        workspace = None
        try:
            workspace = await self._workspaces.for_delivery(data.team_id or "")
            if workspace is None:
                return _NOT_INSTALLED
            with using_locale(data.locale):
                return await self._send(notification, data, workspace)
        except NoAccount as missing:
            return Outcome(verdict="failed", error=str(missing))
        except slack_web.FAILURES as failure:
            is_refused = slack_web.error_code(failure) in slack_web.TOKEN_REFUSED
            if workspace and is_refused and await self._workspaces.token_refused(workspace):
                # Logged once instead of for every pending notification.
                return _NOT_INSTALLED
            return outcome_of(notification, failure)

    async def _send(self, notification: Notification, data: Data, workspace: Workspace) -> Outcome:
        match data:
            case NotificationData():
                return await self._leave.send(data, notification, workspace)
            case SummaryNotificationData():
                return await self._leave.send_summary(data, notification, workspace)
            case TimeCreditNotificationData():
                return await time_credit_notifications.send(
                    data, notification, workspace, self._recipients
                )
        if isinstance(data, Welcome) and data.recipient.slack_user_id is None:
            # The account was unlinked meanwhile.
            raise NoAccount
        slack_user_id = await self._recipients.slack_user_id(
            notification, data.recipient, workspace
        )
        match data:
            case WebhookNotificationData(failing_since=datetime() as since):
                message = admin_messages.webhook_failing(data.webhook, since, data.timezone)
            case WebhookNotificationData():
                message = admin_messages.webhook_disabled(data.webhook)
            case DigestNotificationData():
                message = admin_messages.digest_refused(data.channel, data.because)
            case ClosureNotificationData():
                message = closure_messages.told(data)
            case StatusEndedData():
                message = admin_messages.status_ended()
            case Welcome():
                message = welcome.message(data, self._command, self._support_contact)
            case BalanceQuestion():
                message = admin_messages.balance_question(data)
            case ExpiryNoticeData():
                posted = await post(workspace, slack_user_id, expiry_messages.message(data.shown))
                return replace(_DELIVERED, sent_card=SentCard(message=posted, version=1))
        await post(workspace, slack_user_id, message)
        return _DELIVERED


def _load_other(tx: Transaction, notification: Notification, *, now: datetime) -> Data | None:
    """The data of a notification that is about no request; None if there is nothing to send."""
    if notification.kind == "digest_refused":
        return notification_data.load_digest(tx, notification)
    if notification.kind == "reminder_summary":
        return notification_data.load_summary(tx, notification, now=now)
    if notification.kind == "welcome":
        return notification_data.load_welcome(tx, notification, now=now)
    if notification.kind == "balance_question":
        return notification_data.load_balance_question(tx, notification, now=now)
    if notification.kind == "expiry_notice":
        return notification_data.load_expiry_notice(tx, notification)
    if notification.kind == "closure_notice":
        return notification_data.load_closure(tx, notification)
    if notification.kind == "slack_status_ended":
        return notification_data.load_status_ended(tx, notification)
    return notification_data.load_webhook(tx, notification)


def _record_results(
    tx: Transaction, outcomes: Sequence[tuple[Notification, Outcome]], *, now: datetime
) -> set[tuple[str, str]]:
    """Returns the recipients, with their organisation, who view Home."""
    notification_queue.record_results(tx, outcomes, now=now)
    recipients = {
        (each.organisation_id, each.user_id) for each, _ in outcomes if each.kind != "cover_changed"
    }
    return slack_workspaces.home_viewers(tx, recipients, now=now)


def _internal_error(notification: Notification, error: Exception) -> Outcome:
    """Retried with back-off until it fails, like a message that Slack refuses."""
    _log.exception(
        "slack.notification_failed", notification_id=notification.id, kind=notification.kind
    )
    return Outcome(verdict="retry", error=type(error).__name__)


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
