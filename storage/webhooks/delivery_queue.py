"""The queue of webhook deliveries, which is fair between endpoints.

Unlike in other leased queues, due deliveries are not claimed in order of ``due_at`` alone, or an
endpoint with a long backlog would delay all others. Every endpoint has a queue of its own within
the table: a claim takes the first of each, then the second of each, up to ``MAX_IN_FLIGHT`` of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from peewee import JOIN, OP, SQL, Case, Expression, Select, fn

from storage.base.secrets import InvalidToken
from storage.db.compiled import Engine, Expr, Param, any_of_keys, compiled, json_of_keys
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import DeliveryRow, EventRow, WebhookRow
from storage.events.leased_queue import LeasedQueue
from storage.webhooks import endpoint_queues, webhook_secrets

# Deliveries to one endpoint at a time, from claim to result. A failing endpoint gets one until one
# succeeds: many that hang would otherwise fill every process.
MAX_IN_FLIGHT: Final = 16
_LATERAL: Final = "CROSS JOIN LATERAL"


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivery:
    """One event for one endpoint; ``body`` and ``event_id`` are the same on every attempt.

    ``attempts`` counts earlier ones; ``created_at`` is in milliseconds. ``secrets`` is empty when
    no key of this deployment decrypts the endpoint's.
    """

    organisation_id: str
    id: str
    webhook_id: str
    event_id: str
    event_type: str
    attempts: int
    claim_id: str
    url: str
    body: bytes
    secrets: list[str]
    created_at: int


def claim(
    tx: Transaction,
    *,
    limit: int,
    claim_id: str,
    now: datetime,
    lease: timedelta | None = None,
) -> list[Delivery]:
    """Claim up to ``limit`` due deliveries: the first of every endpoint, then the second …

    A request's events reach an endpoint in order: each waits for the first attempt of the previous.
    ``claim_id`` is new for every call. ``lease`` replaces the usual one.
    """
    claimed = QUEUE.claim(tx, claim_id=claim_id, now=now, limit=limit, lease=lease)
    if not claimed:
        return []
    # Each by its key, without joins: PostgreSQL joins badly before it has analysed new tables.
    event_keys = json_of_keys((row.organisation_id, row.event_id) for row in claimed)
    webhook_keys = json_of_keys((row.organisation_id, row.webhook_id) for row in claimed)
    bodies: dict[str, bytes] = dict(tx.all(_bodies, keys=event_keys))
    endpoints = {row.id: row for row in tx.all(_webhooks, keys=webhook_keys)}
    secrets = {webhook_id: _secrets_of(tx, row, now) for webhook_id, row in endpoints.items()}
    deliveries = [
        Delivery(
            organisation_id=row.organisation_id,
            id=row.id,
            webhook_id=row.webhook_id,
            event_id=row.event_id,
            event_type=row.event_type,
            attempts=row.attempts,
            claim_id=claim_id,
            url=endpoints[row.webhook_id].url,
            body=bytes(bodies[row.event_id]),
            secrets=secrets[row.webhook_id],
            created_at=row.created_at,
        )
        for row in claimed
    ]
    return sorted(deliveries, key=lambda delivery: delivery.id)


def _secrets_of(tx: Transaction, row: Row, now: datetime) -> list[str]:
    try:
        return webhook_secrets.decrypted(tx, row, now=now)
    except InvalidToken:  # An error of one endpoint must not stop the deliveries of others.
        return []


def _due_of(queue: Expr, now: Expr, limit: Expr) -> Select:
    """The first due deliveries of a queue, except those that follow another of their request."""
    delivery, earlier = DeliveryRow.alias(), DeliveryRow.alias()
    # One row and not EXISTS: PostgreSQL turns EXISTS into a join with a worse index.
    comes_first = (
        earlier.select(earlier.id)
        .where(
            earlier.leave_request_id == delivery.leave_request_id,
            earlier.webhook_id == queue.c.webhook_id,
            earlier.organisation_id == queue.c.organisation_id,
            earlier.sequence < delivery.sequence,
            earlier.settled_at.is_null(),
            earlier.attempts == SQL("0"),
        )
        .limit(endpoint_queues.ONE)
    )
    return (
        delivery.select(delivery.id, delivery.due_at)
        .where(
            endpoint_queues.is_pending_in(delivery, queue),
            delivery.due_at <= now,
            Expression(comes_first, OP.IS, None),
        )
        .order_by(delivery.due_at)
        .limit(limit)
    )


def _candidates(engine: Engine, now: Expr) -> Expr:
    """Deliveries that may be claimed, each with its place in its endpoint's queue and that queue's
    room."""
    queues = endpoint_queues.all_queues()
    max_in_flight = Case(
        None, [(WebhookRow.failing_since_at.is_null(), SQL(str(MAX_IN_FLIGHT)))], 1
    )
    room = max_in_flight - endpoint_queues.in_flight(queues, now)
    of_queues = Select([queues]).join(WebhookRow, on=endpoint_queues.is_webhook_of(queues))
    due_deliveries: Expr
    if engine == "sqlite":
        due = _due_of(queues, now, MAX_IN_FLIGHT)
        # SQLite has no LATERAL, but a table-valued function sees the tables before it.
        pairs = due.alias("pairs")
        pair = fn.json_array(pairs.c.id, pairs.c.due_at)
        due_deliveries = fn.json_each(Select([pairs], [fn.json_group_array(pair)])).alias("due")
        delivery_id, due_at, place = map(SQL, ("due.value ->> 0", "due.value ->> 1", "due.key"))
        join_type = JOIN.CROSS
    else:
        # Computed once for each queue; nothing is read from a queue that has no room.
        free = Select(columns=[fn.GREATEST(room, 0).alias("room")]).alias("free")
        of_queues = of_queues.join(free, _LATERAL)
        room = free.c.room
        due_deliveries = _due_of(queues, now, room).alias("due")
        delivery_id, due_at = due_deliveries.c.id, due_deliveries.c.due_at
        key = [queues.c.organisation_id, queues.c.webhook_id]
        place = fn.ROW_NUMBER().over(partition_by=key, order_by=[due_at]) - 1
        join_type = _LATERAL
    columns = [
        queues.c.organisation_id,
        delivery_id.alias("id"),
        place.alias("place"),
        due_at.alias("due_at"),
        room.alias("room"),
    ]
    return of_queues.columns(*columns).join(due_deliveries, join_type).with_cte(queues)


def _due(engine: Engine, now: Expr, limit: Expr) -> Select:
    queued = _candidates(engine, now).alias("queued")
    # Every queue's first before any queue's second; then those due longest.
    chosen = (
        Select([queued], [queued.c.organisation_id, queued.c.id, queued.c.place, queued.c.due_at])
        .where(queued.c.place < queued.c.room)
        .order_by(queued.c.place, queued.c.due_at)
    )
    if engine == "sqlite":
        keys = chosen.limit(limit).alias("chosen")
        return Select([keys], [keys.c.organisation_id, keys.c.id])
    # Twice as many: another process may be claiming the first ones at the same time.
    candidates = chosen.limit(limit * 2).cte(
        "candidates", materialized=True, columns=("organisation_id", "id", "place", "due_at")
    )
    delivery = DeliveryRow.alias()
    is_candidate = (delivery.organisation_id == candidates.c.organisation_id) & (
        delivery.id == candidates.c.id
    )
    query: Select = (
        Select([candidates], [delivery.organisation_id, delivery.id])
        .join(delivery, on=is_candidate)
        # Checked again on the locked row: it may have been claimed or sent meanwhile. Not by
        # its status: the index of a whole queue would be walked for each of them.
        .where(delivery.settled_at.is_null(), delivery.due_at <= now)
    )
    ordered = query.order_by(candidates.c.place, candidates.c.due_at)
    return ordered.limit(limit).with_cte(candidates)


QUEUE: Final = LeasedQueue(
    table=DeliveryRow,
    key=("organisation_id", "id"),
    due=_due,
    # Three times the longest attempt: a claimed delivery may wait behind one that hangs. After a
    # crash the claimed deliveries count as in flight until then.
    lease=timedelta(seconds=45),
    returned=(
        DeliveryRow.organisation_id,
        DeliveryRow.id,
        DeliveryRow.webhook_id,
        DeliveryRow.event_id,
        DeliveryRow.event_type,
        DeliveryRow.attempts,
        DeliveryRow.created_at,
    ),
)


@compiled
def _webhooks(keys: Param[str]) -> Select:
    return WebhookRow.select(
        WebhookRow.id,
        WebhookRow.url,
        WebhookRow.secret_encrypted,
        WebhookRow.previous_secret_encrypted,
        WebhookRow.previous_secret_until,
    ).where(any_of_keys(WebhookRow, keys))


@compiled
def _bodies(keys: Param[str]) -> Select:
    return EventRow.select(EventRow.id, EventRow.body).where(any_of_keys(EventRow, keys))
