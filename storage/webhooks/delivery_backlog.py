"""How many deliveries are due, in flight or paused, for metrics, health checks and pruning."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from peewee import SQL, Select, fn

from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import DeliveryRow, WebhookRow
from storage.webhooks import endpoint_queues

# Due deliveries are counted up to this number for each endpoint.
MAX_COUNTED: Final = 10_000
MAX_LATE: Final = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Backlog:
    """Deliveries to active endpoints; ``oldest_due_at`` in milliseconds or None.

    ``due`` counts at most ``MAX_COUNTED`` for each endpoint.
    """

    due: int
    in_flight: int
    oldest_due_at: int | None


def load(tx: Transaction, *, now: datetime) -> Backlog:
    """How many deliveries are due or in flight, and when the oldest was due."""
    row = tx.first(_backlog, now=now, max_counted=MAX_COUNTED)
    assert row is not None
    due, in_flight, oldest_due_at = row
    return Backlog(due=int(due or 0), in_flight=int(in_flight or 0), oldest_due_at=oldest_due_at)


def oldest_due_at(tx: Transaction) -> int | None:
    """When the oldest pending delivery was due, in milliseconds; None without any.

    Deliveries that are paused for a disabled endpoint do not count.
    """
    row = tx.first(_oldest_due)
    return None if row is None else row.due_at


def late_webhooks(tx: Transaction, *, before: datetime) -> dict[str, bool]:
    """The active webhooks with deliveries due before that moment, and whether each one is failing.

    At most ``MAX_LATE``, the latest first.
    """
    rows = tx.all(_late_webhooks, before=before, limit=MAX_LATE)
    return {str(row.webhook_id): row.failing_since_at is not None for row in rows}


@compiled
def _late_webhooks(before: Param[datetime], limit: Param[int]) -> Select:
    queues = endpoint_queues.all_queues()
    of_queue = (
        Select(
            [queues],
            [
                queues.c.webhook_id,
                WebhookRow.failing_since_at,
                endpoint_queues.earliest_due_at(queues).alias("due_at"),
            ],
        )
        .join(WebhookRow, on=endpoint_queues.is_webhook_of(queues))
        .alias("of_queue")
    )
    return (
        Select([of_queue], [of_queue.c.webhook_id, of_queue.c.failing_since_at])
        .where(of_queue.c.due_at < before)
        .order_by(of_queue.c.due_at)
        .limit(limit)
        .with_cte(queues)
    )


@compiled
def _backlog(now: Param[datetime], max_counted: Param[int]) -> Select:
    queues = endpoint_queues.all_queues()
    due = DeliveryRow.alias()
    counted_rows = (
        due.select(due.id)
        .where(endpoint_queues.is_pending_in(due, queues), due.due_at <= now)
        .limit(max_counted)
        .alias("counted_rows")
    )
    of_queue = (
        Select(
            [queues],
            [
                Select([counted_rows], [fn.COUNT(SQL("*"))]).alias("due"),
                endpoint_queues.in_flight(queues, now).alias("in_flight"),
                endpoint_queues.earliest_due_at(queues).alias("due_at"),
            ],
        )
        .join(WebhookRow, on=endpoint_queues.is_webhook_of(queues))
        .alias("of_queue")
    )
    totals = [fn.SUM(of_queue.c.due), fn.SUM(of_queue.c.in_flight), fn.MIN(of_queue.c.due_at)]
    return Select([of_queue], totals).with_cte(queues)


@compiled
def _oldest_due() -> Select:
    queues = endpoint_queues.all_queues()
    of_queue = (
        Select([queues], [endpoint_queues.earliest_due_at(queues).alias("due_at")])
        .join(WebhookRow, on=endpoint_queues.is_webhook_of(queues))
        .alias("of_queue")
    )
    return Select([of_queue], [fn.MIN(of_queue.c.due_at).alias("due_at")]).with_cte(queues)


@compiled
def paused(before: Param[datetime], limit: Param[int]) -> Select:
    """Keys of deliveries to disabled endpoints that have been due since ``before``."""
    queues = endpoint_queues.all_queues()
    delivery = DeliveryRow.alias()
    return (
        Select([queues], [delivery.organisation_id, delivery.id])
        .join(WebhookRow, on=endpoint_queues.is_webhook_of(queues, is_active=False))
        .join(
            delivery,
            on=endpoint_queues.is_pending_in(delivery, queues) & (delivery.due_at < before),
        )
        .limit(limit)
        .with_cte(queues)
    )
