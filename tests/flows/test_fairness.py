"""200 endpoints, one dead with 100,000 deliveries due, one that drips: nobody else waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from typing import NamedTuple

from api.webhook_delivery import Sender
from api.webhook_dispatch import webhook_dispatcher
from storage import delivery_queue, webhooks
from storage.database import Database, Transaction
from storage.values import LeaveRequest, User, Webhook
from tests.backlog import park
from tests.builders import Acme, a_person, a_request, an_organisation
from tests.fakes.receiver import LoopbackReceiver

BACKLOG = 100_000
IN_TIME_SECONDS = 3.0


class Side(NamedTuple):
    """An organisation with as many endpoints as one may have, all of them at one receiver."""

    acme: Acme
    ada: User
    endpoints: list[Webhook]


def clock() -> datetime:
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def a_side(database: Database, receiver: LoopbackReceiver, name: str) -> Side:
    acme = an_organisation(database, now=clock())

    def register(tx: Transaction) -> list[Webhook]:
        urls = [receiver.url_of(f"/{name}/{number}") for number in range(100)]
        return [webhooks.create(tx, url, ["*"], by=acme.caller, now=clock())[0] for url in urls]

    endpoints = database.write_now(register)
    return Side(acme, a_person(database, acme, now=clock()), endpoints)


@asynccontextmanager
async def delivering(database: Database) -> AsyncIterator[None]:
    """As a server does, its ticks included; an attempt may take a third of the usual time."""
    async with Sender(allow_private=True, attempt_seconds=5.0) as sender:
        dispatcher = webhook_dispatcher(database, sender, clock)
        database.on_wake(dispatcher.name, dispatcher.wake)
        dispatcher.start()
        ticking = asyncio.create_task(_tick(dispatcher.wake))
        try:
            yield
        finally:
            ticking.cancel()
            await dispatcher.stop()


async def _tick(wake: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(1)
        wake()


def test_a_new_event_reaches_everybody_else_in_time(database: Database, database_url: str) -> None:
    async def story(sides: list[Side], receiver: LoopbackReceiver) -> float:
        def ask() -> list[LeaveRequest]:
            return [
                a_request(database, acme, ada, start_date=date(2026, 9, 7), now=clock())
                for acme, ada, _ in sides
            ]

        async with delivering(database):
            # Time enough for the dead one to take all that it may have.
            await asyncio.sleep(1)
            began_at = time.monotonic()
            new = [request.id.encode() for request in await asyncio.to_thread(ask)]
            while True:
                arrived = {
                    one.path: one.received_at - began_at
                    for one in receiver.requests
                    if any(request_id in one.body for request_id in new)
                    and one.path not in ("/one/0", "/one/1")
                }
                if len(arrived) == 198 or time.monotonic() - began_at > 3 * IN_TIME_SECONDS:
                    assert len(arrived) == 198
                    return max(arrived.values())
                await asyncio.sleep(0.1)

    with LoopbackReceiver() as receiver:
        one, two = a_side(database, receiver, "one"), a_side(database, receiver, "two")
        dead = one.endpoints[0]
        # Silence is worse than a refusal: it holds its place for as long as an attempt may take.
        receiver.answer(delay_seconds=30, path="/one/0", times=BACKLOG)
        receiver.answer(drip=True, path="/one/1", times=BACKLOG)
        a_request(database, one.acme, one.ada, start_date=date(2026, 8, 3), now=clock())
        park(database_url, one.acme, dead, rows=BACKLOG, due_at=clock())
        before = database.read_now(delivery_queue.waiting, now=clock())

        slowest_seconds = asyncio.run(story([one, two], receiver))

    assert before.due >= delivery_queue.COUNTED
    assert slowest_seconds < IN_TIME_SECONDS
