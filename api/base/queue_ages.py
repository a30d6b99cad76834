"""How long queued work has been due, read from the database for metrics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog

from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database, Transaction
from storage.notifications import digests, notification_queue
from storage.people import slack_status_rows
from storage.webhooks import delivery_queue

# Scrapes within this time share what was read.
SHARED_SECONDS: Final = 5.0
# Prometheus gives up a scrape after ten seconds by default. Without the database, it still gets
# what the process counts.
MAX_READ_SECONDS: Final = 3.0

_log = structlog.stdlib.get_logger("hiatus.metrics")


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueAges:
    """The queues of the whole deployment; ages are in seconds, 0 if nothing is due."""

    deliveries_due: int
    deliveries_in_flight: int
    delivery_seconds: float
    notification_seconds: float
    digest_seconds: float
    slack_status_seconds: float


class QueueReader:
    """Reads the queues at most once at a time. For one event loop."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], datetime],
        *,
        max_read_seconds: float = MAX_READ_SECONDS,
        shared_seconds: float = SHARED_SECONDS,
    ) -> None:
        self._database = database
        self._clock = clock
        self._max_read_seconds = max_read_seconds
        self._shared_seconds = shared_seconds
        self._reading: asyncio.Task[QueueAges | None] | None = None
        # Of ``time.monotonic``.
        self._valid_until = 0.0

    async def read(self) -> QueueAges | None:
        """None if the database could not be read in time; the reading then continues."""
        if self._reading is None or (
            self._reading.done() and time.monotonic() >= self._valid_until
        ):
            self._reading = asyncio.create_task(self._read())
        # A scrape that is cancelled must not cancel the reading of another.
        done, _ = await asyncio.wait({self._reading}, timeout=self._max_read_seconds)
        return self._reading.result() if done else None

    async def _read(self) -> QueueAges | None:
        try:
            ages = await self._database.read(load, now=self._clock())
        except DatabaseUnavailable:
            return None  # ``hiatus_database_up`` says so.
        except Exception:  # noqa: BLE001  # such as a table that is missing
            _log.exception("metrics incomplete")
            return None
        self._valid_until = time.monotonic() + self._shared_seconds
        return ages


def load(tx: Transaction, *, now: datetime) -> QueueAges:
    """The queues as of ``now``; each of them is one query with a bound."""
    deliveries = delivery_queue.backlog(tx, now=now)
    return QueueAges(
        deliveries_due=deliveries.due,
        deliveries_in_flight=deliveries.in_flight,
        delivery_seconds=_age(deliveries.oldest_due_at, now),
        notification_seconds=_age(notification_queue.QUEUE.oldest_due_at(tx, now=now), now),
        digest_seconds=_age(digests.oldest_due_at(tx, now=now), now),
        slack_status_seconds=_age(slack_status_rows.QUEUE.oldest_due_at(tx, now=now), now),
    )


def _age(due_at: int | None, now: datetime) -> float:
    # 0 is the due time of a daily message that was never posted.
    return max(round(now.timestamp() * 1_000) - due_at, 0) / 1_000 if due_at else 0.0
