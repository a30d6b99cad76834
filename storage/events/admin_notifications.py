"""Notifications to admins in Slack: a webhook is disabled or fails, or Slack refuses the digest."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from peewee import Select

from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import NotificationRow, UserRow
from storage.events.notification_outbox import NOTIFICATIONS, NotificationKind, notification_row
from storage.events.organisation_config import of_organisation

# Event types of notifications only: no webhook receives them.
WEBHOOK_DISABLED: Final = "webhook.disabled"
WEBHOOK_FAILING: Final = "webhook.failing"
DIGEST_REFUSED: Final = "digest.refused"
MAX_NOTIFIED: Final = 50


def notify_of_disabled_webhook(
    tx: Transaction, organisation_id: str, webhook_id: str, *, now: datetime
) -> None:
    """Notify active admins and owners that a webhook was disabled."""
    subject = {"webhook_id": webhook_id}
    _notify_admins(tx, organisation_id, "webhook_disabled", WEBHOOK_DISABLED, subject, now)


def notify_of_failing_webhook(
    tx: Transaction, organisation_id: str, webhook_id: str, *, now: datetime
) -> None:
    """Notify active admins and owners that every attempt has failed for a day."""
    subject = {"webhook_id": webhook_id}
    _notify_admins(tx, organisation_id, "webhook_failing", WEBHOOK_FAILING, subject, now)


def notify_of_refused_digest(
    tx: Transaction, organisation_id: str, digest_id: str | None, *, now: datetime
) -> None:
    """Notify active admins and owners that Slack refuses the digest's channel."""
    subject = {"digest_id": digest_id}
    _notify_admins(tx, organisation_id, "digest_refused", DIGEST_REFUSED, subject, now)


def admin_ids(tx: Transaction, organisation_id: str) -> list[str]:
    """The ids of the active admins and owners whom a message is for, at most 50."""
    return [user_id for (user_id,) in tx.all(_admins, organisation_id=organisation_id)]


def _notify_admins(
    tx: Transaction,
    organisation_id: str,
    kind: NotificationKind,
    event_type: str,
    subject: Mapping[str, str | None],
    now: datetime,
) -> None:
    if not of_organisation(tx, organisation_id).is_in_slack:
        return
    tx.insert_all(
        NotificationRow,
        [
            notification_row(organisation_id, kind, user_id, None, event_type, now) | {**subject}
            for user_id in admin_ids(tx, organisation_id)
        ],
    )
    tx.notify(NOTIFICATIONS)


@compiled
def _admins(organisation_id: Param[str]) -> Select:
    return (
        UserRow.select(UserRow.id)
        .where(
            UserRow.organisation_id == organisation_id,
            UserRow.role << ("admin", "owner"),
            UserRow.status == "active",
        )
        .order_by(UserRow.id)
        .limit(MAX_NOTIFIED)
    )
