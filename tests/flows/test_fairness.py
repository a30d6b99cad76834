"""200 endpoints of which one is dead with 100,000 deliveries due and one drips: nobody waits."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime

from api.webhook_delivery import Sender
from api.webhook_dispatch import webhook_dispatcher
from storage import delivery_queue, webhooks
from storage.database import Database, Transaction
from storage.values import Webhook
from tests.backlog import park
from tests.builders import Acme, a_person, a_request, an_organisation
from tests.fakes.receiver import LoopbackReceiver

ENDPOINTS = 200
BACKLOG = 100_000
IN_TIME_SECONDS = 3.0
# An organisation has at most a hundred.
ORGANISATIONS = 2


def clock() -> datetime:
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def listening(database: Database, receiver: LoopbackReceiver) -> list[tuple[Acme, list[Webhook]]]:
    """Two organisations with a hundred endpoints each, all of them paths of one receiver."""

    def register(tx: Transaction, acme: Acme, number: int) -> list[Webhook]:
        numbers = range(number * 100, number * 100 + ENDPOINTS // ORGANISATIONS)
        return [
            webhooks.create(tx, receiver.url_of(f"/{one}"), ["*"], by=acme.caller, now=clock())[0]
            for one in numbers
        ]

    found = []
    for number in range(ORGANISATIONS):
        acme = an_organisation(database, now=clock())
        found.append((acme, database.write_now(register, acme, number)))
    return found


def test_a_new_event_reaches_everybody_else_in_time(database: Database, database_url: str) -> None:
    with LoopbackReceiver() as receiver:
        organisations = listening(database, receiver)
        acme, (dead, dripping, *_) = organisations[0]
        # Hangs as long as an attempt may take, which is worse than refusing.
        receiver.answer(delay_seconds=60, path="/0", times=BACKLOG)
        receiver.answer(drip=True, path="/1", times=BACKLOG)
        people = [a_person(database, one, now=clock()) for one, _ in organisations]
        a_request(database, acme, people[0], now=clock())
        park(database_url, acme, dead, rows=BACKLOG, due_at=clock())
        park_of = database.read_now(delivery_queue.waiting, now=clock())
        assert park_of.due >= delivery_queue.COUNTED

        arrived = asyncio.run(delivered(database, receiver, organisations, people))

    paths = {f"/{number}" for number in range(ENDPOINTS)} - {"/0", "/1"}
    assert paths <= arrived.keys()
    late = {path: seconds for path, seconds in arrived.items() if path in paths}
    assert max(late.values()) < IN_TIME_SECONDS


async def delivered(
    database: Database,
    receiver: LoopbackReceiver,
    organisations: list[tuple[Acme, list[Webhook]]],
    people: list[object],
) -> dict[str, float]:
    """Deliver for a while, then write a new event in each organisation; when it arrived where."""
    async with Sender(allow_private=True, attempt_seconds=5.0) as sender:
        dispatcher = webhook_dispatcher(database, sender, clock)
        database.on_wake(dispatcher.name, dispatcher.wake)
        dispatcher.start()
        ticking = asyncio.create_task(tick(dispatcher.wake))
        try:
            # By now the dead one holds what it may hold.
            await asyncio.sleep(2)
            seen = len(receiver.requests)
            began_at = time.monotonic()
            await asyncio.to_thread(ask, database, organisations, people)
            await asyncio.to_thread(wait_for, receiver, seen + ENDPOINTS - 2)
            return {
                one.path: one.received_at - began_at
                for one in receiver.requests[seen:]
                if b'"leave_request.created"' in one.body
            }
        finally:
            ticking.cancel()
            with suppress(asyncio.CancelledError):
                await ticking
            await dispatcher.stop()


def ask(database: Database, organisations: list[tuple[Acme, list[Webhook]]], people: list[object]) -> None:
    for (acme, _), person in zip(organisations, people, strict=True):
        a_request(database, acme, person, now=clock())
