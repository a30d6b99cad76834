"""Claims: fair between endpoints, leased, however long the backlog; and pruning of old rows."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import closing
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from storage.base.event_values import Webhook
from storage.base.secrets import Secrets
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.leave import leave_requests
from storage.operations import pruning
from storage.outbox.leased_queue import wait_after
from storage.people import slack_syncs
from storage.people.slack_syncs import QUEUE, SPACING, Sync
from storage.webhooks import deliveries, delivery_queue, webhooks
from storage.webhooks.deliveries import Outcome
from storage.webhooks.delivery_queue import Backlog, Delivery
from storage.workspaces import oauth_states, slack_events, slack_workspaces
from tests import outside
from tests.backlog import park
from tests.builders import (
    NOW,
    Acme,
    a_person,
    a_request,
    a_webhook,
    an_organisation,
    approved_leave,
)
from tests.outcomes import DELIVERED, FAILED
from tests.refusals import in_threads

pytestmark = pytest.mark.both_engines


def listening(database: Database, acme: Acme, count: int = 1) -> list[Webhook]:
    urls = [f"https://example.com/{number}" for number in range(count)]
    return [a_webhook(database, acme, url=url) for url in urls]


def requests(database: Database, acme: Acme, count: int) -> None:
    ada = a_person(database, acme)
    for number in range(count):
        a_request(database, acme, ada, start_date=date(2026, 8, 3) + timedelta(weeks=number))


def claimed(
    database: Database, limit: int = 100, after: timedelta = timedelta(0)
) -> list[Delivery]:
    return database.write_now(delivery_queue.claim, limit=limit, claim_id="one", now=NOW + after)


def record(database: Database, claims: list[Delivery], outcome: Outcome) -> None:
    results = [(delivery, outcome) for delivery in claims]
    database.write_now(deliveries.record_results, results, jitter=lambda: 1.0, now=NOW)


def test_every_endpoints_first_delivery_is_claimed_before_any_second(database: Database) -> None:
    acme = an_organisation(database)
    listening(database, acme, 5)
    requests(database, acme, 3)

    first = claimed(database, limit=5)
    second = claimed(database, limit=7)

    assert len({delivery.webhook_id for delivery in first}) == 5
    assert sorted(Counter(delivery.webhook_id for delivery in second).values()) == [1, 1, 1, 2, 2]


def test_an_endpoint_has_a_limit_of_deliveries_in_flight(database: Database, acme: Acme) -> None:
    listening(database, acme)
    requests(database, acme, delivery_queue.MAX_IN_FLIGHT + 2)

    first = claimed(database)
    assert (len(first), claimed(database)) == (delivery_queue.MAX_IN_FLIGHT, [])
    record(database, first[:3], DELIVERED)

    assert len(claimed(database)) == 2


def test_a_failing_endpoint_has_one_delivery_in_flight_until_one_succeeds(
    database: Database, acme: Acme
) -> None:
    listening(database, acme)
    requests(database, acme, 6)

    record(database, claimed(database, limit=1), FAILED)
    (probe,) = claimed(database)
    assert claimed(database) == []
    record(database, [probe], DELIVERED)

    assert len(claimed(database)) == 4


def test_an_expired_lease_does_not_count_as_in_flight(database: Database, acme: Acme) -> None:
    listening(database, acme)
    requests(database, acme, delivery_queue.MAX_IN_FLIGHT + 2)
    lost = claimed(database)

    again = claimed(database, after=delivery_queue.QUEUE.lease)

    assert len(again) == len(lost) == delivery_queue.MAX_IN_FLIGHT


def test_the_backlog_of_a_dead_endpoint_does_not_delay_others(
    database: Database, acme: Acme, database_url: str
) -> None:
    dead, *others = listening(database, acme, 20)
    requests(database, acme, 1)
    park(database_url, acme, dead, rows=20_000)

    first, rest = claimed(database, limit=10), claimed(database)

    assert len({delivery.webhook_id for delivery in first}) == 10
    assert Counter(delivery.webhook_id for delivery in first + rest) == {
        dead.id: delivery_queue.MAX_IN_FLIGHT
    } | {webhook.id: 1 for webhook in others}


def test_the_backlog_has_counts_and_the_oldest_due_time(database: Database, acme: Acme) -> None:
    listening(database, acme, 2)
    requests(database, acme, 3)
    claimed(database, limit=1)

    backlog = database.read_now(delivery_queue.backlog, now=NOW)

    assert backlog == Backlog(due=5, in_flight=1, oldest_due_at=round(NOW.timestamp() * 1000))


def test_paused_deliveries_block_nothing_and_are_sent_once_enabled(
    database: Database, acme: Acme
) -> None:
    (webhook,) = listening(database, acme)
    requests(database, acme, 2)
    off, on = {"is_active": False}, {"is_active": True}
    acme.write(webhooks.update, webhook.id, off)

    assert claimed(database) == []
    assert database.read_now(delivery_queue.oldest_due_at) is None
    assert database.read_now(delivery_queue.backlog, now=NOW) == Backlog(
        due=0, in_flight=0, oldest_due_at=None
    )

    acme.write(webhooks.update, webhook.id, on)
    assert len(claimed(database)) == 2


def test_events_of_a_request_are_claimed_in_order(database: Database, acme: Acme) -> None:
    listening(database, acme, 2)
    request = approved_leave(database, acme, a_person(database, acme))
    acme.write(leave_requests.cancel, request.id)

    event_types = []
    while claims := claimed(database):
        event_types.append(sorted(delivery.event_type for delivery in claims))
        record(database, claims, DELIVERED)

    assert event_types == [
        ["leave_request.created"] * 2,
        ["leave_request.approved"] * 2,
        ["leave_request.cancelled"] * 2,
    ]


def test_concurrent_claims_share_a_long_queue(database: Database, acme: Acme) -> None:
    listening(database, acme, 30)
    requests(database, acme, 4)
    begin = threading.Barrier(4)
    claimed_ids: list[str] = []

    def take(name: int) -> None:
        begin.wait()
        # A claim may be empty: it skips rows that another claim has locked.
        for number in range(200):
            claims = database.write_now(
                delivery_queue.claim, limit=5, claim_id=f"{name}-{number}", now=NOW
            )
            claimed_ids.extend(delivery.id for delivery in claims)
            if len(claimed_ids) >= 120:
                break

    in_threads(4, take)

    assert len(claimed_ids) == len(set(claimed_ids)) == 120


def test_a_claim_never_waits_for_the_claim_of_another_process(postgres_url: str) -> None:
    with closing(open_database(postgres_url, Secrets.generate())) as database:
        acme = an_organisation(database)
        listening(database, acme, 2)
        requests(database, acme, 1)
        later: list[Delivery] = []
        other = threading.Thread(target=lambda: later.extend(claimed(database, limit=1)))

        def claim_meanwhile(tx: Transaction) -> tuple[list[Delivery], bool]:
            first = delivery_queue.claim(tx, limit=1, claim_id="another", now=NOW)
            other.start()
            other.join(10)
            return first, other.is_alive()

        first, has_waited = database.write_now(claim_meanwhile)
        other.join()

    assert not has_waited
    assert len({delivery.webhook_id for delivery in first + later}) == 2


OLD = NOW - timedelta(days=31)


def test_old_rows_are_deleted_in_any_number_of_batches(database: Database) -> None:
    for number in range(5):
        database.write_now(slack_events.claim, f"Ev{number}", now=OLD)
    database.write_now(slack_events.claim, "EvNew", now=NOW)
    states = [oauth_states.issue(database.secrets, now=when) for when in (OLD, OLD, OLD, NOW)]
    for state, when in zip(states, (OLD, OLD, OLD, NOW), strict=True):
        assert database.write_now(oauth_states.consume, state, now=when)

    asyncio.run(pruning.prune(database, now=NOW, batch=2))

    assert database.write_now(slack_events.prune, now=NOW) == 0
    assert not database.write_now(slack_events.claim, "EvNew", now=NOW)
    assert database.write_now(slack_events.claim, "Ev3", now=NOW)
    assert database.write_now(oauth_states.prune, now=NOW) == 0
    assert not database.write_now(oauth_states.consume, state, now=NOW)


def test_no_deletion_runs_on_the_event_loop() -> None:
    class Recorder:
        def __init__(self) -> None:
            self.use_cases: list[Any] = []

        async def write(self, use_case: Any, **_: Any) -> Any:
            self.use_cases.append(getattr(use_case, "func", use_case))
            return 0

        async def read(self, use_case: Any, **_: Any) -> Any:
            self.use_cases.append(use_case)
            return []

    recorder: Any = Recorder()

    asyncio.run(pruning.prune(recorder, now=NOW))

    modules = [use_case.__module__ for use_case in recorder.use_cases]
    assert modules == [
        "storage.notifications.notification_queue",
        "storage.keys.idempotency",
        "storage.workspaces.slack_events",
        "storage.workspaces.oauth_states",
        "storage.operations.pruning",
        "storage.admin.leave_retention",
    ]


def test_a_table_that_cannot_be_pruned_stops_no_other(postgres_url: str) -> None:
    with closing(open_database(postgres_url, Secrets.generate())) as database:
        database.write_now(slack_events.claim, "Ev1", now=OLD)
        outside.run(postgres_url, "ALTER TABLE notices RENAME TO damaged")

        asyncio.run(pruning.prune(database, now=NOW))

        assert database.write_now(slack_events.prune, now=NOW) == 0


ALMOST_EXPIRED = NOW + QUEUE.lease - timedelta(seconds=1)
EXPIRED = NOW + QUEUE.lease


@pytest.fixture
def in_slack(database: Database) -> Acme:
    """An organisation whose first directory sync is due."""
    acme = an_organisation(database)
    database.write_now(slack_workspaces.link, acme.organisation, "T1", source="cli", now=NOW)
    return acme


def claimed_job(database: Database, claim_id: str, now: datetime) -> list[Sync]:
    return database.write_now(slack_syncs.claim, claim_id=claim_id, now=now, limit=8)


@pytest.mark.usefixtures("in_slack")
def test_a_renewed_lease_lasts_longer_than_the_first(database: Database) -> None:
    (sync,) = claimed_job(database, "one", NOW)

    assert database.write_now(slack_syncs.renew, sync, now=ALMOST_EXPIRED)

    assert claimed_job(database, "two", EXPIRED) == []
    assert len(claimed_job(database, "two", ALMOST_EXPIRED + QUEUE.lease)) == 1


def test_a_released_row_can_be_claimed_again(database: Database, in_slack: Acme) -> None:
    (sync,) = claimed_job(database, "one", NOW)
    database.write_now(slack_syncs.finish, sync, now=NOW)

    assert not database.write_now(slack_syncs.renew, sync, now=NOW)
    # A request brings the next sync forward, unless the row is claimed.
    database.write_now(slack_syncs.request_soon, in_slack.id, now=NOW)
    assert len(claimed_job(database, "two", NOW + SPACING)) == 1


@pytest.mark.parametrize(
    ("failures", "wait"), [(1, "short"), (2, "longer"), (3, "longest"), (9, "longest")]
)
def test_waits_grow_with_failures_and_the_last_one_is_repeated(failures: int, wait: str) -> None:
    assert wait_after(failures, ("short", "longer", "longest")) == wait
