"""A fail-over that lost the last transactions: a process drops what it cached of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from storage.admin import organisation_settings
from storage.base.secrets import Secrets
from storage.calendars import feed_owners, feeds
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.schema import migrate
from storage.outbox import organisation_config
from storage.webhooks import webhooks
from tests import outside, postgres
from tests.builders import NOW, Acme, a_request, an_organisation

pytestmark = pytest.mark.slow

EVENTS = ["leave_request.created"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """A primary and the address of its future standby; ``url`` names both."""

    primary: postgres.Server
    standby: Path
    url: str

    def standby_url(self) -> str:
        return f"postgresql://hiatus@/hiatus?host={self.standby}"

    def fall_behind(self) -> None:
        """Stop replication to the standby."""
        copy = postgres.copied(self.primary)
        copy.rename(self.standby)

    def fail_over(self) -> None:
        """The primary ends for good; the standby takes over."""
        self.primary.stop()
        postgres.start(self.standby)


@pytest.fixture
def pair() -> Iterator[Pair]:
    primary = postgres.start()
    migrate(postgres.make_database(primary.url, "hiatus"))
    standby = postgres.new_folder()
    standby.rmdir()
    url = f"postgresql://hiatus@/hiatus?host={primary.folder},{standby}"
    yield Pair(primary=primary, standby=standby, url=url)
    primary.stop()
    postgres.stop(standby)


def rename(tx: Transaction, acme: Acme, name: str) -> None:
    organisation_settings.update(tx, {"name": name}, by=acme.caller, now=NOW)


def name_of(tx: Transaction, acme: Acme) -> str:
    return organisation_config.of_organisation(tx, acme.id).organisation.name


def add_webhook(tx: Transaction, acme: Acme, host: str) -> str:
    webhook, _ = webhooks.create(tx, f"https://{host}/", EVENTS, by=acme.caller, now=NOW)
    return webhook.id


def test_requests_are_made_after_a_fail_over_that_lost_a_webhook(pair: Pair) -> None:
    secrets = Secrets.generate()
    with closing(open_database(pair.url, secrets)) as process:
        acme = an_organisation(process)
        pair.fall_behind()
        process.write_now(add_webhook, acme, "lost.example.com")
        a_request(process, acme, acme.owner, start_date=date(2026, 8, 3))
        pair.fail_over()
        with closing(open_database(pair.standby_url(), secrets)) as other:
            # As many changes as were lost.
            surviving_id = other.write_now(add_webhook, acme, "kept.example.com")

        request = a_request(process, acme, acme.owner, start_date=date(2026, 8, 10))

        deliveries = outside.rows(pair.standby_url(), "SELECT webhook_id FROM deliveries")
        assert [str(webhook_id) for (webhook_id,) in deliveries] == [surviving_id]
        assert request.start_date == date(2026, 8, 10)


def test_every_thread_forgets_settings_that_were_lost(pair: Pair) -> None:
    async def names(process: Database, acme: Acme) -> set[str]:
        return set(await asyncio.gather(*(process.read(name_of, acme) for _ in range(50))))

    with closing(open_database(pair.url, Secrets.generate())) as process:
        acme = an_organisation(process, name="Acme")
        assert asyncio.run(names(process, acme)) == {"Acme"}
        pair.fall_behind()
        process.write_now(rename, acme, "Lost")
        assert asyncio.run(names(process, acme)) == {"Lost"}
        pair.fail_over()
        with closing(open_database(pair.standby_url(), Secrets.generate())) as other:
            other.write_now(rename, acme, "Kept")

        assert asyncio.run(names(process, acme)) == {"Kept"}


def test_a_feed_that_was_lost_is_not_shown_again(pair: Pair) -> None:
    secrets = Secrets.generate()
    with closing(open_database(pair.url, secrets)) as process:
        acme = an_organisation(process)
        feed = process.write_now(feeds.create, None, by=acme.caller, now=NOW)
        pair.fall_behind()
        a_request(process, acme, acme.owner, start_date=date(2026, 8, 3))
        lost = process.read_now(feed_owners.find_by_token, feed.token)
        pair.fail_over()
        a_request(process, acme, acme.owner, start_date=date(2026, 8, 10))

        assert process.read_now(feed_owners.find_by_token, feed.token) != lost
