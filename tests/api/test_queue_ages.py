"""Metrics of queues: one reading for several scrapes, and none that waits for the database."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from datetime import timedelta

import psycopg

from api.base.queue_ages import QueueReader
from storage.base.secrets import Secrets
from storage.db.database import Database
from storage.db.engines import open_database
from tests import outside
from tests.builders import NOW, a_person, a_request, a_webhook, an_organisation

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
