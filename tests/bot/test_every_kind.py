"""Signed requests are answered in time, for each kind of listener; others are refused."""

from __future__ import annotations

import time
from typing import Any

import pytest

from bot.base import ids
from bot.interaction import errors
from bot.interaction.interaction import Interaction
from storage.db.database import Database
from tests.bot.anything import Subject, send_all
from tests.bot.registrations import Kind, Listener
from tests.bot.world import ADA, UNHURRIED_SECONDS, World
from tests.fakes.slack import LoopbackSlack

KINDS: tuple[Kind, ...] = ("command", "shortcut", "action", "options", "view", "view_closed")
WHAT = Subject("01980000-0000-7000-8000-000000000000", "x", "DT1XADA", "1.1")


async def ack_and_break(interaction: Interaction) -> None:
    await interaction.ack()
    raise KeyError("broken")


async def break_at_once(interaction: Interaction) -> None:
    raise KeyError("broken")


async def do_nothing(interaction: Interaction) -> None:
    return None


@pytest.mark.parametrize("act", [ack_and_break, break_at_once, do_nothing])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_listener_is_acknowledged_even_if_it_fails(
    database: Database, slack: LoopbackSlack, kind: Kind, act: Any
) -> None:
    listener = Listener(kind=kind, name="/thing" if kind == "command" else "thing", act=act)
    with World(database, slack, listeners=[listener]) as world:
        responses = send_all(slack, listener, ADA, WHAT)
        world.settled()

    assert {response.status for response in responses} == {200}
    # Not by the limit after which the app acknowledges for its listeners.
    assert max(response.elapsed_seconds for response in responses) < UNHURRIED_SECONDS


@pytest.mark.parametrize("kind", ["command", "shortcut", "action"])
def test_an_error_is_shown_to_the_user_in_a_message_or_a_modal(
    database: Database, slack: LoopbackSlack, kind: Kind
) -> None:
    listener = Listener(
        kind=kind, name="/thing" if kind == "command" else "thing", act=ack_and_break
    )
    with World(database, slack, listeners=[listener]) as world:
        send_all(slack, listener, ADA, WHAT)
        world.settled()

        by_message = [post.body["text"] for post in slack.response_posts]
        in_a_modal = [view.visible_text for view in slack.views]
        assert errors.BROKEN in [*by_message, *in_a_modal]


def test_a_search_that_breaks_offers_nothing(database: Database, slack: LoopbackSlack) -> None:
    listener = Listener(kind="options", name="thing", act=break_at_once)
    with World(database, slack, listeners=[listener]):
        responses = send_all(slack, listener, ADA, WHAT)

    assert {str(response.body) for response in responses} == {"{'options': []}"}


@pytest.mark.parametrize("kind", [*KINDS, "event"])
def test_payloads_without_a_listener_are_acknowledged(world: World, kind: Kind) -> None:
    name = "/unheard" if kind == "command" else "unheard"

    responses = send_all(world.slack, Listener(kind=kind, name=name, act=do_nothing), ADA, WHAT)
    world.settled()

    assert {response.status for response in responses} == {200}


def test_an_unknown_command_names_the_setting(world: World) -> None:
    world.slack.command(ADA, "/urlaub")

    assert "HIATUS_SLACK_COMMAND" in world.ephemerals(ADA)[-1]
    assert "/urlaub" in world.ephemerals(ADA)[-1]


def test_a_button_of_an_older_version_is_reported_as_outdated(world: World) -> None:
    button = Listener(kind="action", name="leave.gone", act=do_nothing)

    send_all(world.slack, button, ADA, WHAT)
    world.settled()

    assert world.slack.response_posts[-1].body["text"] == errors.OUTDATED


def test_links_and_fields_without_a_listener_post_no_message(world: World) -> None:
    for action in ({"type": "button", "url": "https://example.com"}, {"type": "datepicker"}):
        world.slack.send(
            "interactive",
            {
                "type": "block_actions",
                "team": {"id": "T1"},
                "user": {"id": ADA, "team_id": "T1"},
                "container": {"type": "message", "channel_id": "D1", "message_ts": "1.1"},
                "response_url": f"{world.slack.url}/response/none",
                "actions": [action | {"action_id": "unheard", "block_id": "b"}],
            },
        )
    world.settled()

    assert world.slack.response_posts == []


def test_the_command_may_have_another_name(database: Database, slack: LoopbackSlack) -> None:
    with World(database, slack, slack_settings={"command": "/urlaub"}) as world:
        slack.command(ADA, "/urlaub")

        assert slack.open_modal(ADA).title == "Request leave"
        slack.command(ADA, "/timeoff")
        world.settled()
        assert "HIATUS_SLACK_COMMAND" in world.ephemerals(ADA)[-1]


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ({"signature": "v0=00"}, 401),
        ({"signature": ""}, 401),
        ({"signature": "v0=é"}, 400),
        ({"signing_secret": "another"}, 401),
        ({"timestamp": ""}, 401),
        ({"timestamp": "soon"}, 400),
        ({"timestamp": "²"}, 400),
        ({"timestamp": "1" * 40}, 401),
        ({"timestamp": "-1"}, 401),
    ],
)
def test_an_unsigned_request_is_refused(world: World, how: dict[str, Any], status: int) -> None:
    response = world.slack.command(ADA, "/timeoff", **how)

    assert response.status == status
    assert world.slack.calls("views.open") == []


@pytest.mark.parametrize("minutes", [-6, 6])
def test_old_and_future_requests_are_refused(world: World, minutes: int) -> None:
    response = world.slack.command(ADA, "/timeoff", timestamp=int(time.time()) + 60 * minutes)

    assert response.status == 401


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe",
        b"payload=%7Bnot+json",
        b"payload=[1]",
        b'payload="text"',
        b"{" * 100_000,
        b"payload=" + b"[" * 100_000,
    ],
)
def test_unreadable_bodies_are_refused(world: World, body: bytes) -> None:
    assert world.slack.send_raw(body).status == 400


def test_a_body_longer_than_any_of_slacks_is_refused(world: World) -> None:
    assert world.slack.send_raw(b"x" * 1_000_001).status == 413


@pytest.mark.parametrize("body", [b"[1]", b"{}", b"null", b'{"type": 5, "team": []}'])
def test_unexpected_json_causes_no_server_error(world: World, body: bytes) -> None:
    response = world.slack.send_raw(body, "application/json")

    assert response.status in (400, 404)


def test_slack_may_verify_the_address(world: World) -> None:
    body = b'{"type": "url_verification", "challenge": "three-billion"}'

    response = world.slack.send_raw(body, "application/json")
    forged = world.slack.send_raw(body, "application/json", signature="v0=00")

    assert (response.status, forged.status) == (200, 401)
    assert "three-billion" in str(response.body)


def test_the_form_is_answered_within_slacks_time(world: World) -> None:
    # The fastest of three: the machine may be busy with other tests.
    responses = [world.slack.command(ADA, "/timeoff") for _ in range(3)]

    assert min(response.elapsed_seconds for response in responses) < 1
    assert world.slack.open_modal(ADA).callback_id == ids.REQUEST_FORM


@pytest.mark.parametrize("words", ["payload", "payload=", "payload={}", "command=/other payload"])
def test_every_word_after_the_command_is_answered(world: World, words: str) -> None:
    response = world.slack.command(ADA, "/timeoff", words)
    world.settled()

    # Not 404, with which Bolt answers a body without a command.
    assert response.status == 200
    assert response.body or world.slack.views or world.slack.response_posts
