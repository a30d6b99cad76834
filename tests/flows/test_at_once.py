"""Many requests of one person at once, over HTTP and through several processes: no leave overlaps
or overdraws the allowance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import combinations
from threading import Barrier
from typing import Any

import httpx
import pytest

from storage.db.schema import migrate
from tests.flows.running import Deployment, Server
from tests.flows.test_main_job import hire

pytestmark = pytest.mark.slow

AT_ONCE = 30
REFUSED = {"overlapping_leave", "insufficient_allowance", "invalid_transition", "own_request"}


@pytest.fixture
def deployment(database_url: str) -> Deployment:
    migrate(database_url)
    return Deployment(database_url)


def together(calls: Sequence[Callable[[], httpx.Response]]) -> list[httpx.Response]:
    """Run all calls at the same moment, each on a connection of its own."""
    barrier = Barrier(len(calls))

    def when_all_are_there(call: Callable[[], httpx.Response]) -> httpx.Response:
        barrier.wait(20)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(when_all_are_there, calls))


def first_monday() -> date:
    """In June of next year, in which England has no holiday after May."""
    june = date(datetime.now(UTC).year + 1, 6, 1)
    return june + timedelta(days=-june.weekday() % 7)


def body(leave_type_id: str, day: date, days: int, **more: str) -> dict[str, Any]:
    last = day + timedelta(days=days - 1)
    return {"leave_type_id": leave_type_id, "start_date": f"{day}", "end_date": f"{last}", **more}


def halves(request: dict[str, Any]) -> set[tuple[date, str]]:
    """The halves of days that the request spans."""
    day, last = (date.fromisoformat(request[name]) for name in ("start_date", "end_date"))
    spanned = set()
    while day <= last:
        spanned |= {(day, "am"), (day, "pm")}
        day += timedelta(days=1)
    if request["start_half_day"] == "pm":
        spanned.discard((date.fromisoformat(request["start_date"]), "am"))
    if request["end_half_day"] == "am":
        spanned.discard((last, "pm"))
    return spanned


def living(client: httpx.Client) -> list[dict[str, Any]]:
    response = client.get("/api/v1/leave-requests", params={"limit": "100"}).raise_for_status()
    return [
        request
        for request in response.json()["data"]
        if request["status"] in ("pending", "approved")
    ]


def assert_sound(responses: list[httpx.Response], requests: list[dict[str, Any]]) -> None:
    problems = [response.json() for response in responses if not response.is_success]
    assert {problem["code"] for problem in problems} <= REFUSED
    assert [
        (request["id"], other["id"])
        for request, other in combinations(requests, 2)
        if halves(request) & halves(other)
    ] == []


class Cast:
    """An owner, and Ada with ten days a year; their clients by process, in turn."""

    def __init__(self, deployment: Deployment, stack: ExitStack) -> None:
        owner_key = deployment.init()["api_key"]
        processes = 2 if deployment.env["DATABASE_URL"].startswith("postgresql") else 1
        self.servers: list[Server] = [
            stack.enter_context(deployment.serving(HIATUS_SCHEDULER="off"))
            for _ in range(processes)
        ]
        self.owners = [server.client(owner_key) for server in self.servers]
        hire(self.owners[0], "Ada", leave_allowance=10)
        words = ("keys", "create", "--email", "ada@example.com", "--name", "test", "--json")
        ada_key = deployment.command(*words)["api_key"]
        self.adas = [server.client(ada_key) for server in self.servers]
        types = self.owners[0].get("/api/v1/leave-types").json()["data"]
        self.annual = next(
            leave_type["id"] for leave_type in types if leave_type["code"] == "annual"
        )

    def ada(self, number: int) -> httpx.Client:
        return self.adas[number % len(self.adas)]

    def owner(self, number: int) -> httpx.Client:
        return self.owners[number % len(self.owners)]


@pytest.fixture
def cast(deployment: Deployment) -> Iterator[Cast]:
    with ExitStack() as stack:
        yield Cast(deployment, stack)


def days_taken(requests: list[dict[str, Any]]) -> float:
    return float(sum(request["total_days"] for request in requests))


def test_creates_edits_approvals_and_cancellations_at_once_stay_sound(cast: Cast) -> None:
    monday = first_monday()
    path = "/api/v1/leave-requests"
    ids = [
        cast.ada(n)
        .post(path, json=body(cast.annual, monday + timedelta(weeks=n), 2))
        .raise_for_status()
        .json()["id"]
        for n in range(4)
    ]
    to_one_week = {"start_date": f"{monday}", "end_date": f"{monday + timedelta(days=3)}"}
    afternoon = body(cast.annual, monday, 1, start_half_day="pm")
    morning = body(cast.annual, monday, 1, end_half_day="am")

    responses = together(
        [
            *(
                partial(cast.ada(n).patch, f"{path}/{ids[n % 4]}", json=to_one_week)
                for n in range(8)
            ),
            *(
                partial(cast.owner(n).post, f"/api/v1/approvals/{ids[n % 4]}/approve")
                for n in range(6)
            ),
            *(partial(cast.ada(n).post, f"{path}/{ids[n % 2]}/cancel") for n in range(4)),
            *(partial(cast.ada(n).post, path, json=afternoon) for n in range(4)),
            *(partial(cast.ada(n).post, path, json=morning) for n in range(4)),
            *(
                partial(
                    cast.ada(n).post,
                    path,
                    json=body(cast.annual, monday + timedelta(weeks=5, days=n), 1),
                )
                for n in range(4)
            ),
        ]
    )

    requests = living(cast.ada(0))
    assert len(responses) == AT_ONCE
    assert_sound(responses, requests)
    assert days_taken(requests) <= 10
    # Each was decided or cancelled once, although several processes tried.
    trail = cast.owner(0).get("/api/v1/audit", params={"limit": "100"}).json()["data"]
    steps = [
        (entry["subject"]["id"], entry["action"])
        for entry in trail
        if entry["action"] in ("leave_request.approved", "leave_request.cancelled")
    ]
    assert len(steps) == len(set(steps))
