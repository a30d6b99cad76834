"""Leave that two people approve, in Slack: cards, messages, Home and the leave type's form."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.base import ids
from storage.base.leave_values import SecondApproval
from storage.base.values import User
from storage.leave import leave_requests, leave_types
from tests.bot.test_reminders import TUESDAY, reminded, run_jobs
from tests.bot.test_settings_access import choose, settings
from tests.bot.test_settings_admin import search_result
from tests.bot.world import ADA, ADMIN, EVE, GRACE, HEDY, LAST_DAY, World, to_decide

NAME = "settings.leave_types"


@pytest.fixture
def admin(world: World) -> User:
    return world.add_admin()


def second_by(world: World, by: str) -> None:
    """Annual leave needs a second approval by this person, or by ``admins``."""
    change = {"second_approval": {"always": True, "by": by}}
    world.write(leave_types.update, world.leave_type("annual"), change)


@pytest.mark.both_engines
def test_the_first_approval_asks_the_second_approver_and_tells_the_requester(world: World) -> None:
    second_by(world, world.people[EVE].id)
    world.a_request()

    response = world.click(GRACE, ids.APPROVE)
    at_once = world.card(GRACE)
    world.deliver()

    assert response.ok
    assert world.request().status == "pending"
    assert "Approved by you, waiting for Eve Elsewhere" in at_once.visible_text
    assert "You no longer need to decide. Approved by Grace Hopper, waiting for Eve Elsewhere" in (
        world.card(HEDY).visible_text
    )
    card = world.card(EVE)
    assert len(to_decide(card)) == 2
    assert "Approved by Grace Hopper, waiting for your approval" in card.visible_text
    (told,) = world.replies(world.own_message(ADA))
    assert told.text.startswith("Approved by Grace Hopper, waiting for Eve Elsewhere.")
    assert told.reply_broadcast


def test_the_second_approval_shows_on_every_card(world: World) -> None:
    second_by(world, world.people[EVE].id)
    world.a_request()
    world.press(GRACE, ids.APPROVE)

    world.press(EVE, ids.APPROVE)

    assert world.request().status == "approved"
    for who in (GRACE, HEDY, EVE):
        (card,) = world.cards(who)
        assert to_decide(card) == []
        by = "you" if who == EVE else "Eve Elsewhere"
        assert f"✅ *Approved by {by}" in card.visible_text
    assert world.slack.dm(ADA)[-1].text.startswith("Eve Elsewhere approved your request.")


def test_a_repeated_click_of_the_first_approver_changes_nothing(world: World) -> None:
    second_by(world, world.people[EVE].id)
    world.a_request()
    before = world.card(GRACE)
    world.press(GRACE, ids.APPROVE)

    world.press(GRACE, ids.APPROVE, before)

    assert (world.request().status, len(world.request().approvals)) == ("pending", 1)
    assert "waiting for another person's approval" in world.ephemerals(GRACE)[-1]


def test_the_first_approver_takes_the_approval_back_for_ten_minutes(world: World) -> None:
    second_by(world, world.people[EVE].id)
    world.a_request()
    world.press(GRACE, ids.APPROVE)
    assert ids.TAKE_BACK in {button.action_id for button in world.card(GRACE).buttons}

    world.press(GRACE, ids.TAKE_BACK)

    assert world.request().approvals == ()
    assert len(to_decide(world.card(GRACE))) == 2
    assert to_decide(world.card(EVE)) == []
    assert world.slack.dm(ADA)[-1].text.startswith(
        "Your request needs a first approval again, from Grace Hopper and Hedy Lamarr."
    )


def test_after_ten_minutes_the_first_approver_can_only_decline(world: World) -> None:
    second_by(world, world.people[EVE].id)
    world.a_request()
    world.press(GRACE, ids.APPROVE)

    world.clock.advance(minutes=10)
    world.deliver()

    assert [button.action_id for button in world.card(GRACE).buttons] == [ids.DECLINE]
    world.click(GRACE, ids.DECLINE)
    form = world.slack.open_modal(GRACE, ids.DECLINE_FORM)
    world.submit(GRACE, form, {ids.REASON: ""})
    world.deliver()
    assert world.request().status == "declined"
    assert "Declined by Grace Hopper" in world.card(EVE).visible_text


def test_an_edit_that_adds_days_asks_the_first_approver_again(world: World) -> None:
    second_by(world, world.people[EVE].id)
    request = world.a_request()
    world.press(GRACE, ids.APPROVE)

    longer = {"end_date": LAST_DAY + timedelta(days=2)}
    world.change(leave_requests.edit, request.id, longer, by=ADA)

    assert world.request().approvals == ()
    assert len(to_decide(world.card(GRACE))) == 2
    assert to_decide(world.card(EVE)) == []


def test_a_change_of_approved_leave_shows_its_first_approval(world: World) -> None:
    second_by(world, world.people[EVE].id)
    request = world.a_request()
    world.press(GRACE, ids.APPROVE)
    world.press(EVE, ids.APPROVE)
    longer = {"end_date": LAST_DAY + timedelta(days=2)}
    world.change(leave_requests.edit, request.id, longer, by=ADA)

    world.press(GRACE, ids.AMENDMENT_APPROVE)

    buttons = [button.action_id for button in world.card(GRACE).buttons]
    assert buttons == [ids.AMENDMENT_DECLINE]
    assert "Approved by you, waiting for Eve Elsewhere" in world.card(GRACE).visible_text
    assert "waiting for your approval" in world.slack.dm(EVE)[-1].visible_text
    assert world.slack.dm(ADA)[-1].text.startswith(
        "Approved by Grace Hopper, waiting for Eve Elsewhere. Until then, your leave stays as it "
        "is."
    )
    world.press(EVE, ids.AMENDMENT_APPROVE, world.slack.dm(EVE)[-1])
    assert world.request().end_date == LAST_DAY + timedelta(days=2)


@pytest.mark.usefixtures("admin")
def test_any_admin_gives_a_second_approval_on_home(world: World) -> None:
    second_by(world, "admins")
    world.a_request()
    world.press(GRACE, ids.APPROVE)
    own = world.home(ADA).visible_text
    home = world.home(ADMIN)

    world.click_in_view(ADMIN, home, ids.HOME_APPROVE)

    assert "Approved by Grace Hopper, waiting for an admin" in own
    assert "Approved by Grace Hopper, waiting for your approval" in home.visible_text
    assert world.request().status == "approved"


@pytest.mark.usefixtures("admin")
@pytest.mark.parametrize("named", [ADA, GRACE])
def test_home_and_the_message_name_no_second_approver_who_cannot_give_it(
    world: World, named: str
) -> None:
    second_by(world, world.people[named].id)
    world.a_request()
    world.press(GRACE, ids.APPROVE)

    shown = [world.home(ADA).visible_text, world.own_message(ADA).visible_text]

    assert all("Approved by Grace Hopper, waiting for an admin" in text for text in shown)


def test_a_reminder_goes_to_the_second_approver(world: World) -> None:
    second_by(world, world.people[EVE].id)
    world.a_request()
    world.press(GRACE, ids.APPROVE)

    run_jobs(world, TUESDAY)

    assert [reminded(world, who) for who in (GRACE, HEDY, EVE)] == [0, 0, 1]


@pytest.mark.usefixtures("admin")
@pytest.mark.both_engines
def test_what_awaits_others_does_not_make_a_first_approver_busy(world: World) -> None:
    """More than five open requests would be reminded of in a daily summary."""
    second_by(world, "admins")
    world.link()
    for week in range(7):
        day = world.clock().date() + timedelta(days=63 + 7 * week)
        world.submit_over_rest(start_date=day, end_date=day)
    world.deliver()
    for card in world.cards(GRACE)[:6]:
        world.press(GRACE, ids.APPROVE, card)

    run_jobs(world, TUESDAY)

    assert reminded(world, GRACE) == 1


def test_a_late_click_of_a_first_approver_repairs_their_card(world: World) -> None:
    second_by(world, world.people[EVE].id)
    world.a_request()
    world.click(HEDY, ids.DECLINE)
    form = world.slack.open_modal(HEDY)
    world.click(GRACE, ids.APPROVE)

    world.click(HEDY, ids.APPROVE)
    shown = world.card(HEDY)
    declined = world.slack.submit(HEDY, form, {})

    assert to_decide(shown) == []
    assert "You no longer need to decide" in shown.visible_text
    assert declined.errors == {}
    assert [each.text for each in world.slack.ephemerals] == ["This request isn't yours to decide."]
    assert "This request isn't yours to decide." in str(declined.body)
    assert world.request().status == "pending"


@pytest.mark.usefixtures("admin")
def test_an_admin_sets_a_second_approval_in_the_form(world: World) -> None:
    listed = settings(world, ADMIN, NAME)
    form = choose(world, ADMIN, listed, f"{NAME}.menu", f"edit {world.leave_type('annual')}")
    eve = search_result(world, form, "settings.search.person", "eve", world.people[EVE].id)

    refused = world.slack.submit(ADMIN, form, {"second_approval": "over_days"})
    values = {"second_approval": "over_days", "second_approval_days": "2.5"}
    saved = world.submit(ADMIN, form, values | {"second_approval_by": eve})

    assert refused.errors == {"second_approval": "Enter the number of days below."}
    assert saved.errors == {}
    leave_type = world.database.read_now(
        leave_types.get, world.leave_type("annual"), by=world.acme.caller
    )
    assert leave_type.second_approval == SecondApproval(
        always=False, over_half_days=5, by=world.people[EVE].id
    )
    assert "Second approval over 2.5 days" in world.slack.open_modal(ADMIN).visible_text
