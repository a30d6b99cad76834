"""Deliveries that an admin asks for: a ping, or deliveries sent again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from peewee import Tuple, Update

from storage.base.errors import Conflict
from storage.base.event_values import EVENT_TYPES, LoggedDelivery
from storage.base.values import Caller
from storage.db.compiled import (
    Param,
    compiled,
)
from storage.db.database import Transaction
from storage.db.tables import DeliveryRow
from storage.events import audit, webhook_outbox
from storage.webhooks import delivery_log, webhooks

# Failed deliveries that one call sends again.
MAX_REDELIVERED: Final = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Redelivered:
    """How many deliveries are sent again; ``has_more``: another call sends the rest."""

    queued: int
    has_more: bool


class WebhookDisabled(Conflict):
    """Nothing is sent to a disabled endpoint."""

    code = "webhook_disabled"
    title = "The webhook is switched off."

    def __init__(self) -> None:
        super().__init__("The webhook is disabled. PATCH it with `is_active` true first.")


def ping(tx: Transaction, webhook_id: str, *, by: Caller, now: datetime) -> str:
    """Send a `ping` to an endpoint, without retries; the event's id.

    Raises InsufficientRole, NotFound or WebhookDisabled.
    """
    if not webhooks.get(tx, webhook_id, by=by).is_active:
        raise WebhookDisabled
    return webhook_outbox.enqueue_ping(tx, by.organisation_id, webhook_id, now=now)


def redeliver(
    tx: Transaction, webhook_id: str, delivery_id: str, *, by: Caller, now: datetime
) -> LoggedDelivery:
    """Send a delivery again with the same id and bytes, even if it was delivered.

    It is due at once and then follows the retry schedule. A delivery that is being sent is left
    alone. Needs an admin. Raises InsufficientRole, NotFound or WebhookDisabled.
    """
    delivery_log.get(tx, webhook_id, delivery_id, by=by)
    if not webhooks.get(tx, webhook_id, by=by, is_locked=True).is_active:
        raise WebhookDisabled
    if tx.change(
        _queue_again, organisation_id=by.organisation_id, delivery_id=delivery_id, now=now
    ):
        _record_redelivery(tx, webhook_id, {"delivery_id": delivery_id}, by=by, now=now)
    return delivery_log.get(tx, webhook_id, delivery_id, by=by)


def redeliver_failed(
    tx: Transaction,
    webhook_id: str,
    since: datetime,
    *,
    by: Caller,
    now: datetime,
    limit: int = MAX_REDELIVERED,
) -> Redelivered:
    """Send again what failed since then, with what the endpoint missed while it was disabled.

    Up to ``limit`` deliveries, oldest first. Pending and delivered ones are left alone, so a
    second call sends nothing twice. Needs an admin. Raises InsufficientRole, NotFound or
    WebhookDisabled.
    """
    if not webhooks.get(tx, webhook_id, by=by, is_locked=True).is_active:
        raise WebhookDisabled
    count = tx.change(
        _queue_failed_again,
        organisation_id=by.organisation_id,
        webhook_id=webhook_id,
        since=since,
        now=now,
        limit=limit,
    )
    _record_redelivery(tx, webhook_id, {"since": since, "count": count}, by=by, now=now)
    return Redelivered(queued=count, has_more=count == limit)


def _record_redelivery(
    tx: Transaction, webhook_id: str, details: Mapping[str, object], *, by: Caller, now: datetime
) -> None:
    """Write the audit entry, and notify the dispatcher after the commit."""
    audit.record(
        tx, "webhook.redelivery_requested", "webhook", webhook_id, by=by, now=now, after=details
    )
    tx.notify(webhook_outbox.WEBHOOKS)


@compiled
def _queue_again(
    organisation_id: Param[str], delivery_id: Param[str], now: Param[datetime]
) -> Update:
    is_being_sent = DeliveryRow.claim_id.is_null(False) & (DeliveryRow.due_at > now)
    return DeliveryRow.update(
        status="pending", attempts=0, due_at=now, claim_id=None, settled_at=None
    ).where(
        DeliveryRow.organisation_id == organisation_id,
        DeliveryRow.id == delivery_id,
        ~is_being_sent,
    )


@compiled
def _queue_failed_again(
    organisation_id: Param[str],
    webhook_id: Param[str],
    since: Param[datetime],
    now: Param[datetime],
    limit: Param[int],
) -> Update:
    failed = DeliveryRow.alias()
    oldest = (
        failed.select(failed.organisation_id, failed.id)
        .where(
            failed.organisation_id == organisation_id,
            failed.webhook_id == webhook_id,
            failed.status == "failed",
            # No pings: they matter only to the admin who sent one.
            failed.event_type.in_(EVENT_TYPES),
            failed.settled_at >= since,
        )
        .order_by(failed.id)
        .limit(limit)
    )
    return DeliveryRow.update(
        status="pending", attempts=0, due_at=now, claim_id=None, settled_at=None
    ).where(Tuple(DeliveryRow.organisation_id, DeliveryRow.id).in_(oldest))
