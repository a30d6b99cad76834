"""Approving and declining by buttons, and the messages and cards that result."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime

import orjson
import pytest

from bot.base import ids
from storage.admin import daily_changes, people
from storage.admin.daily_changes import Due
from storage.base.leave_values import LeaveRequest
from storage.base.values import Source
from storage.leave import leave_requests
from tests.bot.world import ADA, ADMIN, GRACE, HEDY, World, to_decide
from tests.fakes.slack import Message


@pytest.mark.both_engines
def test_an_approval_shows_on_every_card(world: World) -> None:
    world.a_request()

    response = world.click(GRACE, ids.APPROVE)
    at_once = world.card(GRACE)
    world.deliver()

    assert response.ok
    assert world.request().status == "approved"
    assert to_decide(at_once) == []
    for who, by in ((GRACE, "you"), (HEDY, "Grace Hopper")):
        (card,) = world.cards(who)
        assert to_decide(card) == []
        state, *_ = card.visible_text.splitlines()
        assert state == f"✅ *Approved by {by}, 1 Jun 2026, 10:00*"
        assert f"Approved by {by}, 1 Jun 2026, 10:00." in card.text
    assert world.slack.dm(ADA)[-1].text == (
        "Grace Hopper approved your request. Annual leave, Mon 3 to Wed 5 Aug 2026, "
        "3 days. After this: 22 days left in 2026."
    )
    assert world.audited("leave_request.approved") == 1


@pytest.mark.parametrize("source", ["slack", "api"])
def test_a_requesters_own_action_in_slack_sends_them_no_message(
    world: World, source: Source
) -> None:
    request = world.a_request()
    by = replace(world.caller(ADA), source=source)
    day = {"end_date": date(2026, 8, 4)}

    world.database.write_now(leave_requests.edit, request.id, day, by=by, now=world.clock())
    world.deliver()
    world.database.write_now(leave_requests.cancel, request.id, by=by, now=world.clock())
    world.deliver()

    first, *replies = world.slack.dm(ADA)
    assert first.text == (
        "You cancelled your request. Annual leave, Mon 3 to Tue 4 Aug 2026, 2 days."
    )
    assert [(reply.text.split(".")[0], reply.reply_broadcast) for reply in replies] == (
        []
        if source == "slack"
        else [
            ("Your updated request was sent to Grace Hopper and Hedy Lamarr for approval", False),
            ("You cancelled your request", True),
        ]
    )


def test_declining_asks_for_a_reason_that_the_requester_reads(world: World) -> None:
    world.a_request()

    world.click(GRACE, ids.DECLINE)
    form = world.slack.open_modal(GRACE, ids.DECLINE_FORM)
    response = world.submit(GRACE, form, {ids.REASON: "Release <week> & all"})
    at_once = world.card(GRACE)
    world.deliver()

    assert response.errors == {}
    assert not world.slack.has_modal(GRACE)
    assert "*Ada Lovelace*: Annual leave, Mon 3 to Wed 5 Aug 2026" in form.visible_text
    assert (world.request().status, world.request().decision_reason) == (
        "declined",
        "Release <week> & all",
    )
    assert to_decide(at_once) == []
    assert "Declined by Grace Hopper" in world.card(HEDY).visible_text
    (message,) = world.replies(world.own_message(ADA))
    assert "Reason: Release <week> & all" in message.visible_text
    assert message.text.endswith("Reason: Release &lt;week&gt; &amp; all")


@pytest.mark.parametrize("place", ["card", "home"])
def test_a_refused_reason_is_reported_at_its_field(world: World, place: str) -> None:
    world.a_request()
    if place == "card":
        world.click(GRACE, ids.DECLINE)
    else:
        world.slack.click_in_view(GRACE, world.home(GRACE), ids.HOME_DECLINE)
    form = world.slack.open_modal(GRACE)

    # No keyboard types it, but Slack passes it on.
    response = world.slack.submit(GRACE, form, {ids.REASON: "bell \a"})

    assert list(response.errors) == [ids.REASON]
    assert world.request().status == "pending"


def test_the_menu_of_a_card_shows_the_teams_calendar_of_that_week(world: World) -> None:
    world.a_request()
    card = world.card(GRACE)
    menu = card.blocks[0]["accessory"]
    assert (menu["type"], [option["text"]["text"] for option in menu["options"]]) == (
        "overflow",
        ["Show the team's calendar", "Open my Home tab"],
    )

    world.slack.click(GRACE, card, ids.CALENDAR, menu["options"][0]["value"])

    calendar = world.slack.open_modal(GRACE, showing="3 Aug")
    assert "Ada Lovelace" in calendar.visible_text
    world.click(GRACE, ids.APPROVE)
    assert "overflow" not in str(world.card(GRACE).blocks)


def test_the_menu_of_a_card_links_to_home(world: World) -> None:
    world.a_request()
    card = world.card(GRACE)
    to_home = card.blocks[0]["accessory"]["options"][1]
    assert to_home["url"] == "slack://app?team=T1&id=A1&tab=home"

    opened = len(world.slack.calls("views.open"))
    # Slack opens the link, and reports the choice too.
    world.slack.click(GRACE, card, ids.CALENDAR, to_home["value"])
    world.settled()

    assert len(world.slack.calls("views.open")) == opened
    assert len(world.slack.calls("bots.info")) == 1


def test_a_card_has_no_link_to_home_while_slack_does_not_tell_the_apps_id(world: World) -> None:
    world.slack.fail_next("bots.info", error="internal_error", times=2)
    request = world.a_request()
    (without, _) = world.card(GRACE), world.card(HEDY)
    assert "url" not in str(without.blocks[0]["accessory"])

    world.change(leave_requests.edit, request.id, {"note": "now"}, by=ADA)

    assert "slack://app" in str(world.card(GRACE).blocks[0]["accessory"])


def test_a_change_refreshes_the_card_and_notifies_approvers(world: World) -> None:
    request = world.a_request()
    world.clock.advance(hours=1)

    world.change(leave_requests.edit, request.id, {"end_date": date(2026, 8, 4)}, by=ADA)

    card, reply = world.slack.dm(GRACE)
    assert "Mon 3 to Tue 4 Aug 2026 · 2 days" in card.visible_text
    assert "Updated 1 Jun 2026, 11:00" in card.visible_text
    assert to_decide(card) == ["Approve", "Decline"]
    assert (reply.thread_ts, reply.reply_broadcast) == (card.ts, False)
    assert reply.text == (
        "Ada Lovelace edited this request. It's now Mon 3 to Tue 4 Aug 2026, 2 days."
    )
    assert world.slack.dm(ADA)[-1].text.startswith("Your updated request was sent to Grace")


@pytest.mark.parametrize("action_id", [ids.APPROVE, ids.DECLINE])
def test_a_stale_click_shows_the_status_and_refreshes_the_card(
    world: World, action_id: str
) -> None:
    world.a_request()
    stale = world.card(HEDY)
    world.click(GRACE, ids.APPROVE)

    response = world.click(HEDY, action_id, stale)

    assert response.ok
    assert not world.slack.has_modal(HEDY)
    assert world.ephemerals(HEDY) == ["Already approved by Grace Hopper."]
    assert world.card(HEDY).buttons == []
    assert world.audited("leave_request.approved") == 1


def test_a_form_overtaken_by_another_decision_shows_that_decision(world: World) -> None:
    world.a_request()
    world.click(HEDY, ids.DECLINE)
    form = world.slack.open_modal(HEDY)
    world.click(GRACE, ids.APPROVE)

    world.submit(HEDY, form, {ids.REASON: "too late"})

    modal = world.slack.open_modal(HEDY)
    assert modal.visible_text == "Already approved by Grace Hopper."
    assert world.card(HEDY).buttons == []
    assert world.request().decision_reason is None


@pytest.mark.both_engines
def test_a_double_click_makes_one_decision(world: World) -> None:
    world.a_request()
    card = world.card(GRACE)

    _at_once(world, [(GRACE, card), (GRACE, card)])
    world.deliver()

    assert world.ephemerals(GRACE) == ["Already approved by Grace Hopper."]
    assert world.audited("leave_request.approved") == 1
    assert len(_approval_messages(world)) == 1


@pytest.mark.parametrize("value", ["019e8269-4e80-7e8f-9eff-078e9174496d", "no-id"])
def test_a_button_of_an_unknown_request_shows_an_error(world: World, value: str) -> None:
    request = world.a_request()
    card = world.card(GRACE)
    forged = orjson.loads(orjson.dumps(card.blocks).replace(request.id.encode(), value.encode()))

    world.slack.click(GRACE, replace(card, blocks=forged), ids.APPROVE)
    world.settled()

    assert world.ephemerals(GRACE) == [
        ("This request doesn't exist, or you no longer have access to it.")
    ]


def test_requesters_cannot_decide_on_their_own_requests(world: World) -> None:
    request = world.a_request()

    world.click(ADA, ids.APPROVE, world.card(GRACE))
    world.click(ADA, ids.DECLINE, world.card(GRACE))

    assert (
        world.ephemerals(ADA)
        == ["You can't decide on your own request. Another approver has to."] * 2
    )
    assert _is_untouched(world, request)


def test_a_click_records_a_card_that_was_posted_but_not_recorded(world: World) -> None:
    world.send_form()
    world.deliver_and_die()

    world.click(GRACE, ids.APPROVE)
    world.clock.advance(seconds=61)
    world.deliver()

    (card,) = world.cards(GRACE)
    assert "Approved by you" in card.visible_text
    assert to_decide(card) == []
    world.change(leave_requests.cancel, world.request().id, by=ADA)
    assert "Cancelled" in world.card(GRACE).visible_text


def test_a_click_on_a_duplicate_card_refreshes_both(world: World) -> None:
    world.send_form()
    world.deliver_and_die()
    world.clock.advance(seconds=61)
    world.deliver()
    stray, recorded = world.cards(GRACE)

    world.press(GRACE, ids.APPROVE, stray)

    assert stray.ts != recorded.ts
    assert [to_decide(card) for card in world.cards(GRACE)] == [[], []]


def _approval_messages(world: World) -> list[Message]:
    """New messages, not earlier ones that were updated."""
    return [
        message
        for message in world.slack.dm(ADA)
        if "approved" in message.text and not message.history
    ]


def _is_untouched(world: World, request: LeaveRequest) -> bool:
    is_unchanged = world.request().version == request.version
    return is_unchanged and len(to_decide(world.card(GRACE))) == 2


def _at_once(world: World, clicks: list[tuple[str, Message]]) -> None:
    start = threading.Barrier(len(clicks))

    def click(user_and_card: tuple[str, Message]) -> bool:
        start.wait(30)
        return world.slack.click(user_and_card[0], user_and_card[1], ids.APPROVE).ok

    with ThreadPoolExecutor() as pool:
        assert list(pool.map(click, clicks)) == [True] * len(clicks)
    world.settled()


def lower_allowance(world: World, days: int) -> None:
    """Ada's allowance becomes this, and the cards show it."""
    world.change(people.update, world.people[ADA].id, {"leave_allowance_half_days": 2 * days})


def test_a_card_says_that_too_little_is_left_to_approve(world: World) -> None:
    world.a_request()
    lower_allowance(world, 1)
    warning = "⚠️ Not enough left in 2026 to approve this"
    assert warning in world.card(GRACE).visible_text
    assert warning in world.card(GRACE).text

    world.click(GRACE, ids.APPROVE)
    world.settled()

    assert world.request().status == "pending"
    assert world.ephemerals(GRACE)[-1] == (
        "They have 1 day left in 2026. This needs 3 days. "
        "They can shorten the request, or an admin can approve it anyway."
    )
    assert to_decide(world.card(GRACE)) == ["Approve", "Decline"]


@pytest.mark.parametrize("place", ["card", "home"])
def test_an_admin_approves_past_the_allowance_with_a_reason(world: World, place: str) -> None:
    anna = world.add_admin()
    world.write(people.update, world.people[ADA].id, {"manager_id": anna.id})
    world.a_request()
    lower_allowance(world, 1)
    if place == "card":
        world.click(ADMIN, ids.APPROVE)
    else:
        world.slack.click_in_view(ADMIN, world.home(ADMIN), ids.HOME_APPROVE)
    form = world.slack.open_modal(ADMIN, ids.APPROVE_ANYWAY_FORM)
    assert "They have 1 day left in 2026. This needs 3 days." in form.visible_text

    response = world.submit(ADMIN, form, {ids.EXCEPTION_REASON: "Agreed in March"})

    assert response.errors == {}
    assert world.request().status == "approved"
    assert world.request().override_reason == "Agreed in March"


def test_a_lapsed_request_is_told_to_both_sides(world: World) -> None:
    request = world.a_request()
    world.deliver()
    world.clock.now = datetime(2026, 8, 19, 12, tzinfo=UTC)
    due = Due(organisation_id=world.acme.id, id=request.id)

    world.database.write_now(daily_changes.lapse, due, now=world.clock())
    world.deliver()

    assert world.slack.dm(ADA)[-1].text.startswith(
        "Your request lapsed, because it wasn't decided within two weeks of its last day. "
        "If you were off, ask an admin to record the leave."
    )
    for who in (GRACE, HEDY):
        card = world.cards(who)[0]
        assert to_decide(card) == []
        assert "Lapsed without a decision, 19 Aug 2026, 13:00" in card.visible_text
        assert world.slack.dm(who)[-1].text == (
            "Ada Lovelace's request lapsed. Its last day was two weeks ago, and it still awaited a "
            "decision. Annual leave, Mon 3 to Wed 5 Aug 2026, 3 days."
        )
