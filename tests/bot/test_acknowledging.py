"""Every listener acknowledges Slack's payloads in time while the database is busy."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain

import pytest

from bot.interaction.listening import Listener
from bot.listeners import registered, unknown
from storage.base.errors import DomainError
from storage.leave import leave_requests
from storage.leave.drafts import Draft
from tests.bench.acknowledging import percentile
from tests.bot.anything import Subject, send_some
from tests.bot.world import ADA, EVE, FIRST_DAY, World

# The smoke set of Slack: every listener, on both engines.
pytestmark = [pytest.mark.both_engines, pytest.mark.slow]

ROUNDS = 2
# To each listener a round; python -m tests.bench.acknowledging sends all payloads, for longer.
MAX_PAYLOADS = 4
# Payloads that only the fallback listeners handle.
UNHEARD = tuple(
    replace(listener, name="/unheard" if listener.kind == "command" else "unheard")
    for listener in unknown.LISTENERS
)
# An idle machine takes a tenth of it; this one may share its cores with other tests.
P99_SECONDS = 1.0
# A thousand times the duration of a request that needs no listener.
SLOW_SECONDS = 0.5
VERIFICATION = b'{"type": "url_verification", "challenge": "three-billion"}'


@dataclass(frozen=True, kw_only=True, slots=True)
class Latencies:
    """Seconds to each acknowledgement: of each listener, and of requests without a listener."""

    by_listener: dict[Listener, list[float]]
    unheard: list[float]

    @property
    def p99_seconds(self) -> float:
        return percentile(list(chain.from_iterable(self.by_listener.values())), 0.99)

    @property
    def late(self) -> set[str]:
        """Listeners with two late responses: a single late one may come from a busy machine."""
        second_latest = {
            listener.name: sorted(seconds)[-2] for listener, seconds in self.by_listener.items()
        }
        return {str(name) for name, seconds in second_latest.items() if seconds >= P99_SECONDS}

    @property
    def is_in_time(self) -> bool:
        return self.p99_seconds < P99_SECONDS and not self.late

    @property
    def is_machine_slow(self) -> bool:
        return max(self.unheard) > SLOW_SECONDS


def test_every_listener_is_acknowledged_while_others_write(world: World) -> None:
    """Measures a second time if even requests without a listener waited for the machine.

    A delay that Hiatus causes would appear in the second measurement too.
    """
    world.link()
    stopped = threading.Event()
    written: list[str] = []
    writer = threading.Thread(target=_write, args=(world, stopped, written))
    writer.start()
    try:
        latencies = _measured(world)
        if not latencies.is_in_time and latencies.is_machine_slow:
            latencies = _measured(world)
    finally:
        stopped.set()
        writer.join()
    world.settled()

    assert len(written) > len(latencies.by_listener), "the database was idle"
    assert latencies.p99_seconds < P99_SECONDS
    assert latencies.late == set()


def _measured(world: World) -> Latencies:
    subject = Subject("01980000-0000-7000-8000-000000000000", "x", "DT1XADA", "1.1")
    latencies = Latencies(by_listener=defaultdict(list), unheard=[])
    refused: list[tuple[Listener, int]] = []
    for _ in range(ROUNDS):
        for listener in (*registered("/timeoff"), *UNHEARD):
            for response in send_some(world.slack, listener, ADA, subject, most=MAX_PAYLOADS):
                latencies.by_listener[listener].append(response.elapsed_seconds)
                if response.status != 200:
                    refused.append((listener, response.status))
            # Bolt answers it without a listener.
            verified = world.slack.send_raw(VERIFICATION, "application/json")
            latencies.unheard.append(verified.elapsed_seconds)
    assert refused == []
    return latencies


def _write(world: World, stopped: threading.Event, written: list[str]) -> None:
    """Request leave and cancel it, as fast as possible."""
    by, week = world.caller(EVE), 0
    while not stopped.is_set():
        week = week % 50 + 1
        day = FIRST_DAY + timedelta(weeks=week)
        draft = Draft(leave_type_id=world.leave_type("unpaid"), start_date=day, end_date=day)
        try:
            request = world.database.write_now(
                leave_requests.submit, by=by, draft=draft, now=world.clock()
            )
            world.database.write_now(leave_requests.cancel, request.id, by=by, now=world.clock())
            written.append(request.id)
        except DomainError:
            continue
