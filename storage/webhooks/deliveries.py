"""Records the results of webhook deliveries, and says when a failed one is retried.

``delivery_queue`` claims them and ``api.webhooks`` sends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

import orjson
from peewee import Update

from storage.base.ids import new_id
from storage.db import locks, rows
from storage.db.compiled import (
    Param,
    compiled,
    milliseconds,
    update_each,
)
from storage.db.database import Transaction
from storage.db.tables import DeliveryAttemptRow, DeliveryRow, WebhookRow
from storage.outbox import webhook_outbox
from storage.webhooks import endpoint_health
from storage.webhooks.delivery_queue import Delivery
from storage.webhooks.endpoint_health import WebhookKey

# Why a delivery was not sent: no key decrypts the endpoint's secret.
SECRET_UNREADABLE: Final = "secret_unreadable"

# Source: Standard Webhooks 1.0, "Deliverability and reliability".
# Waits after the 1st, 2nd … failed attempt, about 75 hours in all. A delivery fails after the last.
RETRY_AFTER_SECONDS: Final = (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
# The wait where no key of this deployment decrypts the secret that signs the delivery.
UNSIGNED_RETRY: Final = timedelta(minutes=10)
# Such a delivery fails after this time, when any other would have no attempts left.
UNSIGNED_FOR: Final = timedelta(seconds=1.2 * sum(RETRY_AFTER_SECONDS))

Verdict = Literal["delivered", "retry", "gone", "unsigned"]
# The verdicts that count against an endpoint.
FAILURES: Final = ("retry", "gone")


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The result of an attempt.

    ``gone``: the receiver answered 410. ``unsigned``: nothing was sent, since no key decrypts the
    endpoint's secret; that never counts as a failure of the receiver.

    ``error`` is None when delivered, else a short stable word. ``status_code`` and the excerpt are
    set as far as the response was received. ``retry_after_seconds`` is from its ``Retry-After``.
    """

    verdict: Verdict
    status_code: int | None
    error: str | None
    duration_ms: int
    response_excerpt: bytes
    retry_after_seconds: int | None
    at_least_60_seconds: bool


DeliveryResult: TypeAlias = tuple[Delivery, Outcome]


def record_results(
    tx: Transaction,
    results: Sequence[DeliveryResult],
    *,
    jitter: Callable[[], float],
    now: datetime,
) -> None:
    """Record the results of attempts: delivered, to be retried, or failed.

    ``jitter`` gives numbers between 0.8 and 1.2. A result is ignored when its claim no longer
    holds. A 410 counts only while the endpoint still has the URL that sent it. An endpoint that
    only failed for ``endpoint_health.FAILING_FOR`` is disabled.
    """
    refused = [delivery for delivery, outcome in results if outcome.verdict == "gone"]
    long_failing = endpoint_health.long_failing_of(tx, _webhooks_of(results, *FAILURES), now=now)
    endpoint_health.lock_organisations(tx, {*map(_webhook_of, refused), *long_failing})
    gone = {_webhook_of(delivery) for delivery in refused if _has_same_url(tx, delivery)}
    changes = [
        _change(delivery, outcome, _webhook_of(delivery) in gone, jitter, now)
        for delivery, outcome in results
    ]
    changed = set(tx.all(_record_results, changes=orjson.dumps(changes).decode()))
    recorded = [
        (delivery, outcome)
        for delivery, outcome in results
        if (delivery.organisation_id, delivery.id) in changed
    ]
    # A delivery that was never sent has one attempt in the log, which says why it failed.
    logged = [
        (delivery, outcome)
        for delivery, outcome in recorded
        if outcome.verdict != "unsigned" or _has_failed(delivery, outcome, now)
    ]
    tx.insert_all(DeliveryAttemptRow, [_attempt(*result, now) for result in logged])
    delivered = _webhooks_of(recorded, "delivered")
    endpoint_health.update(
        tx,
        delivered=delivered,
        failing=_webhooks_of(recorded, *FAILURES) - delivered,
        gone=gone,
        long_failing=long_failing,
        now=now,
    )


def retry_delay_seconds(
    attempts: int,
    *,
    jitter: float,
    retry_after_seconds: int | None = None,
    at_least_60_seconds: bool = False,
) -> float:
    """The wait after that many attempts; ``jitter`` is between 0.8 and 1.2.

    ``retry_after_seconds``, which the receiver requested, is a lower bound of at most twice the
    scheduled wait.
    """
    wait = float(RETRY_AFTER_SECONDS[attempts - 1])
    if at_least_60_seconds:
        wait = max(wait, 75.0)  # Still a minute with the shortest jitter.
    if retry_after_seconds is None:
        return wait * jitter
    requested = min(float(retry_after_seconds), 2 * wait)
    # Up to a fifth longer, so that many deliveries do not return at the same moment.
    return max(wait * jitter, requested * (1 + (jitter - 0.8) / 2))


def has_attempts_left(attempts: int) -> bool:
    return attempts <= len(RETRY_AFTER_SECONDS)


def is_unsigned_for_too_long(created_at: datetime, now: datetime) -> bool:
    return now - UNSIGNED_FOR >= created_at


def _webhooks_of(results: Iterable[DeliveryResult], *verdicts: Verdict) -> set[WebhookKey]:
    return {_webhook_of(delivery) for delivery, outcome in results if outcome.verdict in verdicts}


def _webhook_of(delivery: Delivery) -> WebhookKey:
    return delivery.organisation_id, delivery.webhook_id


def _change(
    delivery: Delivery,
    outcome: Outcome,
    is_gone: bool,
    jitter: Callable[[], float],
    now: datetime,
) -> dict[str, object]:
    """The new values of the delivery's row, with the key and the claim that they depend on."""
    is_attempt = outcome.verdict != "unsigned"
    attempts = delivery.attempts + is_attempt
    status, due_at, settled_at = "pending", milliseconds(now), None
    if outcome.verdict == "delivered":
        status, settled_at = "delivered", milliseconds(now)
    elif _has_failed(delivery, outcome, now) or (outcome.verdict == "gone" and is_gone):
        status, settled_at = "failed", milliseconds(now)
    elif not is_attempt:
        due_at = milliseconds(now + UNSIGNED_RETRY)
    else:
        delay_seconds = retry_delay_seconds(
            attempts,
            jitter=jitter(),
            retry_after_seconds=outcome.retry_after_seconds,
            at_least_60_seconds=outcome.at_least_60_seconds,
        )
        due_at += round(delay_seconds * 1000)
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


def _has_failed(delivery: Delivery, outcome: Outcome, now: datetime) -> bool:
    """Whether an unsuccessful delivery is given up."""
    if delivery.event_type == webhook_outbox.PING:
        return True  # The admin who sent it sees the result, and can send another.
    if outcome.verdict == "unsigned":
        return is_unsigned_for_too_long(rows.instant(delivery.created_at), now)
    return not has_attempts_left(delivery.attempts + 1)


def _attempt(delivery: Delivery, outcome: Outcome, now: datetime) -> dict[str, object]:
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


def _has_same_url(tx: Transaction, delivery: Delivery) -> bool:
    """Whether the endpoint still has the URL of the attempt. Locks the endpoint."""
    key = {"organisation_id": delivery.organisation_id, "id": delivery.webhook_id}
    row = tx.find(WebhookRow, locks.ROW, **key)
    return row is not None and row.url == delivery.url


@compiled
def _record_results(changes: Param[str]) -> Update:
    names = ("status", "attempts", "due_at", "settled_at", "last_status_code", "last_error")
    before = {"claim_id": "claim_id"}
    return (
        update_each(DeliveryRow, changes, names, before, {"claim_id": None})
        .where(DeliveryRow.status == "pending")
        .returning(DeliveryRow.organisation_id, DeliveryRow.id)
    )
