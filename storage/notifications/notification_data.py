"""The data of a notification about a leave request, read when it is sent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from storage.admin import recalculation_causes
from storage.admin.recalculation_causes import TotalChange
from storage.base.values import User
from storage.db.database import Transaction
from storage.directory import people_rows, slack_locales
from storage.events import organisation_config
from storage.notifications import approval_cards, notification_queue, slack_messages
from storage.notifications.approval_cards import ApprovalCard
from storage.notifications.notification_queue import Notification
from storage.notifications.slack_messages import PostedMessage


@dataclass(frozen=True, kw_only=True, slots=True)
class NotificationData:
    """``message`` is the one that shows the person's card already.

    ``total_change`` is set where recalculation changed the days of the person's leave. ``locale``
    is the recipient's, as Slack names it. ``is_superseded``: a later notification renders the same
    card.
    """

    team_id: str | None
    recipient: User
    locale: str | None
    card: ApprovalCard
    message: PostedMessage | None
    total_change: TotalChange | None = None
    is_superseded: bool = False


def load(tx: Transaction, notification: Notification, *, now: datetime) -> NotificationData | None:
    """The data as it is now; None when the request or the person no longer exists."""
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
    config = organisation_config.of_organisation(tx, notification.organisation_id)
    total_change = None
    if (notification.kind, notification.event_type) == (
        "requester_notice",
        "leave_request.recounted",
    ):
        total_change = recalculation_causes.total_change_at(
            tx,
            config,
            card.requester,
            notification.leave_request_id,
            at=notification.created_at,
        )
    locale = slack_locales.of_person(tx, notification.organisation_id, recipient.id)
    is_superseded = notification.is_refresh and notification_queue.has_another_pending(
        tx, notification
    )
    return NotificationData(
        team_id=config.organisation.slack_team_id,
        recipient=recipient,
        locale=locale,
        card=card,
        message=message,
        total_change=total_change,
        is_superseded=is_superseded,
    )
