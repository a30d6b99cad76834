"""What reaches /slack/events: signed, in time, readable; or 401 and 400, never 500."""

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
        ({"signature": "v0=é"}, 401),
        ({"signing_secret": "another"}, 401),
        ({"timestamp": ""}, 401),
        ({"timestamp": "soon"}, 401),
        ({"timestamp": "²"}, 401),
        ({"timestamp": "1" * 40}, 401),
        ({"timestamp": "-1"}, 401),
    ],
)
def test_an_unsigned_request_is_refused(world: World, how: dict[str, Any], status: int) -> None:
    answer = world.slack.command(ADA, "/timeoff", **how)

    assert answer.status == status
    assert world.slack.calls("views.open") == []


@pytest.mark.parametrize("minutes", [-6, 6])
def test_old_and_future_requests_are_refused(world: World, minutes: int) -> None:
    answer = world.slack.command(ADA, "/timeoff", timestamp=int(time.time()) + 60 * minutes)

    assert answer.status == 401


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe",
        b"payload=%7Bnot+json",
        b"payload=[1]",
        b'payload="text"',
        b"{" * 100_000,
        b"payload=" + b"[" * 100_000,
        b"x" * 1_000_001,
    ],
)
def test_unreadable_bodies_are_refused(world: World, body: bytes) -> None:
    assert world.slack.send_raw(body).status == 400


@pytest.mark.parametrize("body", [b"[1]", b"{}", b"null", b'{"type": 5, "team": []}'])
def test_strange_json_is_no_error_of_ours(world: World, body: bytes) -> None:
    answer = world.slack.send_raw(body, "application/json")

    assert answer.status in (400, 404)


def test_slack_may_verify_the_address(world: World) -> None:
    body = b'{"type": "url_verification", "challenge": "three-billion"}'

    answer = world.slack.send_raw(body, "application/json")
    forged = world.slack.send_raw(body, "application/json", signature="v0=00")

    assert (answer.status, forged.status) == (200, 401)
    assert "three-billion" in str(answer.body)


def test_the_form_is_answered_within_slacks_time(world: World) -> None:
    # Of three, for one may meet a machine that is busy otherwise.
    answers = [world.slack.command(ADA, "/timeoff") for _ in range(3)]

    assert min(answer.elapsed_seconds for answer in answers) < 1
    assert world.slack.open_modal(ADA).callback_id == ids.REQUEST_FORM


@pytest.mark.parametrize("words", ["payload", "payload=", "payload={}", "command=/other payload"])
def test_no_word_after_the_command_confuses_it(world: World, words: str) -> None:
    answer = world.slack.command(ADA, "/timeoff", words)
    world.settled()

    # Bolt finds no command in it, and answers 404.
    assert answer.status == 200
    assert answer.body or world.slack.views or world.slack.response_posts
