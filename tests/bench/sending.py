"""Posts many bodies to a receiver: with a bare loop, and with Hiatus's dispatcher.

``python -m tests.bench.sending`` reads a ``Sending`` as JSON from standard input and writes the
seconds that the bodies took to standard output. Every client runs on uvloop, in its own process.
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx
import uvloop

from storage.base.values import as_dict
from storage.db.engines import open_database
from storage.webhooks.deliveries import DeliveryResult

BODY_BYTES = 1_500
# Sent before the clock starts, so that queries are compiled and connections are open.
WARM_UP = 300
_START_SECONDS = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class Sending:
    """``client``: "httpx" or "hiatus", which sends its database's deliveries."""

    client: str
    port: int
    deliveries: int
    in_flight: int
    database_url: str = ""
    secret_key: str = ""


def run_apart(sending: Sending) -> float:
    """Returns deliveries per second. Raises CalledProcessError, TimeoutExpired."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.sending"],
        input=json.dumps(as_dict(sending)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=_START_SECONDS,
    )
    return sending.deliveries / float(done.stdout)


async def _bare(sending: Sending) -> float:
    url = f"http://127.0.0.1:{sending.port}/hook"
    body = b"x" * BODY_BYTES
    limits = httpx.Limits(max_connections=sending.in_flight)
    async with httpx.AsyncClient(limits=limits) as client:

        async def post() -> None:
            response = await client.post(url, content=body)
            if response.status_code != 204:
                raise RuntimeError(response.text)

        await _in_parallel(post, WARM_UP, sending.in_flight)
        started = time.perf_counter()
        await _in_parallel(post, sending.deliveries, sending.in_flight)
        return time.perf_counter() - started


async def _in_parallel(post: Callable[[], Awaitable[None]], times: int, in_flight: int) -> None:
    turns = iter(range(times))

    async def work() -> None:
        for _ in turns:
            await post()

    await asyncio.gather(*(work() for _ in range(in_flight)))


async def _hiatus(sending: Sending) -> float:
    from api.webhooks.webhook_delivery import Sender
    from api.webhooks.webhook_dispatch import webhook_dispatcher
    from storage.base.secrets import Secrets

    database = open_database(sending.database_url, Secrets([sending.secret_key]))
    settled = 0
    started_with = 0
    started = 0.0
    finished = asyncio.Event()

    def count(done: Sequence[DeliveryResult]) -> None:
        nonlocal settled, started, started_with
        settled += sum(outcome.verdict == "delivered" for _, outcome in done)
        if not started and settled >= WARM_UP:
            started, started_with = time.perf_counter(), settled
        if settled >= sending.deliveries + WARM_UP:
            finished.set()

    try:
        async with Sender(allow_private=True) as sender:
            dispatcher = webhook_dispatcher(
                database, sender, _now, in_flight=sending.in_flight, on_recorded=count
            )
            dispatcher.start()
            await finished.wait()
            seconds = time.perf_counter() - started
            await dispatcher.stop()
    finally:
        database.close()
    # Of all deliveries at that rate.
    return seconds * sending.deliveries / (settled - started_with)


def _now() -> datetime:
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


if __name__ == "__main__":
    gc.freeze()
    sending = Sending(**json.load(sys.stdin))
    sys.stdout.write(
        str(uvloop.run(_hiatus(sending) if sending.client == "hiatus" else _bare(sending)))
    )
