"""Calls of Slack are counted by method and outcome."""

from __future__ import annotations

from typing import Any

import pytest

from storage.base.monitoring.measurements import REGISTRY
from tests.bot.world import World


def outcomes() -> dict[str, float]:
    """How often ``chat.postMessage`` had each outcome so far."""
    return {
        sample.labels["outcome"]: sample.value
        for family in REGISTRY.collect()
        for sample in family.samples
        if sample.name == "hiatus_slack_calls_total"
        and sample.labels["method"] == "chat.postMessage"
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


def measured(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"hiatus_slack_{name}", labels) or 0


def test_calls_that_succeed_are_counted_and_timed(world: World) -> None:
    world.send_form()
    before = outcomes().get("ok", 0)
    timed_before = measured("call_duration_seconds_count", method="chat.postMessage")

    attempts = world.deliver()

    timed = measured("call_duration_seconds_count", method="chat.postMessage")
    assert attempts > 0
    assert outcomes()["ok"] - before == timed - timed_before == attempts


def test_the_wait_that_slack_asks_for_is_seconds(world: World) -> None:
    world.send_form()
    world.slack.fail_next("chat.postMessage", error="ratelimited", retry_after=17)
    before = measured("retry_after_seconds_sum")

    world.deliver()

    assert measured("retry_after_seconds_sum") - before == 17
