"""The memory of ``hiatus serve`` under a mixed load at a steady rate.

People read, preview, create and approve leave over REST, calendar programs fetch 500 feeds, Slack
sends a payload for every listener, webhooks are delivered, and jobs run.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from itertools import chain, count, cycle
from pathlib import Path
from statistics import linear_regression
from typing import Any, Final

from bot.interaction.listening import Listener
from bot.listeners import registered
from storage.base.secrets import new_secret_key
from tests.bench import prepared as preparing
from tests.bench import servers
from tests.bench.load import UnexpectedResponse
from tests.bot.anything import KINDS, Subject, payloads
from tests.fakes.slack import LoopbackSlack

PERSON: Final = "UPERSON"
# Of 20 requests. More are created than approved, so that some are always pending.
MIX: Final = (
    *("list", "preview", "feed", "list", "slack", "create", "approve"),
    *("create", "list", "preview", "slack", "feed", "list", "create"),
    *("approve", "preview", "slack", "feed", "list", "feed"),
)
THREADS: Final = 4
# These would remove the workspace.
_REMOVING: Final = ("app_uninstalled", "tokens_revoked")
_SAMPLE_SECONDS: Final = 5.0
# The server closes connections that were idle for 5 seconds, as on a busy machine.
_MAX_IDLE_SECONDS: Final = 3.0

Send = Callable[[], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Soak:
    """Resident megabytes over the run; ``per_hour`` is their slope in its second half."""

    engine: str
    seconds: float
    requests: dict[str, int]
    start: float
    peak: float
    end: float
    per_hour: float


def measure_soak(engine: str, seconds: float, rate: float, folder: Path) -> Soak:
    """Serve a filled database for ``seconds``. Raises UnexpectedResponse."""
    key = new_secret_key()
    with ExitStack() as stack:
        slack = stack.enter_context(LoopbackSlack())
        receiver = stack.enter_context(servers.receiver(folder))
        url = stack.enter_context(servers.empty_database(engine, folder, "soak"))
        address = f"http://127.0.0.1:{receiver.port}/"
        ready = stack.enter_context(preparing.prepared(url, key, address))
        ready.link(slack.team_id)
        slack.add_person(PERSON, f"person.{preparing.PEOPLE - 1}@example.com", "Person Number")
        settings = {
            "HIATUS_SLACK_SIGNING_SECRET": slack.signing_secret,
            "HIATUS_SLACK_BOT_TOKEN": slack.token,
            "HIATUS_SLACK_API_URL": slack.api_url,
            "HIATUS_SCHEDULER": "on",
            "HIATUS_WEBHOOK_ALLOW_PRIVATE": "on",
        }
        server = stack.enter_context(servers.hiatus(url, key, folder, f"soak-{engine}", **settings))
        slack.app_url = f"http://127.0.0.1:{server.port}"
        load = _Load(ready, slack, server.port)
        time.sleep(_SAMPLE_SECONDS)
        samples = _sampled(server, load, seconds, rate)
    megabytes = [megabytes for _, megabytes in samples]
    later = samples[len(samples) // 2 :]
    return Soak(
        engine=engine,
        seconds=seconds,
        requests=dict(load.sent),
        start=megabytes[0],
        peak=max(megabytes),
        end=megabytes[-1],
        per_hour=linear_regression(*zip(*later, strict=True)).slope * 3_600,
    )


def _sampled(
    server: servers.Server, load: _Load, seconds: float, rate: float
) -> list[tuple[float, float]]:
    """Seconds and resident megabytes, during the load."""
    began = time.monotonic()
    threads = [
        threading.Thread(target=load.run, args=(began + number / rate, rate / THREADS, seconds))
        for number in range(THREADS)
    ]
    samples = [(0.0, server.resident_megabytes())]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(min(_SAMPLE_SECONDS, seconds / 10))
        samples.append((time.monotonic() - began, server.resident_megabytes()))
    if load.failures:
        raise UnexpectedResponse(f"The soak ended early: {load.failures[0]}")
    return samples


class _Load:
    """The requests of all threads, in the order of ``MIX``."""

    def __init__(self, ready: preparing.Prepared, slack: LoopbackSlack, port: int) -> None:
        self.sent: Counter[str] = Counter()
        self.failures: list[str] = []
        self._port = port
        self._slack = slack
        self._kinds = cycle(MIX)
        self._lock = threading.Lock()
        self._requests: dict[str, Iterator[str]] = {
            "list": cycle(ready.page()),
            # The last person uses Slack, where they replace the address of their feed.
            "preview": cycle(ready.preview()[:-1]),
            "feed": cycle(ready.feeds()[:-1]),
            "create": chain.from_iterable(ready.create(100) for _ in count()),
            # The next ones when these are decided.
            "approve": chain.from_iterable(ready.approve() for _ in count()),
        }
        self._payloads = _endless_payloads(slack)

    def run(self, begins_at: float, rate: float, seconds: float) -> None:
        """Send requests at that rate; late ones are not made up for."""
        try:
            with closing(HTTPConnection("127.0.0.1", self._port, timeout=60)) as connection:
                due = used_at = begins_at
                while due < begins_at + seconds and not self.failures:
                    time.sleep(max(due - time.monotonic(), 0.0))
                    if time.monotonic() - used_at > _MAX_IDLE_SECONDS:
                        connection.close()
                    self._next(connection)()
                    used_at = time.monotonic()
                    due = max(due + 1 / rate, used_at)
        except Exception as error:  # noqa: BLE001  # reported by the thread that waits
            self.failures.append(repr(error))

    def _next(self, connection: HTTPConnection) -> Send:
        with self._lock:
            kind = next(self._kinds)
            self.sent[kind] += 1
            if kind == "slack":
                sent_as, payload = next(self._payloads)
                return lambda: _send_to_slack(self._slack, sent_as, payload)
            request = next(self._requests[kind])
        return lambda: _send(connection, kind, request)


def _send(connection: HTTPConnection, kind: str, request: str) -> None:
    if connection.sock is None:
        connection.connect()
    connection.sock.sendall(request.encode())
    response = HTTPResponse(connection.sock, method=request.partition(" ")[0])
    response.begin()
    body = response.read()
    # Another thread may have been quicker to approve a request.
    expected = {"create": (201,), "approve": (200, 409)}.get(kind, (200,))
    if response.status not in expected:
        raise UnexpectedResponse(f"{kind}: {response.status} {body[:500].decode()}")


def _endless_payloads(slack: LoopbackSlack) -> Iterator[tuple[str, dict[str, Any]]]:
    listeners: list[Listener] = [
        listener for listener in registered("/timeoff") if listener.name not in _REMOVING
    ]
    # Of an unknown request: every click takes the time to find that out.
    subject = Subject("01980000-0000-7000-8000-000000000000", "x", "DT1XPERSON", "1.1")
    while True:
        for listener in listeners:
            for payload in payloads(slack, listener, PERSON, subject):
                yield KINDS.get(listener.kind, "interactive"), payload


def _send_to_slack(slack: LoopbackSlack, kind: str, payload: dict[str, Any]) -> None:
    answer = slack.send(kind, payload)
    if answer.status != 200:
        raise UnexpectedResponse(f"Slack's {kind}: {answer.status} {answer.body}")
