"""What a notification shows, read when it is sent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from peewee import Select, fn

from storage.admin import recalculation
from storage.admin.recalculation import TotalChange
from storage.base.clock import local_day
from storage.base.event_values import Webhook
from storage.base.values import HalfDay, User
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import (
    LeaveRequestRow,
    LeaveTypeRow,
    ReminderRow,
    UserRow,
    WebhookRow,
)
from storage.directory import approval_rule, pending_approvals, people_rows, slack_locales
from storage.events import organisation_config
from storage.notifications import approval_cards, digests, notifications, slack_messages
from storage.notifications.approval_cards import ApprovalCard
from storage.notifications.notifications import Notification
from storage.notifications.slack_messages import Posted

# How many requests a summary names.
MAX_SUMMARISED: Final = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookNotificationData:
    """The data of a message about a webhook that is off, or fails since ``failing_since``."""

    team_id: str | None
    recipient: User
    locale: str | None
    webhook: Webhook
    failing_since: datetime | None
    timezone: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DigestNotificationData:
    """All that the news of a digest takes: its channel, and Slack's word for what is wrong."""

    team_id: str | None
    recipient: User
    locale: str | None
    channel: str
    because: str


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingRequest:
    """A pending request as a summary names it."""

    requester_name: str
    leave_type_name: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    total_half_days: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryNotificationData:
    """All that a summary takes: the requests that wait longest, and how many there are."""

    team_id: str | None
    recipient: User
    locale: str | None
    requests: tuple[WaitingRequest, ...]
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NotificationData:
    """All data to render a notification. ``message`` is the card that the person has already.

    ``news`` is set where recalculation changed the days of the person's leave. ``locale``
    is the recipient's, as Slack names it. ``is_superseded``: a later notification renders the
    same card.
    """

    team_id: str | None
    recipient: User
    locale: str | None
    card: ApprovalCard
    message: Posted | None
    news: TotalChange | None = None
    is_superseded: bool = False


def load(tx: Transaction, notification: Notification, *, now: datetime) -> NotificationData | None:
    """What the notification is about, as it is now; None when the request or the person is gone."""
    recipient = people_rows.find(tx, notification.organisation_id, notification.user_id)
    card = approval_cards.card(
        tx,
        notification.organisation_id,
        notification.leave_request_id,
        viewer_id=notification.user_id,
        now=now,
    )
    if recipient is None or card is None:
        return None
    message = slack_messages.find(
        tx, notification.organisation_id, notification.leave_request_id, notification.user_id
    )
    team_id = organisation_config.of_organisation(
        tx, notification.organisation_id
    ).organisation.slack_team_id
    news = None
    if (notification.kind, notification.event_type) == (
        "requester_notice",
        "leave_request.recounted",
    ):
        place = (notification.organisation_id, notification.leave_request_id)
        news = recalculation.total_change_at(tx, *place, at=notification.created_at)
    locale = slack_locales.of_person(tx, notification.organisation_id, recipient.id)
    is_superseded = notification.is_refresh and notifications.has_another_pending(tx, notification)
    return NotificationData(
        team_id=team_id,
        recipient=recipient,
        locale=locale,
        card=card,
        message=message,
        news=news,
        is_superseded=is_superseded,
    )


def load_webhook(tx: Transaction, notification: Notification) -> WebhookNotificationData | None:
    """The webhook and its admin; None if it has recovered or is gone, or the admin no longer is."""
    recipient = people_rows.find(tx, notification.organisation_id, notification.user_id)
    row = tx.first(
        _webhook, organisation_id=notification.organisation_id, webhook_id=notification.webhook_id
    )
    if row is None or recipient is None or recipient.status != "active":
        return None
    webhook = rows.webhook(row)
    is_news = not webhook.is_active
    if notification.kind == "webhook_failing":
        is_news = webhook.is_active and row.failing_since_at is not None
    if not is_news or recipient.role not in ("admin", "owner"):
        return None
    organisation = organisation_config.of_organisation(
        tx, notification.organisation_id
    ).organisation
    return WebhookNotificationData(
        team_id=organisation.slack_team_id,
        recipient=recipient,
        locale=slack_locales.of_person(tx, notification.organisation_id, recipient.id),
        webhook=webhook,
        failing_since=rows.instant_or_none(row.failing_since_at) if webhook.is_active else None,
        timezone=recipient.timezone or organisation.timezone,
    )


def load_digest(tx: Transaction, notification: Notification) -> DigestNotificationData | None:
    """Why the digest cannot be posted; None with another channel or without a recipient."""
    recipient = people_rows.find(tx, notification.organisation_id, notification.user_id)
    found = digests.refusal(tx, notification.organisation_id)
    if found is None or recipient is None or recipient.status != "active":
        return None
    if recipient.role not in ("admin", "owner"):
        return None
    team_id = organisation_config.of_organisation(
        tx, notification.organisation_id
    ).organisation.slack_team_id
    locale = slack_locales.of_person(tx, notification.organisation_id, recipient.id)
    channel, because = found
    return DigestNotificationData(
        team_id=team_id, recipient=recipient, locale=locale, channel=channel, because=because
    )


def load_summary(
    tx: Transaction, notification: Notification, *, now: datetime
) -> SummaryNotificationData | None:
    """The requests assigned to the person; None without any, or without a recipient."""
    organisation = organisation_config.of_organisation(
        tx, notification.organisation_id
    ).organisation
    recipient = people_rows.find(tx, notification.organisation_id, notification.user_id)
    found = tx.all(
        _waiting,
        organisation_id=notification.organisation_id,
        user_id=notification.user_id,
        today=local_day(now, organisation.timezone).isoformat(),
        limit=MAX_SUMMARISED,
    )
    if recipient is None or not approval_rule.is_reachable(recipient) or not found:
        return None
    requests = tuple(
        WaitingRequest(
            requester_name=f"{row.first_name} {row.last_name}".strip(),
            leave_type_name=row.type_name,
            start_date=rows.day(row.start_date),
            end_date=rows.day(row.end_date),
            start_half_day=row.start_half_day,
            end_half_day=row.end_half_day,
            total_half_days=row.total_half_days,
        )
        for row in found
    )
    team_id = organisation.slack_team_id
    locale = slack_locales.of_person(tx, notification.organisation_id, recipient.id)
    return SummaryNotificationData(
        team_id=team_id, recipient=recipient, locale=locale, requests=requests, total=found[0].total
    )


@compiled
def _webhook(organisation_id: Param[str], webhook_id: Param[str | None]) -> Select:
    return WebhookRow.select(*rows.WEBHOOK, WebhookRow.failing_since_at).where(
        WebhookRow.organisation_id == organisation_id, WebhookRow.id == webhook_id
    )


@compiled
def _waiting(
    organisation_id: Param[str], user_id: Param[str], today: Param[str], limit: Param[int]
) -> Select:
    """What the person is reminded of, longest first; each row tells how many there are."""
    return (
        rows.with_names(
            ReminderRow.select(
                fn.COUNT(ReminderRow.user_id).over().alias("total"),
                UserRow.first_name,
                UserRow.last_name,
                LeaveTypeRow.name.alias("type_name"),
                LeaveRequestRow.start_date,
                LeaveRequestRow.end_date,
                LeaveRequestRow.start_half_day,
                LeaveRequestRow.end_half_day,
                LeaveRequestRow.total_half_days,
            ).join(
                LeaveRequestRow,
                on=(LeaveRequestRow.organisation_id == ReminderRow.organisation_id)
                & (LeaveRequestRow.id == ReminderRow.leave_request_id),
            )
        )
        .where(
            ReminderRow.organisation_id == organisation_id,
            ReminderRow.user_id == user_id,
            LeaveRequestRow.status == "pending",
            pending_approvals.is_assigned(organisation_id, user_id, today, for_each=True),
        )
        .order_by(ReminderRow.asked_at, ReminderRow.leave_request_id)
        .limit(limit)
    )
