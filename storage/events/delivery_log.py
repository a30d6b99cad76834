"""What was sent to a webhook and what came of it: for its admins to read, and to send again.

Kept for 30 days; ``prune`` removes what is older.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
from peewee import SQL, Delete, Select, Tuple, Update, fn

from storage.base import fields, ids
from storage.base.errors import NotFound
from storage.base.values import (
    DELIVERY_EVENTS,
    DELIVERY_STATUSES,
    EVENT_TYPES,
    Caller,
    DeliveryEvent,
    DeliveryStatus,
    LoggedAttempt,
    LoggedDelivery,
)
from storage.db import rows
from storage.db.compiled import Param, any_of, any_of_keys, compiled
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import DeliveryAttemptRow, DeliveryRow, EventRow, OrganisationRow
from storage.events import audit, delivery_queue, outbox, webhooks
from storage.events.deliveries import WebhookDisabled
from storage.rules import request_rules

KEPT_FOR: Final = timedelta(days=30)
# The latest ones, where somebody had one delivery sent again and again.
MOST_ATTEMPTS_SHOWN: Final = 20
EXPIRED: Final = "expired"
# How many failed deliveries one call sends again.
MAX_REDELIVERED: Final = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Redelivered:
    """How many deliveries are sent again; ``has_more``: ask again for the rest."""

    queued: int
    has_more: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Pruned:
    """How many rows one batch dealt with, of each kind."""

    expired: int
    deliveries: int
    events: int


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
    bound_to = ("deliveries", by.organisation_id, webhook_id, status, event)
    after = position(tx, page, *bound_to)
    found = tx.all(
        _page,
        organisation_id=by.organisation_id,
        webhook_id=webhook_id,
        after_id=after[0] if after else None,
        limit=page.limit + 1,
        status=status,
        event=event,
    )
    attempts = _attempts_of(tx, by.organisation_id, [row[0] for row in found[: page.limit]])
    return page_of(
        tx,
        page,
        found,
        lambda row: _delivery(row, attempts.get(row[0], [])),
        lambda row: [row[0]],
        *bound_to,
    )


def get(tx: Transaction, webhook_id: str, delivery_id: str, *, by: Caller) -> LoggedDelivery:
    """One delivery with its attempts. Raises InsufficientRole or NotFound."""
    request_rules.check_role(by.role, "admin")
    row = None
    if fields.is_id(webhook_id) and fields.is_id(delivery_id):
        row = tx.first(
            _one,
            organisation_id=by.organisation_id,
            webhook_id=webhook_id,
            delivery_id=delivery_id,
        )
    if row is None:
        raise NotFound("delivery")
    return _delivery(row, _attempts_of(tx, by.organisation_id, [row[0]]).get(row[0], []))


def body_of(tx: Transaction, delivery: LoggedDelivery, *, by: Caller) -> bytes:
    """The bytes that every attempt sends. Raises NotFound once they are pruned."""
    row = tx.first(_body, organisation_id=by.organisation_id, event_id=delivery.event_id)
    if row is None:
        raise NotFound("delivery")
    return bytes(row[0])


def redeliver(
    tx: Transaction, webhook_id: str, delivery_id: str, *, by: Caller, now: datetime
) -> LoggedDelivery:
    """Send the same bytes under the same id again: at once, and then on the usual schedule.

    A delivered one too. One that is being sent at this moment is left to that. Needs an admin.
    Raises InsufficientRole, NotFound or WebhookDisabled.
    """
    get(tx, webhook_id, delivery_id, by=by)
    if not webhooks.get(tx, webhook_id, by=by, is_held=True).is_active:
        raise WebhookDisabled
    if tx.change(_again, organisation_id=by.organisation_id, delivery_id=delivery_id, now=now):
        _requested(tx, webhook_id, {"delivery_id": delivery_id}, by=by, now=now)
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
    """Send again what failed since then, and what the endpoint missed while it was switched off.

    Oldest first, and up to ``limit``; what waits or was delivered is left alone, so that asking
    twice sends nothing twice. Needs an admin. Raises InsufficientRole, NotFound or
    WebhookDisabled.
    """
    if not webhooks.get(tx, webhook_id, by=by, is_held=True).is_active:
        raise WebhookDisabled
    count = tx.change(
        _failed_again,
        organisation_id=by.organisation_id,
        webhook_id=webhook_id,
        since=since,
        now=now,
        limit=limit,
    )
    _requested(tx, webhook_id, {"since": since, "count": count}, by=by, now=now)
    return Redelivered(queued=count, has_more=count == limit)


def _requested(
    tx: Transaction, webhook_id: str, what: Mapping[str, Any], *, by: Caller, now: datetime
) -> None:
    """Record in the audit trail what is sent again, and have it sent after the commit."""
    audit.record(
        tx, "webhook.redelivery_requested", "webhook", webhook_id, by=by, now=now, after=what
    )
    tx.wake(outbox.WEBHOOKS)


def prune(tx: Transaction, *, now: datetime, limit: int = 500) -> Pruned:
    """Remove what was settled 30 days ago, and events that nothing refers to; a batch of each.

    What has been parked for a disabled endpoint for so long is given up first.
    """
    before = now - KEPT_FOR
    expired = tx.all(delivery_queue.parked, before=before, limit=limit)
    if expired:
        tx.change(_expire, keys=_keys(expired), before=before, now=now)
    old = tx.all(_old, before=before, limit=limit)
    if old:
        tx.change(_delete_attempts, keys=_keys(old))
        tx.change(_delete_deliveries, keys=_keys(old), before=before)
    events = tx.change(_delete_events, before_id=ids.earliest_id(before), limit=limit)
    return Pruned(expired=len(expired), deliveries=len(old), events=events)


def _keys(found: Sequence[tuple[Any, ...]]) -> str:
    return orjson.dumps(found).decode()


def _delivery(row: Sequence[Any], attempts: list[LoggedAttempt]) -> LoggedDelivery:
    (
        delivery_id,
        event_id,
        event_type,
        leave_request_id,
        sequence,
        status,
        due_at,
        claim_id,
        created_at,
        settled_at,
    ) = row
    waits = status == "pending" and claim_id is None
    return LoggedDelivery(
        id=delivery_id,
        event_id=event_id,
        event_type=event_type,
        leave_request_id=leave_request_id,
        sequence=sequence,
        status=status,
        next_attempt_at=rows.instant(due_at) if waits else None,
        created_at=rows.instant(created_at),
        settled_at=rows.instant_or_none(settled_at),
        attempts=attempts,
    )


def _attempts_of(
    tx: Transaction, organisation_id: str, delivery_ids: list[str]
) -> dict[str, list[LoggedAttempt]]:
    """The latest attempts of each delivery, oldest first."""
    by_delivery: dict[str, list[LoggedAttempt]] = {}
    if not delivery_ids:
        return by_delivery
    for delivery_id, attempted_at, status_code, error, milliseconds, answer in tx.all(
        _attempts,
        organisation_id=organisation_id,
        delivery_ids=delivery_ids,
        most=MOST_ATTEMPTS_SHOWN,
    ):
        # Whatever the receiver said, shown as text.
        text = bytes(answer or b"").decode("utf-8", "replace")
        attempt = LoggedAttempt(
            attempted_at=rows.instant(attempted_at),
            status_code=status_code,
            error=error,
            duration_milliseconds=milliseconds,
            answer=text,
        )
        by_delivery.setdefault(delivery_id, []).append(attempt)
    return by_delivery


_COLUMNS: Final = (
    DeliveryRow.id,
    DeliveryRow.event_id,
    DeliveryRow.event_type,
    DeliveryRow.leave_request_id,
    DeliveryRow.sequence,
    DeliveryRow.status,
    DeliveryRow.due_at,
    DeliveryRow.claim_id,
    DeliveryRow.created_at,
    DeliveryRow.settled_at,
)


@compiled
def _page(
    organisation_id: Param[str],
    webhook_id: Param[str],
    after_id: Param[str] | None,
    limit: Param[int],
    status: DeliveryStatus | None,
    event: DeliveryEvent | None,
) -> Select:
    """The newest of each status and event, which one index serves, and of those the newest."""
    branches: Any = None
    for one_status in DELIVERY_STATUSES if status is None else (status,):
        for one_event in DELIVERY_EVENTS if event is None else (event,):
            branch = _newest(organisation_id, webhook_id, after_id, limit, one_status, one_event)
            branches = branch if branches is None else branches.union_all(branch)
    found = branches.alias("found")
    newest = Select([found], [found.c.id]).order_by(found.c.id.desc()).limit(limit)
    return (
        DeliveryRow.select(*_COLUMNS)
        .where(DeliveryRow.organisation_id == organisation_id, DeliveryRow.id.in_(newest))
        .order_by(DeliveryRow.id.desc())
    )


def _newest(
    organisation_id: Any, webhook_id: Any, after_id: Any, limit: Any, status: str, event: str
) -> Any:
    delivery = DeliveryRow.alias()
    query = delivery.select(delivery.id).where(
        delivery.organisation_id == organisation_id,
        delivery.webhook_id == webhook_id,
        delivery.status == status,
        delivery.event_type == event,
    )
    if after_id is not None:
        query = query.where(delivery.id < after_id)
    # Ids are made in order of time.
    newest = query.order_by(delivery.id.desc()).limit(limit).alias("newest")
    return Select([newest], [newest.c.id])


@compiled
def _one(organisation_id: Param[str], webhook_id: Param[str], delivery_id: Param[str]) -> Select:
    return DeliveryRow.select(*_COLUMNS).where(
        DeliveryRow.organisation_id == organisation_id,
        DeliveryRow.id == delivery_id,
        DeliveryRow.webhook_id == webhook_id,
    )


@compiled
def _attempts(
    organisation_id: Param[str], delivery_ids: Param[list[str]], most: Param[int]
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
        .where(numbered.c.place <= most)
        .order_by(numbered.c.id)
    )


@compiled
def _body(organisation_id: Param[str], event_id: Param[str]) -> Select:
    return EventRow.select(EventRow.body).where(
        EventRow.organisation_id == organisation_id, EventRow.id == event_id
    )


@compiled
def _again(organisation_id: Param[str], delivery_id: Param[str], now: Param[datetime]) -> Update:
    is_being_sent = DeliveryRow.claim_id.is_null(False) & (DeliveryRow.due_at > now)
    return DeliveryRow.update(
        status="pending", attempts=0, due_at=now, claim_id=None, settled_at=None
    ).where(
        DeliveryRow.organisation_id == organisation_id,
        DeliveryRow.id == delivery_id,
        ~is_being_sent,
    )


@compiled
def _failed_again(
    organisation_id: Param[str],
    webhook_id: Param[str],
    since: Param[datetime],
    now: Param[datetime],
    limit: Param[int],
) -> Update:
    failed = DeliveryRow.alias()
    chosen = (
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
    ).where(Tuple(DeliveryRow.organisation_id, DeliveryRow.id).in_(chosen))


@compiled
def _expire(keys: Param[str], before: Param[datetime], now: Param[datetime]) -> Update:
    # What is being sent by now is due when its lease ends, and is left to that.
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
    deliveries_of_it = delivery.select(SQL("1")).where(
        delivery.organisation_id == event.organisation_id, delivery.event_id == event.id
    )
    unneeded = (
        OrganisationRow.select(event.organisation_id, event.id)
        .join(event, on=event.organisation_id == OrganisationRow.id)
        .where(event.id < before_id, ~fn.EXISTS(deliveries_of_it))
        .limit(limit)
    )
    return EventRow.delete().where(Tuple(EventRow.organisation_id, EventRow.id).in_(unneeded))
