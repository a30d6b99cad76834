"""Webhook deliveries of Hiatus's dispatcher, compared with a bare loop to the same receiver.

Hiatus delivers an outbox that was filled before: the time includes claims, signatures, results and
commits.
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
from storage.webhooks import webhooks
from tests import postgres
from tests.bench import servers
from tests.bench.sending import BODY_BYTES, WARM_UP, Sending, run_apart

IN_FLIGHT = 32
# They share the deliveries in flight.
ENDPOINTS = 8
BARE_CLIENT = "httpx"


def measure(
    engines: Sequence[str], rounds: int, deliveries: int, folder: Path
) -> Iterator[dict[str, float]]:
    """Yields each round's deliveries per second, by BARE_CLIENT or Hiatus's engine."""
    with ExitStack() as stack:
        port = stack.enter_context(servers.receiver(folder)).port
        urls = {engine: stack.enter_context(_url(engine, folder)) for engine in engines}
        for number in range(rounds):
            bare = Sending(
                client=BARE_CLIENT, port=port, deliveries=deliveries, in_flight=IN_FLIGHT
            )
            per_second = {BARE_CLIENT: run_apart(bare)}
            for engine in engines:
                url, key = urls[engine](number), new_secret_key()
                _fill(url, key, port, deliveries + WARM_UP)
                sending = Sending(
                    client="hiatus",
                    port=port,
                    deliveries=deliveries,
                    in_flight=IN_FLIGHT,
                    database_url=url,
                    secret_key=key,
                )
                per_second[engine] = run_apart(sending)
            yield per_second


@contextmanager
def _url(engine: str, folder: Path) -> Iterator[Callable[[int], str]]:
    """Returns the URL of an empty database for each round."""
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
        common = {"organisation_id": organisation.id, "sequence": 1, "created_at": now}
        events.append(
            common | {"id": event_id, "type": "leave_request.created", "body": b"x" * BODY_BYTES}
        )
        queued.append(
            common
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
