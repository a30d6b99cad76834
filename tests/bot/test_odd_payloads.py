"""Signed payloads of unexpected shapes get a status below 500 and one log line each.

A payload is refused if Bolt cannot handle it; otherwise it may lack whatever its listener does not
read.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.base import ids
from bot.listeners import unknown
from bot.views import notice
from storage.db.database import Database
from tests.bot.anything import Subject, payloads
from tests.bot.conftest import Logged
from tests.bot.registrations import Listener, registered
from tests.bot.world import ADA, FIRST_DAY, GRACE, LAST_DAY, PATIENCE_SECONDS, World
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
    "workspace a number": a_click(team=5),
    "person a list": a_click(user=[]),
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


# The members by which Bolt finds the listener.
NEEDED_BY_BOLT = {
    "block_actions": {"type", "actions", "actions/0", "actions/0/action_id"},
    "block_suggestion": {"type", "action_id"},
    "command": {"command"},
    "event_callback": {"type", "event", "event/type"},
    "shortcut": {"type", "callback_id"},
    "view_closed": {"type", "view", "view/callback_id"},
    "view_submission": {"type", "view", "view/callback_id", "view/type"},
}
A_LISTENER_OF_EACH_KIND = (
    Listener(kind="command", name="/timeoff", act=unknown.ignored),
    Listener(kind="shortcut", name=ids.REQUEST_SHORTCUT, act=unknown.ignored),
    Listener(kind="action", name=ids.APPROVE, act=unknown.ignored),
    Listener(kind="action", name=ids.RECOUNT, act=unknown.ignored),
    Listener(kind="options", name=ids.COVER_SEARCH, act=unknown.ignored),
    Listener(kind="view", name=ids.REQUEST_FORM, act=unknown.ignored),
    Listener(kind="view", name=ids.DECLINE_FORM, act=unknown.ignored),
    Listener(kind="view_closed", name=ids.REQUEST_FORM, act=unknown.ignored),
    Listener(kind="event", name="app_home_opened", act=unknown.ignored),
    Listener(kind="event", name="user_change", act=unknown.ignored),
)


@pytest.mark.parametrize("odd", [..., None], ids=["removed", "null"])
def test_only_members_by_which_bolt_finds_the_listener_are_needed(
    database: Database, slack: LoopbackSlack, logged: Logged, odd: Any
) -> None:
    refused_paths: dict[str, set[str]] = {kind: set() for kind in NEEDED_BY_BOLT}
    with World(database, slack) as world:
        request = world.a_request()
        message = world.card(GRACE)
        about = Subject(request.id, world.leave_type("annual"), message.channel, message.ts)
        for listener in A_LISTENER_OF_EACH_KIND:
            *_, payload = payloads(slack, listener, GRACE, about)
            how = {"command": "slash_commands", "event": "events_api"}.get(
                listener.kind, "interactive"
            )
            for path in paths(payload):
                if odd is None and (how == "slash_commands" or isinstance(path[-1], int)):
                    continue  # Forms have no null, and null is no entry of a list.
                status = slack.send(how, replaced(payload, path, odd)).status
                world.settled()
                assert status in (200, 400)
                if status == 400:
                    refused_paths[payload.get("type", "command")].add("/".join(map(str, path)))

    assert refused_paths == {
        kind: {path for path in needed if odd is ... or path not in ("command", "actions/0")}
        for kind, needed in NEEDED_BY_BOLT.items()
    }
    assert lines_with(logged, "slack.listener_failed") == lines_with(logged, "Traceback") == []


def test_a_form_is_sent_with_the_members_that_are_read(world: World) -> None:
    values = {
        ids.LEAVE_TYPE: {"x": {"selected_option": {"value": world.leave_type("annual")}}},
        ids.FIRST_DAY: {"x": {"selected_date": FIRST_DAY.isoformat()}},
        ids.LAST_DAY: {"x": {"selected_date": LAST_DAY.isoformat()}},
    }
    view = {"type": "modal", "callback_id": ids.REQUEST_FORM, "state": {"values": values}}
    payload = {"team": {"id": "T1"}, "user": {"id": ADA}, "view": view}

    response = world.slack.send("interactive", {"type": "view_submission", **payload})
    world.settled()

    assert (response.status, response.errors) == (200, {})
    assert world.request().status == "pending"


@pytest.mark.parametrize("blocks", [{}, {"blocks": [{"type": "section"}]}], ids=["none", "no id"])
def test_a_refusal_is_shown_although_the_form_has_no_blocks_with_ids(
    world: World, blocks: dict[str, Any]
) -> None:
    values = {
        ids.LEAVE_TYPE: {"x": {"selected_option": {"value": world.leave_type("annual")}}},
        ids.FIRST_DAY: {"x": {"selected_date": LAST_DAY.isoformat()}},
        ids.LAST_DAY: {"x": {"selected_date": FIRST_DAY.isoformat()}},
    }
    view = {"type": "modal", "callback_id": ids.REQUEST_FORM, "state": {"values": values}}
    payload = {"team": {"id": "T1"}, "user": {"id": ADA}, "view": view | blocks}

    response = world.slack.send("interactive", {"type": "view_submission", **payload})
    world.settled()

    assert response.status == 200
    assert notice.OUTDATED not in str(response.body)
    assert "last day" in str(response.body)


def test_a_form_is_refreshed_although_its_blocks_have_no_ids(world: World) -> None:
    form = world.open_form()
    day = {"selected_date": FIRST_DAY.isoformat()}
    view = {
        "id": form.id,
        "hash": form.hash,
        "callback_id": ids.REQUEST_FORM,
        "state": {"values": {ids.FIRST_DAY: {ids.RECOUNT: day}}},
        "blocks": [{"type": "section"}, {"type": "input", "element": {"type": "datepicker"}}],
    }
    payload = {"team": {"id": "T1"}, "user": {"id": ADA}, "view": view}
    action = {"action_id": ids.RECOUNT, "block_id": ids.FIRST_DAY, **day}

    response = world.slack.send(
        "interactive", {"type": "block_actions", **payload, "actions": [action]}
    )
    world.settled()

    assert response.status == 200
    assert world.slack.open_modal(ADA).hash != form.hash


def test_a_form_without_a_member_that_is_read_says_that_it_is_outdated(world: World) -> None:
    response = world.slack.send(
        "interactive",
        without(a_submission(), "view")
        | {"view": {"type": "modal", "callback_id": ids.REQUEST_FORM}},
    )
    world.settled()

    assert response.status == 200
    assert notice.OUTDATED in str(response.body)


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
            for listener in registered()
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
