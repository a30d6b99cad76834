"""Rate limits of several processes in one Redis that is killed, frozen or refuses them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

import httpx
import pytest

from api.base.redis_windows import REDIS_PAUSE_SECONDS, REDIS_SECONDS
from tests import redis_server
from tests.flows.running import Deployment, Server
from tests.redis_server import RedisServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(redis_server.PROGRAM is None, reason=redis_server.MISSING),
]

PATH = "/api/v1/organisation"
# An hour does not end during a test.
LIMIT = 20
PER_HOUR = f"{LIMIT}/hour"
AWAY = "nothing is limited: Redis is unavailable"
BACK = "limits hold again: Redis is available"
# A machine that is busy with something else.
GRACE_SECONDS = 5
GIVE_UP_SECONDS = 60
_CALLERS = 4


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with closing(RedisServer()) as redis:
        yield redis


@dataclass(frozen=True, kw_only=True, slots=True)
class Processes:
    """Two ``hiatus serve`` with one key, which has not been used."""

    servers: Sequence[Server]
    clients: Sequence[httpx.Client]
    key_names: Iterator[str]
    deployment: Deployment

    def use_new_key(self) -> None:
        """Begin new windows."""
        words = ("--email", "olive@example.com", "--name", next(self.key_names), "--json")
        key = self.deployment.command("keys", "create", *words)["api_key"]
        for client in self.clients:
            client.headers["Authorization"] = f"Bearer {key}"

    def responses(self, count: int) -> list[httpx.Response]:
        """So many requests, by turns to each process."""
        return [self.clients[number % len(self.clients)].get(PATH) for number in range(count)]

    def wait_until_limited(self) -> None:
        """Until both processes count together again."""
        ends_at = time.monotonic() + REDIS_PAUSE_SECONDS + GIVE_UP_SECONDS
        while not all("RateLimit" in client.get(PATH).headers for client in self.clients):
            assert time.monotonic() < ends_at
            time.sleep(0.1)

    def problems(self) -> list[float]:
        """How often each process has said in its metrics that nothing is limited."""
        name = f'hiatus_problems_total{{event="{AWAY}"}} '
        texts = [httpx.get(f"{server.url}/metrics").text for server in self.servers]
        counts = [[one for one in text.splitlines() if one.startswith(name)] for text in texts]
        return [float(found[0].removeprefix(name)) if found else 0.0 for found in counts]


@contextmanager
def running(database_url: str, storage_url: str, processes: int = 2) -> Iterator[Processes]:
    """Processes that serve, and end without an error."""
    deployment = Deployment(
        database_url, HIATUS_RATE_LIMIT=PER_HOUR, HIATUS_RATE_LIMIT_STORAGE=storage_url
    )
    key = deployment.init()["api_key"]
    with ExitStack() as stack:
        servers = [stack.enter_context(deployment.serving()) for _ in range(processes)]
        clients = [server.client(key) for server in servers]
        names = (f"key {number}" for number in range(1000))
        yield Processes(servers=servers, clients=clients, key_names=names, deployment=deployment)
    assert [server.stop() for server in servers] == [0] * processes
    assert [server for server in servers if "Traceback" in server.logged()] == []


def events(server: Server) -> list[str]:
    """What a process that has ended logged about limits."""
    lines = [json.loads(line) for line in server.logged().splitlines()]
    said = [(line["event"], line.get("reason", "")) for line in lines]
    return [f"{event} {reason}".strip() for event, reason in said if event in (AWAY, BACK)]


def remaining(responses: Sequence[httpx.Response]) -> list[int]:
    return [int(one.headers["RateLimit"].split(";")[1][2:]) for one in responses]


def assert_limit_is_shared(processes: Processes) -> None:
    """A key may make its 20 requests through both processes, and not one more through either."""
    processes.use_new_key()

    responses = processes.responses(LIMIT + 4)

    assert [one.status_code for one in responses] == [200] * LIMIT + [429] * 4
    assert remaining(responses) == [*range(LIMIT - 1, -1, -1), 0, 0, 0, 0]


@dataclass(kw_only=True, slots=True)
class Answers:
    """Answers in the order in which they came, and the seconds that each took."""

    statuses: list[int]
    seconds: list[float]


@contextmanager
def under_load(processes: Processes) -> Iterator[Answers]:
    """Four callers ask both processes all the time, until the block ends."""
    answers = Answers(statuses=[], seconds=[])
    stopping = threading.Event()

    def call(number: int) -> None:
        client = processes.clients[number % len(processes.clients)]
        while not stopping.wait(0.1):
            began_at = time.monotonic()
            answers.statuses.append(client.get(PATH).status_code)
            answers.seconds.append(time.monotonic() - began_at)

    callers = [threading.Thread(target=call, args=(number,)) for number in range(_CALLERS)]
    for caller in callers:
        caller.start()
    try:
        yield answers
    finally:
        stopping.set()
        for caller in callers:
            caller.join()


def wait_until_missed_twice(processes: Processes) -> None:
    """Until each process has missed Redis, and has found after a pause that it is still away."""
    ends_at = time.monotonic() + REDIS_PAUSE_SECONDS + GIVE_UP_SECONDS
    while min(processes.problems()) < 2:
        assert time.monotonic() < ends_at
        time.sleep(0.1)


@pytest.mark.parametrize("outage", ["killed", "frozen"])
def test_an_outage_of_redis_fails_no_request_and_limits_apply_again_afterwards(
    outage: str, redis: RedisServer, postgres_url: str
) -> None:
    with running(postgres_url, redis.url()) as processes:
        assert_limit_is_shared(processes)
        assert processes.problems() == [0, 0]

        with under_load(processes) as answers, ExitStack() as stack:
            if outage == "killed":
                redis.kill()
            else:
                stack.enter_context(redis.frozen())
            wait_until_missed_twice(processes)
            # The key was used up: nothing is limited now.
            unlimited = processes.responses(4)
        if outage == "killed":
            redis.start()

        assert [one.status_code for one in unlimited] == [200] * 4
        assert [one for one in unlimited if "RateLimit" in one.headers] == []
        assert {*answers.statuses} <= {200, 429}
        assert max(answers.seconds) < REDIS_SECONDS + GRACE_SECONDS
        processes.wait_until_limited()
        assert_limit_is_shared(processes)

    reason = "no connection" if outage == "killed" else f"no answer within {REDIS_SECONDS:g} s"
    for server in processes.servers:
        said = events(server)
        # One line for each pause, however many requests there were; then all is well.
        assert said == [f"{AWAY} {reason}"] * (len(said) - 1) + [BACK]
        assert 3 <= len(said) <= 3 + 2 * GIVE_UP_SECONDS / REDIS_PAUSE_SECONDS


def test_a_connection_that_redis_closed_costs_no_limit(
    redis: RedisServer, postgres_url: str
) -> None:
    with running(postgres_url, redis.url()) as processes:
        used = processes.responses(2)
        redis.command("CLIENT", "KILL", "TYPE", "normal")
        redis.command("SCRIPT", "FLUSH")

        assert remaining([*used, *processes.responses(2)]) == [19, 18, 17, 16]

    assert [events(server) for server in processes.servers] == [[], []]


def test_redis_is_used_with_its_password_and_a_wrong_one_is_told_at_the_start(
    postgres_url: str,
) -> None:
    with closing(RedisServer("--requirepass", "s3/cr@t")) as redis:
        with running(postgres_url, redis.url("s3%2Fcr%40t")) as processes:
            assert_limit_is_shared(processes)
        wrong = processes.deployment.env | {"HIATUS_RATE_LIMIT_STORAGE": redis.url("hunter2")}
        with Deployment(postgres_url, **wrong).serving() as server:
            assert httpx.get(f"{server.url}/readyz").status_code == 200

    # No request has been counted.
    assert events(server) == [f"{AWAY} it refuses the user or the password"]
    assert "hunter2" not in server.logged()
