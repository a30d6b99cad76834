"""A requester whose request was declined asks for other dates."""

from __future__ import annotations

import pytest

from bot.base import ids
from storage.leave import decisions, leave_types
from tests.bot.world import ADA, EVE, GRACE, World
from tests.fakes.slack import Message


def declined(world: World) -> tuple[Message, Message]:
    """Ada's message about a declined request, and the reply that told her."""
    request = world.a_request(note="Wedding", start_half_day=ids.MIDDAY)
    world.database.write_now(
        decisions.decline,
        request.id,
        reason="Release week",
        by=world.caller(GRACE),
        now=world.clock(),
    )
    world.deliver()
    first = world.own_message(ADA)
    (reply,) = world.replies(first)
    return first, reply


@pytest.mark.parametrize("place", ["message", "reply"])
def test_a_declined_request_offers_the_form_with_its_values(world: World, place: str) -> None:
    first, reply = declined(world)
    clicked = first if place == "message" else reply
    assert [button.text for button in clicked.buttons] == ["Ask for other dates"]
    assert "Reason: Release week" in clicked.visible_text

    world.click(ADA, ids.ASK_AGAIN, clicked)
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
    first, _ = declined(world)
    world.database.write_now(
        leave_types.delete, world.leave_type("annual"), by=world.acme.caller, now=world.clock()
    )

    world.click(ADA, ids.ASK_AGAIN, first)

    form = world.slack.open_modal(ADA, ids.REQUEST_FORM)
    assert "Annual leave is no longer in use." in form.visible_text
    assert world.slack.violations == []


def test_another_person_cannot_open_it(world: World) -> None:
    first, _ = declined(world)

    world.slack.click(EVE, first, ids.ASK_AGAIN, force=True)
    world.settled()

    assert not world.slack.has_modal(EVE)
