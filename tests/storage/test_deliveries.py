"""Deliveries: claimed once, recorded once, retried on schedule, in order for each request."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from storage.base.secrets import Secrets
from storage.db import locks
from storage.db.compiled import compiled
from storage.db.database import Database
from storage.db.engines import open_database
from storage.db.pages import PageOf
from storage.db.tables import DeliveryRow, NotificationRow, OrganisationRow, WebhookRow
from storage.outbox import organisation_config
from storage.webhooks import deliveries, delivery_log, delivery_queue, endpoint_health, webhooks
from storage.webhooks.deliveries import (
    RETRY_AFTER_SECONDS,
    UNSIGNED_RETRY,
    Outcome,
    retry_delay_seconds,
)
from storage.webhooks.delivery_queue import QUEUE, Delivery
from tests import outside
from tests.builders import (
    NOW,
    Acme,
    a_person,
    a_request,
    a_webhook,
    an_organisation,
    audit_entries,
)
from tests.outcomes import DELIVERED, FAILED
from tests.refusals import crossing, overlapping

pytestmark = pytest.mark.both_engines

UNSIGNED = replace(DELIVERED, verdict="unsigned", status_code=None, error="secret_unreadable")
GONE = replace(DELIVERED, verdict="gone", status_code=410, error="bad_status")


def failed_with_retry_after(seconds: int) -> Outcome:
    return replace(FAILED, retry_after_seconds=seconds)


@compiled
def _rows() -> Any:
    return DeliveryRow.select(
        DeliveryRow.status, DeliveryRow.attempts, DeliveryRow.due_at, DeliveryRow.last_status_code
    ).order_by(DeliveryRow.id)


def listening(database: Database, *urls: str) -> Acme:
    acme = an_organisation(database)
    for url in urls or ("https://example.com/hook",):
        a_webhook(database, acme, url=url)
    return acme


def claimed(
    database: Database, now: datetime = NOW, limit: int = 10, claim_id: str = "one"
) -> list[Delivery]:
    return database.write_now(delivery_queue.claim, limit=limit, claim_id=claim_id, now=now)


def recorded(
    database: Database, delivery: Delivery, outcome: Outcome, now: datetime = NOW
) -> tuple[Any, ...]:
    database.write_now(
        deliveries.record_results, [(delivery, outcome)], jitter=lambda: 1.0, now=now
    )
    return database.read_now(lambda tx: tx.all(_rows))[0]


def failing_since(database: Database, acme: Acme, webhook_id: str) -> datetime | None:
    health = acme.read(endpoint_health.of_webhooks, [webhook_id])
    return health[webhook_id].failing_since


def test_a_claim_returns_url_secrets_and_body(database: Database, acme: Acme) -> None:
    webhook, secret = acme.write(webhooks.create, "https://example.com/hook", ["*"])
    request = a_request(database, acme, a_person(database, acme))

    (delivery,) = claimed(database)

    assert (delivery.url, delivery.secrets) == ("https://example.com/hook", [secret])
    assert (delivery.webhook_id, delivery.attempts) == (webhook.id, 0)
    assert request.id.encode() in delivery.body


def test_a_claimed_delivery_is_not_claimed_before_its_lease_expires(database: Database) -> None:
    acme = listening(database)
    a_request(database, acme, a_person(database, acme))
    (first,) = claimed(database)

    assert claimed(database, NOW + QUEUE.lease - timedelta(seconds=1), claim_id="two") == []
    (again,) = claimed(database, NOW + QUEUE.lease, claim_id="three")

    assert (again.id, again.event_id, again.body) == (first.id, first.event_id, first.body)


def test_an_expired_claim_records_no_result(database: Database) -> None:
    acme = listening(database)
    a_request(database, acme, a_person(database, acme))
    (late,) = claimed(database)
    claimed(database, NOW + QUEUE.lease, claim_id="two")

    assert recorded(database, late, DELIVERED)[0] == "pending"


def test_a_delivered_delivery_is_never_claimed_again(database: Database) -> None:
    acme = listening(database)
    a_request(database, acme, a_person(database, acme))
    (delivery,) = claimed(database)

    row = recorded(database, delivery, DELIVERED)

    assert (row[0], row[1], row[3]) == ("delivered", 1, 204)
    assert claimed(database, NOW + timedelta(days=30), claim_id="two") == []


def test_a_delivery_fails_after_ten_attempts_on_schedule(database: Database) -> None:
    acme = listening(database)
    a_request(database, acme, a_person(database, acme))
    now, waits = NOW, []

    for number in range(10):
        (delivery,) = claimed(database, now, claim_id=str(number))
        row = recorded(database, delivery, FAILED, now)
        waits.append(round(row[2] / 1000 - now.timestamp()))
        now += timedelta(seconds=max(waits[-1], 0))

    assert tuple(waits[:9]) == RETRY_AFTER_SECONDS
    assert (row[0], row[1]) == ("failed", 10)
    assert claimed(database, now, claim_id="late") == []


@pytest.mark.parametrize(
    ("outcome", "attempts", "shortest", "longest"),
    [
        pytest.param(FAILED, 1, 4, 6, id="the schedule"),
        pytest.param(failed_with_retry_after(7), 1, 7, 8.4, id="retry-after"),
        pytest.param(
            failed_with_retry_after(400), 2, 400, 480, id="retry-after above the schedule"
        ),
        pytest.param(
            failed_with_retry_after(290), 2, 290, 360, id="retry-after just below the schedule"
        ),
        pytest.param(failed_with_retry_after(1), 1, 4, 6, id="never less than the schedule"),
        pytest.param(failed_with_retry_after(900), 2, 600, 720, id="at most twice the schedule"),
        pytest.param(replace(FAILED, at_least_60_seconds=True), 1, 60, 90, id="busy: a minute"),
        pytest.param(
            replace(FAILED, at_least_60_seconds=True), 2, 240, 360, id="busy, later attempt"
        ),
    ],
)
def test_the_retry_delay_follows_the_schedule_and_retry_after(
    outcome: Outcome, attempts: int, shortest: float, longest: float
) -> None:
    waits = [
        retry_delay_seconds(
            attempts,
            jitter=jitter,
            retry_after_seconds=outcome.retry_after_seconds,
            at_least_60_seconds=outcome.at_least_60_seconds,
        )
        for jitter in (0.8, 1.0, 1.2)
    ]

    assert [waits[0], waits[2]] == pytest.approx([shortest, longest])
    assert waits == sorted(waits)


def test_a_retry_waits_for_the_endpoints_retry_after(database: Database) -> None:
    acme = listening(database)
    a_request(database, acme, a_person(database, acme))
    (first,) = claimed(database)
    recorded(database, first, FAILED)
    now = NOW + timedelta(seconds=5)
    (second,) = claimed(database, now, claim_id="two")
    results = [(second, failed_with_retry_after(400))]
    database.write_now(deliveries.record_results, results, jitter=lambda: 0.8, now=now)

    assert claimed(database, now + timedelta(seconds=399), claim_id="three") == []
    assert len(claimed(database, now + timedelta(seconds=400), claim_id="four")) == 1


def test_410_fails_the_delivery_and_disables_the_endpoint(database: Database) -> None:
    acme = listening(database)
    ada = a_person(database, acme)
    a_request(database, acme, ada)
    a_request(database, acme, ada, start_date=date(2026, 8, 4))
    (delivery, _) = claimed(database)

    assert recorded(database, delivery, GONE)[0] == "failed"

    webhook = acme.read(webhooks.get, delivery.webhook_id)
    assert (webhook.is_active, webhook.disabled_reason) == (False, endpoint_health.GONE)
    assert failing_since(database, acme, webhook.id) is None
    assert claimed(database, NOW + timedelta(days=1), claim_id="two") == []


def test_a_410_from_the_old_url_does_not_disable_the_new_url(database: Database) -> None:
    acme = listening(database)
    a_request(database, acme, a_person(database, acme))
    (delivery,) = claimed(database)
    moved = {"url": "https://new.example.com/hook"}
    acme.write(webhooks.update, delivery.webhook_id, moved)

    row = recorded(database, delivery, GONE)

    assert acme.read(webhooks.get, delivery.webhook_id).is_active
    assert (row[0], row[1]) == ("pending", 1)


def test_an_expired_claim_disables_no_endpoint(database: Database) -> None:
    acme = listening(database)
    a_request(database, acme, a_person(database, acme))
    (late,) = claimed(database)
    (again,) = claimed(database, NOW + QUEUE.lease, claim_id="two")
    recorded(database, again, DELIVERED)

    recorded(database, late, GONE)

    assert acme.read(webhooks.get, late.webhook_id).is_active


def test_an_unreadable_secret_does_not_block_other_deliveries(database_url: str) -> None:
    claims: list[Delivery] = []
    for _ in range(2):
        with closing(open_database(database_url, Secrets.generate())) as handle:
            acme = listening(handle)
            a_request(handle, acme, a_person(handle, acme))
            claims = claimed(handle, NOW + timedelta(minutes=len(claims)))

    by_organisation = {delivery.organisation_id: len(delivery.secrets) for delivery in claims}

    assert len(claims) == 2
    assert by_organisation[acme.id] == 1
    assert sorted(by_organisation.values()) == [0, 1]


def test_an_unreadable_secret_does_not_count_as_a_failure_of_the_endpoint(
    database_url: str,
) -> None:
    keys = Secrets.generate()
    with closing(open_database(database_url, keys)) as handle:
        acme = listening(handle)
        a_request(handle, acme, a_person(handle, acme))
    with closing(open_database(database_url, Secrets.generate())) as without_the_key:
        for number in range(8):
            now = NOW + timedelta(hours=11 * number)
            (delivery,) = claimed(without_the_key, now, claim_id=str(number))
            assert delivery.secrets == []
            row = recorded(without_the_key, delivery, UNSIGNED, now)
            assert row[:2] == ("pending", 0)
            assert row[2] == round((now + UNSIGNED_RETRY).timestamp() * 1000)

    assert health(database_url) == (True, None)
    assert outside.rows(database_url, "SELECT id FROM delivery_attempts") == []
    with closing(open_database(database_url, keys)) as with_the_key:
        (delivery,) = claimed(with_the_key, NOW + timedelta(hours=85), claim_id="again")
        assert len(delivery.secrets) == 1
        assert recorded(with_the_key, delivery, DELIVERED)[:2] == ("delivered", 1)


def test_a_delivery_whose_secret_stays_unreadable_fails_after_the_retry_schedule(
    database_url: str,
) -> None:
    keys = Secrets.generate()
    with closing(open_database(database_url, keys)) as handle:
        acme = listening(handle)
        a_request(handle, acme, a_person(handle, acme))
        (webhook,) = handle.read_now(webhooks.page, PageOf(), by=acme.caller).items
    # Ten attempts with the longest jitter take 90.7 hours.
    late = NOW + timedelta(hours=91)
    with closing(open_database(database_url, Secrets.generate())) as without_the_key:
        (delivery,) = claimed(without_the_key, late)
        assert recorded(without_the_key, delivery, UNSIGNED, late)[:2] == ("failed", 0)
        assert claimed(without_the_key, NOW + timedelta(days=40), claim_id="later") == []

    assert health(database_url) == (True, None)
    with closing(open_database(database_url, keys)) as with_the_key:
        (logged,) = with_the_key.read_now(
            delivery_log.page, webhook.id, PageOf(), by=acme.caller
        ).items
        assert [attempt.error for attempt in logged.attempts] == ["secret_unreadable"]
        with_the_key.write_now(
            delivery_log.redeliver_failed, webhook.id, NOW, by=acme.caller, now=late
        )
        (again,) = claimed(with_the_key, late, claim_id="again")
        assert recorded(with_the_key, again, DELIVERED, late)[0] == "delivered"


def test_a_ping_with_an_unreadable_secret_fails_at_once_with_a_reason(database_url: str) -> None:
    keys = Secrets.generate()
    with closing(open_database(database_url, keys)) as handle:
        acme = listening(handle)
        (webhook,) = handle.read_now(webhooks.page, PageOf(), by=acme.caller).items
        handle.write_now(delivery_log.ping, webhook.id, by=acme.caller, now=NOW)
    with closing(open_database(database_url, Secrets.generate())) as without_the_key:
        (delivery,) = claimed(without_the_key)
        assert recorded(without_the_key, delivery, UNSIGNED)[:2] == ("failed", 0)
        logged = without_the_key.read_now(delivery_log.get, webhook.id, delivery.id, by=acme.caller)

    assert [attempt.error for attempt in logged.attempts] == ["secret_unreadable"]
    assert health(database_url) == (True, None)


def health(database_url: str) -> tuple[bool, object]:
    """Whether the only webhook is active, and since when it fails."""
    ((is_active, since),) = outside.rows(
        database_url, "SELECT is_active, failing_since_at FROM webhooks"
    )
    return bool(is_active), since


def test_a_ping_is_sent_only_to_its_webhook_and_only_once(database: Database) -> None:
    acme = listening(database, "https://example.com/one", "https://example.com/two")
    webhook = a_webhook(database, acme, "leave_request.cancelled", url="https://example.com/three")

    event_id = acme.write(delivery_log.ping, webhook.id)

    (delivery,) = claimed(database)
    assert (delivery.webhook_id, delivery.event_id) == (webhook.id, event_id)
    assert delivery.body.startswith(b'{"type":"ping","timestamp":"2026-06-01T09:00:00Z"')
    assert recorded(database, delivery, FAILED)[0] == "failed"


def test_a_disabled_webhook_cannot_be_pinged(database: Database, acme: Acme) -> None:
    webhook = a_webhook(database, acme)
    acme.write(webhooks.update, webhook.id, {"is_active": False})

    with pytest.raises(delivery_log.WebhookDisabled):
        acme.write(delivery_log.ping, webhook.id)


@compiled
def _notifications() -> Any:
    return NotificationRow.select(
        NotificationRow.kind, NotificationRow.user_id, NotificationRow.webhook_id
    )


def failing(database: Database, hours: float, number: int) -> bool:
    """A failed attempt that many hours after ``NOW``; whether the webhook is active afterwards."""
    now = NOW + timedelta(hours=hours)
    (delivery,) = claimed(database, now, limit=1, claim_id=f"{number}")
    database.write_now(deliveries.record_results, [(delivery, FAILED)], jitter=lambda: 1.0, now=now)
    rows = database.read_now(lambda tx: tx.all(_active))
    return bool(rows[0][0])


@compiled
def _active() -> Any:
    return WebhookRow.select(WebhookRow.is_active)


def test_an_endpoint_is_disabled_after_120_hours_of_failures(database: Database) -> None:
    acme = listening(database)
    database.write_now(link_to_slack, acme.id)
    grace = a_person(database, acme, first_name="Grace", role="admin")
    for number in range(4):
        a_request(
            database,
            acme,
            a_person(database, acme),
            start_date=date(2026, 8, 3) + timedelta(weeks=number),
        )

    assert failing(database, 0, 1)
    assert failing(database, 119.9, 2)
    assert not failing(database, 120, 3)

    (delivery,) = acme.read(webhooks.page, PageOf()).items
    assert delivery.disabled_reason == endpoint_health.FAILED_FOR_TOO_LONG
    notified = {row for row in database.read_now(lambda tx: tx.all(_notifications)) if row[2]}
    assert notified == {
        (kind, user_id, delivery.id)
        for kind in ("webhook_failing", "webhook_disabled")
        for user_id in (grace.id, acme.owner.id)
    }
    entries = audit_entries(database, acme.caller)
    (entry,) = [entry for entry in entries if entry.action == "webhook.disabled"]
    assert (entry.source, entry.actor_id) == ("scheduler", None)


def failing_notifications(database: Database) -> int:
    rows = database.read_now(lambda tx: tx.all(_notifications))
    return sum(row[0] == "webhook_failing" for row in rows)


def test_admins_are_notified_once_after_a_day_of_failures(database: Database) -> None:
    acme = listening(database)
    database.write_now(link_to_slack, acme.id)
    for number in range(8):
        monday = date(2026, 8, 3) + timedelta(weeks=number)
        a_request(database, acme, a_person(database, acme), start_date=monday)

    counts = []
    for number, hours in enumerate((0, 23.9, 24, 30, 48)):
        assert failing(database, hours, number)
        counts.append(failing_notifications(database))
    (delivery,) = claimed(database, NOW + timedelta(hours=60), limit=1, claim_id="well")
    recorded(database, delivery, DELIVERED, NOW + timedelta(hours=60))
    for number, hours in enumerate((70, 93.9, 94), start=10):
        assert failing(database, hours, number)
        counts.append(failing_notifications(database))

    assert counts == [0, 0, 1, 1, 1, 1, 1, 2]


def test_a_success_ends_the_period_of_failing(database: Database) -> None:
    acme = listening(database)
    for number in range(4):
        ada = a_person(database, acme)
        a_request(database, acme, ada, start_date=date(2026, 8, 3) + timedelta(weeks=number))

    failing(database, 0, 1)
    (delivery,) = claimed(database, NOW + timedelta(hours=60), limit=1, claim_id="well")
    recorded(database, delivery, DELIVERED, NOW + timedelta(hours=60))

    assert failing(database, 120, 3)
    assert failing(database, 239, 4)
    assert not failing(database, 240, 5)


def test_a_success_in_the_same_batch_outweighs_a_failure(database: Database) -> None:
    acme = listening(database)
    ada = a_person(database, acme)
    a_request(database, acme, ada)
    a_request(database, acme, ada, start_date=date(2026, 8, 10))
    first, second = claimed(database)

    results = [(first, DELIVERED), (second, FAILED)]
    database.write_now(deliveries.record_results, results, jitter=lambda: 1.0, now=NOW)

    assert failing_since(database, acme, first.webhook_id) is None


def test_an_old_failure_does_not_begin_a_period_of_failing(database: Database) -> None:
    acme = listening(database)
    ada = a_person(database, acme)
    a_request(database, acme, ada)
    (delivery,) = claimed(database)
    recorded(database, delivery, FAILED)

    assert failing(database, 30 * 24, 2)


@pytest.mark.parametrize("changes", [{"url": "https://new.example.com/"}, {"is_active": True}])
def test_a_new_url_or_enabling_resets_an_endpoints_failures(
    database: Database, changes: dict[str, Any]
) -> None:
    acme = listening(database)
    a_request(database, acme, a_person(database, acme))
    failing(database, 0, 1)
    (webhook,) = acme.read(webhooks.page, PageOf()).items
    if "is_active" in changes:
        off = {"is_active": False}
        acme.write(webhooks.update, webhook.id, off)
    acme.write(webhooks.update, webhook.id, changes)

    assert failing(database, 120, 2)


def test_an_endpoint_whose_url_changes_concurrently_is_not_disabled(database: Database) -> None:
    acme = listening(database)
    a_request(database, acme, a_person(database, acme))
    failing(database, 0, 1)
    (webhook,) = acme.read(webhooks.page, PageOf()).items
    now = NOW + timedelta(hours=120)
    (delivery,) = claimed(database, now)
    changes = {"url": "https://new.example.com/"}

    overlapping(
        database,
        lambda tx: webhooks.update(tx, webhook.id, changes, by=acme.caller, now=now),
        lambda: recorded(database, delivery, FAILED, now),
    )

    assert acme.read(webhooks.get, webhook.id).is_active


@pytest.mark.parametrize(
    ("outcome", "hours"), [(GONE, 0), (FAILED, 120)], ids=["gone", "for too long"]
)
def test_disabling_and_changing_an_endpoint_do_not_deadlock(
    database: Database, outcome: Outcome, hours: float
) -> None:
    acme = listening(database)
    a_request(database, acme, a_person(database, acme))
    if hours:
        failing(database, 0, 1)
    (webhook,) = acme.read(webhooks.page, PageOf()).items
    now = NOW + timedelta(hours=hours)
    (delivery,) = claimed(database, now)

    runs = crossing(
        database,
        lambda tx: locks.organisation(tx, acme.id),
        lambda tx: webhooks.update(tx, webhook.id, {"events": ["*"]}, by=acme.caller, now=now),
        lambda tx: deliveries.record_results(
            tx, [(delivery, outcome)], jitter=lambda: 1.0, now=now
        ),
    )

    assert runs == 2
    assert not acme.read(webhooks.get, webhook.id).is_active


def test_recording_failures_of_two_endpoints_and_changing_one_do_not_deadlock(
    database: Database,
) -> None:
    acme = listening(database)
    a_request(database, acme, a_person(database, acme))
    failing(database, 0, 1)
    (old,) = acme.read(webhooks.page, PageOf()).items
    now = NOW + timedelta(hours=120)
    new, _ = acme.write(webhooks.create, "https://example.com/new", ["*"], now=now)
    a_request(database, acme, a_person(database, acme), start_date=date(2026, 7, 6), now=now)
    claims = claimed(database, now)
    assert {delivery.webhook_id for delivery in claims} == {old.id, new.id}
    results = [(delivery, FAILED) for delivery in claims]

    runs = crossing(
        database,
        lambda tx: locks.organisation(tx, acme.id),
        lambda tx: webhooks.update(tx, new.id, {"events": ["*"]}, by=acme.caller, now=now),
        lambda tx: deliveries.record_results(tx, results, jitter=lambda: 1.0, now=now),
    )

    # A third run means that the database ended a deadlock.
    assert runs == 2
    assert not acme.read(webhooks.get, old.id).is_active


def test_admins_are_notified_of_a_410(database: Database) -> None:
    acme = listening(database)
    database.write_now(link_to_slack, acme.id)
    a_request(database, acme, a_person(database, acme))
    (delivery,) = claimed(database)

    recorded(database, delivery, GONE)

    kinds = [row[0] for row in database.read_now(lambda tx: tx.all(_notifications)) if row[2]]
    assert kinds == ["webhook_disabled"]


def link_to_slack(tx: Any, organisation_id: str) -> None:
    tx.update(OrganisationRow, {"slack_team_id": "T1"}, id=organisation_id)
    organisation_config.changed(tx, organisation_id)
