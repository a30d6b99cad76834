"""Claims: fair between endpoints, capped for each, and blind to how much waits."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import closing
from datetime import date, timedelta

from storage.base.event_values import Webhook
from storage.base.secrets import Secrets
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.leave import decisions, leave_requests
from storage.webhooks import deliveries, delivery_backlog, delivery_queue, webhooks
from storage.webhooks.deliveries import Outcome
from storage.webhooks.delivery_backlog import Backlog
from storage.webhooks.delivery_queue import Delivery
from tests.backlog import park
from tests.builders import NOW, Acme, a_person, a_request, an_organisation
from tests.outcomes import DELIVERED, FAILED


def listening(database: Database, acme: Acme, count: int = 1) -> list[Webhook]:
    urls = [f"https://example.com/{number}" for number in range(count)]
    return [
        database.write_now(webhooks.create, url, ["*"], by=acme.caller, now=NOW)[0] for url in urls
    ]


def requests(database: Database, acme: Acme, count: int) -> None:
    ada = a_person(database, acme)
    for number in range(count):
        a_request(database, acme, ada, start_date=date(2026, 8, 3) + timedelta(weeks=number))


def claimed(
    database: Database, limit: int = 100, after: timedelta = timedelta(0)
) -> list[Delivery]:
    return database.write_now(delivery_queue.claim, limit=limit, claim_id="one", now=NOW + after)


def settled(database: Database, done: list[Delivery], outcome: Outcome) -> None:
    pairs = [(delivery, outcome) for delivery in done]
    database.write_now(deliveries.record_results, pairs, jitter=lambda: 1.0, now=NOW)


def test_every_endpoints_first_comes_before_any_endpoints_second(database: Database) -> None:
    acme = an_organisation(database)
    listening(database, acme, 5)
    requests(database, acme, 3)

    first = claimed(database, limit=5)
    second = claimed(database, limit=7)

    assert len({delivery.webhook_id for delivery in first}) == 5
    assert sorted(Counter(delivery.webhook_id for delivery in second).values()) == [1, 1, 1, 2, 2]


def test_no_endpoint_gets_more_at_a_time_than_its_share(database: Database) -> None:
    acme = an_organisation(database)
    listening(database, acme)
    requests(database, acme, delivery_queue.MAX_IN_FLIGHT + 2)

    first = claimed(database)
    assert (len(first), claimed(database)) == (delivery_queue.MAX_IN_FLIGHT, [])
    settled(database, first[:3], DELIVERED)

    assert len(claimed(database)) == 2


def test_an_endpoint_that_fails_gets_one_at_a_time_until_it_answers(database: Database) -> None:
    acme = an_organisation(database)
    listening(database, acme)
    requests(database, acme, 6)

    settled(database, claimed(database, limit=1), FAILED)
    (probe,) = claimed(database)
    assert claimed(database) == []
    settled(database, [probe], DELIVERED)

    assert len(claimed(database)) == 4


def test_a_lease_that_ran_out_takes_no_room(database: Database) -> None:
    acme = an_organisation(database)
    listening(database, acme)
    requests(database, acme, delivery_queue.MAX_IN_FLIGHT + 2)
    lost = claimed(database)

    again = claimed(database, after=delivery_queue.QUEUE.lease)

    assert len(again) == len(lost) == delivery_queue.MAX_IN_FLIGHT


def test_a_claim_goes_past_the_backlog_of_a_dead_endpoint(
    database: Database, database_url: str
) -> None:
    acme = an_organisation(database)
    dead, *others = listening(database, acme, 20)
    requests(database, acme, 1)
    park(database_url, acme, dead, rows=20_000)

    found = claimed(database, limit=19 + delivery_queue.MAX_IN_FLIGHT)

    assert Counter(delivery.webhook_id for delivery in found) == {
        dead.id: delivery_queue.MAX_IN_FLIGHT
    } | {webhook.id: 1 for webhook in others}


def test_what_waits_is_counted_and_dated(database: Database) -> None:
    acme = an_organisation(database)
    listening(database, acme, 2)
    requests(database, acme, 3)
    claimed(database, limit=1)

    found = database.read_now(delivery_backlog.load, now=NOW)

    assert found == Backlog(due=5, in_flight=1, oldest_due_at=round(NOW.timestamp() * 1000))


def test_paused_deliveries_block_nothing_and_are_sent_once_enabled(
    database: Database,
) -> None:
    acme = an_organisation(database)
    (webhook,) = listening(database, acme)
    requests(database, acme, 2)
    off, on = {"is_active": False}, {"is_active": True}
    database.write_now(webhooks.update, webhook.id, off, by=acme.caller, now=NOW)

    assert claimed(database) == []
    assert database.read_now(delivery_backlog.oldest_due_at) is None
    assert database.read_now(delivery_backlog.load, now=NOW) == Backlog(
        due=0, in_flight=0, oldest_due_at=None
    )

    database.write_now(webhooks.update, webhook.id, on, by=acme.caller, now=NOW)
    assert len(claimed(database)) == 2


def test_events_of_one_request_go_out_one_after_the_other(database: Database) -> None:
    acme = an_organisation(database)
    listening(database, acme, 2)
    request = a_request(database, acme, a_person(database, acme))
    database.write_now(decisions.approve, request.id, by=acme.caller, now=NOW)
    database.write_now(leave_requests.cancel, request.id, by=acme.caller, now=NOW)

    seen = []
    while found := claimed(database):
        seen.append(sorted(delivery.event_type for delivery in found))
        settled(database, found, DELIVERED)

    assert seen == [
        ["leave_request.created"] * 2,
        ["leave_request.approved"] * 2,
        ["leave_request.cancelled"] * 2,
    ]


def test_processes_that_claim_at_once_share_out_a_long_queue(database: Database) -> None:
    acme = an_organisation(database)
    listening(database, acme, 30)
    requests(database, acme, 4)
    begin = threading.Barrier(4)
    taken: list[str] = []

    def take(name: int) -> None:
        begin.wait()
        # A turn may find nothing: what another is just taking is passed over.
        for number in range(200):
            found = database.write_now(
                delivery_queue.claim, limit=5, claim_id=f"{name}-{number}", now=NOW
            )
            taken.extend(delivery.id for delivery in found)
            if len(taken) >= 120:
                break

    threads = [threading.Thread(target=take, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(taken) == len(set(taken)) == 120


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
