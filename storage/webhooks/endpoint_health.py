"""Endpoints that fail: their admins are notified after a day, and they are disabled after five.

``deliveries`` tells it the results of attempts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from peewee import SQL, Case, Select, Update

from storage.base.errors import Sentence
from storage.base.event_values import WebhookHealth
from storage.base.values import Caller
from storage.db import locks, rows
from storage.db.compiled import (
    Engine,
    Param,
    any_of,
    any_of_keys,
    compiled,
    compiled_per_engine,
    json_of_keys,
    milliseconds,
)
from storage.db.database import Row, Transaction
from storage.db.tables import DeliveryRow, WebhookRow
from storage.outbox import notification_outbox
from storage.rules import roles
from storage.webhooks import webhooks

# An endpoint is disabled after failing for this time without a success.
FAILING_FOR: Final = timedelta(hours=120)
# Its admins are notified after this time, once for each period of failing.
NOTIFIED_AFTER: Final = timedelta(hours=24)
GONE: Final = Sentence("The endpoint responded with 410 Gone.")
FAILED_FOR_TOO_LONG: Final = Sentence("Every attempt failed for 120 hours.")
# The organisation's id and the webhook's.
WebhookKey: TypeAlias = tuple[str, str]


def update(
    tx: Transaction,
    *,
    delivered: Set[WebhookKey],
    failing: Set[WebhookKey],
    gone: Set[WebhookKey],
    long_failing: Set[WebhookKey],
    now: datetime,
) -> None:
    """Record since when endpoints fail; notify admins after a day, disable them after five.

    The organisations of ``gone`` and of ``long_failing`` are locked.
    """
    if delivered:
        tx.change(_mark_healthy, webhooks=json_of_keys(delivered))
    for organisation_id, webhook_id in sorted(gone & failing):
        _disable(tx, organisation_id, webhook_id, GONE, now)
    failing = failing - gone
    if not failing:
        return
    tx.change(
        _mark_failing,
        webhooks=json_of_keys(failing),
        forgotten_before=now - 2 * FAILING_FOR,
        now=now,
    )
    if not long_failing & failing:
        return
    for organisation_id, webhook_id, since in _long_failing_rows(
        tx, long_failing & failing, now, is_locked=True
    ):
        if since <= milliseconds(now - FAILING_FOR):
            _disable(tx, organisation_id, webhook_id, FAILED_FOR_TOO_LONG, now)
        else:
            _notify_admins(tx, organisation_id, webhook_id, now)


def long_failing_of(
    tx: Transaction, webhooks: Set[WebhookKey], *, now: datetime
) -> set[WebhookKey]:
    """The endpoints among these that may have to be disabled, or their admins notified."""
    if not webhooks:
        return set()
    rows = _long_failing_rows(tx, webhooks, now, is_locked=False)
    return {(row.organisation_id, row.id) for row in rows}


def lock_organisations(tx: Transaction, webhooks: Iterable[WebhookKey]) -> None:
    """Before the first webhook or delivery is locked, as every change by an admin does."""
    for organisation_id in sorted({organisation_id for organisation_id, _ in webhooks}):
        locks.organisation(tx, organisation_id)


def _long_failing_rows(
    tx: Transaction, webhooks: Set[WebhookKey], now: datetime, *, is_locked: bool
) -> list[Row]:
    return tx.all(
        _long_failing,
        webhooks=json_of_keys(webhooks),
        notify_since=now - NOTIFIED_AFTER,
        disable_since=now - FAILING_FOR,
        is_locked=is_locked,
    )


def _notify_admins(tx: Transaction, organisation_id: str, webhook_id: str, now: datetime) -> None:
    """Notify the admins of a failing endpoint in Slack, before it is disabled."""
    tx.update(WebhookRow, {"failing_told_at": now}, organisation_id=organisation_id, id=webhook_id)
    notification_outbox.notify_admins(
        tx, organisation_id, "webhook_failing", webhook_id=webhook_id, now=now
    )


def _disable(
    tx: Transaction, organisation_id: str, webhook_id: str, reason: str, now: datetime
) -> None:
    """Disable an endpoint and notify its admins in Slack. Its deliveries are paused."""
    if webhooks.disable(tx, organisation_id, webhook_id, reason, now=now):
        notification_outbox.notify_admins(
            tx, organisation_id, "webhook_disabled", webhook_id=webhook_id, now=now
        )


@compiled
def _mark_healthy(webhooks: Param[str]) -> Update:
    return WebhookRow.update(failing_since_at=None).where(
        any_of_keys(WebhookRow, webhooks), WebhookRow.failing_since_at.is_null(False)
    )


@compiled
def _mark_failing(
    webhooks: Param[str], now: Param[datetime], forgotten_before: Param[datetime]
) -> Update:
    # A failure before a long time without deliveries does not begin a period of failing.
    return WebhookRow.update(failing_since_at=now).where(
        any_of_keys(WebhookRow, webhooks),
        WebhookRow.failing_since_at.is_null() | (WebhookRow.failing_since_at < forgotten_before),
    )


@compiled_per_engine
def _long_failing(
    engine: Engine,
    webhooks: Param[str],
    notify_since: Param[datetime],
    disable_since: Param[datetime],
    is_locked: bool,
) -> Select:
    """Endpoints to disable or to notify admins of, each with the start of its failures.

    ``is_locked`` locks them, so that an admin's concurrent change comes before or after.
    """
    since, notified_at = WebhookRow.failing_since_at, WebhookRow.failing_told_at
    is_unnotified = (since <= notify_since) & (notified_at.is_null() | (notified_at < since))
    query = (
        WebhookRow.select(WebhookRow.organisation_id, WebhookRow.id, since)
        .where(
            any_of_keys(WebhookRow, webhooks),
            is_unnotified | (since <= disable_since),
            WebhookRow.is_active,
        )
        .order_by(WebhookRow.organisation_id, WebhookRow.id)
    )
    return locks.locked(query, engine) if is_locked else query


def of_webhooks(
    tx: Transaction, webhook_ids: Sequence[str], *, by: Caller
) -> dict[str, WebhookHealth]:
    """The health of each of these endpoints of the organisation, by id."""
    roles.check_role(by.role, "admin")
    health_rows = tx.all(_health, organisation_id=by.organisation_id, webhook_ids=list(webhook_ids))
    return {
        webhook_id: WebhookHealth(
            failing_since=rows.instant_or_none(since), next_attempt_at=rows.instant_or_none(next_at)
        )
        for webhook_id, since, next_at in health_rows
    }


@compiled
def _health(organisation_id: Param[str], webhook_ids: Param[list[str]]) -> Select:
    delivery = DeliveryRow.alias()
    # The conditions of the queue's partial index. A claimed delivery has no next attempt yet.
    next_at = (
        delivery.select(delivery.due_at)
        .where(
            delivery.webhook_id == WebhookRow.id,
            delivery.organisation_id == WebhookRow.organisation_id,
            delivery.status == SQL("'pending'"),
            delivery.claim_id.is_null(),
        )
        .order_by(delivery.due_at)
        .limit(1)
    )
    next_if_active = Case(None, [(WebhookRow.is_active, next_at)])
    return WebhookRow.select(WebhookRow.id, WebhookRow.failing_since_at, next_if_active).where(
        WebhookRow.organisation_id == organisation_id, any_of(WebhookRow.id, webhook_ids)
    )
