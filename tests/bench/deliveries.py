"""Webhooks out: Hiatus's dispatcher beside bare loops, the same receiver and as many in flight.

Of Hiatus it is measured how long an outbox that was filled before takes to be delivered: claimed,
signed, sent, settled and committed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from storage.admin import organisations
from storage.admin.organisations import NewOrganisation
from storage.base.ids import new_id
from storage.base.secrets import Secrets, new_secret_key
from storage.base.values import SCOPES, Caller
from storage.db.database import Transaction
from storage.db.engines import open_database
from storage.db.schema import migrate
from storage.db.tables import DeliveryRow, EventRow
from storage.events import webhooks
from tests import postgres
from tests.bench import servers
from tests.bench.sending import BODY_BYTES, WARM_UP, Sending, run_apart

IN_FLIGHT = 32
# As many as share the deliveries in flight between them.
ENDPOINTS = 8
BARE_WAYS = ("httpx", "httpx-aiohttp")
# What Hiatus means to reach of each.
TARGETS = {"httpx": 2.0, "httpx-aiohttp": 0.6}


def measure(
    engines: Sequence[str], rounds: int, deliveries: int, folder: Path
) -> Iterator[dict[str, float]]:
    """Deliveries a second of each round, by a bare way's name or Hiatus's engine."""
    with ExitStack() as stack:
        port = stack.enter_context(servers.receiver(folder)).port
        urls = {engine: stack.enter_context(_url(engine, folder)) for engine in engines}
        for number in range(rounds):
            found = {
                way: run_apart(
                    Sending(way=way, port=port, deliveries=deliveries, in_flight=IN_FLIGHT)
                )
                for way in BARE_WAYS
            }
            for engine in engines:
                url, key = urls[engine](number), new_secret_key()
                _fill(url, key, port, deliveries + WARM_UP)
                sending = Sending(
                    way="hiatus",
                    port=port,
                    deliveries=deliveries,
                    in_flight=IN_FLIGHT,
                    database_url=url,
                    secret_key=key,
                )
                found[engine] = run_apart(sending)
            yield found


@contextmanager
def _url(engine: str, folder: Path) -> Iterator[Callable[[int], str]]:
    """Makes the URL of an empty database for each round."""
    if engine == "sqlite":
        yield lambda number: f"sqlite:///{folder / f'deliveries-{number}.db'}"
        return
    server = postgres.start(durable=True)
    try:
        yield lambda number: postgres.make_database(server.url, f"deliveries_{number}")
    finally:
        server.stop()


def _fill(url: str, secret_key: str, port: int, deliveries: int) -> None:
    """An organisation's endpoints with that many deliveries due, the endpoints taking turns."""
    migrate(url)
    database = open_database(url, Secrets([secret_key]))
    try:
        database.write_now(_queue, f"http://127.0.0.1:{port}/hook", deliveries)
    finally:
        database.close()


def _queue(tx: Transaction, url: str, deliveries: int) -> None:
    now = datetime.now(UTC)
    new = NewOrganisation(
        name="Bench",
        country_code="GB",
        timezone="Europe/London",
        owner_email="olive@example.com",
        owner_first_name="Olive",
        owner_last_name="Owner",
    )
    organisation, owner = organisations.create(tx, new, source="cli", now=now)
    by = Caller(
        organisation_id=organisation.id,
        user_id=owner.id,
        role="owner",
        scopes=frozenset(SCOPES),
        source="cli",
    )
    endpoints = [webhooks.create(tx, url, ["*"], by=by, now=now)[0].id for _ in range(ENDPOINTS)]
    events, queued = [], []
    for number in range(deliveries):
        event_id = new_id(now)
        known = {"organisation_id": organisation.id, "sequence": 1, "created_at": now}
        events.append(
            known | {"id": event_id, "type": "leave_request.created", "body": b"x" * BODY_BYTES}
        )
        queued.append(
            known
            | {
                "id": new_id(now),
                "webhook_id": endpoints[number % ENDPOINTS],
                "event_id": event_id,
                "event_type": "leave_request.created",
                "status": "pending",
                "attempts": 0,
                "due_at": now,
            }
        )
    tx.insert_all(EventRow, events)
    tx.insert_all(DeliveryRow, queued)
