"""The delivery log: filtered by status and event, redelivered, and pruned after a month."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from storage.base.event_values import LoggedDelivery, Webhook, WebhookHealth
from storage.base.retention import Retention
from storage.db.compiled import compiled
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import DeliveryAttemptRow, DeliveryRow, EventRow
from storage.operations import pruning
from storage.webhooks import deliveries, delivery_log, delivery_queue, endpoint_health, webhooks
from storage.webhooks.deliveries import Outcome
from storage.webhooks.delivery_log import Pruned, Redelivered, WebhookDisabled
from storage.webhooks.delivery_queue import Delivery
from tests import outcomes
from tests.builders import NOW, Acme, a_person, a_request, a_webhook, an_organisation, audit_entries
from tests.outcomes import DELIVERED
from tests.refusals import overlapping

FAILED = replace(outcomes.FAILED, duration_ms=34, response_excerpt=b"oh \xff no")
A_MONTH = timedelta(days=31)


def listening(database: Database, requests: int = 1) -> tuple[Acme, Webhook]:
    acme = an_organisation(database)
    webhook = a_webhook(database, acme, url="https://example.com/hook")
    ada = a_person(database, acme)
    for number in range(requests):
        a_request(database, acme, ada, start_date=date(2026, 8, 3) + timedelta(weeks=number))
    return acme, webhook


def attempt_due(
    database: Database, outcome: Outcome, limit: int = 1, after: timedelta = timedelta()
) -> list[Delivery]:
    """Claim due deliveries and record the outcome of each."""
    now = NOW + after
    claims = database.write_now(
        delivery_queue.claim, limit=limit, claim_id=f"{now} {outcome.verdict}", now=now
    )
    results = [(delivery, outcome) for delivery in claims]
    database.write_now(deliveries.record_results, results, jitter=lambda: 1.0, now=now)
    return claims


def logged(
    database: Database, acme: Acme, webhook: Webhook, **filters: Any
) -> list[LoggedDelivery]:
    return database.read_now(
        delivery_log.page, webhook.id, PageOf(limit=100), by=acme.caller, **filters
    ).items


@compiled
def ids_of(table: Any) -> Any:
    return table.select(table.id)


def row_counts(database: Database) -> list[int]:
    """Of deliveries, attempts and events."""

    def count(tx: Transaction) -> list[int]:
        tables = (DeliveryRow, DeliveryAttemptRow, EventRow)
        return [len(tx.all(ids_of, table=table)) for table in tables]

    return database.read_now(count)


def test_the_log_has_the_result_of_every_attempt(database: Database) -> None:
    acme, webhook = listening(database)
    (sent,) = attempt_due(database, FAILED)

    (delivery,) = logged(database, acme, webhook)

    assert (delivery.id, delivery.event_id, delivery.status) == (sent.id, sent.event_id, "pending")
    assert delivery.next_attempt_at == NOW + timedelta(seconds=5)
    (attempt,) = delivery.attempts
    assert (attempt.status_code, attempt.error) == (500, "bad_status")
    assert (attempt.duration_milliseconds, attempt.answer) == (34, "oh \ufffd no")
    assert attempt.attempted_at == NOW - timedelta(milliseconds=34)


def test_the_log_has_pages_and_filters_by_status_and_event(database: Database) -> None:
    acme, webhook = listening(database, requests=5)
    acme.write(delivery_log.ping, webhook.id)
    attempt_due(database, FAILED, limit=2)
    attempt_due(database, DELIVERED, limit=8)

    def read(page: PageOf, **filters: Any) -> Any:
        return database.read_now(delivery_log.page, webhook.id, page, by=acme.caller, **filters)

    every = [delivery.id for delivery in read(PageOf(limit=100)).items]
    pages = []
    cursor = None
    while True:
        page = read(PageOf(limit=4, cursor=cursor))
        pages.append([delivery.id for delivery in page.items])
        if (cursor := page.next_cursor) is None:
            break
    assert every == sorted(every, reverse=True)
    assert pages == [every[:4], every[4:]]
    # A failing endpoint gets one at a time: two attempts at first, then a single one.
    by_status = {
        status: len(logged(database, acme, webhook, status=status))
        for status in ("pending", "delivered", "failed")
    }
    assert by_status == {"pending": 5, "delivered": 1, "failed": 0}
    (ping,) = logged(database, acme, webhook, event="ping")
    assert ping.event_type == "ping"
    assert logged(database, acme, webhook, event="ping", status="failed") == []


@pytest.mark.parametrize("first", [DELIVERED, FAILED], ids=["delivered", "waiting"])
def test_a_redelivery_has_the_same_body_and_id(database: Database, first: Outcome) -> None:
    acme, webhook = listening(database)
    (sent,) = attempt_due(database, first)
    later = timedelta(seconds=1)

    again = acme.write(delivery_log.redeliver, webhook.id, sent.id, now=NOW + later)
    (second,) = attempt_due(database, DELIVERED, after=later)

    assert (again.status, again.next_attempt_at) == ("pending", NOW + later)
    assert (second.event_id, second.body, second.id) == (sent.event_id, sent.body, sent.id)
    (delivery,) = logged(database, acme, webhook)
    assert (delivery.status, len(delivery.attempts)) == ("delivered", 2)
    assert "webhook.redelivery_requested" in {
        entry.action for entry in audit_entries(database, acme.caller)
    }


def test_a_delivery_in_flight_is_not_redelivered(database: Database) -> None:
    acme, webhook = listening(database)
    (sent,) = database.write_now(delivery_queue.claim, limit=1, claim_id="one", now=NOW)

    delivery = acme.write(delivery_log.redeliver, webhook.id, sent.id)

    assert (delivery.status, delivery.next_attempt_at) == ("pending", None)
    assert database.write_now(delivery_queue.claim, limit=1, claim_id="two", now=NOW) == []


def test_a_disabled_webhook_gets_no_redelivery(database: Database) -> None:
    acme, webhook = listening(database)
    (sent,) = attempt_due(database, DELIVERED)
    off = {"is_active": False}
    acme.write(webhooks.update, webhook.id, off)

    with pytest.raises(WebhookDisabled):
        acme.write(delivery_log.redeliver, webhook.id, sent.id)


# Each is later than the wait after the attempt before; in all less than 120 hours.
ATTEMPTED_AT_HOURS = (0.0, 0.1, 0.3, 1.0, 3.5, 9.0, 20.0, 35.0, 56.0, 81.0)


def fail_all(database: Database, after: timedelta = timedelta()) -> None:
    """Record a failure for every attempt until all deliveries have failed."""
    for hours in ATTEMPTED_AT_HOURS:
        while attempt_due(database, FAILED, limit=10, after=after + timedelta(hours=hours)):
            pass


def set_active(database: Database, acme: Acme, webhook: Webhook, *, is_active: bool) -> None:
    changes = {"is_active": is_active}
    acme.write(webhooks.update, webhook.id, changes)


def redeliver_failed_of(
    database: Database, acme: Acme, webhook: Webhook, since: Any = NOW, **options: Any
) -> Redelivered:
    return database.write_now(
        delivery_log.redeliver_failed,
        webhook.id,
        since,
        by=acme.caller,
        now=NOW + A_MONTH,
        **options,
    )


def test_failed_deliveries_since_an_instant_are_redelivered_once(database: Database) -> None:
    acme, webhook = listening(database, requests=3)
    (delivered,) = attempt_due(database, DELIVERED)
    fail_all(database, after=timedelta(minutes=1))
    assert len(logged(database, acme, webhook, status="failed")) == 2

    before = redeliver_failed_of(database, acme, webhook, since=NOW + A_MONTH)
    first = redeliver_failed_of(database, acme, webhook)
    second = redeliver_failed_of(database, acme, webhook)

    assert (before, first, second) == (
        Redelivered(queued=0, has_more=False),
        Redelivered(queued=2, has_more=False),
        Redelivered(queued=0, has_more=False),
    )
    # A failing endpoint gets one at a time.
    again = [attempt_due(database, DELIVERED, after=A_MONTH)[0] for _ in range(2)]
    assert delivered.id not in {delivery.id for delivery in again}
    assert {delivery.status for delivery in logged(database, acme, webhook)} == {"delivered"}


def test_events_that_a_disabled_webhook_missed_are_sent_only_on_request(database: Database) -> None:
    acme, webhook = listening(database, requests=0)
    set_active(database, acme, webhook, is_active=False)
    ada = a_person(database, acme)
    requests = [
        a_request(database, acme, ada, start_date=date(2026, 8, 3) + timedelta(weeks=number))
        for number in range(2)
    ]
    with pytest.raises(WebhookDisabled):
        redeliver_failed_of(database, acme, webhook)

    set_active(database, acme, webhook, is_active=True)
    assert attempt_due(database, DELIVERED, limit=10) == []
    missed = logged(database, acme, webhook)
    assert [(delivery.status, delivery.attempts) for delivery in missed] == [
        ("failed", []),
        ("failed", []),
    ]

    assert redeliver_failed_of(database, acme, webhook) == Redelivered(queued=2, has_more=False)

    deliveries = attempt_due(database, DELIVERED, limit=10, after=A_MONTH)
    assert [
        request.id.encode() in delivery.body
        for request, delivery in zip(requests, deliveries, strict=True)
    ] == [True, True]


def test_a_disabled_webhook_misses_only_events_that_it_subscribes_to(database: Database) -> None:
    acme = an_organisation(database)
    webhook = a_webhook(database, acme, "leave_request.cancelled", url="https://example.com/hook")
    set_active(database, acme, webhook, is_active=False)
    a_request(database, acme, a_person(database, acme))

    assert logged(database, acme, webhook) == []
    assert row_counts(database) == [0, 0, 0]


def test_failed_deliveries_are_redelivered_in_batches(database: Database) -> None:
    acme, webhook = listening(database, requests=0)
    set_active(database, acme, webhook, is_active=False)
    ada = a_person(database, acme)
    for number in range(3):
        a_request(database, acme, ada, start_date=date(2026, 8, 3) + timedelta(weeks=number))
    set_active(database, acme, webhook, is_active=True)

    batches = [redeliver_failed_of(database, acme, webhook, limit=2) for _ in range(2)]

    assert batches == [Redelivered(queued=2, has_more=True), Redelivered(queued=1, has_more=False)]


def test_pings_are_not_redelivered(database: Database) -> None:
    acme, webhook = listening(database, requests=0)
    acme.write(delivery_log.ping, webhook.id)
    attempt_due(database, FAILED)

    assert redeliver_failed_of(database, acme, webhook).queued == 0


def test_a_webhooks_health_has_the_first_failure_and_the_next_attempt(database: Database) -> None:
    acme, webhook = listening(database)

    def health() -> WebhookHealth:
        return acme.read(endpoint_health.of_webhooks, [webhook.id])[webhook.id]

    assert health() == WebhookHealth(failing_since=None, next_attempt_at=NOW)
    attempt_due(database, FAILED)
    assert health() == WebhookHealth(failing_since=NOW, next_attempt_at=NOW + timedelta(seconds=5))

    set_active(database, acme, webhook, is_active=False)
    assert health() == WebhookHealth(failing_since=NOW, next_attempt_at=None)

    set_active(database, acme, webhook, is_active=True)
    attempt_due(database, DELIVERED, after=timedelta(seconds=5))
    assert health() == WebhookHealth(failing_since=None, next_attempt_at=None)


def test_a_delivery_and_its_event_are_pruned_a_month_after_it_ended(
    database: Database,
) -> None:
    acme, webhook = listening(database, requests=3)
    attempt_due(database, DELIVERED, limit=2)

    early = database.write_now(delivery_log.prune, days=30, now=NOW + timedelta(days=29))
    late = database.write_now(delivery_log.prune, days=30, now=NOW + A_MONTH, limit=1)
    rest = database.write_now(delivery_log.prune, days=30, now=NOW + A_MONTH)

    assert early == Pruned(expired=0, deliveries=0, events=0)
    assert (late, rest) == (
        Pruned(expired=0, deliveries=1, events=1),
        Pruned(expired=0, deliveries=1, events=1),
    )
    # The third is pending, and pending deliveries are not pruned.
    assert row_counts(database) == [1, 0, 1]
    assert [delivery.status for delivery in logged(database, acme, webhook)] == ["pending"]


def test_deliveries_are_pruned_earlier_where_the_operator_chose_so(database: Database) -> None:
    listening(database)
    attempt_due(database, DELIVERED)
    a_week = Retention(delivery_days=7)

    asyncio.run(pruning.prune(database, now=NOW + timedelta(days=6), retention=a_week))
    early = row_counts(database)
    later = NOW + timedelta(days=8)
    asyncio.run(pruning.prune(database, now=later))
    by_default = row_counts(database)
    asyncio.run(pruning.prune(database, now=later, retention=a_week))

    assert early == by_default == [1, 1, 1]
    assert row_counts(database) == [0, 0, 0]


def test_a_delivery_that_was_paused_for_a_month_fails(database: Database) -> None:
    acme, webhook = listening(database)
    off = {"is_active": False}
    acme.write(webhooks.update, webhook.id, off)

    pruned = database.write_now(delivery_log.prune, days=30, now=NOW + A_MONTH)

    assert pruned == Pruned(expired=1, deliveries=0, events=0)
    (delivery,) = logged(database, acme, webhook)
    assert (delivery.status, delivery.settled_at) == ("failed", NOW + A_MONTH)
    assert database.write_now(delivery_log.prune, days=30, now=NOW + 2 * A_MONTH) == Pruned(
        expired=0, deliveries=1, events=1
    )


def test_a_paused_delivery_that_is_claimed_concurrently_does_not_fail(database: Database) -> None:
    acme, webhook = listening(database)
    off, on = {"is_active": False}, {"is_active": True}
    acme.write(webhooks.update, webhook.id, off)

    def enable_and_claim(tx: Transaction) -> None:
        webhooks.update(tx, webhook.id, on, by=acme.caller, now=NOW + A_MONTH)
        assert delivery_queue.claim(tx, limit=1, claim_id="sent", now=NOW + A_MONTH)

    overlapping(
        database,
        enable_and_claim,
        lambda: database.write_now(delivery_log.prune, days=30, now=NOW + A_MONTH),
    )

    assert [delivery.status for delivery in logged(database, acme, webhook)] == ["pending"]
