"""The dispatcher of webhook deliveries: claim, send, record."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

import structlog

from api.base.dispatcher import Dispatcher
from api.http.operations import Clock
from api.webhooks.webhook_delivery import Attempt, Sender
from storage.base import monitoring
from storage.db.database import Database
from storage.outbox import webhook_outbox
from storage.webhooks import deliveries, delivery_queue
from storage.webhooks.deliveries import DeliveryResult, Outcome
from storage.webhooks.delivery_queue import Delivery

# Far more than one endpoint's limit, so that hanging endpoints leave room for others.
IN_FLIGHT: Final = 128

_log = structlog.stdlib.get_logger("hiatus.webhooks")

OnRecorded = Callable[[Sequence[DeliveryResult]], None]


def webhook_dispatcher(
    database: Database,
    sender: Sender,
    clock: Clock,
    *,
    in_flight: int = IN_FLIGHT,
    lease: timedelta = delivery_queue.QUEUE.lease,
    on_recorded: OnRecorded = lambda _: None,
) -> Dispatcher[Delivery, Outcome]:
    """The dispatcher that delivers webhooks; ``sender`` is open while it runs.

    ``lease`` is longer than an attempt may take. ``on_recorded`` is called with the outcomes of
    attempts once they are recorded.
    """

    async def claim(limit: int) -> list[Delivery]:
        return await database.write(
            delivery_queue.claim,
            limit=limit,
            claim_id=str(uuid.uuid4()),
            now=clock(),
            lease=lease,
        )

    async def attempt(delivery: Delivery) -> Outcome:
        sent = Attempt(
            url=delivery.url,
            message_id=delivery.event_id,
            body=delivery.body,
            secrets=delivery.secrets,
        )
        # Without the URL, which may hold a token.
        ids = {"hiatus.webhook_id": delivery.webhook_id, "hiatus.event_id": delivery.event_id}
        with monitoring.span("webhook attempt", "client", ids) as span:
            outcome = await sender.attempt(sent, clock())
            span.set({"hiatus.outcome": outcome.error or "delivered"})
            if outcome.status_code is not None:
                span.set({"http.response.status_code": outcome.status_code})
        return outcome

    async def record_results(results: list[DeliveryResult]) -> None:
        await database.write(deliveries.record_results, results, jitter=_jitter, now=clock())
        unsigned = {
            delivery.webhook_id for delivery, outcome in results if outcome.verdict == "unsigned"
        }
        for webhook_id in sorted(unsigned):
            _log.error(
                "webhook.secret_unreadable", webhook_id=webhook_id, setting="HIATUS_SECRET_KEYS"
            )
        on_recorded(results)

    return Dispatcher(
        webhook_outbox.WEBHOOKS,
        claim=claim,
        attempt=attempt,
        record_results=record_results,
        in_flight=in_flight,
        max_ahead=2 * in_flight,
    )


def _jitter() -> float:
    return random.uniform(0.8, 1.2)
