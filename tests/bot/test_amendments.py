"""Changes of approved leave in Slack: the form, the approvers' cards, Home and the requester."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from bot.base import ids
from storage.leave import decisions, leave_requests
from tests.bot.test_home import menu_of, pick_on_home
from tests.bot.world import ADA, EVE, GRACE, HEDY, World
from tests.fakes.slack import Message, View

LONGER = {ids.LAST_DAY: "2026-08-07"}


def approved_leave(world: World) -> None:
    """Ada's leave from Monday 3 to Wednesday 5 August, approved by Grace."""
    world.a_request()
    world.press(GRACE, ids.APPROVE)
    world.clock.advance(days=1)
    world.deliver()


def open_change(world: World) -> View:
    """The form that the button of Ada's last message opens."""
    world.click(ADA, ids.EDIT, world.own_message(ADA))
    return world.slack.open_modal(ADA, ids.EDIT_FORM)


def send_change(world: World, **filled: Any) -> None:
    assert world.slack.submit(ADA, open_change(world), filled).errors == {}
    world.deliver()


def change_card(world: World) -> Message:
    return next(card for card in world.cards(GRACE) if "change of" in card.visible_text)


def test_the_form_says_what_a_change_does(world: World) -> None:
    approved_leave(world)
    form = open_change(world)
    assert form.title == "Change leave"
    assert "Change the dates, the type or the note, then save." in form.visible_text

    shown = {}
    for end in ("2026-08-04", "2026-08-07"):
        world.pick(ADA, form, ids.LAST_DAY, ids.RECOUNT, end)
        shown[end] = world.slack.open_modal(ADA).visible_text

    assert "*Gives back 1 day*" in shown["2026-08-04"]
    assert "The change applies as soon as you save it." in shown["2026-08-04"]
    assert "*Needs approval: 2 days more*" in shown["2026-08-07"]
    assert (
        "This will go to Grace Hopper and Hedy Lamarr for approval. "
        "Until then, your leave stays as it is."
    ) in shown["2026-08-07"]


def test_a_change_that_gives_days_back_is_told_to_approvers(world: World) -> None:
    approved_leave(world)

    send_change(world, **{ids.LAST_DAY: "2026-08-04"})

    assert world.request().end_date == date(2026, 8, 4)
    assert world.own_message(ADA).text == (
        "Your leave was changed. Annual leave, Mon 3 to Tue 4 Aug 2026, 2 days. "
        "After this: 23 days left in 2026."
    )
    assert world.slack.dm(GRACE)[-1].text == (
        "Ada Lovelace's approved leave was changed. Annual leave, Mon 3 to Tue 4 Aug 2026, 2 days."
    )
    assert "Mon 3 to Tue 4 Aug 2026" in world.card(HEDY).visible_text


@pytest.mark.both_engines
def test_an_approver_sees_old_and_new_and_approves(world: World) -> None:
    approved_leave(world)
    earlier = world.card(GRACE)

    send_change(world, **LONGER, note="By train")

    card = change_card(world)
    assert card.ts == earlier.ts
    assert card.visible_text.startswith(
        "⏳ *Waiting for you and Hedy Lamarr*\nAda Lovelace · change of Annual leave\n"
        "Mon 3 to Fri 7 Aug 2026 · 5 days · back Mon 10\n"
    )
    assert (
        "Mon 3 to Wed 5 Aug 2026 → *Mon 3 to Fri 7 Aug 2026*\n3 days → *5 days*"
    ) in card.visible_text
    assert "22 → 20 days left in 2026" in card.visible_text
    assert "Note: By train" in card.visible_text
    assert [button.text for button in card.buttons] == ["Approve", "Decline"]
    assert {button.value for button in card.buttons} == {world.request().amendment_id}
    (question,) = world.replies(card)
    assert question.reply_broadcast
    assert (question.text, question.visible_text) == (card.text, card.visible_text)
    assert question.text.startswith(
        "Ada Lovelace asked to change approved Annual leave: "
        "Mon 3 to Wed 5 Aug 2026 → Mon 3 to Fri 7 Aug 2026, 3 days → 5 days."
    )
    sent = world.own_message(ADA)
    assert sent.text.startswith(
        "Your change was sent to Grace Hopper and Hedy Lamarr for approval. "
        "Until then, your leave stays as it is."
    )
    assert [button.text for button in sent.buttons] == [
        "Change",
        "Withdraw change",
        "Cancel leave",
    ]

    world.press(GRACE, ids.AMENDMENT_APPROVE, card)

    assert world.request().end_date == date(2026, 8, 7)
    for who in (GRACE, HEDY):
        decided = [
            message.buttons
            for message in world.slack.dm(who)
            if "Change approved by Grace Hopper" in message.visible_text
        ]
        assert decided == [[], []]
    assert world.slack.dm(ADA)[-1].text == (
        "Grace Hopper approved your change. Annual leave, Mon 3 to Fri 7 Aug 2026, "
        "5 days. After this: 20 days left in 2026."
    )


def test_a_declined_change_keeps_the_old_dates_and_shows_the_reason(world: World) -> None:
    approved_leave(world)
    send_change(world, **LONGER)

    world.click(GRACE, ids.AMENDMENT_DECLINE, change_card(world))
    form = world.slack.open_modal(GRACE, ids.AMENDMENT_DECLINE_FORM)
    world.slack.submit(GRACE, form, {ids.REASON: "Release week"})
    world.deliver()

    assert form.title == "Decline change"
    assert (world.request().end_date, world.request().amendment_id) == (date(2026, 8, 5), None)
    news = world.slack.dm(ADA)[-1]
    assert news.text.startswith("Grace Hopper declined your change. Your leave stays as it was.")
    assert news.text.endswith("Reason: Release week")
    card, reply = [
        message
        for message in world.slack.dm(HEDY)
        if "declined by Grace Hopper" in message.visible_text
    ]
    assert "Change to Mon 3 to Fri 7 Aug 2026 declined by" in card.visible_text
    assert card.buttons == reply.buttons == []


def test_a_replaced_change_is_refused_as_stale(world: World) -> None:
    approved_leave(world)
    send_change(world, **LONGER)
    first = change_card(world)
    world.write(leave_requests.edit, world.request().id, {"end_date": date(2026, 8, 6)}, by=ADA)

    world.click(GRACE, ids.AMENDMENT_APPROVE, first)

    assert world.ephemerals(GRACE) == [
        "This change was replaced by a newer one. Please look at that."
    ]
    assert world.request().end_date == date(2026, 8, 5)
    world.deliver()
    newest = change_card(world)
    assert newest.ts == first.ts
    assert "*Mon 3 to Thu 6 Aug 2026*" in newest.visible_text
    assert [button.value for button in newest.buttons] == [world.request().amendment_id] * 2
    assert len([reply for reply in world.replies(newest) if reply.reply_broadcast]) == 1


def test_an_old_approve_button_decides_on_no_change_that_it_does_not_show(world: World) -> None:
    world.a_request()
    old_card = world.card(HEDY)
    world.click(GRACE, ids.APPROVE)
    world.write(leave_requests.edit, world.request().id, {"end_date": date(2026, 8, 7)}, by=ADA)

    world.click(HEDY, ids.APPROVE, old_card)

    assert world.ephemerals(HEDY) == ["Already approved by Grace Hopper."]
    assert world.request().end_date == date(2026, 8, 5)


def test_a_change_that_is_no_longer_possible_stays_open_with_the_reason(world: World) -> None:
    approved_leave(world)
    send_change(world, **LONGER)
    world.submit_over_rest(start_date=date(2026, 8, 6), end_date=date(2026, 8, 6))

    world.click(GRACE, ids.AMENDMENT_APPROVE, change_card(world))

    assert world.ephemerals(GRACE) == [
        "This can no longer be approved. It overlaps other leave (Thu 6 Aug 2026)."
    ]
    assert world.request(ADA) is not None
    assert world.audited("leave_request.updated") == 0


@pytest.mark.parametrize("place", ["message", "home"])
def test_the_requester_withdraws_a_change(world: World, place: str) -> None:
    approved_leave(world)
    send_change(world, **LONGER)

    if place == "message":
        world.click(ADA, ids.WITHDRAW, world.own_message(ADA))
    else:
        home = world.home(ADA)
        assert (
            "Approved. Change awaiting a decision: *Mon 3 to Fri 7 Aug 2026*, *5 days*"
        ) in home.visible_text
        assert "Withdraw change" in menu_of(home, ids.HOME_LEAVE_MENU)
        withdraw = f"withdraw {world.request().amendment_id}"
        pick_on_home(world, ADA, home, withdraw)
    world.deliver()

    assert world.request().amendment_id is None
    assert world.own_message(ADA).text.startswith("You withdrew your change.")
    buttons = [
        message.buttons
        for message in world.slack.dm(GRACE)
        if "withdrawn by" in message.visible_text
    ]
    assert buttons == [[], []]


def test_approvers_find_changes_on_home(world: World) -> None:
    approved_leave(world)
    send_change(world, **LONGER)
    home = world.home(GRACE)

    world.slack.click_in_view(GRACE, home, ids.HOME_AMENDMENT_DECLINE)
    form = world.slack.open_modal(GRACE, ids.HOME_AMENDMENT_DECLINE_FORM)
    world.submit(GRACE, form, {ids.REASON: "No"})
    send_change(world, **{ids.LAST_DAY: "2026-08-06"})
    world.slack.click_in_view(GRACE, world.home(GRACE), ids.HOME_AMENDMENT_APPROVE)
    world.deliver()

    assert (
        "Ada Lovelace · change of Annual leave\n"
        "Mon 3 to Fri 7 Aug 2026 · 5 days\n"
        "22 → 20 days left in 2026"
    ) in home.visible_text
    assert "3 days → *5 days*" in home.visible_text
    assert world.request().end_date == date(2026, 8, 6)
    assert "Waiting for your decision" not in world.slack.home(GRACE).visible_text


def test_another_type_is_shown_old_and_new(world: World) -> None:
    approved_leave(world)

    send_change(world, **{ids.LEAVE_TYPE: world.leave_type("unpaid")})

    card = change_card(world)
    assert "Annual leave → *Unpaid leave*" in card.visible_text
    assert "left in 2026" not in card.visible_text
    world.command(ADA, "mine")
    assert "approved, a change is awaiting approval" in world.ephemerals(ADA)[-1]

    world.click(GRACE, ids.AMENDMENT_DECLINE, card)
    form = world.slack.open_modal(GRACE, ids.AMENDMENT_DECLINE_FORM)
    world.slack.submit(GRACE, form, {})
    world.deliver()

    assert "Change to Unpaid leave declined by Grace Hopper" in world.card(GRACE).visible_text


def test_a_card_does_not_offer_to_reverse_what_a_later_decision_settled(world: World) -> None:
    world.a_request()
    world.press(GRACE, ids.APPROVE)
    send_change(world, **LONGER)
    world.press(GRACE, ids.AMENDMENT_APPROVE, change_card(world))

    world.clock.advance(minutes=1)
    send_change(world, **{ids.LAST_DAY: "2026-08-06"})

    card = world.card(GRACE)
    assert "Approved by you" in card.visible_text
    assert card.buttons == []


def test_approvers_are_reminded_of_a_change(world: World) -> None:
    approved_leave(world)
    send_change(world, **LONGER)
    card = change_card(world)

    world.clock.now = datetime(2026, 6, 3, 8, tzinfo=UTC)
    world.run(world.app.reminders.run)
    world.deliver()

    (reminder,) = [
        message for message in world.slack.dm(GRACE) if message.text.startswith("Still waiting")
    ]
    assert reminder.thread_ts == card.ts
    assert reminder.text == (
        "Still waiting for your decision: Ada Lovelace asked to change approved Annual leave: "
        "Mon 3 to Wed 5 Aug 2026 → Mon 3 to Fri 7 Aug 2026, 3 days → 5 days. "
        "Ada Lovelace is back Mon 10."
    )


@pytest.mark.parametrize("ends", ["approved", "declined"])
def test_longer_leave_with_another_cover_is_told_once_and_with_its_dates(
    world: World, ends: str
) -> None:
    approved_leave(world)
    replies = len(world.replies(world.card(GRACE)))

    send_change(world, **LONGER, cover_user_id=cover_option(world, EVE))

    (question,) = world.replies(world.card(GRACE))[replies:]
    assert "Mon 3 to Wed 5 Aug 2026 → Mon 3 to Fri 7 Aug 2026" in question.text
    assert "Covered by Eve Elsewhere" in world.card(GRACE).visible_text
    assert world.own_message(ADA).text.startswith("Your change was sent to Grace Hopper")
    assert world.slack.dm(EVE) == []

    amendment_id = world.request().id
    if ends == "approved":
        world.write(decisions.approve, amendment_id, by=GRACE)
    else:
        world.write(decisions.decline, amendment_id, reason=None, by=GRACE)
    world.deliver()

    last_day = "Fri 7 Aug" if ends == "approved" else "Wed 5 Aug"
    assert [message.text for message in world.slack.dm(EVE)] == [
        f"You're covering for Ada Lovelace: Mon 3 to {last_day} 2026."
    ]


def cover_option(world: World, who: str) -> dict[str, Any]:
    person = world.people[who]
    return {"text": {"type": "plain_text", "text": person.name}, "value": person.id}
