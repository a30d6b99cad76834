"""Leased queues: claim, renewal, release and back-off, with the queue of directory syncs."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from storage.db.database import Database
from storage.outbox.leased_queue import wait_after
from storage.people import slack_syncs
from storage.people.slack_syncs import QUEUE, SPACING, Sync
from storage.workspaces import slack_workspaces
from tests.builders import NOW, Acme, an_organisation

ALMOST_EXPIRED = NOW + QUEUE.lease - timedelta(seconds=1)
EXPIRED = NOW + QUEUE.lease


@pytest.fixture
def acme(database: Database) -> Acme:
    """An organisation whose first directory sync is due."""
    acme = an_organisation(database)
    database.write_now(slack_workspaces.link, acme.organisation, "T1", source="cli", now=NOW)
    return acme


def claimed(database: Database, claim_id: str, now: datetime) -> list[Sync]:
    return database.write_now(slack_syncs.claim, claim_id=claim_id, now=now, limit=8)


@pytest.mark.usefixtures("acme")
def test_a_renewed_lease_lasts_longer_than_the_first(database: Database) -> None:
    (sync,) = claimed(database, "one", NOW)

    assert database.write_now(slack_syncs.renew, sync, now=ALMOST_EXPIRED)

    assert claimed(database, "two", EXPIRED) == []
    assert len(claimed(database, "two", ALMOST_EXPIRED + QUEUE.lease)) == 1


def test_a_released_row_can_be_claimed_again(database: Database, acme: Acme) -> None:
    (sync,) = claimed(database, "one", NOW)
    database.write_now(slack_syncs.finish, sync, now=NOW)

    assert not database.write_now(slack_syncs.renew, sync, now=NOW)
    # A request brings the next sync forward, unless the row is claimed.
    database.write_now(slack_syncs.request_soon, acme.id, now=NOW)
    assert len(claimed(database, "two", NOW + SPACING)) == 1


@pytest.mark.parametrize(
    ("failures", "wait"), [(1, "short"), (2, "longer"), (3, "longest"), (9, "longest")]
)
def test_waits_grow_with_failures_and_the_last_one_is_repeated(failures: int, wait: str) -> None:
    assert wait_after(failures, ("short", "longer", "longest")) == wait
