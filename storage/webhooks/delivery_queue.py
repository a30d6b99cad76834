"""The queue of webhook deliveries, which is fair between endpoints.

Unlike in other leased queues, due deliveries are not claimed in order of ``due_at`` alone, or an
endpoint with a long backlog would delay all others. Every endpoint has a queue of its own within
the table: a claim takes the first of each, then the second of each, up to ``MAX_IN_FLIGHT`` of one.

Reading the queues costs a few index seeks for each webhook with pending deliveries, however many
these are. One seek skips the deliveries of a disabled webhook.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import orjson
from peewee import JOIN, OP, SQL, Case, Expression, Select, fn

from storage.base.secrets import InvalidToken
from storage.db.compiled import Engine, Expr, Param, any_of_keys, compiled
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import DeliveryRow, EventRow, WebhookRow
from storage.events.leased_queue import LeasedQueue
from storage.webhooks import webhook_secrets

# Deliveries to one endpoint at a time, from claim to result. A failing endpoint gets one until one
# succeeds: many that hang would otherwise fill every process.
MAX_IN_FLIGHT: Final = 16
# Due deliveries are counted up to this number for each endpoint.
MAX_COUNTED: Final = 10_000

# As SQL and not as a bound value, so that the planner recognises the partial index's condition.
_PENDING: Final = SQL("'pending'")
# The planner expects a bound limit to let a tenth of the rows through.
_ONE: Final = SQL("1")
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """Deliveries to active endpoints; ``oldest_due_at`` in milliseconds or None.

    ``due`` counts at most ``MAX_COUNTED`` for each endpoint.
    """

    due: int
    in_flight: int
    oldest_due_at: int | None


def claim(
    tx: Transaction,
    *,
    limit: int,
    claim_id: str,
    now: datetime,
    lease: timedelta | None = None,
) -> list[Delivery]:
    """Claim up to ``limit`` due deliveries: the first of every endpoint, then the second ….

    A request's events reach an endpoint in order: one waits until the one before it was attempted.
    ``claim_id`` is new for every call. ``lease`` replaces the usual one.
    """
    claimed = QUEUE.claim(tx, claim_id=claim_id, now=now, limit=limit, lease=lease)
    if not claimed:
        return []
    # Each by its key, without joins: PostgreSQL joins badly before it has analysed new tables.
    event_keys = _keys((row.organisation_id, row.event_id) for row in claimed)
    webhook_keys = _keys((row.organisation_id, row.webhook_id) for row in claimed)
    bodies: dict[str, bytes] = dict(tx.all(_bodies, keys=event_keys))
    endpoints = {row.id: row for row in tx.all(_webhooks, keys=webhook_keys)}
    secrets = {webhook_id: _secrets_of(tx, row, now) for webhook_id, row in endpoints.items()}
    found = [
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
    return sorted(found, key=lambda delivery: delivery.id)


def waiting(tx: Transaction, *, now: datetime) -> Waiting:
    """How many deliveries are due or in flight, and when the oldest was due."""
    row = tx.first(_waiting, now=now, counted=MAX_COUNTED)
    assert row is not None
    due, in_flight, oldest_due_at = row
    return Waiting(due=int(due or 0), in_flight=int(in_flight or 0), oldest_due_at=oldest_due_at)


def oldest_due_at(tx: Transaction) -> int | None:
    """When the oldest pending delivery was due, in milliseconds; None without any.

    Deliveries that are paused for a disabled endpoint do not count.
    """
    row = tx.first(_oldest_due)
    return None if row is None else row.due_at


def _keys(found: Iterable[tuple[str, str]]) -> str:
    return orjson.dumps(sorted(set(found))).decode()


def _secrets_of(tx: Transaction, row: Row, now: datetime) -> list[str]:
    try:
        return webhook_secrets.decrypted(tx, row, now=now)
    except InvalidToken:  # An error of one endpoint must not stop the deliveries of others.
        return []


def _queues() -> Expr:
    """A recursive CTE of webhooks with pending deliveries, each found by two index seeks.

    Its last row is empty.
    """
    first = DeliveryRow.alias()
    pair = (
        first.select(first.organisation_id, first.webhook_id)
        .where(first.status == _PENDING)
        .order_by(first.webhook_id)
        .limit(_ONE)
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
        .where(later.status == _PENDING, later.webhook_id > queues.c.webhook_id)
        .order_by(later.webhook_id)
        .limit(_ONE)
    )


def _of_queue(delivery: Expr, queue: Expr) -> Expr:
    """Whether a delivery is pending in the queue of that row of ``queues``."""
    return (
        (delivery.organisation_id == queue.c.organisation_id)
        & (delivery.webhook_id == queue.c.webhook_id)
        & (delivery.status == _PENDING)
    )


def _due_of(queue: Expr, now: Expr, limit: Expr) -> Select:
    """The first due deliveries of a queue, without those that wait for another of their request."""
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
        .limit(_ONE)
    )
    return (
        delivery.select(delivery.id, delivery.due_at)
        .where(
            _of_queue(delivery, queue), delivery.due_at <= now, Expression(comes_first, OP.IS, None)
        )
        .order_by(delivery.due_at)
        .limit(limit)
    )


def _in_flight(queue: Expr, now: Expr) -> Select:
    """How many of a queue's deliveries are claimed, by all processes."""
    claimed = DeliveryRow.alias()
    return claimed.select(fn.COUNT(claimed.id)).where(
        claimed.organisation_id == queue.c.organisation_id,
        claimed.webhook_id == queue.c.webhook_id,
        claimed.claim_id.is_null(False),
        claimed.due_at > now,
    )


def _is_on(queue: Expr, *, is_active: bool = True) -> Expr:
    return (
        (WebhookRow.organisation_id == queue.c.organisation_id)
        & (WebhookRow.id == queue.c.webhook_id)
        & (WebhookRow.is_active == is_active)
    )


def _candidates(engine: Engine, now: Expr) -> Expr:
    """Deliveries that may be claimed, each with its place in its endpoint's queue and that queue's
    room."""
    queues = _queues()
    usual = Case(None, [(WebhookRow.failing_since_at.is_null(), SQL(str(MAX_IN_FLIGHT)))], 1)
    room = usual - _in_flight(queues, now)
    of_queues = Select([queues]).join(WebhookRow, on=_is_on(queues))
    found: Expr
    if engine == "sqlite":
        due = _due_of(queues, now, MAX_IN_FLIGHT)
        # SQLite has no LATERAL, but a table-valued function sees the tables before it.
        pairs = due.alias("pairs")
        pair = fn.json_array(pairs.c.id, pairs.c.due_at)
        found = fn.json_each(Select([pairs], [fn.json_group_array(pair)])).alias("found")
        delivery_id, due_at, place = map(
            SQL, ("found.value ->> 0", "found.value ->> 1", "found.key")
        )
        across = JOIN.CROSS
    else:
        # Computed once for each queue; nothing is read from a queue that has no room.
        free = Select(columns=[fn.GREATEST(room, 0).alias("room")]).alias("free")
        of_queues = of_queues.join(free, _LATERAL)
        room = free.c.room
        found = _due_of(queues, now, room).alias("found")
        delivery_id, due_at = found.c.id, found.c.due_at
        key = [queues.c.organisation_id, queues.c.webhook_id]
        place = fn.ROW_NUMBER().over(partition_by=key, order_by=[due_at]) - 1
        across = _LATERAL
    columns = [
        queues.c.organisation_id,
        delivery_id.alias("id"),
        place.alias("place"),
        due_at.alias("due_at"),
        room.alias("room"),
    ]
    return of_queues.columns(*columns).join(found, across).with_cte(queues)


def _due(engine: Engine, now: Expr, limit: Expr) -> Select:
    may = _candidates(engine, now).alias("may")
    # Every queue's first before any queue's second; of equals the one due longest.
    chosen = (
        Select([may], [may.c.organisation_id, may.c.id, may.c.place, may.c.due_at])
        .where(may.c.place < may.c.room)
        .order_by(may.c.place, may.c.due_at)
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
        # Checked again on the locked row: it may have been claimed or settled meanwhile. Not by
        # its status: the index of a whole queue would be walked for each of them.
        .where(delivery.settled_at.is_null(), delivery.due_at <= now)
    )
    in_turn = query.order_by(candidates.c.place, candidates.c.due_at)
    return in_turn.limit(limit).with_cte(candidates)


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


@compiled
def _waiting(now: Param[datetime], counted: Param[int]) -> Select:
    queues = _queues()
    due = DeliveryRow.alias()
    counted_rows = (
        due.select(due.id)
        .where(_of_queue(due, queues), due.due_at <= now)
        .limit(counted)
        .alias("counted_rows")
    )
    of_queue = (
        Select(
            [queues],
            [
                Select([counted_rows], [fn.COUNT(SQL("*"))]).alias("due"),
                _in_flight(queues, now).alias("in_flight"),
                _earliest(queues).alias("due_at"),
            ],
        )
        .join(WebhookRow, on=_is_on(queues))
        .alias("of_queue")
    )
    totals = [fn.SUM(of_queue.c.due), fn.SUM(of_queue.c.in_flight), fn.MIN(of_queue.c.due_at)]
    return Select([of_queue], totals).with_cte(queues)


def _earliest(queue: Expr) -> Select:
    delivery = DeliveryRow.alias()
    return (
        delivery.select(delivery.due_at)
        .where(_of_queue(delivery, queue))
        .order_by(delivery.due_at)
        .limit(_ONE)
    )


@compiled
def _oldest_due() -> Select:
    queues = _queues()
    of_queue = (
        Select([queues], [_earliest(queues).alias("due_at")])
        .join(WebhookRow, on=_is_on(queues))
        .alias("of_queue")
    )
    return Select([of_queue], [fn.MIN(of_queue.c.due_at).alias("due_at")]).with_cte(queues)


@compiled
def paused(before: Param[datetime], limit: Param[int]) -> Select:
    """Keys of deliveries to disabled endpoints that have been due since ``before``."""
    queues = _queues()
    delivery = DeliveryRow.alias()
    return (
        Select([queues], [delivery.organisation_id, delivery.id])
        .join(WebhookRow, on=_is_on(queues, is_active=False))
        .join(delivery, on=_of_queue(delivery, queues) & (delivery.due_at < before))
        .limit(limit)
        .with_cte(queues)
    )
