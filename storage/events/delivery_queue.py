"""What waits to be delivered: a queue for each webhook, from which deliveries are claimed.

A claim moves ``due_at`` to the end of its lease: a delivery whose process dies comes due again by
itself. Every look at the queues costs a few seeks for each webhook that has something waiting,
however much that is; what waits for a webhook that is switched off is passed over by one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import orjson
from peewee import JOIN, OP, SQL, Case, Expression, Select, Tuple, fn

from storage.base.secrets import InvalidToken
from storage.db.compiled import Engine, Param, any_of_keys, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import DeliveryRow, EventRow, WebhookRow
from storage.events import webhooks

# Three times the longest attempt: a delivery may wait for a place behind one that hangs, and no
# living process is to lose what it is sending. What a dead one held keeps its places in its queues
# for as long.
LEASE_SECONDS: Final = 45
# Deliveries to one endpoint at a time, from claim to settlement. A receiver that fails gets one,
# until one succeeds: many that hang would otherwise take every place there is.
MOST_IN_FLIGHT: Final = 16
# Further than that nobody counts.
COUNTED: Final = 10_000

# As SQL and not as a bound value: a partial index is used only where its condition is recognised.
_PENDING: Final = SQL("'pending'")
# A bound limit is planned for as if it let a tenth of the rows through.
_ONE: Final = SQL("1")
_LATERAL: Final = "CROSS JOIN LATERAL"
_OF_DELIVERY: Final = (
    "organisation_id",
    "id",
    "webhook_id",
    "event_id",
    "event_type",
    "attempts",
    "created_at",
)


class Delivery(NamedTuple):
    """One event on its way to one endpoint; ``body`` and ``event_id`` are the same every time.

    ``attempts`` counts those before; ``created_at`` is in milliseconds. ``secrets`` is empty when
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


class Waiting(NamedTuple):
    """What waits for endpoints that are switched on; ``oldest_due_at`` in milliseconds or None.

    ``due`` counts at most ``COUNTED`` for each endpoint.
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
    most_in_flight: int = MOST_IN_FLIGHT,
    lease_seconds: int = LEASE_SECONDS,
) -> list[Delivery]:
    """Take up to ``limit`` due deliveries for a while: every endpoint's first, then its second ….

    Of one request's events to one endpoint, a later one waits until the one before it was tried.
    ``claim_id`` is new for every call.
    """
    found = tx.all(
        _claim,
        now=now,
        lease_ends_at=now + timedelta(seconds=lease_seconds),
        claim_id=claim_id,
        limit=limit,
        most_in_flight=most_in_flight,
    )
    if found and tx.engine == "sqlite":
        found = tx.all(_claimed, keys=orjson.dumps(found).decode())
    return [_delivery(tx, row, claim_id, now) for row in found]


def waiting(tx: Transaction, *, now: datetime) -> Waiting:
    """How much waits, and since when."""
    row = tx.first(_waiting, now=now, counted=COUNTED)
    assert row is not None
    return Waiting(due=int(row[0] or 0), in_flight=int(row[1] or 0), oldest_due_at=row[2])


def oldest_due_at(tx: Transaction) -> int | None:
    """When the delivery that is due longest was due, in milliseconds; None when none waits.

    What is parked for an endpoint that is switched off waits for nobody.
    """
    row = tx.first(_oldest_due)
    return None if row is None else row[0]


def _delivery(tx: Transaction, row: Sequence[Any], claim_id: str, now: datetime) -> Delivery:
    organisation_id, delivery_id, webhook_id, event_id, event_type, attempts = row[:6]
    created_at, url, body = row[6:9]
    try:
        secrets = webhooks.decrypted_secrets(tx, row[9:], now=now)
    except InvalidToken:  # One endpoint's trouble must not keep the others' deliveries.
        secrets = []
    return Delivery(
        organisation_id=organisation_id,
        id=delivery_id,
        webhook_id=webhook_id,
        event_id=event_id,
        event_type=event_type,
        attempts=attempts,
        claim_id=claim_id,
        url=url,
        body=bytes(body),
        secrets=secrets,
        created_at=created_at,
    )


def _queues() -> Any:
    """Webhooks with something pending, each found by two seeks from the one before; a CTE.

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


def _following(queues: Any, column: str) -> Any:
    later = DeliveryRow.alias()
    return (
        later.select(getattr(later, column))
        .where(later.status == _PENDING, later.webhook_id > queues.c.webhook_id)
        .order_by(later.webhook_id)
        .limit(_ONE)
    )


def _of_queue(delivery: Any, queue: Any) -> Any:
    """Whether a delivery waits in the queue of that row of ``queues`` (or of a webhook's row)."""
    return (
        (delivery.organisation_id == queue.c.organisation_id)
        & (delivery.webhook_id == queue.c.webhook_id)
        & (delivery.status == _PENDING)
    )


def _due(queue: Any, now: Any, most: Any) -> Select:
    """The ids of a queue's first due deliveries that wait for no other one of their request."""
    delivery, earlier = DeliveryRow.alias(), DeliveryRow.alias()
    # One row and not EXISTS: PostgreSQL would make a join of that, by an index of its own choice.
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
        .limit(most)
    )


def _in_flight(queue: Any, now: Any) -> Select:
    """How many of a queue's deliveries are being sent, by whichever process."""
    claimed = DeliveryRow.alias()
    return claimed.select(fn.COUNT(claimed.id)).where(
        claimed.organisation_id == queue.c.organisation_id,
        claimed.webhook_id == queue.c.webhook_id,
        claimed.claim_id.is_null(False),
        claimed.due_at > now,
    )


def _is_on(queue: Any, *, is_active: bool = True) -> Any:
    return (
        (WebhookRow.organisation_id == queue.c.organisation_id)
        & (WebhookRow.id == queue.c.webhook_id)
        & (WebhookRow.is_active == is_active)
    )


def _chosen(now: Any, most_in_flight: Any, engine: str) -> Any:
    """What may be claimed, with its place in its queue and how much room the queue has."""
    queues = _queues()
    usual = Case(None, [(WebhookRow.failing_since_at.is_null(), most_in_flight)], 1)
    room = usual - _in_flight(queues, now)
    of_queues = Select([queues]).join(WebhookRow, on=_is_on(queues))
    found: Any
    if engine == "sqlite":
        due = _due(queues, now, most_in_flight)
        # A subquery in FROM cannot look at its neighbours there; a table-valued function can.
        pairs = due.alias("pairs")
        pair = fn.json_array(pairs.c.id, pairs.c.due_at)
        found = fn.json_each(Select([pairs], [fn.json_group_array(pair)])).alias("found")
        delivery_id, due_at, place = map(
            SQL, ("found.value ->> 0", "found.value ->> 1", "found.key")
        )
        across = JOIN.CROSS
    else:
        # Counted once for each queue, and nothing is read for which there is no room.
        free = Select(columns=[fn.GREATEST(room, 0).alias("room")]).alias("free")
        of_queues = of_queues.join(free, _LATERAL)
        room = free.c.room
        found = _due(queues, now, room).alias("found")
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


@compiled_per_engine
def _claim(
    engine: Engine,
    now: Param[datetime],
    lease_ends_at: Param[datetime],
    claim_id: Param[str],
    limit: Param[int],
    most_in_flight: Param[int],
) -> Any:
    """On SQLite the keys of what it took, on PostgreSQL all that ``_claimed`` finds for them."""
    claimed = DeliveryRow.update(claim_id=claim_id, due_at=lease_ends_at)
    may = _chosen(now, most_in_flight, engine).alias("may")
    # Every queue's first before any queue's second; of equals whichever is due longest.
    fair = (may.c.place, may.c.due_at)
    chosen = (
        Select([may], [may.c.organisation_id, may.c.id, may.c.place, may.c.due_at])
        .where(may.c.place < may.c.room)
        .order_by(*fair)
    )
    if engine == "sqlite":
        keys = chosen.limit(limit).alias("chosen")
        return claimed.where(
            Tuple(DeliveryRow.organisation_id, DeliveryRow.id).in_(
                Select([keys], [keys.c.organisation_id, keys.c.id])
            )
        ).returning(DeliveryRow.organisation_id, DeliveryRow.id)
    # Two processes claim at once: each passes over what the other is taking, and finds as much
    # again behind it.
    candidates = chosen.limit(limit * 2).cte(
        "candidates", materialized=True, columns=("organisation_id", "id", "place", "due_at")
    )
    delivery = DeliveryRow.alias()
    same = (delivery.organisation_id == candidates.c.organisation_id) & (
        delivery.id == candidates.c.id
    )
    taken = (
        Select([candidates], [delivery.organisation_id, delivery.id])
        .join(delivery, on=same)
        # Looked at again once the row is ours: it may have been claimed or settled meanwhile. Not
        # by its status: the index of a whole queue would be walked for each of them.
        .where(delivery.settled_at.is_null(), delivery.due_at <= now)
        .order_by(candidates.c.place, candidates.c.due_at)
        .limit(limit)
        .for_update("FOR UPDATE SKIP LOCKED", of=delivery)
        # Materialised: otherwise PostgreSQL may run the limited query more than once.
        .cte("taken", materialized=True, columns=("organisation_id", "id"))
    )
    mine = (DeliveryRow.organisation_id == taken.c.organisation_id) & (DeliveryRow.id == taken.c.id)
    kept = [getattr(DeliveryRow, name) for name in _OF_DELIVERY]
    mine_now = claimed.from_(taken).where(mine).returning(*kept).cte("mine", columns=_OF_DELIVERY)
    return _with_event(mine_now, mine_now.c).with_cte(candidates, taken, mine_now)


@compiled
def _claimed(keys: Param[str]) -> Select:
    return _with_event(DeliveryRow, DeliveryRow).where(any_of_keys(DeliveryRow, keys))


def _with_event(deliveries: Any, of: Any) -> Select:
    """What ``Delivery`` is made of; ``of`` has the columns of ``deliveries``."""
    columns = [
        *(getattr(of, name) for name in _OF_DELIVERY),
        WebhookRow.url,
        EventRow.body,
        WebhookRow.secret_encrypted,
        WebhookRow.previous_secret_encrypted,
        WebhookRow.previous_secret_until,
    ]
    webhook = (WebhookRow.organisation_id == of.organisation_id) & (WebhookRow.id == of.webhook_id)
    event = (EventRow.organisation_id == of.organisation_id) & (EventRow.id == of.event_id)
    query = Select([deliveries], columns).join(WebhookRow, on=webhook).join(EventRow, on=event)
    return query.order_by(of.id)


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


def _earliest(queue: Any) -> Select:
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
    return Select([of_queue], [fn.MIN(of_queue.c.due_at)]).with_cte(queues)


@compiled
def parked(before: Param[datetime], limit: Param[int]) -> Select:
    """Keys of what has been due since ``before`` for endpoints that are switched off."""
    queues = _queues()
    delivery = DeliveryRow.alias()
    return (
        Select([queues], [delivery.organisation_id, delivery.id])
        .join(WebhookRow, on=_is_on(queues, is_active=False))
        .join(delivery, on=_of_queue(delivery, queues) & (delivery.due_at < before))
        .limit(limit)
        .with_cte(queues)
    )
