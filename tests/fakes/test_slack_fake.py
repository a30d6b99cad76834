"""The loopback Slack behaves like Slack towards a small Bolt app."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes.slack import Impossible, LoopbackSlack, View
from tests.fakes.small_app import Served, by_socket, small_app


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    with LoopbackSlack() as running:
        running.add_person("U1", "ada@example.com", "Ada Lovelace")
        running.add_person("U2", "grace@example.com", "Grace Hopper")
        with Served(small_app(running)) as served:
            running.app_url = served.url
            yield running


def test_a_request_is_sent_and_approved(slack: LoopbackSlack) -> None:
    opened = slack.command("U1", "/timeoff")
    form = slack.open_modal("U1", "Time off")
    submitted = slack.submit("U1", form, {"type": "annual", "first_day": "2026-07-01"})
    question = slack.wait_for_dm("U2")
    clicked = slack.click("U2", question, "approve")

    decided = slack.wait_for_dm("U2", showing="Approved by grace")
    assert [opened.ok, submitted.ok, clicked.ok] == [True, True, True]
    assert not slack.has_modal("U1")
    assert [button.text for button in question.buttons] == ["Approve"]
    assert question.channel.startswith("D")
    assert (decided.ts, decided.buttons) == (question.ts, [])
    assert [text for text, _ in decided.history] == ["<@U1> asks for 2026-07-01"]
    slack.wait_until(lambda: slack.ephemerals)
    assert [(message.user, message.text) for message in slack.ephemerals] == [("U2", "Thank you")]
    assert slack.violations == []


def test_an_inline_error_keeps_the_modal_and_the_typed_values(slack: LoopbackSlack) -> None:
    slack.command("U1")
    form = slack.open_modal("U1")

    response = slack.submit("U1", form, {"type": "sick", "pick": "2020-01-01", "note": "hello"})

    assert response.errors == {"first_day": "Too long ago"}
    assert slack.open_modal("U1").values["note"]["typed"]["value"] == "hello"


def test_an_update_keeps_the_values_of_unchanged_fields(slack: LoopbackSlack) -> None:
    slack.command("U1")
    form = slack.open_modal("U1")
    typed = slack.pick("U1", form, "note", "typed", "hello")
    picked = slack.pick("U1", form, "type", "pick_type", "sick")

    updated = slack.open_modal("U1", "Is sick")

    assert (typed.sent, picked.sent) == (False, True)
    assert updated.values["note"]["typed"]["value"] == "hello"
    assert updated.values["type"]["pick_type"]["selected_option"]["value"] == "sick"
    assert updated.hash != form.hash


def test_slacks_client_does_not_send_incomplete_forms(slack: LoopbackSlack) -> None:
    slack.command("U1")
    form = slack.open_modal("U1")

    with pytest.raises(Impossible, match="is required"):
        slack.submit("U1", form, {"type": "sick"})
    with pytest.raises(Impossible, match="not among"):
        slack.submit("U1", form, {"type": "sabbatical"})
    with pytest.raises(Impossible, match="0 elements"):
        slack.click_in_view("U1", form, "delete_everything")


def test_the_reply_of_a_command_is_seen_by_its_sender_only(slack: LoopbackSlack) -> None:
    slack.command("U1", "/timeoff", "help")

    assert [(message.user, message.text) for message in slack.ephemerals] == [
        ("U1", "Try /timeoff")
    ]
    assert slack.messages == []


def test_an_event_is_repeated_with_its_retry_number(slack: LoopbackSlack) -> None:
    first = slack.event({"type": "app_home_opened", "user": "U1", "tab": "home"}, event_id="Ev1")
    again = slack.event({"type": "app_home_opened", "user": "U1", "tab": "home"}, "Ev1", 1)

    assert (first.status, again.status) == (200, 200)
    assert again.payload["event_id"] == "Ev1"
    assert slack.home("U1").visible_text == "Your leave"
    assert len(slack.wait_for_call("views.publish", 2)) == 2


def test_opening_home_sends_an_event_to_the_app(slack: LoopbackSlack) -> None:
    slack.open_home("U1")

    assert slack.home("U1", "Your leave").type == "home"


def test_forged_and_old_requests_are_refused_by_bolt(slack: LoopbackSlack) -> None:
    forged = slack.command("U1", signature="v0=00")
    wrongly_signed = slack.command("U1", signing_secret="another")
    old = slack.command("U1", timestamp=int(time.time()) - 400)
    raw = slack.send_raw(b"command=%2Ftimeoff", signature="")

    assert [response.status for response in (forged, wrongly_signed, old, raw)] == [401] * 4
    assert slack.calls("views.open") == []


def test_a_failing_call_of_the_app_is_recorded(slack: LoopbackSlack) -> None:
    slack.fail_next("views.open", error="internal_error")

    slack.command("U1")

    (call,) = slack.wait_for_call("views.open")
    assert call.answer == '{"ok": false, "error": "internal_error"}'
    assert not slack.has_modal("U1")


def test_a_request_is_sent_and_approved_over_a_socket() -> None:
    with LoopbackSlack() as slack:
        slack.via = "socket"
        slack.add_person("U1")
        slack.add_person("U2", real_name="Grace Hopper")

        def act() -> None:
            slack.wait_for_socket()
            slack.command("U1")
            form = slack.open_modal("U1")
            refused = slack.submit("U1", form, {"type": "sick", "first_day": "2020-01-01"})
            assert refused.errors == {"first_day": "Too long ago"}
            assert slack.submit("U1", form, {"first_day": "2026-07-01"}).ok
            slack.disconnect_sockets()
            slack.wait_for_socket()
            clicked = slack.click("U2", slack.wait_for_dm("U2"), "approve")
            assert clicked.ok
            slack.wait_for_dm("U2", showing="Approved by grace")

        by_socket(slack, act)

        assert len(slack.calls("apps.connections.open")) == 2
        assert slack.violations == []


def test_a_payload_without_a_socket_listener_stays_unacknowledged() -> None:
    with LoopbackSlack() as slack:
        slack.add_person("U1")

        def act() -> None:
            slack.wait_for_socket()
            response = slack.command("U1", "/unknown", via="socket", timeout_seconds=0.2)
            assert response.status == 0

        by_socket(slack, act)


def test_simultaneous_clicks_of_two_people_are_both_handled(slack: LoopbackSlack) -> None:
    slack.submit("U1", _form(slack), {"type": "annual", "first_day": "2026-07-01"})
    question = slack.wait_for_dm("U2")
    start = threading.Barrier(2)

    def click(user_id: str) -> bool:
        start.wait()
        return slack.click(user_id, question, "approve").ok

    with ThreadPoolExecutor() as pool:
        clicked = list(pool.map(click, ["U1", "U2"]))

    assert clicked == [True, True]
    assert len(slack.wait_for_call("chat.update", 2)) == 2


def _form(slack: LoopbackSlack) -> View:
    slack.command("U1")
    return slack.open_modal("U1")
