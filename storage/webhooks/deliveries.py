"""Records the results of webhook deliveries, and disables endpoints that fail for too long.

``delivery_queue`` claims deliveries, ``retry_schedule`` says when they are retried, and
``api.webhooks`` sends them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

import orjson
from peewee import Insert, Select, Update

from storage.base.errors import Conflict, Sentence
from storage.base.ids import new_id
from storage.base.values import Caller
from storage.db import locks, rows
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
from storage.db.named_rows import Row
from storage.db.tables import DeliveryAttemptRow, DeliveryRow, WebhookRow
from storage.events import notification_outbox, webhook_outbox
from storage.webhooks import retry_schedule, webhooks
from storage.webhooks.delivery_queue import Delivery

# An endpoint is disabled after failing for this time without a success.
FAILING_FOR: Final = timedelta(hours=120)
# Its admins are notified after this time, once for each period of failing.
NOTIFIED_AFTER: Final = timedelta(hours=24)
GONE: Final = Sentence("The endpoint responded with 410 Gone.")
FAILED_FOR_TOO_LONG: Final = Sentence("Every attempt failed for 120 hours.")
# Why a delivery was not sent: no key decrypts the endpoint's secret.
SECRET_UNREADABLE: Final = "secret_unreadable"

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
# The organisation's id and the webhook's.
WebhookKey: TypeAlias = tuple[str, str]


class WebhookDisabled(Conflict):
    """Nothing is sent to a disabled endpoint."""

    code = "webhook_disabled"
    title = "The webhook is switched off."

    def __init__(self) -> None:
        super().__init__("The webhook is disabled. PATCH it with `is_active` true first.")


def ping(tx: Transaction, webhook_id: str, *, by: Caller, now: datetime) -> str:
    """Send a `ping` to an endpoint, without retries; the event's id.

    Raises InsufficientRole, NotFound or WebhookDisabled.
    """
    if not webhooks.get(tx, webhook_id, by=by).is_active:
        raise WebhookDisabled
    return webhook_outbox.enqueue_ping(tx, by.organisation_id, webhook_id, now=now)


def record_results(
    tx: Transaction,
    outcomes: Sequence[DeliveryResult],
    *,
    jitter: Callable[[], float],
    now: datetime,
) -> None:
    """Record the results of attempts: delivered, to be retried, or failed.

    ``jitter`` gives numbers between 0.8 and 1.2. A result is ignored when its claim no longer
    holds. A 410 counts only while the endpoint still has the URL that sent it. An endpoint that
    only failed for ``FAILING_FOR`` is disabled.
    """
    refusing = [delivery for delivery, outcome in outcomes if outcome.verdict == "gone"]
    failing = {
        _webhook_of(delivery) for delivery, outcome in outcomes if outcome.verdict in FAILURES
    }
    for_long = _failing_for_long_of(tx, failing, now)
    _lock_organisations(tx, [*map(_webhook_of, refusing), *for_long])
    gone = {_webhook_of(delivery) for delivery in refusing if _has_same_url(tx, delivery)}
    changes = [
        _change(delivery, outcome, _webhook_of(delivery) in gone, jitter, now)
        for delivery, outcome in outcomes
    ]
    changed = set(tx.all(_record_results, changes=orjson.dumps(changes).decode()))
    recorded = [
        (delivery, outcome)
        for delivery, outcome in outcomes
        if (delivery.organisation_id, delivery.id) in changed
    ]
    sent = [result for result in recorded if result[1].verdict != "unsigned"]
    # A delivery that was never sent has one attempt in the log, which says why it failed.
    unsigned = [result for result in recorded if result[1].verdict == "unsigned"]
    failed = [result for result in unsigned if _has_failed(*result, now)]
    _log(tx, (*sent, *failed), now)
    _update_health(tx, sent, gone, for_long, now)


def _log(tx: Transaction, results: Sequence[tuple[Delivery, Outcome]], now: datetime) -> None:
    attempts = [_attempt(*result, now) for result in results]
    if tx.engine == "sqlite":
        tx.insert_all(DeliveryAttemptRow, attempts)
    elif attempts:
        # One statement for all: each is a round trip.
        excerpts = ["\\x" + outcome.response_excerpt.hex() for _, outcome in results]
        written = [
            attempt | {"answer_excerpt": excerpt}
            for attempt, excerpt in zip(attempts, excerpts, strict=True)
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
        due_at = milliseconds(now + retry_schedule.UNSIGNED_RETRY)
    else:
        delay_seconds = retry_schedule.retry_delay_seconds(
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
    """Whether a delivery that was not accepted has failed for good."""
    if delivery.event_type == webhook_outbox.PING:
        return True  # The admin who sent it sees the result, and can send another.
    if outcome.verdict == "unsigned":
        return retry_schedule.is_unsigned_for_too_long(rows.instant(delivery.created_at), now)
    return not retry_schedule.has_attempts_left(delivery.attempts + 1)


def _update_health(
    tx: Transaction,
    sent: Sequence[DeliveryResult],
    gone: Set[WebhookKey],
    for_long: Set[WebhookKey],
    now: datetime,
) -> None:
    """Record since when endpoints fail; notify admins after a day, disable them after five.

    The organisations of ``gone`` and of ``for_long`` are locked.
    """
    answered = {
        _webhook_of(delivery) for delivery, outcome in sent if outcome.verdict == "delivered"
    }
    failing = {_webhook_of(delivery) for delivery, _ in sent} - answered
    if answered:
        tx.enqueue_update(_mark_healthy, webhooks=_keys(answered))
    for organisation_id, webhook_id in sorted(gone & failing):
        _disable(tx, organisation_id, webhook_id, GONE, now)
    if not failing - gone:
        return
    forgotten_before = now - 2 * FAILING_FOR
    tx.change(
        _mark_failing, webhooks=_keys(failing - gone), forgotten_before=forgotten_before, now=now
    )
    if not for_long & (failing - gone):
        return
    for organisation_id, webhook_id, since in _rows_failing_for_long(
        tx, for_long & (failing - gone), now, is_locked=True
    ):
        if since <= milliseconds(now - FAILING_FOR):
            _disable(tx, organisation_id, webhook_id, FAILED_FOR_TOO_LONG, now)
        else:
            _notify_admins(tx, organisation_id, webhook_id, now)


def _failing_for_long_of(
    tx: Transaction, failing: Set[WebhookKey], now: datetime
) -> set[WebhookKey]:
    """The endpoints among these that may have to be disabled, or their admins notified."""
    if not failing:
        return set()
    found = _rows_failing_for_long(tx, failing, now, is_locked=False)
    return {(row.organisation_id, row.id) for row in found}


def _rows_failing_for_long(
    tx: Transaction, webhooks: Set[WebhookKey], now: datetime, *, is_locked: bool
) -> list[Row]:
    return tx.all(
        _failing_for_long,
        webhooks=_keys(webhooks),
        notify_since=now - NOTIFIED_AFTER,
        disable_since=now - FAILING_FOR,
        is_locked=is_locked,
    )


def _lock_organisations(tx: Transaction, webhooks: Iterable[WebhookKey]) -> None:
    """Before the first webhook or delivery is locked, as every change by an admin does."""
    for organisation_id in sorted({key[0] for key in webhooks}):
        locks.organisation(tx, organisation_id)


def _keys(found: Set[WebhookKey]) -> str:
    return orjson.dumps(sorted(found)).decode()


def _notify_admins(tx: Transaction, organisation_id: str, webhook_id: str, now: datetime) -> None:
    """Notify the admins of a failing endpoint in Slack, before it is disabled."""
    tx.update(WebhookRow, {"failing_told_at": now}, organisation_id=organisation_id, id=webhook_id)
    notification_outbox.notify_of_failing_webhook(tx, organisation_id, webhook_id, now=now)


def _disable(
    tx: Transaction, organisation_id: str, webhook_id: str, reason: str, now: datetime
) -> None:
    """Disable an endpoint and notify its admins in Slack. Its deliveries are paused."""
    if webhooks.disable(tx, organisation_id, webhook_id, reason, now=now):
        notification_outbox.notify_of_webhook(tx, organisation_id, webhook_id, now=now)


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
    row = tx.first(_url, organisation_id=delivery.organisation_id, webhook_id=delivery.webhook_id)
    return row is not None and row.url == delivery.url


@compiled_per_engine
def _url(engine: Engine, organisation_id: Param[str], webhook_id: Param[str]) -> Select:
    query = WebhookRow.select(WebhookRow.url).where(
        WebhookRow.organisation_id == organisation_id, WebhookRow.id == webhook_id
    )
    return locks.locked(query, engine)


@compiled
def _record_results(changes: Param[str]) -> Update:
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
def _mark_healthy(webhooks: Param[str]) -> Update:
    return WebhookRow.update(failing_since_at=None).where(
        any_of_keys(WebhookRow, webhooks), WebhookRow.failing_since_at.is_null(False)
    )


@compiled
def _mark_failing(
    webhooks: Param[str], now: Param[datetime], forgotten_before: Param[datetime]
) -> Update:
    # A failure before a long time without deliveries does not begin a period of failing.
    return WebhookRow.update(failing_since_at=now).where(
        any_of_keys(WebhookRow, webhooks),
        WebhookRow.failing_since_at.is_null() | (WebhookRow.failing_since_at < forgotten_before),
    )


@compiled_per_engine
def _failing_for_long(
    engine: Engine,
    webhooks: Param[str],
    notify_since: Param[datetime],
    disable_since: Param[datetime],
    is_locked: bool,
) -> Select:
    """Endpoints to notify admins of or to disable, with since when they fail.

    ``is_locked`` locks them, so that an admin's concurrent change comes before or after.
    """
    since, notified_at = WebhookRow.failing_since_at, WebhookRow.failing_told_at
    is_news = (since <= notify_since) & (notified_at.is_null() | (notified_at < since))
    query = (
        WebhookRow.select(WebhookRow.organisation_id, WebhookRow.id, since)
        .where(
            any_of_keys(WebhookRow, webhooks),
            is_news | (since <= disable_since),
            WebhookRow.is_active == True,  # noqa: E712  # SQL, not Python
        )
        .order_by(WebhookRow.organisation_id, WebhookRow.id)
    )
    return locks.locked(query, engine) if is_locked else query
