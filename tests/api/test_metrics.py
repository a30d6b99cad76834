"""`/metrics`: counters, gauges that are read on request, and no personal data."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from api.base import queue_ages
from api.base.metrics import Metrics
from api.base.queue_ages import QueueReader
from api.service import app
from storage.base.secrets import Secrets
from storage.db.database import Database
from storage.db.engines import open_database
from storage.outbox import notification_outbox
from storage.webhooks.delivery_queue import Delivery
from tests import outside
from tests.api.conftest import SETTINGS, Client
from tests.builders import NOW, a_key, a_person, a_request, a_webhook, an_organisation
from tests.outcomes import DELIVERED, FAILED

pytestmark = pytest.mark.both_engines

Labels = frozenset[tuple[str, str]]


def samples(text: str) -> dict[tuple[str, Labels], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def requests(values: dict[tuple[str, Labels], float]) -> dict[tuple[str, str, str], float]:
    counted = {}
    for (name, labels), value in values.items():
        if name == "hiatus_http_request_duration_seconds_count":
            named = dict(labels)
            counted[named["method"], named["route"], named["status"]] = value
    return counted


def test_metrics_of_requests_and_queues_have_no_names(database: Database) -> None:
    metrics = Metrics()
    routes = app.routes(database, SETTINGS, lambda: NOW, metrics=metrics)
    client = Client(app.application(routes, SETTINGS, metrics))
    acme = an_organisation(database, name="Secretive Ltd")
    a_webhook(database, acme, url="https://secret.example.com/")
    a_request(database, acme, a_person(database, acme))
    key = a_key(database, acme)

    client.get(f"/api/v1/users/{acme.owner.id}", key)
    client.get(f"/api/v1/users/{acme.owner.id}", key)
    client.get("/api/v1/users")
    client.get("/wp-admin/setup.php")
    client.request("BREW", "/healthz")
    response = client.get("/metrics")
    client.close()

    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/plain")
    values = samples(response.text)
    counted = requests(values)
    assert counted["GET", "/api/v1/users/{id}", "200"] == 2
    assert counted["GET", "/api/v1/users", "401"] == 1
    assert counted["GET", "other", "404"] == 1
    assert counted["other", "/healthz", "405"] == 1
    none: Labels = frozenset()
    assert values["hiatus_webhook_deliveries_due", none] == 1
    assert values["hiatus_webhook_deliveries_in_flight", none] == 0
    assert values["hiatus_webhook_oldest_due_seconds", none] == 0
    assert values["hiatus_database_up", none] == 1
    for name in ("secret.example", "Secretive", acme.id, acme.owner.id, "wp-admin", "BREW"):
        assert name not in response.text


def test_attempts_are_counted_by_outcome() -> None:
    metrics = Metrics()
    delivery = Delivery(
        organisation_id="o",
        id="d",
        webhook_id="w",
        event_id="e",
        event_type="ping",
        attempts=0,
        claim_id="c",
        url="https://e.com/",
        body=b"",
        secrets=[],
        created_at=0,
    )
    timeout = replace(FAILED, status_code=None, error="timeout", duration_ms=15_000)

    metrics.observe_attempts([(delivery, DELIVERED), (delivery, timeout), (delivery, timeout)])
    values = samples(metrics.exposition(None).decode())

    attempts = "hiatus_webhook_attempts_total"
    assert values[attempts, frozenset({("outcome", "delivered")})] == 1
    assert values[attempts, frozenset({("outcome", "timeout")})] == 2
    none: Labels = frozenset()
    assert values["hiatus_webhook_attempt_duration_seconds_count", none] == 3
    assert values["hiatus_webhook_attempt_duration_seconds_sum", none] == 30.012
    assert values["hiatus_database_up", none] == 0


def test_queues_have_the_age_of_their_oldest_item(database: Database) -> None:
    acme = an_organisation(database)
    a_webhook(database, acme)
    person = a_person(database, acme)
    a_request(database, acme, person)
    database.write_now(
        notification_outbox.remind, acme.id, [], [person.id], now=NOW - timedelta(minutes=2)
    )

    ages = database.read_now(queue_ages.load, now=NOW + timedelta(seconds=60, milliseconds=500))
    values = samples(Metrics().exposition(ages).decode())

    none: Labels = frozenset()
    assert values["hiatus_webhook_oldest_due_seconds", none] == 60.5
    assert values["hiatus_notification_oldest_due_seconds", none] == 180.5
    assert values["hiatus_digest_oldest_due_seconds", none] == 0
    assert values["hiatus_webhook_deliveries_due", none] == 1


def test_counting_a_request_costs_next_to_nothing() -> None:
    metrics = Metrics()
    best = 1.0
    for _ in range(5):
        started = time.process_time()
        for _ in range(2_000):
            metrics.observe_request("GET", "/api/v1/leave-requests", 200, 0.003)
        best = min(best, time.process_time() - started)

    # About 1 µs of an idle core; one that is shared takes several times that.
    assert best / 2_000 < 20e-6


# The tests of a worker share its server, and its maintenance waits for locks too.
WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()
    AND backend_type = 'client backend'
"""


def queue_one(database: Database) -> None:
    acme = an_organisation(database)
    a_webhook(database, acme)
    a_request(database, acme, a_person(database, acme))


def test_scrapes_within_seconds_share_a_reading(database: Database) -> None:
    async def scrape() -> list[int]:
        reader = QueueReader(database, lambda: NOW + timedelta(seconds=1), shared_seconds=60)
        impatient = QueueReader(database, lambda: NOW + timedelta(seconds=1), shared_seconds=0)
        before = [await reader.read(), await impatient.read()]
        await asyncio.to_thread(queue_one, database)
        after = [await reader.read(), await impatient.read()]
        return [ages.deliveries_due for ages in (*before, *after) if ages is not None]

    assert asyncio.run(scrape()) == [0, 0, 0, 1]


def test_a_database_that_hangs_delays_a_scrape_briefly_and_gets_one_query(
    postgres_url: str,
) -> None:
    async def scrape() -> None:
        reader = QueueReader(database, lambda: NOW, max_read_seconds=0.3)
        with closing(psycopg.connect(postgres_url)) as other:
            other.execute("LOCK TABLE webhooks IN ACCESS EXCLUSIVE MODE")
            began_at = time.monotonic()
            assert [await reader.read() for _ in range(3)] == [None] * 3
            assert time.monotonic() - began_at < 8
            assert await asyncio.to_thread(outside.rows, postgres_url, WAITING) == [(1,)]
            other.rollback()
        async with asyncio.timeout(30):
            while await reader.read() is None:
                pass

    with closing(open_database(postgres_url, Secrets.generate())) as database:
        asyncio.run(scrape())


def test_a_reading_that_fails_is_tried_again(sqlite_url: str) -> None:
    async def scrape() -> list[bool]:
        reader = QueueReader(database, lambda: NOW)
        outside.run(sqlite_url, "ALTER TABLE webhooks RENAME TO webhooks_away")
        missing = await reader.read()
        outside.run(sqlite_url, "ALTER TABLE webhooks_away RENAME TO webhooks")
        return [missing is None, await reader.read() is None]

    with closing(open_database(sqlite_url, Secrets.generate())) as database:
        assert asyncio.run(scrape()) == [True, False]
