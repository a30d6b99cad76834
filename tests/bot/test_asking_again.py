"""A requester whose request was declined asks for other dates."""

from __future__ import annotations

from bot.base import ids
from storage.leave import decisions, leave_types
from tests.bot.world import ADA, EVE, GRACE, World
from tests.fakes.slack import Message


def declined(world: World) -> Message:
    """The reply that told Ada about her declined request."""
    request = world.a_request(note="Wedding", start_half_day=ids.MIDDAY)
    world.write(decisions.decline, request.id, reason="Release week", by=GRACE)
    world.deliver()
    (reply,) = world.replies(world.own_message(ADA))
    return reply


def test_a_declined_request_offers_the_form_with_its_values(world: World) -> None:
    reply = declined(world)
    assert [button.text for button in reply.buttons] == ["Ask for other dates"]

    world.click(ADA, ids.ASK_AGAIN, reply)
    form = world.slack.open_modal(ADA, ids.REQUEST_FORM)
    assert world.slack.submit(ADA, form, {ids.LAST_DAY: "2026-08-07"}).errors == {}
    world.deliver()

    again = world.request()
    assert (again.status, str(again.start_date), str(again.end_date)) == (
        "pending",
        "2026-08-03",
        "2026-08-07",
    )
    assert (again.start_half_day, again.note) == ("pm", "Wedding")
    assert world.own_message(ADA).text.startswith("Your request was sent to Grace Hopper")


def test_the_form_says_that_the_leave_type_was_archived_since(world: World) -> None:
    reply = declined(world)
    world.write(leave_types.delete, world.leave_type("annual"))

    world.click(ADA, ids.ASK_AGAIN, reply)

    form = world.slack.open_modal(ADA, ids.REQUEST_FORM)
    assert "Annual leave is no longer in use." in form.visible_text
    assert world.slack.violations == []


def test_another_person_cannot_open_it(world: World) -> None:
    reply = declined(world)

    world.slack.click(EVE, reply, ids.ASK_AGAIN, force=True)
    world.settled()

    assert not world.slack.has_modal(EVE)
