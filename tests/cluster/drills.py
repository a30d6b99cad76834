"""A fail-over drill: Hiatus as operators run it, under load, and what is measured meanwhile."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field

import httpx

from storage.db.schema import migrate
from tests.cluster.company import (
    GIVE_UP_SECONDS,
    Company,
    Load,
    Sent,
    assert_nothing_lost_or_doubled,
    wait_until_delivered,
)
from tests.fakes.receiver import LoopbackReceiver
from tests.fakes.slack import LoopbackSlack
from tests.flows.running import Bot, Deployment, Server

SERVERS = 3
OLIVE, ADA = "UOLIVE", "UADA0"
# Of every process; the setting's default.
TIMEOUT_SECONDS = 10
# A machine that is busy with something else.
GRACE_SECONDS = 5
FIRST_SUCCESS_SECONDS = 10
NO_ANSWER = 0

_PAUSE_SECONDS = 0.1
_PROBE_SECONDS = 0.2
_PROBE_TIMEOUT_SECONDS = 5
_CREATED_BEFORE = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """One look at ``/readyz``, in monotonic seconds."""

    status: int
    sent_at: float
    answered_at: float


@dataclass(kw_only=True, slots=True)
class Drill:
    """Three ``serve`` and one ``bot`` under load. ``began_at``: the outage."""

    company: Company
    load: Load
    receiver: LoopbackReceiver
    slack: LoopbackSlack
    probes: list[list[Probe]]
    began_at: float = 0.0
    promoted_at: float = 0.0
    recovered: list[float] = field(default_factory=list)
    delivered_after: float = 0.0

    def loading(self) -> AbstractContextManager[None]:
        return self.load.running(_PAUSE_SECONDS)

    def wait_for_load(self) -> None:
        wait_for(lambda: len(self.load.created) >= _CREATED_BEFORE)

    def outage_began(self) -> None:
        """The primary does not answer any more."""
        self.began_at = time.monotonic()

    def wait_until_recovered(self, promoted_at: float) -> None:
        """Every process has changed something since the promotion, and is ready."""
        self.promoted_at = promoted_at
        wait_for(lambda: all(self._first_change(server) for server in range(SERVERS)))
        wait_for(lambda: all(probes[-1].status == 200 for probes in self.probes))
        self.recovered = [
            one.answered_at - promoted_at
            for server in range(SERVERS)
            if (one := self._first_change(server)) is not None
        ]

    def _first_change(self, server: int) -> Sent | None:
        return next(
            (
                one
                for one in list(self.load.sent)
                if one.server == server
                and one.method == "POST"
                and one.status < 300
                and one.answered_at > self.promoted_at
            ),
            None,
        )

    def check(self, database_url: str) -> None:
        """After the load: nothing lost, nothing doubled, no process restarted, and the times."""
        ended_at = time.monotonic()
        self.slack.command(ADA, "/timeoff")
        assert self.slack.open_modal(ADA).title == "Request leave"
        wait_until_delivered(database_url)
        self.delivered_after = time.monotonic() - ended_at
        assert_nothing_lost_or_doubled(self.load, database_url, self.receiver.requests)
        assert self.load.statuses.keys() <= {200, 201, 503}
        assert self.load.codes.keys() <= {"unavailable", "outcome_unknown"}
        longest = max(one.answered_at - one.sent_at for one in self.load.sent)
        # Each call to the database has the time-out; a request makes two or three.
        assert longest < 2 * TIMEOUT_SECONDS + GRACE_SECONDS
        assert min(self.recovered) < FIRST_SUCCESS_SECONDS
        assert max(self.recovered) < FIRST_SUCCESS_SECONDS + GRACE_SECONDS
        for probes in self.probes:
            during_outage = {
                one.status
                for one in probes
                if self.began_at < one.sent_at and one.answered_at < self.promoted_at
            }
            assert during_outage
            assert 200 not in during_outage
            assert {one.status for one in probes} <= {200, 503, NO_ANSWER}
            assert probes[-1].status == 200
        sys.stdout.write(self.report(longest))

    def report(self, longest: float) -> str:
        since_outage = [one for one in self.load.sent if one.answered_at > self.began_at]
        return "\n".join(
            (
                f"requests {len(self.load.sent)}, acknowledged changes {2 * len(self.load.created)}"
                f", webhook posts {len(self.receiver.requests)}",
                f"since the outage: requests {len(since_outage)}, 503 {dict(self.load.codes)}",
                f"outage until the promotion {self.promoted_at - self.began_at:.1f} s, then to the "
                f"first change of each process {[round(one, 2) for one in self.recovered]} s, "
                f"longest answer {longest:.1f} s; "
                f"webhooks delivered {self.delivered_after:.1f} s after the load",
            )
        )


@contextmanager
def running(url: str) -> Iterator[Drill]:
    """Processes with that database URL; ends them, which must work without errors."""
    with ExitStack() as stack:
        slack = stack.enter_context(LoopbackSlack())
        slack.via = "socket"
        slack.add_person(OLIVE, "olive@example.com", "Olive Owner", tz="Europe/London")
        slack.add_person(ADA, "ada0@example.com", "Ada0 Tester", tz="Europe/London")
        migrate(url)
        deployment = Deployment(
            url,
            HIATUS_WEBHOOK_ALLOW_PRIVATE="on",
            HIATUS_SLACK_SIGNING_SECRET=slack.signing_secret,
            HIATUS_SLACK_BOT_TOKEN=slack.token,
            HIATUS_SLACK_APP_TOKEN=slack.app_token,
            HIATUS_SLACK_API_URL=slack.api_url,
        )
        receiver = stack.enter_context(LoopbackReceiver())
        company = Company(deployment, stack, *({} for _ in range(SERVERS)))
        company.owners[0].post("/api/v1/webhooks", json={"url": receiver.url, "events": ["*"]})
        stack.enter_context(bot_running(deployment.env, slack))
        probes = [stack.enter_context(probing(server)) for server in company.servers]
        yield Drill(
            company=company, load=Load(company), receiver=receiver, slack=slack, probes=probes
        )
    assert [server.stop() for server in company.servers] == [0] * SERVERS
    assert_no_traceback("".join(server.logged() for server in company.servers))


@contextmanager
def bot_running(env: dict[str, str], slack: LoopbackSlack) -> Iterator[None]:
    bot = Bot(env)
    try:
        slack.wait_for_socket()
        yield
    finally:
        code, logged = bot.stop()
    assert code == 0
    assert_no_traceback(logged)


def assert_no_traceback(logged: str) -> None:
    """A database that is away is expected: each line of the log says it in a sentence."""
    assert [line for line in logged.splitlines() if "Traceback" in line] == []


@contextmanager
def probing(server: Server) -> Iterator[list[Probe]]:
    """Looks at ``/readyz`` as a load balancer does, until the block ends."""
    probes: list[Probe] = []
    stopping = threading.Event()

    def probe() -> None:
        with httpx.Client(timeout=_PROBE_TIMEOUT_SECONDS) as client:
            while not stopping.wait(_PROBE_SECONDS):
                sent_at = time.monotonic()
                try:
                    status = client.get(f"{server.url}/readyz").status_code
                except httpx.ReadTimeout:
                    status = NO_ANSWER
                probes.append(Probe(status=status, sent_at=sent_at, answered_at=time.monotonic()))

    thread = threading.Thread(target=probe)
    thread.start()
    try:
        yield probes
    finally:
        stopping.set()
        thread.join()


def wait_for(is_so: Callable[[], bool]) -> float:
    """The last moment at which it was not yet so, or that of the call."""
    not_yet_at = looked_at = time.monotonic()
    ends_at = looked_at + GIVE_UP_SECONDS
    while not is_so():
        assert time.monotonic() < ends_at
        not_yet_at = looked_at
        time.sleep(0.02)
        looked_at = time.monotonic()
    return not_yet_at
