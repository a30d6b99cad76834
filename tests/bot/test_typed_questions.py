"""Typed questions, and leave of others without a mention: what is offered behind buttons."""

from __future__ import annotations

import pytest

from bot.base import ids
from tests.bot.test_form import chosen, fields
from tests.bot.test_recording import value
from tests.bot.world import ADA, GRACE, World
from tests.fakes.slack import Message


def replied(world: World, who: str, text: str) -> Message:
    """The only reply to the typed text, which opens no form."""
    world.command(who, text)
    assert not world.slack.has_modal(who)
    (message,) = world.slack.ephemerals
    return message


@pytest.mark.parametrize(
    "text",
    ["am I off on friday?", "do I work on 24 dec", "is grace in tomorrow", "when is chloe back"],
)
def test_a_question_is_answered_and_offers_no_request(world: World, text: str) -> None:
    message = replied(world, ADA, text)

    assert message.text
    assert message.buttons == []


def test_a_request_in_the_form_of_a_question_is_offered_with_its_half(world: World) -> None:
    message = replied(world, ADA, "can I take friday afternoon off?")
    assert message.text == ("I read: Fri 5 Jun 2026, afternoon. Do you want to request this leave?")

    world.click(ADA, ids.OPEN_UNDERSTOOD, message)

    form = world.slack.open_modal(ADA, ids.REQUEST_FORM)
    assert fields(form) == ("2026-06-05", "2026-06-05", "midday", "whole_day")


@pytest.mark.parametrize(
    "text", ["ada sick today", "Ada's sick today", "sick today ada", "sick today, Ada Lovelace!"]
)
def test_leave_of_a_named_colleague_is_recorded_for_them(world: World, text: str) -> None:
    message = replied(world, GRACE, text)
    assert [button.action_id for button in message.buttons] == [ids.RECORD_UNDERSTOOD]

    world.click(GRACE, ids.RECORD_UNDERSTOOD, message)

    form = world.slack.open_modal(GRACE, ids.RECORD_FORM)
    assert value(form, ids.PERSON) == world.people[ADA].id
    assert chosen(form, ids.LEAVE_TYPE) == world.leave_type("sick")


def test_leave_of_a_colleague_is_not_offered_without_the_right_to_record_it(world: World) -> None:
    message = replied(world, ADA, "hedy sick today")

    assert message.buttons == []


def test_the_reason_at_the_end_becomes_the_note(world: World) -> None:
    world.command(ADA, "sick today, dentist")

    form = world.slack.open_modal(ADA, ids.REQUEST_FORM)
    assert value(form, ids.NOTE) == "dentist"
    assert "“dentist” is in the note." in form.visible_text
