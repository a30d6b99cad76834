"""Calls of Slack are counted by method and outcome."""

from __future__ import annotations

from typing import Any

import pytest

from storage.base.monitoring.measurements import FAMILIES, Numbers, Timings
from tests.bot.world import World


def outcomes() -> dict[str, float]:
    """How often ``chat.postMessage`` had each outcome so far."""
    calls = FAMILIES["hiatus_slack_calls_total"]
    assert isinstance(calls, Numbers)
    return {
        outcome: number.value
        for (method, outcome), number in calls.series.copy().items()
        if method == "chat.postMessage"
    }


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        ({"error": "ratelimited", "retry_after": 17}, "rate_limited"),
        ({"status": 500}, "unavailable"),
        ({"reset": True}, "connection_failed"),
        ({"body": "not json"}, "unavailable"),
        ({"error": "fatal_error"}, "unavailable"),
        ({"error": "token_revoked"}, "token_refused"),
        ({"error": "channel_not_found"}, "refused"),
    ],
)
def test_a_failed_call_is_counted_by_its_outcome(
    world: World, failure: dict[str, Any], outcome: str
) -> None:
    world.send_form()
    world.slack.fail_next("chat.postMessage", times=1_000, **failure)
    before = outcomes()

    world.deliver()

    after = outcomes()
    assert after[outcome] > before.get(outcome, 0)
    assert {name for name, count in after.items() if count != before.get(name, 0)} == {outcome}


def test_calls_that_succeed_are_counted_and_timed(world: World) -> None:
    world.send_form()
    durations = FAMILIES["hiatus_slack_call_duration_seconds"]
    assert isinstance(durations, Timings)
    before = outcomes().get("ok", 0)
    [*_, (_, timed_before)] = durations.of("chat.postMessage").cumulative()

    attempts = world.deliver()

    [*_, (_, timed)] = durations.of("chat.postMessage").cumulative()
    assert attempts > 0
    assert outcomes()["ok"] - before == timed - timed_before == attempts


def test_the_wait_that_slack_asks_for_is_measured(world: World) -> None:
    waits = FAMILIES["hiatus_slack_retry_after_seconds"]
    assert isinstance(waits, Timings)
    world.send_form()
    world.slack.fail_next("chat.postMessage", error="ratelimited", retry_after=17)
    before = waits.of().sum

    world.deliver()

    assert waits.of().sum - before == 17
