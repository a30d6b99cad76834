"""What comes of webhook deliveries: settled, tried again on schedule, given up.

Claiming is ``delivery_queue``'s, sending the REST side's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

import orjson
from peewee import Insert, Select, Update

from storage.base.errors import Conflict, Sentence
from storage.base.ids import new_id
from storage.base.values import Caller
from storage.db import locks
from storage.db.compiled import (
    Engine,
    Param,
    any_of_keys,
    compiled,
    compiled_per_engine,
    json_table,
    milliseconds,
)
from storage.db.database import Transaction
from storage.db.tables import DeliveryAttemptRow, DeliveryRow, WebhookRow
from storage.events import outbox, webhooks
from storage.events.delivery_queue import Delivery

# Waits after the 1st, 2nd … failed attempt, about 75 hours in all.
# Source: Standard Webhooks 1.0, "Deliverability and reliability"; contract 9.
RETRY_AFTER_SECONDS: Final = (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
# An endpoint with nothing but failures for so long is switched off (contract 9).
FAILING_FOR: Final = timedelta(hours=120)
# Its admins are notified after this time, once for each period of failing.
TOLD_AFTER: Final = timedelta(hours=24)
GONE: Final = Sentence("The endpoint responded with 410 Gone.")
FAILED_FOR_TOO_LONG: Final = Sentence("Every attempt failed for 120 hours.")

# How soon a delivery is tried again that no key of this deployment can sign.
UNSIGNED_RETRY: Final = timedelta(minutes=10)
# After this time it has failed: no other delivery has an attempt left then, whatever the jitter.
UNSIGNED_FOR: Final = timedelta(seconds=1.2 * sum(RETRY_AFTER_SECONDS))
# The reason of an attempt that was not made, because no key decrypts the endpoint's secret.
SECRET_UNREADABLE: Final = "secret_unreadable"

Verdict = Literal["delivered", "retry", "gone", "unsigned"]
# The verdicts that count against an endpoint.
FAILURES: Final = ("retry", "gone")


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of an attempt; ``gone`` means that the receiver wants nothing more (410).

    ``unsigned`` means that nothing was sent, since no key decrypts the endpoint's secret: that is
    never held against the receiver.

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


Settled: TypeAlias = tuple[Delivery, Outcome]
# The organisation's id and the webhook's.
WebhookKey: TypeAlias = tuple[str, str]


class WebhookDisabled(Conflict):
    """Nothing is sent to an endpoint that is switched off."""

    code = "webhook_disabled"
    title = "The webhook is switched off."

    def __init__(self) -> None:
        super().__init__("The webhook is disabled. PATCH it with `is_active` true first.")


def ping(tx: Transaction, webhook_id: str, *, by: Caller, now: datetime) -> str:
    """Send a `ping` to an endpoint, once; the id that it travels under.

    Raises InsufficientRole, NotFound or WebhookDisabled.
    """
    if not webhooks.get(tx, webhook_id, by=by).is_active:
        raise WebhookDisabled
    return outbox.ping(tx, by.organisation_id, webhook_id, now=now)


def settle(
    tx: Transaction,
    outcomes: Sequence[Settled],
    *,
    jitter: Callable[[], float],
    now: datetime,
) -> None:
    """Record what came of attempts: delivered, tried again later, or given up.

    ``jitter`` gives numbers between 0.8 and 1.2. Whoever lost his claim meanwhile changes nothing.
    An answer of 410 from where the endpoint was before says nothing of where it is now. An endpoint
    with nothing but failures for ``FAILING_FOR`` is switched off.
    """
    refusing = [delivery for delivery, outcome in outcomes if outcome.verdict == "gone"]
    failing = {_webhook_of(one) for one, outcome in outcomes if outcome.verdict in FAILURES}
    for_long = _failing_for_long_of(tx, failing, now)
    _lock_organisations(tx, [*map(_webhook_of, refusing), *for_long])
    gone = {_webhook_of(delivery) for delivery in refusing if _is_still_at(tx, delivery)}
    changes = [
        _change(delivery, outcome, _webhook_of(delivery) in gone, jitter, now)
        for delivery, outcome in outcomes
    ]
    changed = set(tx.all(_settle, changes=orjson.dumps(changes).decode()))
    held = [one for one in outcomes if (one[0].organisation_id, one[0].id) in changed]
    sent = [one for one in held if one[1].verdict != "unsigned"]
    # The log names the reason for which a delivery failed that was never sent.
    unsigned = [one for one in held if one[1].verdict == "unsigned" and _is_last(*one, now)]
    _log(tx, [_attempt(*one, now) for one in (*sent, *unsigned)])
    _judge(tx, sent, gone, for_long, now)


def _log(tx: Transaction, attempts: Sequence[dict[str, Any]]) -> None:
    if tx.engine == "sqlite":
        tx.insert_all(DeliveryAttemptRow, attempts)
    elif attempts:
        # One statement, however many they are: another one is another journey.
        written = [
            one | {"answer_excerpt": "\\x" + one["answer_excerpt"].hex()} for one in attempts
        ]
        tx.enqueue_update(_insert_attempts, attempts=orjson.dumps(written).decode())


def _webhook_of(delivery: Delivery) -> WebhookKey:
    return delivery.organisation_id, delivery.webhook_id


def _change(
    delivery: Delivery,
    outcome: Outcome,
    is_gone: bool,
    jitter: Callable[[], float],
    now: datetime,
) -> dict[str, Any]:
    """What the delivery's row becomes, with what tells whether it is still ours."""
    is_attempt = outcome.verdict != "unsigned"
    attempts = delivery.attempts + is_attempt
    status, due_at, settled_at = "pending", milliseconds(now), None
    if outcome.verdict == "delivered":
        status, settled_at = "delivered", milliseconds(now)
    elif _is_last(delivery, outcome, now) or (outcome.verdict == "gone" and is_gone):
        status, settled_at = "failed", milliseconds(now)
    elif not is_attempt:
        due_at = milliseconds(now + UNSIGNED_RETRY)
    else:
        due_at += round(retry_delay_seconds(attempts, outcome, jitter()) * 1000)
    return {
        "organisation_id": delivery.organisation_id,
        "id": delivery.id,
        "claim_id": delivery.claim_id,
        "status": status,
        "attempts": attempts,
        "due_at": due_at,
        "settled_at": settled_at,
        "last_status_code": outcome.status_code,
        "last_error": outcome.error,
    }


def _is_last(delivery: Delivery, outcome: Outcome, now: datetime) -> bool:
    """Whether a delivery that was not accepted has failed for good."""
    if delivery.event_type == outbox.PING:
        return True  # The admin who sent it sees the result, and can send another.
    if outcome.verdict == "unsigned":
        return milliseconds(now - UNSIGNED_FOR) >= delivery.created_at
    return delivery.attempts >= len(RETRY_AFTER_SECONDS)


def _judge(
    tx: Transaction,
    held: Sequence[Settled],
    gone: Set[WebhookKey],
    for_long: Set[WebhookKey],
    now: datetime,
) -> None:
    """Record since when endpoints fail; notify admins after a day, disable them after five.

    The organisations of ``gone`` and of ``for_long`` are locked.
    """
    answered = {_webhook_of(one) for one, outcome in held if outcome.verdict == "delivered"}
    failing = {_webhook_of(one) for one, _ in held} - answered
    if answered:
        tx.enqueue_update(_forgive, webhooks=_keys(answered))
    for organisation_id, webhook_id in sorted(gone & failing):
        _switch_off(tx, organisation_id, webhook_id, GONE, now)
    if not failing - gone:
        return
    forgotten_at = now - 2 * FAILING_FOR
    tx.change(_note_failing, webhooks=_keys(failing - gone), forgotten_at=forgotten_at, now=now)
    if not for_long & (failing - gone):
        return
    rows = _rows_failing_for_long(tx, for_long & (failing - gone), now, is_held=True)
    for organisation_id, webhook_id, since in rows:
        if since <= milliseconds(now - FAILING_FOR):
            _switch_off(tx, organisation_id, webhook_id, FAILED_FOR_TOO_LONG, now)
        else:
            _tell(tx, organisation_id, webhook_id, now)


def _failing_for_long_of(
    tx: Transaction, failing: Set[WebhookKey], now: datetime
) -> set[WebhookKey]:
    """Which of these endpoints may have to be disabled, or their admins notified."""
    if not failing:
        return set()
    return {(row[0], row[1]) for row in _rows_failing_for_long(tx, failing, now, is_held=False)}


def _rows_failing_for_long(
    tx: Transaction, webhooks: Set[WebhookKey], now: datetime, *, is_held: bool
) -> list[tuple[Any, ...]]:
    return tx.all(
        _failing_for_long,
        webhooks=_keys(webhooks),
        told_since=now - TOLD_AFTER,
        off_since=now - FAILING_FOR,
        is_held=is_held,
    )


def _lock_organisations(tx: Transaction, webhooks: Iterable[WebhookKey]) -> None:
    """Before the first webhook or delivery is locked, as every change by an admin does."""
    for organisation_id in sorted({key[0] for key in webhooks}):
        locks.organisation(tx, organisation_id)


def _keys(found: Set[WebhookKey]) -> str:
    return orjson.dumps(sorted(found)).decode()


def _tell(tx: Transaction, organisation_id: str, webhook_id: str, now: datetime) -> None:
    """Notify the admins of a failing endpoint in Slack, while it is still on."""
    told = {"failing_told_at": now}
    tx.update(WebhookRow, told, organisation_id=organisation_id, id=webhook_id)
    outbox.notify_of_failing_webhook(tx, organisation_id, webhook_id, now=now)


def _switch_off(
    tx: Transaction, organisation_id: str, webhook_id: str, reason: str, now: datetime
) -> None:
    """Disable an endpoint and tell its admins in Slack. What waits for it is parked."""
    if webhooks.disable(tx, organisation_id, webhook_id, reason, now=now):
        outbox.notify_of_webhook(tx, organisation_id, webhook_id, now=now)


def retry_delay_seconds(attempts: int, outcome: Outcome, jitter: float) -> float:
    """How long to wait after that many attempts; ``jitter`` is between 0.8 and 1.2 (contract 9).

    ``Retry-After`` is a lower bound, up to twice the step: jitter comes on top of it.
    """
    step = float(RETRY_AFTER_SECONDS[attempts - 1])
    if outcome.at_least_60_seconds:
        step = max(step, 75.0)  # Still a minute with the shortest jitter.
    if outcome.retry_after_seconds is None:
        return step * jitter
    asked = min(float(outcome.retry_after_seconds), 2 * step)
    # A fifth at most, so that many deliveries do not come back at the same moment.
    return max(step * jitter, asked * (1 + (jitter - 0.8) / 2))


def _attempt(delivery: Delivery, outcome: Outcome, now: datetime) -> dict[str, Any]:
    return {
        "organisation_id": delivery.organisation_id,
        "id": new_id(now),
        "delivery_id": delivery.id,
        "attempted_at": milliseconds(now) - outcome.duration_ms,
        "status_code": outcome.status_code,
        "error": outcome.error,
        "duration_milliseconds": outcome.duration_ms,
        "answer_excerpt": outcome.response_excerpt,
    }


def _is_still_at(tx: Transaction, delivery: Delivery) -> bool:
    """Whether the endpoint has the URL that was tried; that does not change meanwhile."""
    row = tx.first(_url, organisation_id=delivery.organisation_id, webhook_id=delivery.webhook_id)
    return row is not None and row[0] == delivery.url


@compiled_per_engine
def _url(engine: Engine, organisation_id: Param[str], webhook_id: Param[str]) -> Select:
    query = WebhookRow.select(WebhookRow.url).where(
        WebhookRow.organisation_id == organisation_id, WebhookRow.id == webhook_id
    )
    return locks.held(query, engine)


@compiled
def _settle(changes: Param[str]) -> Update:
    done = json_table(
        changes,
        "done",
        {
            "organisation_id": "uuid",
            "id": "uuid",
            "claim_id": "text",
            "status": "text",
            "attempts": "integer",
            "due_at": "bigint",
            "settled_at": "bigint",
            "last_status_code": "integer",
            "last_error": "text",
        },
    )
    kept = ("status", "attempts", "due_at", "settled_at", "last_status_code", "last_error")
    changed = {name: done.column(name) for name in kept}
    return (
        DeliveryRow.update(claim_id=None, **changed)
        .from_(done)
        .where(
            DeliveryRow.organisation_id == done.column("organisation_id"),
            DeliveryRow.id == done.column("id"),
            DeliveryRow.status == "pending",
            DeliveryRow.claim_id == done.column("claim_id"),
        )
        .returning(DeliveryRow.organisation_id, DeliveryRow.id)
    )


@compiled
def _insert_attempts(attempts: Param[str]) -> Insert:
    columns = {
        "organisation_id": "uuid",
        "id": "uuid",
        "delivery_id": "uuid",
        "attempted_at": "bigint",
        "status_code": "integer",
        "error": "text",
        "duration_milliseconds": "integer",
        "answer_excerpt": "bytea",
    }
    new = json_table(attempts, "new", columns)
    written = Select([new], [new.column(name) for name in columns])
    return DeliveryAttemptRow.insert_from(
        written, [getattr(DeliveryAttemptRow, name) for name in columns]
    )


@compiled
def _forgive(webhooks: Param[str]) -> Update:
    return WebhookRow.update(failing_since_at=None).where(
        any_of_keys(WebhookRow, webhooks), WebhookRow.failing_since_at.is_null(False)
    )


@compiled
def _note_failing(
    webhooks: Param[str], now: Param[datetime], forgotten_at: Param[datetime]
) -> Update:
    # A failure long ago with nothing sent since is no failure ever since.
    return WebhookRow.update(failing_since_at=now).where(
        any_of_keys(WebhookRow, webhooks),
        WebhookRow.failing_since_at.is_null() | (WebhookRow.failing_since_at < forgotten_at),
    )


@compiled_per_engine
def _failing_for_long(
    engine: Engine,
    webhooks: Param[str],
    told_since: Param[datetime],
    off_since: Param[datetime],
    is_held: bool,
) -> Select:
    """Endpoints to notify admins of or to disable, with since when they fail.

    ``is_held`` locks them, so that an admin's change at the same moment comes before or after.
    """
    since, told_at = WebhookRow.failing_since_at, WebhookRow.failing_told_at
    is_untold = (since <= told_since) & (told_at.is_null() | (told_at < since))
    query = (
        WebhookRow.select(WebhookRow.organisation_id, WebhookRow.id, since)
        .where(
            any_of_keys(WebhookRow, webhooks),
            is_untold | (since <= off_since),
            WebhookRow.is_active == True,  # noqa: E712  # SQL, not Python
        )
        .order_by(WebhookRow.organisation_id, WebhookRow.id)
    )
    return locks.held(query, engine) if is_held else query
