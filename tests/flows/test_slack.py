"""The main job from Slack: real processes, real signatures, a loopback Slack."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import httpx
import icalendar
import pytest
import standardwebhooks

from bot.base import ids
from storage.db.schema import migrate
from tests.bot.world import to_decide
from tests.fakes.receiver import LoopbackReceiver
from tests.fakes.slack import LoopbackSlack
from tests.flows.days import free_monday
from tests.flows.running import Bot, Deployment, Server, free_port

pytestmark = pytest.mark.slow

ADA, OLIVE = "UADA", "UOLIVE"


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    with LoopbackSlack() as slack:
        slack.add_person(OLIVE, "olive@example.com", "Olive Owner", tz="Europe/London")
        slack.add_person(ADA, "ada@example.com", "Ada Lovelace", tz="Europe/London")
        yield slack
        assert slack.violations == []


@pytest.fixture
def deployment(database_url: str, slack: LoopbackSlack) -> Deployment:
    migrate(database_url)
    return Deployment(
        database_url,
        HIATUS_WEBHOOK_ALLOW_PRIVATE="on",
        HIATUS_SLACK_SIGNING_SECRET=slack.signing_secret,
        HIATUS_SLACK_BOT_TOKEN=slack.token,
        HIATUS_SLACK_APP_TOKEN=slack.app_token,
        HIATUS_SLACK_API_URL=slack.api_url,
    )


def ask(slack: LoopbackSlack) -> None:
    """Ada requests a Tuesday, weeks ahead, from midday."""
    day = f"{free_monday() + timedelta(days=1)}"
    slack.command(ADA, "/timeoff")
    form = slack.open_modal(ADA)
    unpaid = next(
        option["value"]
        for option in form.blocks[0]["element"]["options"]
        if "Unpaid" in option["text"]["text"]
    )
    response = slack.submit(
        ADA,
        form,
        {
            ids.LEAVE_TYPE: unpaid,
            ids.FIRST_DAY: day,
            ids.LAST_DAY: day,
            ids.PART_OF_DAY: ids.AFTERNOON,
            ids.NOTE: "Moving house",
        },
    )
    assert response.ok
    assert response.errors == {}


def only_request(owner: httpx.Client) -> dict[str, Any]:
    (request,) = owner.get("/api/v1/leave-requests").raise_for_status().json()["data"]
    leave_request: dict[str, Any] = request
    return leave_request


def test_a_request_made_and_approved_in_slack_shows_up_everywhere(
    deployment: Deployment, slack: LoopbackSlack
) -> None:
    owner_key = deployment.init()["api_key"]
    with deployment.serving() as server, LoopbackReceiver() as receiver:
        slack.app_url = server.url
        owner = server.client(owner_key)
        response = owner.post("/api/v1/webhooks", json={"url": receiver.url, "events": ["*"]})
        webhook = standardwebhooks.Webhook(response.json()["secret"])

        ask(slack)
        card = slack.wait_for_dm(OLIVE, showing=" requested ")
        assert "Moving house" in card.visible_text
        assert (only_request(owner)["status"], only_request(owner)["total_days"]) == (
            "pending",
            0.5,
        )
        assert slack.click(OLIVE, card, ids.APPROVE).ok

        assert to_decide(slack.wait_for_dm(OLIVE, showing="Approved by you")) == []
        slack.wait_for_dm(ADA, showing="Olive Owner approved your request")
        assert only_request(owner)["status"] == "approved"
        events = [
            webhook.verify(delivery.body, delivery.headers) for delivery in receiver.wait_for(2)
        ]
        assert [event["type"] for event in events] == [
            "leave_request.created",
            "leave_request.approved",
        ]
        assert events[0]["data"]["user"]["email"] == "ada@example.com"
        feeds = owner.get("/api/v1/calendar-feeds/token").json()["feeds"]
        calendar = icalendar.Calendar.from_ical(
            httpx.get(server.url + feeds["organisation"]).content
        )
        (event,) = calendar.events
        assert str(event["summary"]) == "Ada Lovelace: Unpaid leave"
        entries = owner.get("/api/v1/audit?action=leave_request.approved").json()["data"]
        assert [entry["source"] for entry in entries] == ["slack"]

    assert "Traceback" not in server.logged()
    for secret in ("Lovelace", "example.com", "Moving house", slack.token, owner_key):
        assert secret not in server.logged()


def test_a_request_is_made_and_approved_over_socket_mode(
    deployment: Deployment, slack: LoopbackSlack
) -> None:
    owner_key = deployment.init()["api_key"]
    bot = Bot(deployment.env)
    try:
        slack.wait_for_socket()
        slack.via = "socket"
        ask(slack)
        card = slack.wait_for_dm(OLIVE, showing=" requested ")
        assert slack.click(OLIVE, card, ids.APPROVE).ok
        slack.wait_for_dm(OLIVE, showing="Approved by you")
        slack.wait_for_dm(ADA, showing="Olive Owner approved your request")
    finally:
        code, logged = bot.stop()

    assert (code, "Traceback" in logged) == (0, False)
    for secret in ("Lovelace", "example.com", "Moving house", slack.token, slack.app_token):
        assert secret not in logged
    with deployment.serving() as server:
        assert only_request(server.client(owner_key))["status"] == "approved"


def test_notifications_survive_kill_9(deployment: Deployment, slack: LoopbackSlack) -> None:
    owner_key = deployment.init()["api_key"]
    with deployment.serving(HIATUS_SCHEDULER="off") as server:
        slack.app_url = server.url
        ask(slack)
        assert only_request(server.client(owner_key))["status"] == "pending"
        server.kill()
    assert slack.dm(OLIVE) == []

    with deployment.serving():
        slack.wait_for_dm(OLIVE, showing=" requested ")


def test_a_wrong_app_token_ends_the_bot_with_a_sentence(
    deployment: Deployment, slack: LoopbackSlack
) -> None:
    deployment.init()

    code, logged = Bot(deployment.env | {"HIATUS_SLACK_APP_TOKEN": "xapp-wrong"}).ended()

    assert code == 1
    assert "HIATUS_SLACK_APP_TOKEN" in logged


def test_a_bot_whose_connection_breaks_is_connected_again_within_five_seconds(
    deployment: Deployment, slack: LoopbackSlack
) -> None:
    deployment.init()
    bot = Bot(deployment.env)
    try:
        slack.wait_for_socket()

        slack.abort_sockets()
        slack.wait_for_socket(timeout_seconds=5)

        slack.via = "socket"
        assert slack.command(ADA, "/timeoff").ok
    finally:
        code, _ = bot.stop()
    assert code == 0


def test_a_bot_whose_socket_mode_is_switched_off_ends_with_a_sentence(
    deployment: Deployment, slack: LoopbackSlack
) -> None:
    deployment.init()
    bot = Bot(deployment.env)
    try:
        slack.wait_for_socket()
        slack.disconnect_sockets("link_disabled")
    finally:
        code, logged = bot.ended()

    assert code == 1
    assert "Socket Mode is switched off for this app" in logged
    assert "Traceback" not in logged


def test_a_bot_is_ready_while_it_is_connected(deployment: Deployment, slack: LoopbackSlack) -> None:
    deployment.init()
    port = free_port()
    slack.fail_next("apps.connections.open", status=503, times=1_000)
    bot = Bot(deployment.env, "--health-port", str(port))
    try:
        slack.wait_for_call("apps.connections.open")
        before = [
            httpx.get(f"http://127.0.0.1:{port}/{path}").status_code
            for path in ("healthz", "readyz")
        ]
        slack.forget_failures()
        slack.wait_for_socket(timeout_seconds=60)
        deadline = time.monotonic() + 60
        while httpx.get(f"http://127.0.0.1:{port}/readyz").status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        metrics = httpx.get(f"http://127.0.0.1:{port}/metrics")
    finally:
        code, _ = bot.stop()

    assert before == [200, 503]
    assert code == 0
    assert metrics.headers["Content-Type"].startswith("text/plain")
    lines = metrics.text.splitlines()
    assert 'hiatus_slack_calls_total{method="apps.connections.open",outcome="ok"}' in metrics.text
    assert "hiatus_database_up 1.0" in lines
    assert 'hiatus_job_last_success_timestamp_seconds{name="reminders"} 0.0' in lines


def test_a_bot_whose_health_port_is_taken_ends_with_a_sentence(deployment: Deployment) -> None:
    deployment.init()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        code, logged = Bot(deployment.env, "--health-port", str(port)).ended()

    assert code == 1
    assert "No health checks" in logged
    assert f"Port {port} of 127.0.0.1 is in use by another program." in logged
    assert "--health-port 9000" in logged
    assert "Traceback" not in logged


def test_a_workspace_that_installs_the_app_uses_it_at_once(
    database_url: str, slack: LoopbackSlack
) -> None:
    migrate(database_url)
    many = Deployment(
        database_url,
        HIATUS_SLACK_SIGNING_SECRET=slack.signing_secret,
        HIATUS_SLACK_CLIENT_ID=slack.client_id,
        HIATUS_SLACK_CLIENT_SECRET=slack.client_secret,
        HIATUS_SLACK_API_URL=slack.api_url,
        HIATUS_SLACK_COMMAND="/urlaub",
    )
    many.init()
    with many.serving() as server:
        slack.app_url = server.url
        welcome = httpx.get(server.url).text
        assert '<a class="button" href="slack/install">Add to Slack</a>' in welcome
        assert "<code>/urlaub</code>" in welcome
        began = httpx.get(f"{server.url}/slack/install")
        state = began.headers["location"].partition("state=")[2].partition("&")[0]
        installed = httpx.get(
            f"{server.url}/slack/oauth_redirect",
            params={"state": state, "code": slack.oauth_code(OLIVE)},
            headers={"Cookie": began.headers["set-cookie"].partition(";")[0]},
        )
        assert "now belongs to Acme" in installed.text

        slack.command(ADA, "/urlaub")
        assert slack.open_modal(ADA).title == "Request leave"

    logged = server.logged()
    assert "Traceback" not in logged
    tokens = {call.token for call in slack.calls() if call.token}
    for secret in ("Lovelace", "example.com", state, slack.client_secret, *tokens):
        assert secret not in logged


def test_requests_of_slack_wait_until_it_is_set_up(
    deployment: Deployment, slack: LoopbackSlack
) -> None:
    deployment.init()
    # The server asks for its workspace before it serves Slack.
    slack.fail_next("auth.test", hang_seconds=1.0)
    server = Server(deployment.env)
    try:
        wait_until_open(server.port)
        slack.app_url = server.url

        # No modal: on a busy machine its trigger expires.
        response = slack.command(OLIVE, "/timeoff", "help", timeout_seconds=30)

        assert response.status == 200
        slack.wait_until(lambda: slack.ephemerals or slack.response_posts)
        assert httpx.get(f"{server.url}/readyz").status_code == 200
    finally:
        server.stop()


def wait_until_open(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.01)
    raise AssertionError("The server does not listen.")
