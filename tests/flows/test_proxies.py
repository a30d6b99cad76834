"""Only trusted proxies set the client's address, in rate limits and in the log."""

from __future__ import annotations

import json

import httpx
import pytest

from api.http.rate_limits import FAILURE_LIMIT
from tests.flows.running import Deployment, Server

pytestmark = pytest.mark.slow


def addresses_logged(server: Server, path: str) -> list[str]:
    """The client's address in each request's line, of those to ``path``."""
    lines = [json.loads(line) for line in server.logged().splitlines() if line.startswith("{")]
    return [line["client_address"] for line in lines if line.get("route") == path]


def forwarded_for(addresses: str) -> dict[str, str]:
    return {"X-Forwarded-For": addresses}


@pytest.mark.parametrize(
    ("trusted", "clients_by_header"),
    [
        # Loopback by default, every address of it.
        ("", {"198.51.100.7": "198.51.100.7", "2001:db8::7": "2001:db8::7"}),
        (
            "127.0.0.0/8, 10.0.0.0/8",
            {
                # The last that is not a proxy; what precedes it is the client's own claim.
                "203.0.113.9, 198.51.100.7, 10.1.2.3": "198.51.100.7",
                "203.0.113.9, 198.51.100.7": "198.51.100.7",
                "198.51.100.7:4711": "198.51.100.7",
                "[2001:db8::7]:4711": "2001:db8::7",
                "::ffff:198.51.100.7": "198.51.100.7",
                "not an address": "",
            },
        ),
        ("*", {"198.51.100.7, 10.1.2.3": "198.51.100.7"}),
        # A value replaces the default: loopback is an ordinary client then.
        ("10.0.0.0/8, 127.0.0.1", {"198.51.100.7": "127.0.0.2"}),
    ],
)
def test_the_log_names_the_client_that_a_trusted_proxy_forwards(
    sqlite_url: str, trusted: str, clients_by_header: dict[str, str]
) -> None:
    from_another_loopback_address = httpx.HTTPTransport(local_address="127.0.0.2")
    with (
        Deployment(sqlite_url).serving(HIATUS_TRUSTED_PROXIES=trusted) as server,
        httpx.Client(transport=from_another_loopback_address) as http,
    ):
        for header in clients_by_header:
            http.get(f"{server.url}/healthz", headers=forwarded_for(header))

    assert addresses_logged(server, "/healthz") == [*clients_by_header.values()]


def test_failures_are_counted_by_the_forwarded_address(sqlite_url: str) -> None:
    deployment = Deployment(sqlite_url, HIATUS_RATE_LIMIT="600/minute")
    with deployment.serving() as server, httpx.Client(base_url=server.url) as http:
        for _ in range(FAILURE_LIMIT.amount):
            http.get("/cal/wrong", headers=forwarded_for("198.51.100.7"))

        limited = http.get("/cal/wrong", headers=forwarded_for("198.51.100.7"))
        elsewhere = http.get("/cal/wrong", headers=forwarded_for("198.51.100.8"))

    assert [limited.status_code, elsewhere.status_code] == [429, 404]


def test_an_address_that_is_not_trusted_cannot_claim_another(sqlite_url: str) -> None:
    deployment = Deployment(sqlite_url, HIATUS_RATE_LIMIT="600/minute")
    with (
        deployment.serving(HIATUS_TRUSTED_PROXIES="192.0.2.1") as server,
        httpx.Client(base_url=server.url) as http,
    ):
        responses = [
            http.get("/cal/wrong", headers=forwarded_for(f"198.51.100.{number}"))
            for number in range(FAILURE_LIMIT.amount + 1)
        ]

    assert responses[-1].status_code == 429
