"""Requests to /slack/events are signed, recent and readable, or get 401 or 400, never 500."""

from __future__ import annotations

import time
from typing import Any

import pytest

from bot.base import ids
from tests.bot.world import ADA, World


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
