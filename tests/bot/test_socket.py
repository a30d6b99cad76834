"""The same app over Socket Mode: the main flow, reconnecting, bad tokens and stopping."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from bot.base import ids
from bot.base.settings import SlackSettings
from bot.service import socket as slack_socket
from bot.service.app import build_app
from storage.db.database import Database
from storage.workspaces import slack_installations
from storage.workspaces.slack_workspaces import NewInstallation
from tests.bot.browser import by_oauth
from tests.bot.world import ADA, GRACE, HEDY, Clock, World, to_decide
from tests.builders import NOW, a_slack_installation, a_slack_profile
from tests.fakes.slack import LoopbackSlack


@pytest.fixture
def by_socket(database: Database, slack: LoopbackSlack) -> Iterator[World]:
    with World(database, slack, via="socket") as running:
        yield running


def test_leave_is_requested_and_approved_over_the_socket(by_socket: World) -> None:
    world = by_socket
    refused = world.send_form(end_date="2026-08-01")
    world.a_request()

    approved = world.press(GRACE, ids.APPROVE)

    assert list(refused.errors) == [ids.LAST_DAY]
    assert approved.ok
    assert to_decide(world.cards(GRACE)[0]) == to_decide(world.cards(HEDY)[0]) == []
    assert "Grace Hopper approved your request." in world.slack.dm(ADA)[-1].text


def test_home_is_opened_used_and_refreshed_over_the_socket(by_socket: World) -> None:
    world = by_socket
    world.slack.open_home(ADA)
    world.a_request()

    opened = world.slack.open_home(GRACE)
    world.settled()
    home = world.slack.home(GRACE)
    clicked = world.slack.click_in_view(GRACE, home, ids.HOME_APPROVE)
    world.deliver()
    world.settled()

    assert (opened.ok, clicked.ok) == (True, True)
    assert "Waiting for your decision" in home.visible_text
    assert "Ada Lovelace" in home.visible_text
    assert world.request().status == "approved"
    assert "Waiting for your decision" not in world.slack.home(GRACE).visible_text
    # Ada did not click: the decision refreshes her Home.
    assert "Wed 5 Aug 2026, 3 days · Approved" in world.slack.home(ADA).visible_text


def test_the_app_reconnects_at_slacks_request_and_after_a_lost_connection(by_socket: World) -> None:
    world = by_socket
    world.slack.disconnect_sockets()
    world.slack.wait_for_socket()
    world.open_form(ADA)

    world.slack.abort_sockets()
    world.slack.wait_for_socket()
    world.open_form(GRACE)

    assert len(world.slack.calls("views.open")) == 2


def test_workspaces_that_installed_the_app_are_served_over_the_socket(
    database: Database, slack: LoopbackSlack
) -> None:
    by_socket_alone = by_oauth(slack) | {"signing_secret": None}
    world = World(database, slack, via="socket", slack_settings=by_socket_alone)
    world.link()
    database.write_now(slack_installations.install, _installation(slack), now=NOW)
    with world:
        world.a_request()
        assert world.press(GRACE, ids.APPROVE).ok

    assert world.app.routes() != []
    assert "Grace Hopper approved your request." in slack.dm(ADA)[-1].text
    assert {call.token for call in slack.calls("chat.postMessage")} == {slack.token}


def _installation(slack: LoopbackSlack) -> NewInstallation:
    ada = a_slack_profile("ada@example.com", slack_user_id=ADA)
    return a_slack_installation(
        ada, team_id=slack.team_id, team_name="Acme", bot_token=slack.token, bot_id="BBOTT1"
    )


@pytest.mark.parametrize(
    ("setting", "tokens"),
    [
        ("HIATUS_SLACK_APP_TOKEN", {"app_token": "xapp-wrong"}),
        ("HIATUS_SLACK_BOT_TOKEN", {"bot_token": "xoxb-wrong"}),
    ],
)
def test_a_bad_token_ends_the_process_with_its_name(
    database: Database, slack: LoopbackSlack, setting: str, tokens: Any
) -> None:
    with pytest.raises(slack_socket.BadToken, match=f"{setting}: invalid_auth"):
        _run(database, slack, asyncio.Event(), **tokens)


def test_the_app_waits_for_an_unavailable_slack_and_can_be_stopped(
    database: Database, slack: LoopbackSlack
) -> None:
    slack.fail_next("*", status=503, times=1_000)
    started = time.monotonic()

    _run(database, slack, asyncio.Event(), stop_after_calls=1)

    assert time.monotonic() - started < 10
    assert len(slack.calls("apps.connections.open")) == 1


def _run(
    database: Database,
    slack: LoopbackSlack,
    stop: asyncio.Event,
    *,
    stop_after_calls: int = 10,
    **tokens: Any,
) -> None:
    all_tokens = {"bot_token": slack.token, "app_token": slack.app_token} | tokens
    app = build_app(SlackSettings(api_url=slack.api_url, **all_tokens), database, Clock())

    async def stop_in_time() -> None:
        while len(slack.calls("apps.connections.open")) < stop_after_calls:
            await asyncio.sleep(0.01)
        stop.set()

    async def run() -> None:
        stopping = asyncio.create_task(stop_in_time())
        try:
            async with app.running():
                await slack_socket.run(
                    app, all_tokens["app_token"], stop, health=slack_socket.Health()
                )
        finally:
            stopping.cancel()

    asyncio.run(run())
