"""The data of notifications to admins, read when they are sent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from peewee import Select

from storage.base.event_values import Webhook
from storage.base.values import User
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import WebhookRow
from storage.directory import people_rows, slack_locales
from storage.events import organisation_config
from storage.events.digest_queue import DigestKey
from storage.notifications.digests import digests
from storage.notifications.notification_queue import Notification


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookNotificationData:
    """A webhook that was disabled, or that fails since ``failing_since``."""

    team_id: str | None
    recipient: User
    locale: str | None
    webhook: Webhook
    failing_since: datetime | None
    timezone: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DigestNotificationData:
    """The channel that Slack refuses for the digest; ``because`` is Slack's error code."""

    team_id: str | None
    recipient: User
    locale: str | None
    channel: str
    because: str


def load_webhook(tx: Transaction, notification: Notification) -> WebhookNotificationData | None:
    """None if the webhook has recovered or was deleted, or the recipient is no admin now."""
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
    """None if the channel has changed, or the recipient is no admin now."""
    recipient = people_rows.find(tx, notification.organisation_id, notification.user_id)
    key = DigestKey(organisation_id=notification.organisation_id, digest_id=notification.digest_id)
    refusal = digests.refusal(tx, key)
    if refusal is None or recipient is None or recipient.status != "active":
        return None
    if recipient.role not in ("admin", "owner"):
        return None
    team_id = organisation_config.of_organisation(
        tx, notification.organisation_id
    ).organisation.slack_team_id
    locale = slack_locales.of_person(tx, notification.organisation_id, recipient.id)
    channel, because = refusal
    return DigestNotificationData(
        team_id=team_id, recipient=recipient, locale=locale, channel=channel, because=because
    )


@compiled
def _webhook(organisation_id: Param[str], webhook_id: Param[str | None]) -> Select:
    return WebhookRow.select(*rows.WEBHOOK, WebhookRow.failing_since_at).where(
        WebhookRow.organisation_id == organisation_id, WebhookRow.id == webhook_id
    )
