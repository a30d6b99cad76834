"""Webhooks tried in the demo: the playground's receiver, and what is reached without the demo."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest

from storage.db.schema import migrate
from tests.flows.days import free_monday
from tests.flows.running import Deployment, Server
from tests.flows.test_playground import from_page, wait_for

pytestmark = pytest.mark.slow


@pytest.fixture
def deployment(sqlite_url: str) -> Deployment:
    return Deployment(sqlite_url)


@pytest.fixture
def server(deployment: Deployment) -> Iterator[Server]:
    with deployment.serving("--demo") as server:
        yield server


def press(server: Server, name: str, body: object = None) -> None:
    response = httpx.post(
        f"{server.url}/playground/webhooks/{name}",
        json={} if body is None else body,
        headers=from_page(server),
        timeout=15,
    )
    assert (response.status_code, response.json()) == (200, {})


def events(server: Server) -> list[dict[str, Any]]:
    """What the page shows, newest first."""
    response = httpx.get(f"{server.url}/playground/webhooks/state", headers=from_page(server))
    shown: list[dict[str, Any]] = response.raise_for_status().json()["events"]
    return shown


def request_leave(server: Server) -> None:
    """Amir, a member, with the key that the terminal shows."""
    key = server.printed().partition("of olivia@acme.example")[2].partition("API key")[2].split()[0]
    day = f"{free_monday() + timedelta(days=1)}"
    body = {"leave_type": "unpaid", "start_date": day, "end_date": day}
    server.client(key).post("/api/v1/leave", json=body).raise_for_status()


def test_what_hiatus_sends_is_shown_with_its_signature(server: Server) -> None:
    press(server, "connect")
    request_leave(server)

    (event,) = wait_for(lambda: events(server))

    assert (event["type"], event["is_verified"], event["attempt"], event["status"]) == (
        "leave_request.created",
        True,
        1,
        204,
    )
    assert '"email": "amir@acme.example"' in event["body"]


def test_a_failed_event_is_sent_again(server: Server) -> None:
    press(server, "connect")
    press(server, "fail", True)
    press(server, "ping")
    wait_for(lambda: events(server))
    request_leave(server)

    again, first, ping = wait_for(lambda: events(server) if len(events(server)) == 3 else None)

    assert (ping["type"], ping["status"]) == ("ping", 204)
    assert [(each["attempt"], each["status"]) for each in (first, again)] == [(1, 500), (2, 204)]
    assert first["webhook_id"] == again["webhook_id"]


def test_connecting_again_keeps_the_webhook_with_a_new_secret(server: Server) -> None:
    press(server, "connect")
    press(server, "connect")
    press(server, "ping")

    (event,) = wait_for(lambda: events(server))

    key = server.printed().partition("API key")[2].split()[0]
    webhooks = server.client(key).get("/api/v1/webhooks").json()["data"]
    assert (len(webhooks), event["is_verified"]) == (1, True)


def test_a_request_that_hiatus_did_not_sign_is_shown_as_such(server: Server) -> None:
    press(server, "connect")

    forged = httpx.post(
        f"{server.url}/playground/webhooks/receive",
        json={"type": "leave_request.approved"},
        headers={"webhook-id": "1", "webhook-timestamp": "1", "webhook-signature": "v1,AAAA"},
    )

    assert forged.status_code == 400
    (event,) = events(server)
    assert (event["type"], event["is_verified"]) == ("leave_request.approved", False)


def test_only_the_page_connects_and_only_this_machine_sends(server: Server) -> None:
    url = f"{server.url}/playground/webhooks"

    assert httpx.post(f"{url}/connect", json={}).status_code == 403
    assert httpx.get(f"{url}/state").status_code == 403
    forwarded = {"X-Forwarded-For": "203.0.113.9"}
    assert httpx.get(url, headers=forwarded).status_code == 403
    assert httpx.post(f"{url}/receive", json={}, headers=forwarded).status_code == 403


def test_this_machine_receives_webhooks_in_the_demo_only(sqlite_url: str) -> None:
    migrate(sqlite_url)
    deployment = Deployment(sqlite_url)
    key = deployment.init()["api_key"]
    with deployment.serving() as server:
        owner = server.client(key)
        for receiver in ("http://127.0.0.1:9000/", "https://127.0.0.1/", "https://localhost/"):
            refused = owner.post("/api/v1/webhooks", json={"url": receiver, "events": ["*"]})
            assert refused.status_code == 422
        assert owner.get("/playground/webhooks").status_code == 404


def test_the_demo_reaches_no_other_private_address(server: Server) -> None:
    key = server.printed().partition("API key")[2].split()[0]

    for receiver in ("http://10.0.0.1/", "http://169.254.169.254/", "http://example.com/"):
        refused = server.client(key).post(
            "/api/v1/webhooks", json={"url": receiver, "events": ["*"]}
        )
        assert refused.status_code == 422
