"""The log of a webhook's deliveries and their attempts, kept for as long as operators choose.

Admins read it, send deliveries again, and send pings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from peewee import SQL, Delete, Select, Tuple, Update, fn

from storage.base import ids
from storage.base.errors import Conflict, NotFound, Sentence
from storage.base.event_values import (
    EVENT_TYPES,
    TIME_CREDIT_EVENT_TYPES,
    DeliveryEvent,
    DeliveryStatus,
    LoggedAttempt,
    LoggedDelivery,
)
from storage.base.ids import is_id
from storage.base.values import Caller
from storage.db import locks, pages, rows
from storage.db.compiled import Param, any_of, any_of_keys, compiled, json_of_keys
from storage.db.database import Row, Transaction
from storage.db.pages import Page, PageOf
from storage.db.tables import DeliveryAttemptRow, DeliveryRow, EventRow, OrganisationRow, WebhookRow
from storage.outbox import audit, webhook_outbox
from storage.rules import roles
from storage.webhooks import webhooks

# The latest attempts of a delivery that admins sent again many times.
MAX_ATTEMPTS_SHOWN: Final = 20
# Failed deliveries that one call sends again.
MAX_REDELIVERED: Final = 1_000
# Why a delivery failed: its endpoint stayed disabled.
EXPIRED: Final = "expired"


@dataclass(frozen=True, kw_only=True, slots=True)
class Redelivered:
    """How many deliveries are sent again; ``has_more``: another call sends the rest."""

    queued: int
    has_more: bool


class WebhookDisabled(Conflict):
    """The webhook is disabled, so nothing is sent to it."""

    code = "webhook_disabled"
    title = "The webhook is switched off."
    cure = "Send a PATCH with `is_active` true, then try again."
    sentence = Sentence("The webhook is disabled. PATCH it with `is_active` true first.")


def page(
    tx: Transaction,
    webhook_id: str,
    page: PageOf,
    *,
    by: Caller,
    status: DeliveryStatus | None = None,
    event: DeliveryEvent | None = None,
) -> Page[LoggedDelivery]:
    """An endpoint's deliveries with their attempts, newest first.

    Raises InsufficientRole, NotFound or UnusableCursor.
    """
    webhooks.get(tx, webhook_id, by=by)
    found = pages.by_id(
        tx,
        page,
        DeliveryRow,
        lambda row: row,
        "deliveries",
        by.organisation_id,
        descends=True,
        webhook_id=webhook_id,
        status=status,
        event_type=event,
    )
    attempts = _attempts_of(tx, by.organisation_id, [row.id for row in found.items])
    items = [_delivery(row, attempts.get(row.id, [])) for row in found.items]
    return Page(items=items, next_cursor=found.next_cursor)


def get(tx: Transaction, webhook_id: str, delivery_id: str, *, by: Caller) -> LoggedDelivery:
    """A delivery with its attempts. Raises InsufficientRole or NotFound."""
    roles.check_role(by.role, "admin")
    organisation_id = by.organisation_id
    if is_id(webhook_id) and is_id(delivery_id):
        row = tx.find(
            DeliveryRow, organisation_id=organisation_id, id=delivery_id, webhook_id=webhook_id
        )
        if row is not None:
            return _delivery(row, _attempts_of(tx, organisation_id, [row.id]).get(row.id, []))
    raise NotFound("delivery")


def body_of(tx: Transaction, delivery: LoggedDelivery, *, by: Caller) -> bytes:
    """The bytes that every attempt sends. Raises NotFound after they were pruned."""
    row = tx.find(EventRow, organisation_id=by.organisation_id, id=delivery.event_id)
    if row is None:
        raise NotFound("delivery")
    return bytes(row.body)


def _delivery(row: Row, attempts: list[LoggedAttempt]) -> LoggedDelivery:
    is_queued = row.status == "pending" and row.claim_id is None
    return LoggedDelivery(
        id=row.id,
        event_id=row.event_id,
        event_type=row.event_type,
        leave_request_id=(
            None if row.event_type in TIME_CREDIT_EVENT_TYPES else row.leave_request_id
        ),
        sequence=row.sequence,
        status=row.status,
        next_attempt_at=rows.instant(row.due_at) if is_queued else None,
        created_at=rows.instant(row.created_at),
        settled_at=rows.instant_or_none(row.settled_at),
        attempts=attempts,
    )


def _attempts_of(
    tx: Transaction, organisation_id: str, delivery_ids: list[str]
) -> dict[str, list[LoggedAttempt]]:
    """The latest attempts of each delivery, oldest first."""
    by_delivery: dict[str, list[LoggedAttempt]] = {}
    if not delivery_ids:
        return by_delivery
    for row in tx.all(
        _attempts,
        organisation_id=organisation_id,
        delivery_ids=delivery_ids,
        limit=MAX_ATTEMPTS_SHOWN,
    ):
        attempt = LoggedAttempt(
            attempted_at=rows.instant(row.attempted_at),
            status_code=row.status_code,
            error=row.error,
            duration_milliseconds=row.duration_milliseconds,
            answer=bytes(row.answer_excerpt or b"").decode("utf-8", "replace"),
        )
        by_delivery.setdefault(row.delivery_id, []).append(attempt)
    return by_delivery


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
    get(tx, webhook_id, delivery_id, by=by)
    if not webhooks.get(tx, webhook_id, by=by, lock=locks.ROW).is_active:
        raise WebhookDisabled
    if tx.change(
        _queue_again, organisation_id=by.organisation_id, delivery_id=delivery_id, now=now
    ):
        _record_redelivery(tx, webhook_id, {"delivery_id": delivery_id}, by=by, now=now)
    return get(tx, webhook_id, delivery_id, by=by)


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
    if not webhooks.get(tx, webhook_id, by=by, lock=locks.ROW).is_active:
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Pruned:
    """How many rows of each kind one batch gave up or deleted."""

    expired: int
    deliveries: int
    events: int


def prune(tx: Transaction, *, days: int, now: datetime, limit: int = 500) -> Pruned:
    """Delete a batch of deliveries that ended ``days`` ago, and one of events without deliveries.

    Deliveries that were paused for a disabled endpoint for as long are given up first.
    """
    before = now - timedelta(days=days)
    expired = tx.all(_paused, before=before, limit=limit)
    if expired:
        tx.change(_expire, keys=json_of_keys(expired), before=before, now=now)
    old = tx.all(_old, before=before, limit=limit)
    if old:
        tx.change(_delete_attempts, keys=json_of_keys(old))
        tx.change(_delete_deliveries, keys=json_of_keys(old), before=before)
    events = tx.change(_delete_events, before_id=ids.earliest_id(before), limit=limit)
    return Pruned(expired=len(expired), deliveries=len(old), events=events)


@compiled
def _attempts(
    organisation_id: Param[str], delivery_ids: Param[list[str]], limit: Param[int]
) -> Select:
    attempt = DeliveryAttemptRow.alias()
    latest = fn.ROW_NUMBER().over(partition_by=[attempt.delivery_id], order_by=[attempt.id.desc()])
    numbered = (
        attempt.select(
            attempt.delivery_id,
            attempt.attempted_at,
            attempt.status_code,
            attempt.error,
            attempt.duration_milliseconds,
            attempt.answer_excerpt,
            attempt.id,
            latest.alias("place"),
        )
        .where(
            attempt.organisation_id == organisation_id, any_of(attempt.delivery_id, delivery_ids)
        )
        .alias("numbered")
    )
    names = (
        "delivery_id",
        "attempted_at",
        "status_code",
        "error",
        "duration_milliseconds",
        "answer_excerpt",
    )
    return (
        Select([numbered], [getattr(numbered.c, name) for name in names])
        .where(numbered.c.place <= limit)
        .order_by(numbered.c.id)
    )


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


@compiled
def _expire(keys: Param[str], before: Param[datetime], now: Param[datetime]) -> Update:
    # A delivery that was claimed meanwhile is due when its lease expires, and is left alone.
    return DeliveryRow.update(
        status="failed", settled_at=now, last_error=EXPIRED, claim_id=None
    ).where(
        any_of_keys(DeliveryRow, keys),
        DeliveryRow.status == "pending",
        DeliveryRow.due_at < before,
    )


@compiled
def _old(before: Param[datetime], limit: Param[int]) -> Select:
    return (
        DeliveryRow.select(DeliveryRow.organisation_id, DeliveryRow.id)
        .where(DeliveryRow.settled_at < before)
        .limit(limit)
    )


@compiled
def _delete_attempts(keys: Param[str]) -> Delete:
    return DeliveryAttemptRow.delete().where(any_of_keys(DeliveryAttemptRow, keys, "delivery_id"))


@compiled
def _delete_deliveries(keys: Param[str], before: Param[datetime]) -> Delete:
    return DeliveryRow.delete().where(
        any_of_keys(DeliveryRow, keys), DeliveryRow.settled_at < before
    )


@compiled
def _delete_events(before_id: Param[str], limit: Param[int]) -> Delete:
    event, delivery = EventRow.alias(), DeliveryRow.alias()
    deliveries_of_event = delivery.select(SQL("1")).where(
        delivery.organisation_id == event.organisation_id, delivery.event_id == event.id
    )
    unneeded = (
        OrganisationRow.select(event.organisation_id, event.id)
        .join(event, on=event.organisation_id == OrganisationRow.id)
        .where(event.id < before_id, ~fn.EXISTS(deliveries_of_event))
        .limit(limit)
    )
    return EventRow.delete().where(Tuple(EventRow.organisation_id, EventRow.id).in_(unneeded))


@compiled
def _paused(before: Param[datetime], limit: Param[int]) -> Select:
    """Keys of deliveries to disabled endpoints that have been due since ``before``."""
    return (
        DeliveryRow.select(DeliveryRow.organisation_id, DeliveryRow.id)
        .join(
            WebhookRow,
            on=(WebhookRow.organisation_id == DeliveryRow.organisation_id)
            & (WebhookRow.id == DeliveryRow.webhook_id),
        )
        .where(
            DeliveryRow.status == SQL("'pending'"),
            DeliveryRow.due_at < before,
            ~WebhookRow.is_active,
        )
        .limit(limit)
    )
