"""``DATABASE_READ_URL``: feeds are read on a standby as long as it has everything they show."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import pytest

from storage.db.schema import migrate
from tests import outside, postgres, replication
from tests.flows.running import Deployment, Server
from tests.replication import Pair

pytestmark = pytest.mark.slow

# Twice the time-out of a standby: for a thread, and for its answer.
STANDBY_SECONDS = 4
# A machine that is busy with something else.
GRACE_SECONDS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Acme:
    """An organisation whose name is the title of its feed."""

    pair: Pair
    server: Server
    owner: httpx.Client

    def rename(self, name: str) -> None:
        self.owner.patch("/api/v1/organisation", json={"name": name}).raise_for_status()

    def feed_path(self) -> str:
        feeds = self.owner.get("/api/v1/calendar-feeds/token").raise_for_status().json()["feeds"]
        path: str = feeds["organisation"]
        return path

    def feed(self) -> str:
        return self.owner.get(self.feed_path()).raise_for_status().text

    def wait_for_replay(self) -> None:
        (at,) = outside.rows(self.pair.primary.local_url, "SELECT pg_current_wal_lsn()::text")[0]
        query = f"SELECT pg_last_wal_replay_lsn() >= '{at}'"
        ends_at = time.monotonic() + 60
        while outside.rows(self.pair.standby.local_url, query) != [(True,)]:
            assert time.monotonic() < ends_at
            time.sleep(0.01)

    def leave_is_read_on_standby(self) -> bool:
        return 'FROM "leave_requests"' in (self.pair.standby.folder / "log").read_text()


@contextmanager
def acme(pair: Pair) -> Iterator[Acme]:
    migrate(pair.url)
    replication.set_up(pair.standby.local_url, "log_statement", "all")
    deployment = Deployment(pair.url, DATABASE_READ_URL=pair.standby.url)
    owner_key = deployment.init()["api_key"]
    with deployment.serving() as server:
        yield Acme(pair=pair, server=server, owner=server.client(owner_key))


@pytest.fixture
def pair() -> Iterator[Pair]:
    with replication.running() as pair:
        yield pair


def test_a_feed_is_read_on_a_standby_that_has_every_change(pair: Pair) -> None:
    with acme(pair) as company:
        company.rename("Analytical Engines")
        company.wait_for_replay()

        assert "Leave: Analytical Engines" in company.feed()

        assert company.leave_is_read_on_standby()


def test_the_primary_answers_for_a_standby_that_lags(pair: Pair) -> None:
    with acme(pair) as company:
        company.wait_for_replay()
        old_path = company.feed_path()
        outside.rows(pair.standby.local_url, "SELECT pg_wal_replay_pause()")

        company.rename("Analytical Engines")
        assert "Leave: Analytical Engines" in company.feed()
        assert not company.leave_is_read_on_standby()
        company.owner.post("/api/v1/calendar-feeds/regenerate").raise_for_status()
        assert company.owner.get(old_path).status_code == 404
        assert "Leave: Analytical Engines" in company.feed()

        outside.rows(pair.standby.local_url, "SELECT pg_wal_replay_resume()")
        company.rename("Difference Engines")
        company.wait_for_replay()
        assert "Leave: Difference Engines" in company.feed()
        assert company.leave_is_read_on_standby()


def test_the_primary_answers_for_a_standby_that_hangs_or_ends(pair: Pair) -> None:
    with acme(pair) as company:
        company.feed()
        # The primary's commits wait for no standby any more.
        replication.set_up(pair.primary.local_url, "synchronous_standby_names", "")
        with postgres.frozen(pair.standby.folder):
            company.rename("Analytical Engines")
            path = company.feed_path()
            began_at = time.monotonic()
            assert "Leave: Analytical Engines" in company.owner.get(path).text
            assert time.monotonic() - began_at < STANDBY_SECONDS + GRACE_SECONDS
            company.rename("Difference Engines")
            assert "Leave: Difference Engines" in company.feed()
        pair.standby.kill()
        company.rename("Tabulating Engines")
        assert "Leave: Tabulating Engines" in company.feed()
        company.server.stop()

    logged = [json.loads(line) for line in company.server.logged().splitlines()]
    # Not at each read: after an error it is left alone for a while.
    assert [line["event"] for line in logged].count("standby.unavailable") == 1
