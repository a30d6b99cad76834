"""Webhooks on their way out: what the dispatcher claims, sends and settles."""

from __future__ import annotations

import random
import uuid

from api.dispatcher import Dispatcher
from api.operations import Clock
from api.webhook_delivery import Attempt, Sender
from storage import deliveries, delivery_queue, outbox
from storage.database import Database
from storage.deliveries import Outcome
from storage.delivery_queue import Delivery

IN_FLIGHT = 32


def _jitter() -> float:
    return random.uniform(0.8, 1.2)


def webhook_dispatcher(
    database: Database, sender: Sender, clock: Clock
) -> Dispatcher[Delivery, Outcome]:
    """The dispatcher that delivers webhooks; ``sender`` is open while it runs."""

    async def claim(limit: int) -> list[Delivery]:
        return await database.write_long(
            delivery_queue.claim, limit=limit, claim_id=str(uuid.uuid4()), now=clock()
        )

    async def attempt(delivery: Delivery) -> Outcome:
        sent = Attempt(delivery.url, delivery.event_id, delivery.body, delivery.secrets)
        return await sender.attempt(sent, clock())

    async def settle(done: list[tuple[Delivery, Outcome]]) -> None:
        await database.write(deliveries.settle, done, jitter=_jitter, now=clock())

    return Dispatcher(
        outbox.WEBHOOKS, claim=claim, attempt=attempt, settle=settle, in_flight=IN_FLIGHT
    )
