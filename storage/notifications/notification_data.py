"""The data of notifications about a leave request, read when they are sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from storage.admin import recalculation
from storage.admin.recalculation import TotalChange
from storage.base.values import User
from storage.db.database import Transaction
from storage.directory import slack_locales
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


def load(
    tx: Transaction, batch: Sequence[Notification], *, now: datetime
) -> dict[str, NotificationData]:
    """The data of notifications about one request as it is now, by the notifications' ids.

    Those whose request or recipient no longer exists are absent.
    """
    organisation_id, request_id = batch[0].organisation_id, batch[0].leave_request_id
    user_ids = {notification.user_id for notification in batch}
    config = organisation_config.of_organisation(tx, organisation_id)
    cards = approval_cards.cards(tx, config, request_id, viewer_ids=user_ids, now=now)
    if not cards:
        return {}
    messages = slack_messages.of_request(tx, organisation_id, request_id)
    locales = slack_locales.of_people(tx, organisation_id, user_ids)
    return {
        notification.id: NotificationData(
            team_id=config.organisation.slack_team_id,
            recipient=cards[notification.user_id].viewer,
            locale=locales.get(notification.user_id),
            card=cards[notification.user_id],
            message=messages.get(notification.user_id),
            total_change=recalculation.total_change_at(
                tx,
                config,
                cards[notification.user_id].requester,
                request_id,
                at=notification.created_at,
            )
            if (notification.kind, notification.event_type)
            == ("requester_notice", "leave_request.recounted")
            else None,
            is_superseded=notification.is_refresh
            and notification_queue.has_another_pending(tx, notification),
        )
        for notification in batch
        if notification.user_id in cards
    }
