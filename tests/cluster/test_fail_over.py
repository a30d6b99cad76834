"""Fail-over of PostgreSQL under load: no process is restarted, nothing acknowledged is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests import haproxy, postgres, replication
from tests.cluster import drills
from tests.replication import Namespace, Pair

pytestmark = pytest.mark.slow

# Longer than the time-out, so that requests and probes end during it.
OUTAGE_SECONDS = 13
# After the old primary can be reached again.
AFTERMATH_SECONDS = 3


@pytest.fixture
def pair() -> Iterator[Pair]:
    with replication.running() as pair:
        yield pair


@pytest.fixture
def namespace() -> Iterator[Namespace]:
    """A network that can be cut."""
    reason = replication.lacks_namespaces()
    if reason:
        pytest.skip(reason)
    with replication.namespace() as namespace:
        yield namespace


def test_the_primary_is_killed(pair: Pair) -> None:
    with drills.running(pair.url) as drill:
        with drill.loading():
            drill.wait_for_load()
            pair.primary.kill()
            drill.outage_began()
            time.sleep(2)
            drill.wait_until_recovered(pair.promote())
        drill.check(pair.standby.local_url)


def test_the_primary_is_frozen_and_wakes_up(pair: Pair) -> None:
    with drills.running(pair.url) as drill:
        with drill.loading():
            drill.wait_for_load()
            with postgres.frozen(pair.primary.folder):
                drill.outage_began()
                time.sleep(OUTAGE_SECONDS)
                drill.wait_until_recovered(pair.promote())
            time.sleep(AFTERMATH_SECONDS)
        drill.check(pair.standby.local_url)


def test_the_network_of_the_primary_is_cut_and_heals(namespace: Namespace) -> None:
    with replication.running(namespace) as pair, drills.running(pair.url) as drill:
        with drill.loading():
            drill.wait_for_load()
            namespace.cut()
            drill.outage_began()
            time.sleep(OUTAGE_SECONDS)
            drill.wait_until_recovered(pair.promote())
            namespace.heal()
            time.sleep(AFTERMATH_SECONDS)
        drill.check(pair.standby.local_url)


@pytest.mark.skipif(
    haproxy.PROGRAM is None,
    reason="HAProxy is not installed: `apt-get install haproxy` or its like adds it.",
)
def test_the_primary_behind_haproxy_is_frozen_and_wakes_up(pair: Pair) -> None:
    with haproxy.running(pair) as (url, leaders), drills.running(url) as drill:
        with drill.loading():
            drill.wait_for_load()
            with postgres.frozen(pair.primary.folder):
                drill.outage_began()
                leaders.leader = None
                time.sleep(5)
                promoted_at = pair.promote()
                leaders.leader = pair.standby
                drill.wait_until_recovered(promoted_at)
            time.sleep(AFTERMATH_SECONDS)
        drill.check(pair.standby.local_url)
