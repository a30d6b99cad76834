"""The loopback Slack checks payloads against Slack's limits, and reads blocks as people do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web import WebClient

from playground.loopback.blocks import first_state, state_of
from tests.fakes.sample_views import form, plain, question
from tests.fakes.slack import LoopbackSlack, buttons, visible_text


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    with LoopbackSlack() as running:
        running.add_person("U1", "Ada@example.com", "Ada Lovelace")
        yield running


def web(slack: LoopbackSlack) -> WebClient:
    return WebClient(slack.token, base_url=slack.api_url)


def refusal(failed: pytest.ExceptionInfo[SlackApiError]) -> str:
    return str(failed.value.response["error"])


def _modal(**changes: Any) -> dict[str, Any]:
    return form() | changes


def _with_element(**element: Any) -> dict[str, Any]:
    return _modal(blocks=[{"type": "input", "label": plain("Label"), "element": element}])


def _options(count: int, text: str = "Option") -> list[dict[str, Any]]:
    return [{"text": plain(text), "value": str(number)} for number in range(count)]


@pytest.mark.parametrize(
    ("view", "problem"),
    [
        pytest.param(_modal(title=plain("x" * 25)), "view.title: 25", id="title"),
        pytest.param(_modal(submit=None), "view.submit: required", id="submit"),
        pytest.param(_modal(private_metadata="x" * 3001), "private_metadata: 3001", id="metadata"),
        pytest.param(_modal(blocks=[{"type": "divider"}] * 101), "101, at most 100", id="blocks"),
        pytest.param(_modal(blocks=[{"type": "divider", "block_id": "b"}] * 2), "2 times", id="id"),
        pytest.param(_with_element(type="datepicker", min_date="x"), "min_date: unknown", id="key"),
        pytest.param(
            _with_element(type="static_select", options=_options(101)), "exceed 100", id="options"
        ),
        pytest.param(
            _with_element(type="static_select", options=_options(1, "x" * 76)), "76", id="option"
        ),
        pytest.param(
            _with_element(type="radio_buttons", options=_options(11)), "11, needs 1", id="radio"
        ),
        pytest.param(
            _with_element(type="plain_text_input", max_length=3001), "within 3000", id="max_length"
        ),
        pytest.param(
            _modal(blocks=[{"type": "section", "fields": [plain("x" * 2001)]}]), "2001", id="field"
        ),
    ],
)
def test_a_view_past_a_limit_is_refused_and_recorded(
    slack: LoopbackSlack, view: dict[str, Any], problem: str
) -> None:
    with pytest.raises(SlackApiError) as failed:
        web(slack).views_open(trigger_id=slack.trigger("U1"), view=view)

    (violation,) = slack.violations
    assert refusal(failed) == "invalid_arguments"
    assert problem in " ".join(violation.problems)
    assert not slack.has_modal("U1")


def test_a_huge_view_is_too_large(slack: LoopbackSlack) -> None:
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "é" * 2990}}

    with pytest.raises(SlackApiError) as failed:
        web(slack).views_publish(user_id="U1", view={"type": "home", "blocks": [section] * 90})

    assert refusal(failed) == "view_too_large"
    assert [violation.code for violation in slack.violations] == ["view_too_large"]


def _button(**changes: Any) -> list[dict[str, Any]]:
    button = {"type": "button", "action_id": "a", "text": plain("Go")} | changes
    return [{"type": "actions", "elements": [button]}]


def _card(**changes: Any) -> list[dict[str, Any]]:
    return [{"type": "card", "title": _mrkdwn("Title")} | changes]


def _mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def _home(blocks: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "home", "blocks": blocks}


def test_a_card_is_read_and_clicked_in_messages_modals_and_home_tabs(slack: LoopbackSlack) -> None:
    button = {"type": "button", "action_id": "go", "text": plain("Go")}
    card = _card(subtitle=_mrkdwn("Subtitle"), body=_mrkdwn("Body"), actions=[button])

    web(slack).chat_postMessage(channel="U1", text="Title", blocks=card)
    web(slack).views_open(trigger_id=slack.trigger("U1"), view=_modal(blocks=card))
    web(slack).views_publish(user_id="U1", view=_home(card))

    for shown in (slack.dm("U1")[0], slack.open_modal("U1"), slack.home("U1")):
        assert shown.visible_text == "Title\nSubtitle\nBody\nGo"
        assert [(button.action_id, button.text) for button in shown.buttons] == [("go", "Go")]


@pytest.mark.parametrize(
    ("view", "problem"),
    [
        pytest.param(_home(_card(body=_mrkdwn("x" * 201))), "200", id="body"),
        pytest.param(_home(_card(title=plain("Title"))), "must be mrkdwn", id="plain"),
        pytest.param(
            _home(_card(actions=[{"type": "overflow", "options": _options(1)}])),
            "no overflow",
            id="menu",
        ),
        pytest.param(
            _home([{"type": "alert", "text": _mrkdwn("Mind the gap")}]), "not in a home", id="alert"
        ),
        pytest.param(
            _modal(blocks=[{"type": "carousel", "elements": _card()}]), "not in a modal", id="modal"
        ),
    ],
)
def test_new_blocks_are_refused_past_their_limits_and_on_other_surfaces(
    slack: LoopbackSlack, view: dict[str, Any], problem: str
) -> None:
    method = "views.publish" if view["type"] == "home" else "views.open"
    place = {"user_id": "U1", "trigger_id": slack.trigger("U1")}

    with pytest.raises(SlackApiError):
        web(slack).api_call(method, json={**place, "view": view})

    (violation,) = slack.violations
    assert problem in " ".join(violation.problems)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        pytest.param({"text": "x", "blocks": _button(value="x" * 2001)}, "invalid_blocks", id="v"),
        pytest.param(
            {"text": "x", "blocks": _button(text=plain("x" * 76))}, "invalid_blocks", id="t"
        ),
        pytest.param(
            {"text": "x", "blocks": [{"type": "divider"}] * 51}, "invalid_blocks", id="51"
        ),
        pytest.param({"text": "x" * 40_001}, "msg_too_long", id="long"),
        pytest.param({"text": ""}, "no_text", id="empty"),
    ],
)
def test_a_message_past_a_limit_is_refused_and_recorded(
    slack: LoopbackSlack, message: dict[str, Any], code: str
) -> None:
    response = httpx.post(
        f"{slack.api_url}chat.postMessage",
        json={"channel": "C1"} | message,
        headers={"Authorization": f"Bearer {slack.token}"},
    )

    assert response.json()["error"] == code
    assert [violation.code for violation in slack.violations] == [code]
    assert slack.messages == []


def _table(*rows: list[Any]) -> dict[str, Any]:
    return {"type": "table", "rows": list(rows)}


def _cell(text: str = "x") -> dict[str, Any]:
    return {"type": "raw_text", "text": text}


ALERT = {"type": "alert", "level": "info", "text": plain("Read this")}
LINK_BUTTON = {"type": "button", "action_id": "a", "text": plain("Go")}


@pytest.mark.parametrize(
    ("blocks", "problem"),
    [
        pytest.param([ALERT], "not in a message", id="alert"),
        pytest.param(_card(title=_mrkdwn("x" * 151)), "title attribute cannot exceed", id="title"),
        pytest.param([{"type": "card", "subtitle": plain("x")}], "At least one of", id="no title"),
        pytest.param(
            _card(actions=[LINK_BUTTON | {"action_id": str(n)} for n in range(4)]),
            "4, needs 1 to 3",
            id="buttons",
        ),
        pytest.param([_table(*[[_cell()]] * 101)], "101, needs 1 to 100", id="rows"),
        pytest.param([_table([_cell()] * 21)], "21, needs 1 to 20", id="cells"),
        pytest.param([_table([_cell("")])], "or empty", id="empty cell"),
        pytest.param([_table([plain("x")])], "a cell is 'plain_text'", id="cell"),
        pytest.param([_table([_cell("x" * 10_001)])], "10001 characters", id="characters"),
        pytest.param([_table([_cell()])] * 2, "2 tables, at most 1", id="tables"),
    ],
)
def test_a_message_with_a_block_past_a_limit_is_refused(
    slack: LoopbackSlack, blocks: list[dict[str, Any]], problem: str
) -> None:
    with pytest.raises(SlackApiError) as failed:
        web(slack).chat_postMessage(channel="C1", text="x", blocks=blocks)

    assert refusal(failed) == "invalid_blocks"
    assert problem in " ".join(slack.violations[0].problems)


def test_tables_and_alerts_are_accepted_where_slack_documents_them(slack: LoopbackSlack) -> None:
    client, table = web(slack), _table([_cell("a"), _cell("b")])

    client.chat_postMessage(channel="C1", text="x", blocks=[table])
    client.views_publish(user_id="U1", view=_home([table]))
    client.views_open(trigger_id=slack.trigger("U1"), view=_modal(blocks=[ALERT]))

    assert slack.violations == []
    assert visible_text([table, ALERT]).splitlines() == ["a | b", "Read this"]
    with pytest.raises(SlackApiError):
        client.views_open(trigger_id=slack.trigger("U1"), view=_modal(blocks=[table]))


def test_blocks_without_text_are_shown_but_recorded(slack: LoopbackSlack) -> None:
    form_body = {"token": slack.token, "channel": "C1", "blocks": '[{"type": "divider"}]'}

    response = httpx.post(f"{slack.api_url}chat.postMessage", data=form_body)

    assert response.json()["ok"] is True
    assert [violation.code for violation in slack.violations] == ["text_missing"]


def test_an_update_takes_four_thousand_characters(slack: LoopbackSlack) -> None:
    posted = web(slack).chat_postMessage(channel="C1", text="x" * 4001)

    with pytest.raises(SlackApiError) as failed:
        web(slack).chat_update(channel="C1", ts=posted["ts"], text="x" * 4001)

    assert refusal(failed) == "msg_too_long"


def test_visible_text_and_buttons_of_blocks_are_read() -> None:
    blocks = [*question("U1", "Monday")["blocks"], *form("Two days")["blocks"]]

    assert visible_text(blocks).splitlines() == [
        "<@U1> asks for Monday",
        "Approve",
        "Type",
        "First day",
        "Note",
        "Two days",
    ]
    assert [(button.text, button.value) for button in buttons(blocks)] == [("Approve", "Monday")]


@pytest.mark.parametrize(
    ("kind", "value", "state"),
    [
        ("static_select", "1", {"selected_option": _options(2)[1]}),
        ("radio_buttons", "0", {"selected_option": _options(2)[0]}),
        ("checkboxes", ["1"], {"selected_options": [_options(2)[1]]}),
        ("datepicker", "2026-07-01", {"selected_date": "2026-07-01"}),
        ("plain_text_input", "hello", {"value": "hello"}),
        ("users_select", "U2", {"selected_user": "U2"}),
        ("plain_text_input", None, {"value": None}),
        ("checkboxes", None, {"selected_options": []}),
    ],
)
def test_the_state_has_slacks_shape(kind: str, value: Any, state: dict[str, Any]) -> None:
    element = {"type": kind, "action_id": "a", "options": _options(2)}

    assert state_of(element, value) == {"type": kind} | state


def test_first_values_are_in_the_state_from_the_start() -> None:
    picker = {"type": "datepicker", "action_id": "a", "initial_date": "2026-07-01"}
    blocks = [{"type": "input", "block_id": "b", "label": plain("Day"), "element": picker}]

    assert first_state(blocks) == {
        "b": {"a": {"type": "datepicker", "selected_date": "2026-07-01"}}
    }
