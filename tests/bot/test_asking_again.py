"""A requester whose request was declined asks for other dates."""

from __future__ import annotations

from bot.base import ids
from storage.leave import decisions, leave_types
from tests.bot.world import ADA, GRACE, World
from tests.fakes.slack import Message


def declined(world: World) -> Message:
    """The reply that told Ada about her declined request."""
    request = world.a_request(note="Wedding", start_half_day=ids.MIDDAY)
    world.change(decisions.decline, request.id, reason="Release week", by=GRACE)
    (reply,) = world.replies(world.own_message(ADA))
    return reply


def test_a_declined_request_offers_the_form_with_all_but_the_declined_dates(world: World) -> None:
    reply = declined(world)
    assert [button.text for button in reply.buttons] == ["Ask for other dates"]

    world.click(ADA, ids.ASK_AGAIN, reply)
    form = world.slack.open_modal(ADA, ids.REQUEST_FORM)
    assert "initial_date" not in str(form.blocks)
    assert "Choose a leave type and days to see the total." in form.visible_text
    days = {ids.FIRST_DAY: "2026-08-10", ids.LAST_DAY: "2026-08-11"}
    assert world.slack.submit(ADA, form, days).errors == {}
    world.deliver()

    again = world.request()
    assert (again.status, str(again.start_date), str(again.end_date)) == (
        "pending",
        "2026-08-10",
        "2026-08-11",
    )
    assert (again.start_half_day, again.note) == (None, "Wedding")
    assert again.leave_type_id == world.leave_type("annual")
    assert world.own_message(ADA).text.startswith("Your request was sent to Grace Hopper")


def test_a_decline_that_is_reversed_offers_no_other_dates(world: World) -> None:
    stale = declined(world)

    world.change(decisions.change_decision, world.request().id, "approved", by=GRACE)

    earlier, news = world.replies(world.own_message(ADA))
    assert earlier.ts == stale.ts
    assert earlier.visible_text == "Grace Hopper changed this decision. See the message below."
    assert news.visible_text == (
        "Grace Hopper changed the decision: Mon 3 August from midday to Wed 5 August 2026 is now "
        "approved."
    )
    assert earlier.buttons == news.buttons == []


def test_a_click_on_an_outdated_offer_tells_that_the_request_was_approved(world: World) -> None:
    stale = declined(world)
    world.write(decisions.change_decision, world.request().id, "approved", by=GRACE)

    world.click(ADA, ids.ASK_AGAIN, stale)

    assert not world.slack.has_modal(ADA)
    assert world.ephemerals(ADA) == ["Already approved by Grace Hopper."]


def test_the_form_asks_for_another_type_in_place_of_an_archived_one(world: World) -> None:
    reply = declined(world)
    world.write(leave_types.delete, world.leave_type("annual"))

    world.click(ADA, ids.ASK_AGAIN, reply)

    form = world.slack.open_modal(ADA, ids.REQUEST_FORM)
    (chosen,) = form.values[ids.LEAVE_TYPE].values()
    assert chosen["selected_option"] is None
    assert world.slack.violations == []
