"""Requests a second beside a bare Starlette route that returns the same bytes, for information.

Interleaved rounds: each round measures every scenario on every server for a moment.
"""

from __future__ import annotations

import base64
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPResponse
from pathlib import Path

import psycopg

from storage.base.secrets import new_secret_key
from tests.bench import servers
from tests.bench.bare import Ready
from tests.bench.load import Load, Outcome, UnexpectedResponse, run_apart
from tests.bench.prepared import Prepared, prepared
from tests.bench.servers import Server

CONNECTIONS = 32
# Creations prepared for each second; the load ends early if they run out.
MAX_PER_SECOND = 4_500
BARE = "bare"
# Of the first round, which is not counted.
WARM_UP_SECONDS = 0.3


@dataclass(frozen=True, kw_only=True, slots=True)
class Scenario:
    """``path`` is the route's. ``is_once``: every request can succeed only once."""

    name: str
    method: str
    path: str
    status: int
    is_once: bool


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario(
            name="list", method="GET", path="/api/v1/leave-requests", status=200, is_once=False
        ),
        Scenario(
            name="preview",
            method="POST",
            path="/api/v1/leave-requests/preview",
            status=200,
            is_once=False,
        ),
        Scenario(
            name="create", method="POST", path="/api/v1/leave-requests", status=201, is_once=True
        ),
        # After create, whose requests it approves.
        Scenario(
            name="approve",
            method="POST",
            path="/api/v1/approvals/{id}/approve",
            status=200,
            is_once=True,
        ),
        Scenario(name="feed-304", method="GET", path="/cal/{token}.ics", status=304, is_once=False),
    )
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """One scenario on one server in one round; ``cpu_milliseconds`` of the server per request."""

    scenario: str
    server: str
    outcome: Outcome
    cpu_milliseconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class _Side:
    """One engine's server and its prepared requests."""

    server: Server
    prepared: Prepared

    def requests(self, scenario: Scenario, most: int) -> list[str]:
        match scenario.name:
            case "list":
                return self.prepared.page()
            case "preview":
                return self.prepared.preview()
            case "create":
                return self.prepared.create(most)
            case "approve":
                return self.prepared.approve()
            case _:
                return self.prepared.unchanged_feed(self._entity_tag())

    def _entity_tag(self) -> str:
        return _exchange(self.server, "GET", self.prepared.feed()[0]).getheader("etag", "")


def measure_ratios(
    engines: Sequence[str], rounds: int, seconds: float, folder: Path
) -> Iterator[Measurement]:
    """Yields each measurement. Raises UnexpectedResponse."""
    with ExitStack() as stack:
        sides = {engine: stack.enter_context(_side(engine, folder)) for engine in engines}
        chosen = SCENARIOS.values()
        sample = {}
        responses = []
        for scenario in chosen:
            side = next(iter(sides.values()))
            sample[scenario.name] = side.requests(scenario, 1)[0]
            responses.append(_ready(scenario, side.server, sample[scenario.name]))
        bare = stack.enter_context(servers.bare(responses, folder))
        for number in range(rounds + 1):
            for scenario in chosen:
                length = seconds if number else WARM_UP_SECONDS
                repeated = replace(scenario, is_once=False)
                of_round = [_measured(repeated, BARE, bare, [sample[scenario.name]], length)]
                # In alternating order, so that no engine always follows the other one.
                for engine in list(sides)[:: 1 if number % 2 else -1]:
                    side = sides[engine]
                    requests = side.requests(scenario, round(length * MAX_PER_SECOND))
                    of_round.append(_measured(scenario, engine, side.server, requests, length))
                if number:
                    yield from of_round


@contextmanager
def _side(engine: str, folder: Path) -> Iterator[_Side]:
    secret_key = new_secret_key()
    with ExitStack() as stack:
        url = stack.enter_context(servers.empty_database(engine, folder, "bench"))
        filled = stack.enter_context(prepared(url, secret_key))
        if engine == "postgresql":
            # As autovacuum does within a minute of so many changes.
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("ANALYZE")
        yield _Side(
            server=stack.enter_context(servers.hiatus(url, secret_key, folder, engine)),
            prepared=filled,
        )


def _ready(scenario: Scenario, server: Server, request: str) -> Ready:
    """The server's response, for the bare server to repeat."""
    response = _exchange(server, scenario.method, request)
    body = response.read()
    if response.status != scenario.status:
        raise UnexpectedResponse(f"{scenario.name}: {response.status} {body.decode()}")
    content_type = response.getheader("content-type", "")
    encoded = base64.b64encode(body).decode()
    return Ready(
        method=scenario.method,
        path=scenario.path,
        status=scenario.status,
        content_type=content_type,
        body=encoded,
    )


def _exchange(server: Server, method: str, request: str) -> HTTPResponse:
    with closing(socket.create_connection(("127.0.0.1", server.port), 10)) as connection:
        connection.sendall(request.encode())
        response = HTTPResponse(connection, method=method)
        response.begin()
        return response


def _measured(
    scenario: Scenario, name: str, server: Server, requests: list[str], seconds: float
) -> Measurement:
    cpu_before = server.cpu_seconds()
    load = Load(
        port=server.port,
        connections=CONNECTIONS,
        seconds=seconds,
        requests=requests,
        is_once=scenario.is_once,
        status=scenario.status,
    )
    outcome = run_apart(load)
    if outcome.unexpected or not outcome.responses:
        raise UnexpectedResponse(
            f"{scenario.name} on {name}: {outcome.unexpected}\n{outcome.first_unexpected}"
        )
    cpu_milliseconds = (server.cpu_seconds() - cpu_before) * 1_000 / outcome.responses
    return Measurement(
        scenario=scenario.name, server=name, outcome=outcome, cpu_milliseconds=cpu_milliseconds
    )
