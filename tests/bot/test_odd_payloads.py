"""Signed payloads of unexpected shapes get a status below 500 and one log line each."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.base import ids
from bot.listeners import registered
from bot.views import notice
from storage.db.database import Database
from tests.bot.anything import Subject, payloads
from tests.bot.conftest import Logged
from tests.bot.world import ADA, GRACE, PATIENCE_SECONDS, World
from tests.fakes.slack import LoopbackSlack

Payload = dict[str, Any]

# How long to wait for an acknowledgement that must not come, over a socket.
SOON_SECONDS = 0.1


@pytest.fixture(params=["http", "socket"])
def world(
    request: pytest.FixtureRequest, database: Database, slack: LoopbackSlack
) -> Iterator[World]:
    with World(database, slack, via=request.param) as running:
        slack.wait_for_socket(count=int(request.param == "socket"))
        yield running


def an_event(**changes: Any) -> Payload:
    whole = {"type": "event_callback", "team_id": "T1", "event_id": "Ev1", "event_time": 1}
    return whole | {"event": {"type": "app_home_opened", "user": ADA, "tab": "home"}} | changes


def a_click(**changes: Any) -> Payload:
    return {
        "type": "block_actions",
        "team": {"id": "T1"},
        "user": {"id": ADA, "team_id": "T1"},
        "container": {"type": "message", "channel_id": "D1", "message_ts": "1.1"},
        "actions": [{"type": "button", "action_id": ids.APPROVE, "block_id": "b", "value": "x"}],
    } | changes


def a_submission(**changes: Any) -> Payload:
    view = {
        "id": "V1",
        "type": "modal",
        "callback_id": ids.REQUEST_FORM,
        "private_metadata": "",
        "hash": "1.a",
        "state": {"values": {}},
        "blocks": [],
    }
    return {
        "type": "view_submission",
        "team": {"id": "T1"},
        "user": {"id": ADA, "team_id": "T1"},
        "view": view | changes,
    }


def without(payload: Payload, name: str) -> Payload:
    return {key: value for key, value in payload.items() if key != name}


EVENTS: dict[str, Payload] = {
    "event null": an_event(event=None),
    "no event": without(an_event(), "event"),
    "event a text": an_event(event="app_home_opened"),
    "event a list": an_event(event=[]),
    "event without a type": an_event(event={"user": ADA}),
    "event of type 5": an_event(event={"type": 5}),
    "event id a number": an_event(event_id=5),
    "event id too long": an_event(event_id="E" * 100),
    "event time a text": an_event(event_time="now"),
    "event time beyond all years": an_event(event={"type": "app_uninstalled"}, event_time=10**30),
    "authorizations of null": an_event(authorizations=[None]),
    "workspace a list": an_event(team_id=["T1"]),
    "person a list": an_event(event={"type": "app_home_opened", "tab": "home", "user": []}),
    "profile a text": an_event(
        event={"type": "user_change", "user": {"id": ADA, "team_id": "T1", "profile": "Ada"}}
    ),
    "tokens a list": an_event(event={"type": "tokens_revoked", "tokens": ["UBOT"]}),
}

INTERACTIONS: dict[str, Payload] = {
    "no type": {"team": {"id": "T1"}},
    "type null": {"type": None},
    "actions empty": a_click(actions=[]),
    "actions null": a_click(actions=None),
    "no actions": without(a_click(), "actions"),
    "an action null": a_click(actions=[None]),
    "an action without an id": a_click(actions=[{"type": "button"}]),
    "container null": a_click(container=None),
    "no container": without(a_click(), "container"),
    "workspace a number": a_click(team=5),
    "person a list": a_click(user=[]),
    "blocks null": a_submission(blocks=None),
    "a block without an id": a_submission(blocks=[{"type": "input"}]),
    "state null": a_submission(state=None),
    "values a list": a_submission(state={"values": []}),
    "an impossible date": a_submission(
        state={"values": {ids.FIRST_DAY: {ids.RECOUNT: {"selected_date": "2026-02-30"}}}}
    ),
    "view null": without(a_submission(), "view") | {"view": None},
    "answer addresses in an object": a_submission() | {"response_urls": {"block_id": "b"}},
    "no view": without(a_submission(), "view"),
    "search without an id": {"type": "block_suggestion", "value": "x"},
    "shortcut without an id": {"type": "shortcut"},
}

UNHANDLED: dict[str, Payload] = {
    kind: {
        "type": kind,
        "callback_id": "x",
        "team": {"id": "T1"},
        "user": {"id": ADA},
        "actions": None,
        "submission": None,
    }
    for kind in (
        "dialog_cancellation",
        "dialog_submission",
        "dialog_suggestion",
        "interactive_message",
        "workflow_step_edit",
        "of_the_future",
    )
}


def refused(world: World) -> int:
    """The status of a refusal over HTTP; over a socket it is not acknowledged."""
    return 400 if world.via == "http" else 0


def timeout_of(world: World) -> float:
    return PATIENCE_SECONDS if world.via == "http" else SOON_SECONDS


def test_an_event_of_an_unexpected_shape_is_refused_with_one_log_line(
    world: World, logged: Logged
) -> None:
    responses = {
        name: world.slack.send("events_api", payload, timeout_seconds=timeout_of(world))
        for name, payload in EVENTS.items()
    }

    assert {name: response.status for name, response in responses.items()} == dict.fromkeys(
        EVENTS, refused(world)
    )
    if world.via == "http":
        assert {response.headers["x-slack-no-retry"] for response in responses.values()} == {"1"}
    assert len(lines_with(logged, "slack.payload_refused")) == len(EVENTS)
    assert lines_with(logged, "Traceback") == []


@pytest.mark.parametrize("payload", [None, 5, True, "text", [], [1]], ids=repr)
def test_a_socket_payload_that_is_no_object_is_refused_with_one_log_line(
    database: Database,
    slack: LoopbackSlack,
    logged: Logged,
    caplog: pytest.LogCaptureFixture,
    payload: Any,
) -> None:
    with World(database, slack, via="socket"):
        envelope = {"payload": payload}
        acknowledged = slack.send_envelope(envelope, timeout_seconds=SOON_SECONDS)
        slack.wait_until(lambda: lines_with(logged, "slack.payload_refused"))

    assert acknowledged is None
    assert len(lines_with(logged, "slack.payload_refused")) == 1
    assert [
        record.getMessage() for record in caplog.records if record.name.startswith("hiatus")
    ] == []


def test_an_interaction_of_an_unexpected_shape_is_refused_with_one_log_line(
    world: World, logged: Logged
) -> None:
    statuses = {
        name: world.slack.send("interactive", payload, timeout_seconds=timeout_of(world)).status
        for name, payload in INTERACTIONS.items()
    }

    assert statuses == dict.fromkeys(INTERACTIONS, refused(world))
    assert len(lines_with(logged, "slack.payload_refused")) == len(INTERACTIONS)
    assert lines_with(logged, "Traceback") == []


def test_a_kind_of_payload_that_hiatus_does_not_use_is_acknowledged(
    world: World, logged: Logged
) -> None:
    statuses = {
        name: world.slack.send("interactive", payload).status for name, payload in UNHANDLED.items()
    }

    assert statuses == dict.fromkeys(UNHANDLED, 200)
    assert len(lines_with(logged, "slack.payload_not_handled")) == len(UNHANDLED)
    assert lines_with(logged, "Traceback") == []


def test_slacks_check_of_the_certificate_is_acknowledged(
    database: Database, slack: LoopbackSlack, logged: Logged
) -> None:
    with World(database, slack):
        response = slack.send_raw(b"ssl_check=1&token=of-old")

    assert response.status == 200
    assert lines_with(logged, "Traceback") == []


def test_slacks_notice_of_rate_limited_events_is_acknowledged_and_logged(
    world: World, logged: Logged
) -> None:
    limited = {
        "type": "app_rate_limited",
        "token": "of-old",
        "team_id": "T1",
        "minute_rate_limited": 1_518_467_820,
        "api_app_id": "A1",
    }

    response = world.slack.send("events_api", limited)

    assert response.status == 200
    (line,) = lines_with(logged, "slack.app_rate_limited")
    assert '"team_id": "T1"' in line
    assert "1518467820" in line


def test_a_click_without_a_needed_member_shows_an_error(world: World, logged: Logged) -> None:
    world.a_request()
    card = world.card(GRACE)
    in_a_view = {"type": "view"}

    response = world.slack.click(GRACE, card, ids.APPROVE, overrides={"container": in_a_view})
    world.settled()

    assert response.status == 200
    assert world.ephemerals(GRACE) == [notice.OUTDATED]
    assert world.request().status == "pending"
    assert lines_with(logged, "Traceback") == []


ODD: list[Any] = [
    None,
    "",
    "x",
    "\0",
    "\ud800",
    "‮",
    "x" * 300,
    0,
    -1,
    1.5,
    10**30,
    True,
    [],
    [None],
    [[]],
    {},
    {"id": None},
    {"type": "event_callback"},
]


def replaced(payload: Payload, path: list[Any], odd: Any) -> Payload:
    """The payload with the member at the path replaced, or removed if ``odd`` is Ellipsis."""
    changed = copy.deepcopy(payload)
    *parents, last = path
    inside: Any = changed
    for step in parents:
        inside = inside[step]
    if odd is ...:
        del inside[last]
    else:
        inside[last] = odd
    return changed


def paths(container: Any, above: tuple[Any, ...] = ()) -> Iterator[list[Any]]:
    """The path of every member, at any depth."""
    steps = container.items() if isinstance(container, dict) else enumerate(container)
    for step, value in steps:
        yield [*above, step]
        if isinstance(value, dict | list):
            yield from paths(value, (*above, step))


def test_an_odd_member_of_any_payload_causes_no_server_error(
    database: Database, slack: LoopbackSlack, logged: Logged
) -> None:
    with World(database, slack) as world:
        card = world.a_request()
        message = world.card(GRACE)
        about = Subject(card.id, world.leave_type("annual"), message.channel, message.ts)
        usual = [
            (listener.kind, payload)
            for listener in registered("/timeoff")
            for payload in payloads(slack, listener, GRACE, about)
        ]

        @settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(st.data())
        def sent(data: st.DataObject) -> None:
            kind, payload = data.draw(st.sampled_from(usual))
            path = data.draw(st.sampled_from(list(paths(payload))))
            odd = data.draw(st.sampled_from([..., *ODD]))
            how = {"command": "slash_commands", "event": "events_api"}.get(kind, "interactive")
            if how == "slash_commands":
                # Form fields are always text.
                odd = odd if odd in ("", "x", "\0") else "x"
            response = slack.send(how, replaced(payload, path, odd))
            world.settled()
            assert response.status < 500
            assert lines_with(logged, "Traceback") == []

        sent()


def lines_with(logged: Logged, word: str) -> list[str]:
    return [line for line in logged.lines if word in line]
