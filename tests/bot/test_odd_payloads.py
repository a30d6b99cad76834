"""Signed payloads of unexpected shapes get a status below 500.

A payload is refused if Bolt cannot read it. A listener that misses a member says that the form or
button is outdated.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from bot.base import ids
from bot.interaction import errors
from storage.db.database import Database
from tests.bot.anything import Subject, payloads
from tests.bot.conftest import Logged
from tests.bot.registrations import Listener
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


# Bolt cannot read them.
UNREADABLE: dict[str, Payload] = {
    "event null": an_event(event=None),
    "event without a type": an_event(event={"user": ADA}),
    "authorizations of null": an_event(authorizations=[None]),
    "actions empty": a_click(actions=[]),
    "actions null": a_click(actions=None),
    "workspace a number": a_click(team=5),
    "view null": without(a_submission(), "view") | {"view": None},
}


def test_a_payload_that_bolt_cannot_read_is_refused_with_one_log_line(
    world: World, logged: Logged
) -> None:
    timeout_seconds = PATIENCE_SECONDS if world.via == "http" else SOON_SECONDS
    statuses = {
        name: world.slack.send(
            "events_api" if "event" in payload else "interactive",
            payload,
            timeout_seconds=timeout_seconds,
        ).status
        for name, payload in UNREADABLE.items()
    }

    # Over a socket it is not acknowledged.
    assert set(statuses.values()) <= ({400, 404} if world.via == "http" else {0})
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


A_LISTENER_OF_EACH_KIND = (
    Listener(kind="command", name="/timeoff"),
    Listener(kind="shortcut", name=ids.REQUEST_SHORTCUT),
    Listener(kind="action", name=ids.APPROVE),
    Listener(kind="action", name=ids.RECOUNT),
    Listener(kind="options", name=ids.COVER_SEARCH),
    Listener(kind="view", name=ids.REQUEST_FORM),
    Listener(kind="view", name=ids.DECLINE_FORM),
    Listener(kind="view_closed", name=ids.REQUEST_FORM),
    Listener(kind="event", name="app_home_opened"),
    Listener(kind="event", name="user_change"),
)


@pytest.mark.slow
@pytest.mark.parametrize("odd", [..., None], ids=["removed", "null"])
def test_a_listener_copes_without_any_member(
    database: Database, slack: LoopbackSlack, logged: Logged, odd: Any
) -> None:
    statuses: dict[str, int] = {}
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
                member = f"{listener.kind}: {'/'.join(map(str, path))}"
                statuses[member] = slack.send(how, replaced(payload, path, odd)).status
                world.settled()

    # 404: Bolt does not find a listener for the rest.
    assert {member: status for member, status in statuses.items() if status >= 500} == {}
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
    assert errors.OUTDATED not in str(response.body)
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
    assert errors.OUTDATED in str(response.body)


def test_a_click_without_a_needed_member_shows_an_error(world: World, logged: Logged) -> None:
    world.a_request()
    card = world.card(GRACE)
    in_a_view = {"type": "view"}

    response = world.slack.click(GRACE, card, ids.APPROVE, overrides={"container": in_a_view})
    world.settled()

    assert response.status == 200
    assert world.ephemerals(GRACE) == [errors.OUTDATED]
    assert world.request().status == "pending"
    assert lines_with(logged, "Traceback") == []


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


def lines_with(logged: Logged, word: str) -> list[str]:
    return [line for line in logged.lines if word in line]
