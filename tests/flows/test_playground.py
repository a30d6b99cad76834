"""The playground over HTTP: who may play, what it sends, and where it is not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.fakes.slack import LoopbackSlack
from tests.flows.running import Deployment, Server

AMIR, GRACE = "U0AMIR", "U0GRACE"


@pytest.fixture
def deployment(sqlite_url: str) -> Deployment:
    return Deployment(sqlite_url)


@pytest.fixture
def server(deployment: Deployment) -> Iterator[Server]:
    with deployment.serving("--demo") as server:
        yield server


def screen(server: Server, user_id: str) -> dict[str, Any]:
    answer = httpx.get(f"{server.url}/playground/state", params={"people": user_id})
    found: dict[str, Any] = answer.raise_for_status().json()["screens"][user_id]
    return found


def wait_for(look: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def act(server: Server, user_id: str, kind: str, **what: Any) -> dict[str, Any]:
    answer = httpx.post(
        f"{server.url}/playground/act", json={"user": user_id, "kind": kind, **what}, timeout=15
    )
    done: dict[str, Any] = answer.json()
    return done


def the_card(server: Server) -> dict[str, Any]:
    """Grace's card about what the demo's Amir has asked for."""
    messages = wait_for(lambda: screen(server, GRACE)["messages"])
    card: dict[str, Any] = messages[0]
    return card


def test_a_button_pressed_there_decides_and_redraws(server: Server) -> None:
    card = the_card(server)
    (actions,) = [block for block in card["blocks"] if block["type"] == "actions"]
    approve = actions["elements"][0]

    done = act(
        server,
        GRACE,
        "click",
        channel=card["channel"],
        ts=card["ts"],
        block_id=actions["block_id"],
        action_id=approve["action_id"],
        value=approve["value"],
    )

    assert done["ok"], done
    wait_for(lambda: "pproved" in screen(server, GRACE)["messages"][0]["text"])
    wait_for(lambda: "pproved" in screen(server, AMIR)["messages"][-1]["text"])
    state = httpx.get(f"{server.url}/playground/state").json()
    assert state["problems"] == []


def test_a_form_is_filled_in_over_several_picks(server: Server) -> None:
    assert act(server, AMIR, "command", text="/timeoff")["ok"]
    modal = wait_for(lambda: screen(server, AMIR)["modal"])

    refused = act(server, AMIR, "submit", view_id=modal["id"], filled=[])
    closed = act(server, AMIR, "close", view_id=modal["id"])

    assert refused["ok"] is False  # Slack's client asks for the type before it sends anything.
    assert closed["ok"]
    assert screen(server, AMIR)["modal"] is None


def test_nobody_presses_what_somebody_else_sees(server: Server) -> None:
    card = the_card(server)

    done = act(server, AMIR, "click", channel=card["channel"], ts=card["ts"], action_id="any")

    assert done == {"ok": False, "problem": "This message is gone."}


@pytest.mark.parametrize(
    ("headers", "content", "status"),
    [
        ({"Host": "attacker.example", "Content-Type": "application/json"}, b"{}", 403),
        ({"Content-Type": "text/plain"}, b"{}", 415),
        ({"Content-Type": "application/json"}, b"\xff", 422),
        ({"Content-Type": "application/json"}, b'{"user": "U0AMIR", "kind": "fly"}', 422),
        ({"Content-Type": "application/json"}, b'{"user": "U0EVE", "kind": "open_home"}', 409),
        ({"Content-Type": "application/json"}, b"{" + b" " * 300_000, 413),
    ],
)
def test_what_the_page_would_not_send_is_refused(
    server: Server, headers: dict[str, str], content: bytes, status: int
) -> None:
    answer = httpx.post(f"{server.url}/playground/act", content=content, headers=headers)

    assert answer.status_code == status


def test_emptied_it_forgets_messages_and_keeps_the_people(server: Server) -> None:
    the_card(server)

    httpx.post(f"{server.url}/playground/reset", json={}).raise_for_status()

    assert screen(server, GRACE) == {
        "modal": None,
        "home": None,
        "messages": [],
        "channels": [{"id": "C0GENERAL00", "name": "general", "messages": []}],
    }


def test_a_restart_shows_again_what_waits(deployment: Deployment) -> None:
    with deployment.serving("--demo") as server:
        before = the_card(server)
    with deployment.serving("--demo") as server:
        after = the_card(server)

    assert after["text"] == before["text"]


def test_beside_a_real_slack_there_is_none(deployment: Deployment) -> None:
    with deployment.serving("--demo") as server:
        the_card(server)
    with (
        LoopbackSlack() as slack,
        deployment.serving(
            "--demo",
            HIATUS_SLACK_SIGNING_SECRET=slack.signing_secret,
            HIATUS_SLACK_BOT_TOKEN=slack.token,
            HIATUS_SLACK_API_URL=slack.api_url,
        ) as server,
    ):
        answers = [
            httpx.get(f"{server.url}{path}").status_code
            for path in ("/playground", "/playground/state", "/playground/assets/1/icon.svg")
        ]
        slack.add_person("UAMIR", "amir@acme.example", "Amir Rahimi")
        slack.app_url = server.url
        slack.command("UAMIR", "/timeoff")
        slack.open_modal("UAMIR")
        banner = server.printed()

    assert answers == [404, 404, 404]
    assert "there is no playground beside a real Slack" in banner


def test_without_the_demo_there_is_none(deployment: Deployment) -> None:
    with deployment.serving() as server:
        assert httpx.get(f"{server.url}/playground").status_code == 404
