"""Views name the user who cancelled leave, and approvers are notified of leave that ended."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from bot.base import ids
from storage.admin import people, people_status
from storage.base.leave_values import LeaveRequest
from storage.leave import leave_requests, leave_types
from storage.people import people_rows
from tests.bot.test_home import menu_of, pick_on_home
from tests.bot.world import ADA, EVE, GRACE, HEDY, World
from tests.builders import a_person
from tests.fakes.slack import Message

WHAT = "Annual leave, Mon 3 to Wed 5 Aug 2026, 3 days."


def approved(world: World, by: str = GRACE) -> LeaveRequest:
    """Ada's three days, approved over Slack a while ago."""
    request = world.a_request()
    world.press(by, ids.APPROVE)
    world.clock.advance(hours=1)
    world.deliver()
    return request


def cancel(world: World, request: LeaveRequest, by: str) -> None:
    world.change(leave_requests.cancel, request.id, by=by)


def news(world: World, who: str) -> list[Message]:
    """Messages to an approver about approved leave that ended."""
    return [message for message in world.slack.dm(who) if "approved leave" in message.text.lower()]


def test_people_with_the_same_name_are_told_apart(world: World) -> None:
    world.write(
        people.update,
        world.acme.caller.user_id,
        {"first_name": "Ada", "last_name": "Lovelace"},
    )
    request = approved(world)

    world.change(leave_requests.cancel, request.id)

    assert world.slack.dm(ADA)[-1].text.startswith("Ada Lovelace cancelled ")
    assert news(world, GRACE)[0].text.startswith("Ada Lovelace cancelled Ada Lovelace's approved")


def test_approvers_are_notified_of_cancelled_leave(world: World) -> None:
    request = approved(world)

    cancel(world, request, ADA)

    for who in (GRACE, HEDY):
        (message,) = news(world, who)
        assert message.text == f"Ada Lovelace cancelled their approved leave. {WHAT}"
        # As a reply to the card that is also sent to the conversation, where Slack notifies.
        (card,) = world.cards(who)
        assert message.thread_ts == card.ts
        assert "Cancelled by Ada Lovelace" in card.visible_text
    assert news(world, EVE) == []


def test_users_who_cancel_get_no_message_about_it(world: World) -> None:
    request = approved(world)
    grace = world.people[GRACE]
    world.write(people.update, grace.id, {"role": "admin"})
    world.people[GRACE] = world.database.read_now(people_rows.get, grace.id, by=world.acme.caller)

    cancel(world, request, GRACE)

    assert news(world, GRACE) == []
    (message,) = news(world, HEDY)
    assert message.text == f"Grace Hopper cancelled Ada Lovelace's approved leave. {WHAT}"


def test_a_later_approver_without_a_card_is_notified_of_a_cancellation(world: World) -> None:
    request = approved(world)
    zoe = a_person(
        world.database,
        world.acme,
        first_name="Zoe",
        role="approver",
        department_id=world.people[ADA].department_id,
    )
    world.slack.add_person("UZOE", zoe.email, zoe.name)

    cancel(world, request, ADA)

    assert [message.text for message in world.slack.dm("UZOE")] == [
        f"Ada Lovelace cancelled their approved leave. {WHAT}"
    ]


def test_pending_leave_and_leave_that_needs_no_approval_end_without_news(world: World) -> None:
    pending = world.a_request()
    cancel(world, pending, ADA)
    sick = world.submit_over_rest(ADA, leave_type_id=world.leave_type("sick"))
    cancel(world, sick, ADA)

    assert news(world, GRACE) == news(world, HEDY) == []


def test_approvers_are_notified_of_leave_that_archiving_shortens(world: World) -> None:
    world.a_request(start_date="2026-06-01", end_date="2026-06-05")
    world.press(GRACE, ids.APPROVE)
    later = world.a_request(start_date="2026-09-07", end_date="2026-09-07")
    world.press(HEDY, ids.APPROVE, world.cards(HEDY)[-1])
    assert later.start_date == date(2026, 9, 7)

    ada = world.people[ADA]
    world.change(people_status.archive, ada.id)

    for who in (GRACE, HEDY):
        assert sorted(message.text for message in news(world, who)) == [
            "Ada Lovelace's approved leave was shortened. Annual leave, Mon 1 Jun 2026, 1 day.",
            "Olive Owner cancelled Ada Lovelace's approved leave. Annual leave, Mon 7 "
            "Sept 2026, 1 day.",
        ]


def asked_to_cancel(world: World) -> None:
    """Ada asked to cancel her leave, whose type has changes that need approval."""
    world.write(leave_types.update, world.leave_type("annual"), {"changes_need_approval": True})
    approved(world)
    own = world.own_message(ADA)
    assert "Your approver has to agree." in str(own.blocks)
    world.press(ADA, ids.CANCEL, own)


def test_a_cancellation_that_needs_approval_goes_to_approvers(world: World) -> None:
    asked_to_cancel(world)

    assert world.request().status == "approved"
    own = world.own_message(ADA)
    assert own.text.startswith(
        "You asked Grace Hopper and Hedy Lamarr to cancel this leave. "
        "It stays booked until they agree."
    )
    assert [button.text for button in own.buttons] == ["Change", "Keep this leave"]
    card = world.slack.dm(GRACE)[-1]
    assert "cancellation of Annual leave" in card.visible_text
    assert "22 → 25 days left in 2026" in card.visible_text
    assert card.text.startswith(
        "Ada Lovelace asked to cancel approved Annual leave: Mon 3 to Wed 5 Aug 2026, 3 days."
    )

    world.press(GRACE, ids.AMENDMENT_APPROVE, card)

    assert world.request().status == "cancelled"
    assert world.own_message(ADA).text.startswith("Grace Hopper agreed: your leave is cancelled.")
    assert "Cancellation approved by Grace Hopper" in world.card(HEDY).visible_text
    assert world.slack.dm(HEDY)[-1].text.startswith(
        "Grace Hopper approved cancelling Ada Lovelace's leave."
    )


@pytest.mark.parametrize("how", ["declined", "kept"])
def test_leave_stays_when_its_cancellation_is_declined_or_taken_back(
    world: World, how: str
) -> None:
    asked_to_cancel(world)
    home = world.home(ADA)
    assert "Approved. Cancellation awaiting a decision" in home.visible_text

    if how == "declined":
        world.click(GRACE, ids.AMENDMENT_DECLINE, world.slack.dm(GRACE)[-1])
        form = world.slack.open_modal(GRACE, ids.AMENDMENT_DECLINE_FORM)
        assert form.title == "Decline cancellation"
        world.submit(GRACE, form, {})
    else:
        assert menu_of(home, ids.HOME_LEAVE_MENU) == ["Change", "Keep this leave"]
        withdraw = f"withdraw {world.request().amendment_id}"
        pick_on_home(world, ADA, home, withdraw)
    world.deliver()

    assert (world.request().status, world.request().amendment_id) == ("approved", None)
    sentence = {
        "declined": "Grace Hopper declined the cancellation. You keep this leave.",
        "kept": "Cancellation withdrawn by Ada Lovelace",
    }[how]
    shown = world.replies(world.own_message(ADA))[-1] if how == "declined" else world.card(GRACE)
    assert sentence in shown.text


def test_leave_that_has_begun_is_not_offered_for_cancelling(world: World) -> None:
    approved(world)
    world.clock.now = datetime(2026, 8, 4, 9, tzinfo=UTC)
    stale = world.own_message(ADA)

    world.click(ADA, ids.CANCEL, stale)
    world.home(ADA)
    world.command(ADA, "cancel")

    refusal, listed = world.ephemerals(ADA)[-2:]
    assert refusal == (
        "This leave has begun, so only an admin can cancel it. "
        "To end it today, change its last day to Tue 4 Aug 2026."
    )
    assert listed.startswith("There's nothing to cancel.")
    assert "To end it today, choose Change on my Home tab." in listed
    assert "Cancel leave" not in [button.text for button in world.own_message(ADA).buttons]
    offered = menu_of(world.slack.home(ADA), ids.HOME_LEAVE_MENU)
    assert offered == ["Change", "I fell ill"]
    assert world.request().status == "approved"
