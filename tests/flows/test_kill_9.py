"""`kill -9` at random moments, twenty times, under load: every event arrives, few twice."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from datetime import date

import pytest

from storage.base.secrets import Secrets, new_secret_key
from storage.db.database import Database
from storage.db.engines import open_database
from storage.leave import leave_requests
from storage.webhooks import delivery_queue, webhooks
from storage.webhooks.delivery_queue import MAX_IN_FLIGHT
from tests import outside
from tests.builders import Acme, a_person, a_request, an_organisation, caller_for
from tests.fakes.receiver import LoopbackReceiver
from tests.flows.delivering import clock
from tests.flows.running import ROOT

pytestmark = pytest.mark.slow

KILLS = 20
ENDPOINTS = 3
PROCESSES = 2
LEASE_SECONDS = 4
# On a busy machine an attempt may time out, and is repeated after a minute.
DRAIN_SECONDS = 150
DAY = date(2026, 12, 7)


class Delivering:
    """Delivery processes; a killed one is replaced at once."""

    def __init__(self, url: str, secret_key: str) -> None:
        self._command = [
            *(sys.executable, "-m", "tests.flows.delivering"),
            *(url, secret_key, str(LEASE_SECONDS)),
        ]
        self._processes = [self._start() for _ in range(PROCESSES)]

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, cwd=ROOT)

    def kill_one(self) -> None:
        victim = self._processes.pop(random.randrange(PROCESSES))
        assert victim.poll() is None, "it ended by itself"
        victim.kill()
        victim.wait()
        self._processes.append(self._start())

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


def keep_writing(database: Database, acme: Acme, is_over: threading.Event) -> None:
    """Users who request leave, edit it twice and cancel: tens of events a second."""
    while not is_over.is_set():
        ada = a_person(database, acme, now=clock())
        by = caller_for(acme, ada)
        request = a_request(database, acme, ada, note="zero", start_date=DAY, now=clock())
        for note in ("one", "two"):
            database.write_now(leave_requests.edit, request.id, {"note": note}, by=by, now=clock())
        database.write_now(leave_requests.cancel, request.id, by=by, now=clock())
        is_over.wait(0.1)


def test_every_event_arrives_and_only_those_in_flight_arrive_twice(
    database_url: str,
) -> None:
    key = new_secret_key()
    with (
        LoopbackReceiver(delay_seconds=0.05) as receiver,
        closing(open_database(database_url, Secrets([key]))) as database,
    ):
        acme = an_organisation(database, now=clock())
        endpoints = {}
        for number in range(ENDPOINTS):
            url = receiver.url_of(f"/{number}")
            made, _ = database.write_now(webhooks.create, url, ["*"], by=acme.caller, now=clock())
            endpoints[made.id] = f"/{number}"
        is_over = threading.Event()
        writing = threading.Thread(target=keep_writing, args=(database, acme, is_over))
        writing.start()
        with closing(Delivering(database_url, key)) as delivering:
            receiver.wait_for(1, 30)
            for _ in range(KILLS):
                time.sleep(random.uniform(0.1, 0.8))
                delivering.kill_one()
            is_over.set()
            writing.join()
            drained = wait_until_drained(database)
        received = receiver.requests
        due = outside.rows(
            database_url, "SELECT webhook_id, event_id, status, sequence FROM deliveries"
        )

    assert drained
    expected = {(endpoints[str(webhook_id)], str(event_id)) for webhook_id, event_id, _, _ in due}
    arrived = Counter((delivery.path, delivery.headers["webhook-id"]) for delivery in received)
    assert len(expected) > 100
    assert arrived.keys() == expected
    assert {status for _, _, status, _ in due} == {"delivered"}
    twice = sum(times - 1 for times in arrived.values())
    assert twice <= KILLS * ENDPOINTS * MAX_IN_FLIGHT
    bodies = {(delivery.headers["webhook-id"], delivery.body) for delivery in received}
    assert len(bodies) == len({event_id for _, event_id in expected})


def wait_until_drained(database: Database) -> bool:
    ends_at = time.monotonic() + DRAIN_SECONDS
    while time.monotonic() < ends_at:
        if database.read_now(delivery_queue.oldest_due_at) is None:
            return True
        time.sleep(0.2)
    return False
