"""The queue of webhook deliveries, which is fair between endpoints.

Unlike in other leased queues, due deliveries are not claimed in order of ``due_at`` alone, or an
endpoint with a long backlog would delay all others: a claim takes the first of each endpoint, then
the second of each, up to ``MAX_IN_FLIGHT`` of one. It reads no more than these, however long the
backlog.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from peewee import JOIN, SQL, Case, Select, fn

from storage.base.secrets import InvalidToken
from storage.db.compiled import Engine, Expr, Param, any_of_keys, compiled, json_of_keys
from storage.db.database import Row, Transaction
from storage.db.tables import DeliveryRow, EventRow, WebhookRow
from storage.outbox.leased_queue import LeasedQueue
from storage.webhooks import webhooks

# Deliveries to one endpoint at a time, from claim to result. A failing endpoint gets one until one
# succeeds: many that hang would otherwise fill every process.
MAX_IN_FLIGHT: Final = 16
MAX_LATE: Final = 100


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Backlog:
    """Deliveries to active endpoints; ``oldest_due_at`` in milliseconds or None."""

    due: int
    in_flight: int
    oldest_due_at: int | None


def backlog(tx: Transaction, *, now: datetime) -> Backlog:
    """How many deliveries are due or in flight, and when the oldest was due."""
    row = tx.first(_backlog, now=now)
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
    late = tx.all(_late_webhooks, before=before, limit=MAX_LATE)
    return {str(row.id): row.failing_since_at is not None for row in late}


def _secrets_of(tx: Transaction, row: Row, now: datetime) -> list[str]:
    try:
        return webhooks.signing_secrets(tx, row, now=now)
    except InvalidToken:  # An error of one endpoint must not stop the deliveries of others.
        return []


def _due(engine: Engine, now: Expr, limit: Expr) -> Select:
    """Every endpoint's first due delivery before any second; then those due longest."""
    max_in_flight = Case(None, [(WebhookRow.failing_since_at.is_null(), MAX_IN_FLIGHT)], 1)
    if engine == "postgresql":
        # As a condition of a join, it would be evaluated for each row of the whole table.
        source: Expr = _first_due(now, "organisation_id", "id", "due_at").alias("first")
        first, join, on = source.c, JOIN.LATERAL, SQL("TRUE")
    else:
        source = first = DeliveryRow.alias()
        is_first = first.id.in_(_first_due(now))
        join, on = JOIN.INNER, (first.organisation_id == WebhookRow.organisation_id) & is_first
    queued = (
        WebhookRow.select(
            first.organisation_id,
            first.id,
            first.due_at,
            fn.ROW_NUMBER()
            .over(partition_by=[WebhookRow.id], order_by=[first.due_at, first.id])
            .alias("place"),
            (max_in_flight - _in_flight(now)).alias("room"),
        )
        .join(source, join, on=on)
        .where(WebhookRow.is_active)
        .alias("queued")
    )
    # Twice as many: another process may be claiming the first ones at the same time.
    candidates = (
        Select([queued], [queued.c.organisation_id, queued.c.id, queued.c.place, queued.c.due_at])
        .where(queued.c.place <= queued.c.room)
        .order_by(queued.c.place, queued.c.due_at)
        .limit(limit * 2)
        .cte("candidates", materialized=True, columns=("organisation_id", "id", "place", "due_at"))
    )
    locked = DeliveryRow.alias()
    query: Select = (
        Select([candidates], [locked.organisation_id, locked.id])
        .join(
            locked,
            on=(locked.organisation_id == candidates.c.organisation_id)
            & (locked.id == candidates.c.id),
        )
        # Checked again on the locked row: it may have been claimed or sent meanwhile.
        .where(locked.settled_at.is_null(), locked.due_at <= now)
        .order_by(candidates.c.place, candidates.c.due_at)
    )
    return query.limit(limit).with_cte(candidates)


def _first_due(now: Expr, *columns: str) -> Select:
    """The webhook's first due deliveries, their ids alone by default, except those that follow
    another of their request."""
    delivery, earlier = DeliveryRow.alias(), DeliveryRow.alias()
    follows = fn.EXISTS(
        earlier.select(SQL("1")).where(
            earlier.leave_request_id == delivery.leave_request_id,
            earlier.webhook_id == delivery.webhook_id,
            earlier.organisation_id == delivery.organisation_id,
            earlier.sequence < delivery.sequence,
            earlier.settled_at.is_null(),
            earlier.attempts == SQL("0"),
        )
    )
    query: Select = (
        delivery.select(*[getattr(delivery, name) for name in columns or ("id",)])
        .where(_is_pending(delivery), delivery.due_at <= now, ~follows)
        .order_by(delivery.due_at)
        .limit(SQL(str(MAX_IN_FLIGHT)))
    )
    return query


def _is_pending(delivery: Expr) -> Expr:
    """Whether it waits for the webhook: the condition of the partial index ``deliveries_queue``."""
    return (
        (delivery.webhook_id == WebhookRow.id)
        & (delivery.organisation_id == WebhookRow.organisation_id)
        & (delivery.status == SQL("'pending'"))
    )


def _in_flight(now: Expr) -> Select:
    """How many of the webhook's deliveries are claimed, by all processes."""
    claimed = DeliveryRow.alias()
    return claimed.select(fn.COUNT(claimed.id)).where(
        claimed.organisation_id == WebhookRow.organisation_id,
        claimed.webhook_id == WebhookRow.id,
        claimed.claim_id.is_null(False),
        claimed.due_at > now,
    )


def _earliest_due_at() -> Select:
    """When the webhook's next delivery is due, as a subquery."""
    delivery = DeliveryRow.alias()
    query: Select = delivery.select(fn.MIN(delivery.due_at)).where(_is_pending(delivery))
    return query


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


def _per_webhook(*columns: Expr) -> Expr:
    """The active webhooks with these columns."""
    active = WebhookRow.select(*columns).where(WebhookRow.is_active)
    return active.alias("per_webhook")


@compiled
def _backlog(now: Param[datetime]) -> Select:
    due = DeliveryRow.alias()
    due_count = due.select(fn.COUNT(SQL("*"))).where(_is_pending(due), due.due_at <= now)
    webhook = _per_webhook(
        due_count.alias("due"),
        _in_flight(now).alias("in_flight"),
        _earliest_due_at().alias("due_at"),
    )
    totals = [fn.SUM(webhook.c.due), fn.SUM(webhook.c.in_flight), fn.MIN(webhook.c.due_at)]
    return Select([webhook], totals)


@compiled
def _oldest_due() -> Select:
    webhook = _per_webhook(_earliest_due_at().alias("due_at"))
    return Select([webhook], [fn.MIN(webhook.c.due_at).alias("due_at")])


@compiled
def _late_webhooks(before: Param[datetime], limit: Param[int]) -> Select:
    webhook = _per_webhook(
        WebhookRow.id, WebhookRow.failing_since_at, _earliest_due_at().alias("due_at")
    )
    return (
        Select([webhook], [webhook.c.id, webhook.c.failing_since_at])
        .where(webhook.c.due_at < before)
        .order_by(webhook.c.due_at)
        .limit(limit)
    )
