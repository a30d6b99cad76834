"""The log of a webhook's deliveries and their attempts, for its admins to read.

``delivery_pruning`` deletes it after 30 days; ``redelivery`` sends deliveries again.
"""

from __future__ import annotations

from typing import Final

from peewee import Select, fn

from storage.base import fields
from storage.base.errors import NotFound
from storage.base.event_values import (
    DELIVERY_EVENTS,
    DELIVERY_STATUSES,
    DeliveryEvent,
    DeliveryStatus,
    LoggedAttempt,
    LoggedDelivery,
)
from storage.base.values import Caller
from storage.db import rows
from storage.db.compiled import Expr, Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import DeliveryAttemptRow, DeliveryRow, EventRow
from storage.rules import roles
from storage.webhooks import webhooks

# The latest attempts of a delivery that admins sent again many times.
MAX_ATTEMPTS_SHOWN: Final = 20


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
    delivery_rows = tx.all(
        _page,
        organisation_id=by.organisation_id,
        webhook_id=webhook_id,
        after_id=after[0] if after else None,
        limit=page.limit + 1,
        status=status,
        event=event,
    )
    attempts = _attempts_of(tx, by.organisation_id, [row.id for row in delivery_rows[: page.limit]])
    return page_of(
        tx,
        page,
        delivery_rows,
        lambda row: _delivery(row, attempts.get(row.id, [])),
        lambda row: [row.id],
        *bound_to,
    )


def get(tx: Transaction, webhook_id: str, delivery_id: str, *, by: Caller) -> LoggedDelivery:
    """A delivery with its attempts. Raises InsufficientRole or NotFound."""
    roles.check_role(by.role, "admin")
    row = None
    if fields.is_id(webhook_id) and fields.is_id(delivery_id):
        row = tx.first(
            _one_delivery,
            organisation_id=by.organisation_id,
            webhook_id=webhook_id,
            delivery_id=delivery_id,
        )
    if row is None:
        raise NotFound("delivery")
    return _delivery(row, _attempts_of(tx, by.organisation_id, [row.id]).get(row.id, []))


def body_of(tx: Transaction, delivery: LoggedDelivery, *, by: Caller) -> bytes:
    """The bytes that every attempt sends. Raises NotFound after they were pruned."""
    row = tx.first(_body, organisation_id=by.organisation_id, event_id=delivery.event_id)
    if row is None:
        raise NotFound("delivery")
    return bytes(row.body)


def _delivery(row: Row, attempts: list[LoggedAttempt]) -> LoggedDelivery:
    is_queued = row.status == "pending" and row.claim_id is None
    return LoggedDelivery(
        id=row.id,
        event_id=row.event_id,
        event_type=row.event_type,
        leave_request_id=row.leave_request_id,
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
    """The newest deliveries: an index has the newest of each status and event; these are merged."""
    branches: Expr = None
    for status_of_branch in DELIVERY_STATUSES if status is None else (status,):
        for event_of_branch in DELIVERY_EVENTS if event is None else (event,):
            branch = _newest(
                organisation_id, webhook_id, after_id, limit, status_of_branch, event_of_branch
            )
            branches = branch if branches is None else branches.union_all(branch)
    merged = branches.alias("merged")
    newest = Select([merged], [merged.c.id]).order_by(merged.c.id.desc()).limit(limit)
    return (
        DeliveryRow.select(*_COLUMNS)
        .where(DeliveryRow.organisation_id == organisation_id, DeliveryRow.id.in_(newest))
        .order_by(DeliveryRow.id.desc())
    )


def _newest(
    organisation_id: Expr,
    webhook_id: Expr,
    after_id: Expr,
    limit: Expr,
    status: str,
    event: str,
) -> Expr:
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
def _one_delivery(
    organisation_id: Param[str], webhook_id: Param[str], delivery_id: Param[str]
) -> Select:
    return DeliveryRow.select(*_COLUMNS).where(
        DeliveryRow.organisation_id == organisation_id,
        DeliveryRow.id == delivery_id,
        DeliveryRow.webhook_id == webhook_id,
    )


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
def _body(organisation_id: Param[str], event_id: Param[str]) -> Select:
    return EventRow.select(EventRow.body).where(
        EventRow.organisation_id == organisation_id, EventRow.id == event_id
    )
