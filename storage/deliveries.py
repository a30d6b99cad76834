"""Webhook deliveries: claimed by one process at a time, settled, tried again.

A claim moves ``due_at`` to the end of its lease: a delivery whose process dies comes due again by
itself. Sending is the REST side's.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple

from peewee import Expression, Select, Tuple, Update, fn

from storage import locks, outbox, webhooks
from storage.compiled import Place, compiled, milliseconds
from storage.database import Transaction
from storage.errors import Conflict
from storage.ids import new_id
from storage.secrets import InvalidToken
from storage.tables import DeliveryAttemptRow, DeliveryRow, EventRow, WebhookRow
from storage.values import Caller

# Waits after the 1st, 2nd … failed attempt, about 75 hours in all.
# Source: Standard Webhooks 1.0, "Deliverability and reliability"; contract 9.
RETRY_AFTER_SECONDS: Final = (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
# Longer than the longest attempt, so that no living process loses a delivery it is sending.
LEASE_SECONDS: Final = 60
GONE: Final = "The receiver answered 410 Gone."

Verdict = Literal["delivered", "retry", "gone"]


class Delivery(NamedTuple):
    """One event on its way to one endpoint; ``body`` and ``event_id`` are the same every time.

    ``secrets`` is empty when no key of this deployment decrypts the endpoint's.
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


class Outcome(NamedTuple):
    """What came of an attempt; ``gone`` means that the receiver wants nothing more (410).

    ``error`` is None when delivered, else a short stable word. ``status_code`` and the excerpt are
    set as far as the answer came. ``retry_after_seconds`` is what the receiver asked for.
    """

    verdict: Verdict
    status_code: int | None
    error: str | None
    duration_ms: int
    response_excerpt: bytes
    retry_after_seconds: int | None
    at_least_60_seconds: bool


class WebhookDisabled(Conflict):
    """Nothing is sent to an endpoint that is switched off."""

    code = "webhook_disabled"
    title = "The webhook is switched off."

    def __init__(self) -> None:
        super().__init__("Switch the webhook on first: PATCH it with `is_active` true.")


def ping(tx: Transaction, webhook_id: str, *, by: Caller, now: datetime) -> str:
    """Send a `ping` to an endpoint, once; the id that it travels under.

    Raises InsufficientRole, NotFound or WebhookDisabled.
    """
    if not webhooks.get(tx, webhook_id, by=by).is_active:
        raise WebhookDisabled
    return outbox.ping(tx, by.organisation_id, webhook_id, now=now)


def claim(tx: Transaction, *, limit: int, claim_id: str, now: datetime) -> list[Delivery]:
    """Take up to ``limit`` due deliveries for a minute, those due longest first.

    Of one request's events to one endpoint, a later one waits until the one before it was tried.
    ``claim_id`` is new for every call.
    """
    if not tx.change(
        _claim,
        now=now,
        lease_ends_at=now + timedelta(seconds=LEASE_SECONDS),
        claim_id=claim_id,
        limit=limit,
    ):
        return []
    secrets: dict[str, list[str]] = {}
    deliveries = []
    for row in tx.all(_claimed, claim_id=claim_id):
        organisation_id, delivery_id, webhook_id, event_id, event_type, attempts = row[:6]
        if webhook_id not in secrets:
            try:
                secrets[webhook_id] = webhooks.decrypted_secrets(tx, row[8:], now=now)
            except InvalidToken:  # One endpoint's trouble must not keep the others' deliveries.
                secrets[webhook_id] = []
        deliveries.append(
            Delivery(
                organisation_id,
                delivery_id,
                webhook_id,
                event_id,
                event_type,
                attempts,
                claim_id,
                url=row[6],
                body=bytes(row[7]),
                secrets=secrets[webhook_id],
            )
        )
    return deliveries


def settle(
    tx: Transaction,
    outcomes: Iterable[tuple[Delivery, Outcome]],
    *,
    jitter: float,
    now: datetime,
) -> None:
    """Record what came of attempts: delivered, tried again later, or given up.

    ``jitter`` is between 0.8 and 1.2. Whoever lost his claim meanwhile changes nothing. An answer
    of 410 from where the endpoint was before says nothing of where it is now.
    """
    for delivery, outcome in outcomes:
        attempts = delivery.attempts + 1
        is_gone = outcome.verdict == "gone" and _is_still_at(tx, delivery)
        # Whoever asked for a ping looks at what came of it, and asks again.
        is_last = attempts > len(RETRY_AFTER_SECONDS) or delivery.event_type == outbox.PING
        gives_up = is_gone or is_last
        changes: dict[str, Any] = {
            "attempts": attempts,
            "last_status_code": outcome.status_code,
            "last_error": outcome.error,
            "claim_id": None,
        }
        if outcome.verdict == "delivered":
            changes |= {"status": "delivered", "settled_at": now}
        elif gives_up:
            changes |= {"status": "failed", "settled_at": now}
        else:
            delay = retry_delay_seconds(attempts, outcome) * jitter
            changes["due_at"] = now + timedelta(seconds=delay)
        settled = tx.update(
            DeliveryRow,
            changes,
            organisation_id=delivery.organisation_id,
            id=delivery.id,
            status="pending",
            claim_id=delivery.claim_id,
        )
        if settled:
            _record_attempt(tx, delivery, outcome, now)
        if settled and is_gone:
            webhooks.disable(tx, delivery.organisation_id, delivery.webhook_id, GONE, now=now)


def retry_delay_seconds(attempts: int, outcome: Outcome) -> float:
    """How long to wait after that many attempts, before jitter (contract 9).

    ``Retry-After`` counts between one and two times the step.
    """
    step = float(RETRY_AFTER_SECONDS[attempts - 1])
    if outcome.at_least_60_seconds:
        step = max(step, 75.0)  # Still a minute with the shortest jitter.
    if outcome.retry_after_seconds is not None:
        step = min(max(step, outcome.retry_after_seconds), 2 * step)
    return step


def _record_attempt(tx: Transaction, delivery: Delivery, outcome: Outcome, now: datetime) -> None:
    tx.insert(
        DeliveryAttemptRow,
        organisation_id=delivery.organisation_id,
        id=new_id(now),
        delivery_id=delivery.id,
        attempted_at=milliseconds(now) - outcome.duration_ms,
        status_code=outcome.status_code,
        error=outcome.error,
        duration_milliseconds=outcome.duration_ms,
        answer_excerpt=outcome.response_excerpt,
    )


def _is_still_at(tx: Transaction, delivery: Delivery) -> bool:
    """Whether the endpoint has the URL that was tried; that does not change meanwhile."""
    row = tx.first(_url, organisation_id=delivery.organisation_id, webhook_id=delivery.webhook_id)
    return row is not None and row[0] == delivery.url


def oldest_due_at(tx: Transaction) -> int | None:
    """When the delivery that is due longest was due, in milliseconds; None when none waits."""
    row = tx.first(_oldest_due)
    return None if row is None else row[0]


def _due(now: Any, limit: Any, engine: str) -> Select:
    delivery, webhook, earlier = DeliveryRow.alias(), WebhookRow.alias(), DeliveryRow.alias()
    comes_first = earlier.select(earlier.id).where(
        earlier.organisation_id == delivery.organisation_id,
        earlier.webhook_id == delivery.webhook_id,
        earlier.leave_request_id == delivery.leave_request_id,
        earlier.sequence < delivery.sequence,
        earlier.status == "pending",
        earlier.attempts == 0,
    )
    query = (
        delivery.select(delivery.organisation_id, delivery.id)
        .join(
            webhook,
            on=(webhook.organisation_id == delivery.organisation_id)
            & (webhook.id == delivery.webhook_id),
        )
        .where(
            delivery.status == "pending",
            delivery.due_at <= now,
            webhook.is_active == True,  # noqa: E712  # SQL, not Python
            ~fn.EXISTS(comes_first),
        )
        .order_by(delivery.due_at)
        .limit(limit)
    )
    # Two processes claim at once: each passes over what the other is taking.
    return query.for_update('FOR UPDATE OF "t1" SKIP LOCKED') if engine == "postgresql" else query


@compiled
def _claim(now: Place, lease_ends_at: Place, claim_id: Place, limit: Place, engine: str) -> Update:
    claimed = DeliveryRow.update(claim_id=claim_id, due_at=lease_ends_at)
    due = _due(now, limit, engine)
    key = Tuple(DeliveryRow.organisation_id, DeliveryRow.id)
    if engine == "sqlite":
        return claimed.where(key.in_(due))
    # Materialised: otherwise PostgreSQL may run the limited query more than once.
    taken = due.cte("taken", materialized=True, columns=("organisation_id", "id"))
    same: Expression = (DeliveryRow.organisation_id == taken.c.organisation_id) & (
        DeliveryRow.id == taken.c.id
    )
    return claimed.from_(taken).where(same).with_cte(taken)


@compiled
def _url(organisation_id: Place, webhook_id: Place, engine: str) -> Select:
    query = WebhookRow.select(WebhookRow.url).where(
        WebhookRow.organisation_id == organisation_id, WebhookRow.id == webhook_id
    )
    return locks.held(query, engine)


@compiled
def _claimed(claim_id: Place) -> Select:
    return (
        DeliveryRow.select(
            DeliveryRow.organisation_id,
            DeliveryRow.id,
            DeliveryRow.webhook_id,
            DeliveryRow.event_id,
            DeliveryRow.event_type,
            DeliveryRow.attempts,
            WebhookRow.url,
            EventRow.body,
            WebhookRow.secret_encrypted,
            WebhookRow.previous_secret_encrypted,
            WebhookRow.previous_secret_until,
        )
        .join(
            WebhookRow,
            on=(WebhookRow.organisation_id == DeliveryRow.organisation_id)
            & (WebhookRow.id == DeliveryRow.webhook_id),
        )
        .join(
            EventRow,
            on=(EventRow.organisation_id == DeliveryRow.organisation_id)
            & (EventRow.id == DeliveryRow.event_id),
        )
        .where(DeliveryRow.status == "pending", DeliveryRow.claim_id == claim_id)
        .order_by(DeliveryRow.id)
    )


@compiled
def _oldest_due() -> Select:
    return (
        DeliveryRow.select(DeliveryRow.due_at)
        .where(DeliveryRow.status == "pending")
        .order_by(DeliveryRow.due_at)
        .limit(1)
    )
