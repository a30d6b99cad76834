"""The queue of each endpoint within the table of deliveries, as parts of other queries.

Reading the queues costs a few index seeks for each webhook with pending deliveries, however many
these are. One seek skips the deliveries of a disabled webhook.
"""

from __future__ import annotations

from typing import Final

from peewee import SQL, Select, fn

from storage.db.compiled import Expr
from storage.db.tables import DeliveryRow, WebhookRow

# As SQL and not as a bound value, so that the planner recognises the partial index's condition.
PENDING: Final = SQL("'pending'")
# The planner expects a bound limit to let a tenth of the rows through.
ONE: Final = SQL("1")


def all_queues() -> Expr:
    """A recursive CTE of webhooks with pending deliveries, each found by two index seeks.

    Its last row is empty.
    """
    first = DeliveryRow.alias()
    pair = (
        first.select(first.organisation_id, first.webhook_id)
        .where(first.status == PENDING)
        .order_by(first.webhook_id)
        .limit(ONE)
    )
    begin = Select([pair], [pair.c.organisation_id, pair.c.webhook_id])
    queues = begin.cte("queues", recursive=True, columns=("organisation_id", "webhook_id"))
    following = [_following(queues, name) for name in ("organisation_id", "webhook_id")]
    step = Select([queues], following).where(queues.c.webhook_id.is_null(False))
    return queues.union_all(step)


def _following(queues: Expr, column: str) -> Expr:
    later = DeliveryRow.alias()
    return (
        later.select(getattr(later, column))
        .where(later.status == PENDING, later.webhook_id > queues.c.webhook_id)
        .order_by(later.webhook_id)
        .limit(ONE)
    )


def is_pending_in(delivery: Expr, queue: Expr) -> Expr:
    """Whether a delivery is pending in the queue of that row of ``queues``."""
    return (
        (delivery.organisation_id == queue.c.organisation_id)
        & (delivery.webhook_id == queue.c.webhook_id)
        & (delivery.status == PENDING)
    )


def in_flight(queue: Expr, now: Expr) -> Select:
    """How many of a queue's deliveries are claimed, by all processes."""
    claimed = DeliveryRow.alias()
    return claimed.select(fn.COUNT(claimed.id)).where(
        claimed.organisation_id == queue.c.organisation_id,
        claimed.webhook_id == queue.c.webhook_id,
        claimed.claim_id.is_null(False),
        claimed.due_at > now,
    )


def is_webhook_of(queue: Expr, *, is_active: bool = True) -> Expr:
    return (
        (WebhookRow.organisation_id == queue.c.organisation_id)
        & (WebhookRow.id == queue.c.webhook_id)
        & (WebhookRow.is_active == is_active)
    )


def earliest_due_at(queue: Expr) -> Select:
    delivery = DeliveryRow.alias()
    return (
        delivery.select(delivery.due_at)
        .where(is_pending_in(delivery, queue))
        .order_by(delivery.due_at)
        .limit(ONE)
    )
