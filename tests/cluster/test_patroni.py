"""Fail-over and switch-over by Patroni itself, under load."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests import patroni
from tests.cluster import drills
from tests.patroni import Managed

pytestmark = pytest.mark.slow

# After a switch-over, and after an old primary can be reached again.
AFTERMATH_SECONDS = 3


@pytest.fixture
def servers() -> Iterator[tuple[Managed, Managed]]:
    reason = patroni.missing()
    if reason:
        pytest.skip(reason)
    with patroni.running() as servers:
        yield servers


def test_a_primary_that_freezes_is_replaced_comes_back_as_a_standby_and_takes_over_again(
    servers: tuple[Managed, Managed],
) -> None:
    first, second = servers
    pair = patroni.pair_of(first, second)
    with drills.running(pair.url) as drill:
        with drill.loading():
            drill.wait_for_load()
            with first.frozen():
                drill.outage_began()
                drill.wait_until_recovered(drills.wait_for(second.is_primary))
            # Patroni rewinds it.
            drills.wait_for(first.is_synchronous_standby)
            second.switch_over(first)
            drills.wait_for(first.is_primary)
            time.sleep(AFTERMATH_SECONDS)
        drill.check(first.node.local_url)


def test_a_primary_that_is_lost_with_its_machine_is_replaced(
    servers: tuple[Managed, Managed],
) -> None:
    first, second = servers
    pair = patroni.pair_of(first, second)
    with drills.running(pair.url) as drill:
        with drill.loading():
            drill.wait_for_load()
            first.kill()
            drill.outage_began()
            drill.wait_until_recovered(drills.wait_for(second.is_primary))
        drill.check(second.node.local_url)
