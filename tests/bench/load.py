"""The load: keep-alive connections that send prepared bytes, in a process of its own.

``python -m tests.bench.load`` reads one ``Load`` as JSON from standard input and writes one
``Outcome`` to standard output. It parses only the status and the length, so one core of load sends
several times the requests that one core of Starlette can serve.
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import Any

import uvloop

from storage.base.values import as_dict

_START_SECONDS = 30
_LENGTH = b"content-length: "


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """The load on a port of this machine: ``requests`` repeatedly, or each of them once.

    It ends after ``seconds`` or with the last request. Every response must have ``status``.
    """

    port: int
    connections: int
    seconds: float
    requests: list[str]
    is_once: bool
    status: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """``unexpected`` counts responses by their status, 0 for a lost connection.

    ``cpu_share`` is the load's own use of one core.
    """

    responses: int
    seconds: float
    p50_milliseconds: float
    p99_milliseconds: float
    cpu_share: float
    unexpected: dict[str, int]
    first_unexpected: str

    @property
    def per_second(self) -> float:
        return self.responses / self.seconds


def run_apart(load: Load) -> Outcome:
    """Run the load in a process of its own. Raises CalledProcessError, TimeoutExpired."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.load"],
        input=json.dumps(as_dict(load)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=load.seconds + _START_SECONDS,
    )
    return Outcome(**json.loads(done.stdout))


class UnexpectedResponse(Exception):
    """A response has another status than the scenario's."""


class _Run:
    """The state that the connections of one load share."""

    def __init__(self, load: Load) -> None:
        prepared = [request.encode() for request in load.requests]
        self.requests = iter(prepared) if load.is_once else cycle(prepared)
        self.status = b"%d" % load.status
        self.closes_at = time.perf_counter() + load.seconds
        self.latencies: list[float] = []
        self.unexpected: dict[str, int] = {}
        self.first_unexpected = ""

    def count_unexpected(self, status: bytes, response: bytes) -> None:
        name = status.decode("latin-1")
        self.unexpected[name] = self.unexpected.get(name, 0) + 1
        self.first_unexpected = self.first_unexpected or response[:1_000].decode("latin-1")


class _Connection(asyncio.Protocol):
    def __init__(self, run: _Run, finished: asyncio.Future[None]) -> None:
        self._run = run
        self._finished = finished
        self._received = b""
        self._sent_at = 0.0

    def connection_made(self, transport: Any) -> None:
        # uvloop's transports do not inherit from asyncio.Transport.
        self._transport = transport
        self._send_next(time.perf_counter())

    def data_received(self, data: bytes) -> None:
        received = self._received = self._received + data if self._received else data
        head = received.find(b"\r\n\r\n")
        if head < 0:
            return
        length_at = received.find(_LENGTH, 0, head)
        # A 304 has no length.
        if length_at >= 0:
            length = int(received[length_at + len(_LENGTH) : received.find(b"\r\n", length_at)])
            if len(received) < head + 4 + length:
                return
        now = time.perf_counter()
        self._run.latencies.append(now - self._sent_at)
        if received[9:12] != self._run.status:
            self._run.count_unexpected(received[9:12], received)
        self._received = b""
        self._send_next(now)

    def connection_lost(self, error: Exception | None) -> None:
        if not self._finished.done():
            self._run.count_unexpected(b"0", b"The connection was lost.")
            self._finished.set_result(None)

    def _send_next(self, now: float) -> None:
        request = next(self._run.requests, None) if now < self._run.closes_at else None
        if request is None:
            self._finished.set_result(None)
            self._transport.close()
            return
        self._sent_at = now
        self._transport.write(request)


async def _run(load: Load) -> Outcome:
    loop = asyncio.get_running_loop()
    run = _Run(load)
    started, cpu_started = time.perf_counter(), time.process_time()
    waiting = []
    for _ in range(load.connections):
        finished: asyncio.Future[None] = loop.create_future()
        waiting.append(finished)
        await loop.create_connection(partial(_Connection, run, finished), "127.0.0.1", load.port)
    await asyncio.gather(*waiting)
    seconds = time.perf_counter() - started
    cpu_share = (time.process_time() - cpu_started) / seconds
    in_order = sorted(run.latencies) or [0.0]
    return Outcome(
        responses=len(run.latencies),
        seconds=seconds,
        p50_milliseconds=in_order[len(in_order) // 2] * 1_000,
        p99_milliseconds=in_order[len(in_order) * 99 // 100] * 1_000,
        cpu_share=cpu_share,
        unexpected=run.unexpected,
        first_unexpected=run.first_unexpected,
    )


if __name__ == "__main__":
    gc.disable()
    load = Load(**json.load(sys.stdin))
    sys.stdout.write(json.dumps(as_dict(uvloop.run(_run(load)))))
