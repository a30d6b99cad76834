"""The playground over HTTP: access, the state that it sends, and where it is off."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from starlette.routing import Router

from playground import web
from tests.fakes.slack import LoopbackSlack
from tests.flows.running import Deployment, Server

pytestmark = pytest.mark.slow

AMIR, GRACE = "U0AMIR", "U0GRACE"


@pytest.fixture
def deployment(sqlite_url: str) -> Deployment:
    return Deployment(sqlite_url)


@pytest.fixture
def server(deployment: Deployment) -> Iterator[Server]:
    with deployment.serving("--demo") as server:
        yield server


def from_page(server: Server) -> dict[str, str]:
    """The headers that the page's own requests have."""
    text = httpx.get(f"{server.url}/playground").raise_for_status().text
    match = re.search(r'data-token="([\w-]{43})"', text)
    assert match, text
    return {"X-Playground-Token": match[1], "Origin": server.url, "Sec-Fetch-Site": "same-origin"}


def screen(server: Server, user_id: str) -> dict[str, Any]:
    response = httpx.get(
        f"{server.url}/playground/state", params={"people": user_id}, headers=from_page(server)
    )
    screen_of_user: dict[str, Any] = response.raise_for_status().json()["screens"][user_id]
    return screen_of_user


def wait_for(look: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        if result := look():
            return result
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def act(server: Server, user_id: str, kind: str, **what: Any) -> dict[str, Any]:
    response = httpx.post(
        f"{server.url}/playground/act",
        json={"user": user_id, "kind": kind, **what},
        headers=from_page(server),
        timeout=15,
    )
    done: dict[str, Any] = response.json()
    return done


def the_card(server: Server) -> dict[str, Any]:
    """Grace's card of the request by the demo's Amir."""
    messages = wait_for(lambda: screen(server, GRACE)["messages"])
    card: dict[str, Any] = messages[0]
    return card


def test_a_button_pressed_there_decides_and_redraws(server: Server) -> None:
    card = the_card(server)
    (block,) = [block for block in card["blocks"] if block["type"] == "card"]
    approve = block["actions"][0]

    done = act(
        server,
        GRACE,
        "click",
        channel=card["channel"],
        ts=card["ts"],
        block_id=block["block_id"],
        action_id=approve["action_id"],
        value=approve["value"],
    )

    assert done["ok"], done
    wait_for(lambda: "pproved" in screen(server, GRACE)["messages"][0]["text"])
    wait_for(lambda: "pproved" in screen(server, AMIR)["messages"][-1]["text"])
    state = httpx.get(f"{server.url}/playground/state", headers=from_page(server)).json()
    assert state["problems"] == []


def test_a_form_is_filled_in_over_several_picks(server: Server) -> None:
    assert act(server, AMIR, "command", text="/timeoff")["ok"]
    modal = wait_for(lambda: screen(server, AMIR)["modal"])

    emptied = [["start_date", "leave.recount", None]]
    refused = act(server, AMIR, "submit", view_id=modal["id"], filled=emptied)
    closed = act(server, AMIR, "close", view_id=modal["id"])

    assert refused["ok"] is False  # Slack's client asks for the day before it sends anything.
    assert closed["ok"]
    assert screen(server, AMIR)["modal"] is None


def test_a_press_counts_although_the_view_was_published_again_meanwhile(server: Server) -> None:
    assert act(server, AMIR, "open_home")["ok"]
    home = wait_for(lambda: screen(server, AMIR)["home"])
    (button,) = [
        element
        for block in home["blocks"]
        for element in block.get("elements", [])
        if element["type"] == "button" and element["text"]["text"] == "Calendar"
    ]

    pressed = act(
        *(server, AMIR, "pick"),
        view_id=home["id"],
        block_id="of the earlier view",
        action_id=button["action_id"],
        value=button.get("value"),
    )

    assert pressed["ok"], pressed
    wait_for(lambda: screen(server, AMIR)["modal"])


def test_users_cannot_press_buttons_of_other_users_views(server: Server) -> None:
    card = the_card(server)

    done = act(server, AMIR, "click", channel=card["channel"], ts=card["ts"], action_id="any")

    assert done == {"ok": False, "problem": "This message is gone."}


def test_malformed_requests_are_refused(server: Server) -> None:
    page = from_page(server)
    for content_type, content, status in (
        ("text/plain", b"{}", 415),
        ("application/json", b"\xff", 422),
        ("application/json", b'{"user": "U0AMIR", "kind": "fly"}', 422),
        ("application/json", b'{"user": "U0EVE", "kind": "open_home"}', 409),
        ("application/json", b"{" + b" " * 300_000, 413),
    ):
        headers = page | {"Content-Type": content_type}
        response = httpx.post(f"{server.url}/playground/act", content=content, headers=headers)

        assert response.status_code == status, content


def test_only_programs_on_this_machine_get_the_page_and_its_data(server: Server) -> None:
    page = from_page(server)
    for forged in (
        # A website of its own name that resolves to this machine.
        {"Host": "attacker.example:8000", "Origin": "http://attacker.example:8000"},
        {"Host": "127.0.0.1.attacker.example"},
        # A proxy on this machine, for a client elsewhere.
        {"X-Forwarded-For": "198.51.100.7"},
        {"X-Forwarded-For": "127.0.0.1"},
        {"Forwarded": "for=198.51.100.7"},
        {"X-Real-IP": "198.51.100.7"},
    ):
        responses = [
            httpx.get(f"{server.url}/playground", headers=forged),
            httpx.get(f"{server.url}/playground/state", headers=page | forged),
            httpx.post(f"{server.url}/playground/reset", json={}, headers=page | forged),
        ]

        assert [response.status_code for response in responses] == [403, 403, 403], forged
        assert all("data-token" not in response.text for response in responses)


def test_only_the_page_itself_can_act(server: Server) -> None:
    page = from_page(server)
    for changed in (
        {"Origin": "https://attacker.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "null"},
        {"Origin": None},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"X-Playground-Token": "a" * 43},
        {"X-Playground-Token": None},
    ):
        headers = {name: value for name, value in (page | changed).items() if value is not None}

        response = httpx.post(
            f"{server.url}/playground/act",
            json={"user": AMIR, "kind": "open_home"},
            headers=headers,
        )

        assert response.status_code == 403, changed
    assert screen(server, AMIR)["home"] is None
    assert httpx.get(f"{server.url}/playground/state").status_code == 403


def test_each_start_has_a_token_of_its_own(deployment: Deployment) -> None:
    with deployment.serving("--demo") as server:
        first = from_page(server)
    with deployment.serving("--demo") as server:
        response = httpx.get(f"{server.url}/playground/state", headers=first)

    assert response.status_code == 403
    assert response.json()["problem"] == "The playground was restarted. Reload this page."


@pytest.mark.parametrize("peer", ["198.51.100.7", "10.0.0.7", "2001:db8::7", ""])
def test_peers_on_other_machines_are_always_refused(peer: str) -> None:
    status = asyncio.run(status_of_the_page_for(peer))

    assert status == 403


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.0.0.9", "::1", "::ffff:127.0.0.1"])
def test_peers_on_this_machine_get_the_page(peer: str) -> None:
    status = asyncio.run(status_of_the_page_for(peer))

    assert status == 200


async def status_of_the_page_for(peer: str) -> int:
    routes = web.page_routes([AMIR], "/timeoff", "token")
    transport = httpx.ASGITransport(Router(routes), client=(peer, 50_000))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
        return (await http.get("/playground")).status_code


def test_a_base_url_on_another_machine_switches_the_playground_off(deployment: Deployment) -> None:
    with deployment.serving("--demo", BASE_URL="http://192.168.1.7:8000") as server:
        statuses = [
            httpx.get(f"{server.url}{path}").status_code
            for path in ("/playground", "/playground/state", "/playground/assets/1/icon.svg")
        ]
        banner = server.printed()

    assert statuses == [404, 404, 404]
    assert "BASE_URL is not on this machine, so there is no playground" in banner


def test_a_reset_deletes_messages_and_keeps_the_people(server: Server) -> None:
    the_card(server)

    httpx.post(
        f"{server.url}/playground/reset", json={}, headers=from_page(server)
    ).raise_for_status()

    assert screen(server, GRACE) == {
        "modal": None,
        "home": None,
        "messages": [],
        "channels": [{"id": "C0GENERAL00", "name": "general", "messages": []}],
    }


def test_a_restart_shows_pending_requests_again(deployment: Deployment) -> None:
    with deployment.serving("--demo") as server:
        before = the_card(server)
    with deployment.serving("--demo") as server:
        after = the_card(server)

    assert after["text"] == before["text"]


def test_a_real_slack_app_switches_the_playground_off(deployment: Deployment) -> None:
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
        statuses = [
            httpx.get(f"{server.url}{path}").status_code
            for path in ("/playground", "/playground/state", "/playground/assets/1/icon.svg")
        ]
        slack.add_person("UAMIR", "amir@acme.example", "Amir Rahimi")
        slack.app_url = server.url
        slack.command("UAMIR", "/timeoff")
        slack.open_modal("UAMIR")
        banner = server.printed()

    assert statuses == [404, 404, 404]
    assert "so there is no playground" in banner


def test_the_playground_needs_the_demo(deployment: Deployment) -> None:
    with deployment.serving() as server:
        assert httpx.get(f"{server.url}/playground").status_code == 404


def test_waiting_for_changes_is_not_logged_unless_it_is_refused(server: Server) -> None:
    screen(server, GRACE)
    act(server, GRACE, "open_home")
    httpx.get(f"{server.url}/playground/state")
    server.stop()

    lines = [json.loads(line) for line in server.logged().splitlines() if "/playground/" in line]

    assert [(line["route"], line["status"]) for line in lines] == [
        ("/playground/act", 200),
        ("/playground/state", 403),
    ]
