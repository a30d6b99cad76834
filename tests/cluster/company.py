"""An organisation that requests and approves leave through several processes, and what is checked.

Every change has an ``Idempotency-Key`` and is repeated until its answer is not 503, as a careful
client does it.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests import outside
from tests.fakes.receiver import Received
from tests.flows.days import working_days
from tests.flows.running import ROOT, Deployment
from tests.flows.test_main_job import hire, unpaid

PEOPLE = 6
# More than an outage lasts, on a machine that is busy with something else.
GIVE_UP_SECONDS = 60
_RETRY_SECONDS = 0.1
_MAX_TURNS = 200


class Company:
    """An owner and six people with keys, and ``hiatus serve`` once for each of ``settings``."""

    def __init__(
        self, deployment: Deployment, stack: ExitStack, *settings: Mapping[str, str]
    ) -> None:
        owner_key = deployment.init()["api_key"]
        self.servers = [
            stack.enter_context(deployment.serving(release=ROOT, **more)) for more in settings
        ]
        self.owners = [server.client(owner_key) for server in self.servers]
        self.people: list[list[httpx.Client]] = []
        for number in range(PEOPLE):
            hire(self.owners[0], f"Ada{number}")
            words = ("--email", f"ada{number}@example.com", "--name", "test", "--json")
            key = deployment.command("keys", "create", *words)["api_key"]
            self.people.append([server.client(key) for server in self.servers])
        for client in [*self.owners, *sum(self.people, [])]:
            client.timeout = GIVE_UP_SECONDS
        self.unpaid = unpaid(self.owners[0])
        feeds = self.owners[0].get("/api/v1/calendar-feeds/token").raise_for_status().json()
        self.feed: str = feeds["feeds"]["organisation"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """One request of the load and its answer, in monotonic seconds."""

    server: int
    method: str
    sent_at: float
    answered_at: float
    status: int
    code: str = ""


class Load:
    """Every person requests leave; the owner approves it, and reads lists and a feed."""

    def __init__(self, company: Company) -> None:
        self._company = company
        self._days = working_days(_MAX_TURNS // 2)
        self._stopping = threading.Event()
        self.created: dict[str, str] = {}
        self.sent: list[Sent] = []

    @property
    def statuses(self) -> Counter[int]:
        return Counter(one.status for one in self.sent)

    @property
    def codes(self) -> Counter[str]:
        return Counter(one.code for one in self.sent if one.code)

    def run(self, turns: int) -> None:
        """So many turns of each person."""
        with ThreadPoolExecutor(PEOPLE) as threads:
            # list() raises what a thread has raised.
            list(threads.map(lambda person: self._one_person(person, turns, 0.0), range(PEOPLE)))

    @contextmanager
    def running(self, pause_seconds: float) -> Iterator[None]:
        """Turns until the block ends, with a pause after each; each person has at most 200."""
        with ThreadPoolExecutor(PEOPLE) as threads:
            people = [
                threads.submit(self._one_person, person, _MAX_TURNS, pause_seconds)
                for person in range(PEOPLE)
            ]
            try:
                yield
            finally:
                self._stopping.set()
            for person in people:
                person.result()

    def _one_person(self, person: int, turns: int, pause_seconds: float) -> None:
        servers = len(self._company.servers)
        for turn in range(turns):
            if self._stopping.wait(pause_seconds):
                return
            server = (person + turn) % servers
            # The owner approves through another process.
            other = (server + turn // servers) % servers
            request_id = self.create(person, server, f"{person}-{turn}", half_day=turn)
            self.approve(other, request_id)
            self._send(self._company.owners[other], other, "GET", "/api/v1/leave-requests?limit=50")
            self._send(self._company.owners[server], server, "GET", self._company.feed)

    def create(self, person: int, server: int, key: str, half_day: int) -> str:
        """Request a half-day by its number; the request's id."""
        day = self._days[half_day // 2]
        half = {"start_half_day": "pm"} if half_day % 2 else {"end_half_day": "am"}
        leave = {
            "leave_type_id": self._company.unpaid,
            "start_date": f"{day}",
            "end_date": f"{day}",
        }
        response = self._send(
            self._company.people[person][server],
            server,
            "POST",
            "/api/v1/leave-requests",
            json=leave | half,
            headers={"Idempotency-Key": key},
        )
        assert response.status_code == 201, response.text
        self.created[key] = response.json()["id"]
        return self.created[key]

    def approve(self, server: int, request_id: str) -> None:
        approved = self._send(
            self._company.owners[server],
            server,
            "POST",
            f"/api/v1/approvals/{request_id}/approve",
            headers={"Idempotency-Key": f"approve {request_id}"},
        )
        assert approved.json()["status"] == "approved", approved.text

    def _send(
        self, client: httpx.Client, server: int, method: str, path: str, **more: Any
    ) -> httpx.Response:
        """Repeat it until it is answered with something else than 503."""
        ends_at = time.monotonic() + GIVE_UP_SECONDS
        while True:
            sent_at = time.monotonic()
            answer = client.request(method, path, **more)
            code = ""
            if answer.status_code == 503:
                assert answer.headers["content-type"] == "application/problem+json"
                assert int(answer.headers["retry-after"]) > 0
                code = answer.json()["code"]
            self.sent.append(
                Sent(
                    server=server,
                    method=method,
                    sent_at=sent_at,
                    answered_at=time.monotonic(),
                    status=answer.status_code,
                    code=code,
                )
            )
            if answer.status_code != 503 or time.monotonic() > ends_at:
                return answer
            time.sleep(_RETRY_SECONDS)


def wait_until_delivered(database_url: str) -> None:
    ends_at = time.monotonic() + GIVE_UP_SECONDS
    due = "SELECT count(*) FROM deliveries WHERE status <> 'delivered'"
    while outside.rows(database_url, due) != [(0,)]:
        assert time.monotonic() < ends_at
        time.sleep(0.1)


def assert_nothing_lost_or_doubled(
    load: Load, database_url: str, received: Sequence[Received]
) -> None:
    """Every acknowledged change is stored and audited once, and sent under one id."""
    stored = outside.rows(database_url, "SELECT id::text, status FROM leave_requests")
    assert sorted(stored) == sorted((one, "approved") for one in load.created.values())
    actions = outside.rows(
        database_url,
        "SELECT action, count(*) FROM audit_entries WHERE action LIKE 'leave_request.%'"
        " GROUP BY action ORDER BY action",
    )
    assert actions == [
        ("leave_request.approved", len(stored)),
        ("leave_request.created", len(stored)),
    ]
    events = Counter(
        (event["data"]["id"], event["type"])
        for event in {one.headers["webhook-id"]: json.loads(one.body) for one in received}.values()
    )
    assert events == {
        (request_id, f"leave_request.{what}"): 1
        for request_id in load.created.values()
        for what in ("created", "approved")
    }
