"""The message that greets people: who has just joined, and who installed the app."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from storage.base.values import Organisation, User
from storage.db.database import Transaction
from storage.db.tables import NotificationRow
from storage.directory import people_rows, slack_locales
from storage.events import organisation_config
from storage.events.notification_outbox import NOTIFICATIONS, notification_row
from storage.notifications.notification_queue import Notification

# The event type of notifications only: no webhook receives it.
JOINED: Final = "user.joined"


@dataclass(frozen=True, kw_only=True, slots=True)
class Welcome:
    """``recipient`` is told how to set the organisation up if they are an admin or owner."""

    recipient: User
    organisation: Organisation
    locale: str | None

    @property
    def team_id(self) -> str | None:
        return self.organisation.slack_team_id


def enqueue(tx: Transaction, user: User, *, organisation_id: str, now: datetime) -> None:
    """Queue the message, in the transaction in which the person joins or installs the app."""
    tx.insert(
        NotificationRow, **notification_row(organisation_id, "welcome", user.id, None, JOINED, now)
    )
    tx.notify(NOTIFICATIONS)


def load(tx: Transaction, notification: Notification) -> Welcome | None:
    """None if the person is no longer active."""
    organisation_id = notification.organisation_id
    recipient = people_rows.find(tx, organisation_id, notification.user_id)
    if recipient is None or recipient.status != "active":
        return None
    config = organisation_config.of_organisation(tx, organisation_id)
    return Welcome(
        recipient=recipient,
        organisation=config.organisation,
        locale=slack_locales.of_person(tx, organisation_id, recipient.id),
    )
