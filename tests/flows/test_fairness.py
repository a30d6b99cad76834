"""200 endpoints, one dead with 100,000 due deliveries, one that trickles bytes: no other waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import count

import pytest

from api.webhooks.webhook_delivery import Sender
from api.webhooks.webhook_dispatch import webhook_dispatcher
from storage.base.event_values import Webhook
from storage.base.values import User
from storage.db.database import Database, Transaction
from storage.webhooks import delivery_queue, webhooks
from tests.backlog import park
from tests.builders import Acme, a_person, a_request, an_organisation
from tests.fakes.receiver import LoopbackReceiver

pytestmark = pytest.mark.slow

BACKLOG = 100_000
IN_TIME_SECONDS = 3.0
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
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
    return Side(acme=acme, ada=a_person(database, acme, now=clock()), endpoints=endpoints)


@asynccontextmanager
async def delivering(database: Database) -> AsyncIterator[None]:
    """As a server does, its ticks included; an attempt may take two thirds of the usual time."""
    async with Sender(allow_private=True, attempt_seconds=10.0) as sender:
        dispatcher = webhook_dispatcher(database, sender, clock)
        database.on_notify(dispatcher.name, dispatcher.wake)
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


class Story:
    """Two organisations at one receiver; each story requests another week of leave."""

    def __init__(self, database: Database, receiver: LoopbackReceiver) -> None:
        self.database = database
        self.receiver = receiver
        self.sides = [a_side(database, receiver, name) for name in ("one", "two")]
        self._weeks = count(1)

    def ask(self) -> list[bytes]:
        """Request leave in each organisation; the ids of the requests."""
        day = date(2026, 8, 3) + timedelta(weeks=next(self._weeks))
        return [
            a_request(self.database, side.acme, side.ada, start_date=day, now=clock()).id.encode()
            for side in self.sides
        ]

    async def slowest_seconds(self) -> float:
        """Seconds from new events to their arrival at the 198 healthy endpoints."""
        began_at = time.monotonic()
        new = await asyncio.to_thread(self.ask)
        while True:
            arrived = {
                delivery.path: delivery.received_at - began_at
                for delivery in self.receiver.requests
                if any(request_id in delivery.body for request_id in new)
                and delivery.path not in ("/one/0", "/one/1")
            }
            if len(arrived) == 198:
                return max(arrived.values())
            assert time.monotonic() - began_at < PATIENCE_SECONDS, f"{len(arrived)} of 198"
            await asyncio.sleep(0.1)

    async def while_all_are_well(self) -> float:
        async with delivering(self.database):
            return await self.slowest_seconds()

    async def while_two_hang(self) -> float:
        async with delivering(self.database):
            # Time for the dead endpoint to fill its limit of deliveries in flight.
            await asyncio.sleep(1)
            return await self.slowest_seconds()


def test_a_new_event_reaches_all_other_endpoints_in_time(
    database: Database, database_url: str
) -> None:
    """Within three seconds, or twice what it takes here while all are well, if that is more.

    A delivery behind the dead endpoint's would wait for as long as an attempt may take.
    """
    with LoopbackReceiver() as receiver:
        story = Story(database, receiver)
        well_seconds = asyncio.run(story.while_all_are_well())
        limit_seconds = max(IN_TIME_SECONDS, 2 * well_seconds)
        side, _ = story.sides
        # A hanging endpoint is worse than one that refuses: its attempt lasts until the time-out.
        receiver.answer(delay_seconds=30, path="/one/0", times=BACKLOG)
        receiver.answer(drip=True, path="/one/1", times=BACKLOG)
        a_request(database, side.acme, side.ada, start_date=date(2026, 8, 3), now=clock())
        park(database_url, side.acme, side.endpoints[0], rows=BACKLOG, due_at=clock())
        before = database.read_now(delivery_queue.backlog, now=clock())

        slowest_seconds = asyncio.run(story.while_two_hang())

    assert before.due >= BACKLOG
    assert slowest_seconds < limit_seconds
