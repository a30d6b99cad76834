"""Leave that is approved at once: who hears of it in Slack, and what its person reads."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from bot.base import ids
from storage.base.leave_values import LeaveRequest
from storage.leave import decisions, leave_requests, leave_types
from storage.leave.drafts import Draft
from tests.bot.world import ADA, ADMIN, EVE, GRACE, HEDY, World
from tests.builders import a_leave_type, a_person, a_request
from tests.fakes.slack import Message

# Today is a Monday.
TODAY = date(2026, 6, 1)
BOB = "UBOB"


def sick(world: World, who: str = ADA, **fields: Any) -> LeaveRequest:
    """The person reports sick today in Slack, as far as the fields do not say otherwise."""
    filled = {ids.FIRST_DAY: TODAY.isoformat(), ids.LAST_DAY: TODAY.isoformat()} | fields
    return world.a_request(who, leave_type_id=world.leave_type("sick"), **filled)


def covered_by(world: World, cover: str, who: str, first_day: date = TODAY) -> LeaveRequest:
    """Approved leave of three days, for which a colleague covers."""
    request = a_request(
        world.database,
        world.acme,
        world.people[who],
        start_date=first_day,
        end_date=first_day + timedelta(days=2),
        cover_user_id=world.people[cover].id,
    )
    return world.write(decisions.approve, request.id)


def with_bob(world: World) -> None:
    """Bob, a colleague of Ada, whose manager is Eve."""
    bob = a_person(
        world.database,
        world.acme,
        first_name="Bob",
        last_name="Builder",
        department_id=world.people[ADA].department_id,
        manager_id=world.people[EVE].id,
    )
    world.people[BOB] = bob
    world.slack.add_person(BOB, bob.email, bob.name)


def only(world: World, who: str) -> Message:
    (message,) = world.slack.dm(who)
    return message


def labels(message: Message) -> list[str]:
    return [button.text for button in message.buttons]


def test_approvers_are_told_of_sick_leave_and_asked_nothing(world: World) -> None:
    sick(world)

    for who in (GRACE, HEDY):
        told = only(world, who)
        assert told.visible_text == (
            "*Ada Lovelace is on sick leave today.* Nothing to approve.\n"
            "Sick leave, Mon 1 Jun 2026, 1 day"
        )
        assert told.text == (
            "Ada Lovelace is on sick leave today. Nothing to approve. "
            "Sick leave, Mon 1 Jun 2026, 1 day."
        )
        assert told.buttons == []
    assert world.slack.dm(EVE) == []


def test_the_person_reads_who_knows_and_what_colleagues_see(world: World) -> None:
    sick(world)

    own = only(world, ADA)
    assert own.text == (
        "Get well soon. Grace Hopper and Hedy Lamarr know; colleagues see “Away”. "
        "Sick leave, Mon 1 Jun 2026, 1 day."
    )
    assert labels(own) == ["Still sick tomorrow", "Change", "Cancel leave"]


def test_other_leave_without_approval_is_booked(world: World) -> None:
    training = a_leave_type(
        world.database, world.acme, name="Training", requires_approval=False, is_private=False
    )
    world.a_request(leave_type_id=training.id, start_date="2026-06-08", end_date="2026-06-09")

    assert only(world, ADA).text.startswith(
        "Booked. Grace Hopper and Hedy Lamarr know; colleagues see “Training”."
    )
    assert labels(only(world, ADA)) == ["Change", "Cancel leave"]
    assert only(world, GRACE).text.startswith(
        "Ada Lovelace is off from Mon 8 Jun until Tue 9 Jun: Training. Nothing to approve."
    )


def test_a_leave_type_can_tell_no_one(world: World) -> None:
    world.write(leave_types.update, world.leave_type("sick"), {"tells_approvers": False})
    covered_by(world, ADA, EVE)
    world.deliver()
    before = len(world.slack.dm(EVE))

    sick(world)

    assert world.slack.dm(GRACE) == []
    assert len(world.slack.dm(EVE)) == before
    assert world.own_message(ADA).text.startswith("Get well soon. Colleagues see “Away”.")


@pytest.mark.both_engines
def test_people_who_were_to_be_covered_choose_another_cover(world: World) -> None:
    with_bob(world)
    leave = covered_by(world, ADA, BOB)
    world.deliver()
    theirs, managers = len(world.slack.dm(BOB)), len(world.slack.dm(EVE))

    sick(world)

    (told,) = world.slack.dm(BOB)[theirs:]
    # Bob is no approver of Ada's.
    assert told.visible_text == (
        "*Ada Lovelace is away today.*\nMon 1 Jun 2026\n"
        "They were to cover for you: Mon 1 to Wed 3 Jun 2026.\nChoose another cover"
    )
    assert "ick" not in str(told.blocks) + told.text
    (told_manager,) = world.slack.dm(EVE)[managers:]
    assert told_manager.visible_text == (
        "*Ada Lovelace is away today.*\nMon 1 Jun 2026\n"
        "They were to cover for Bob Builder: Mon 1 to Wed 3 Jun 2026."
    )
    assert told_manager.buttons == []
    assert "They were to cover for Bob Builder" in world.slack.dm(GRACE)[-1].visible_text

    world.click(BOB, ids.OTHER_COVER, told)
    form = world.slack.open_modal(BOB, ids.EDIT_FORM)
    assert form.body["private_metadata"] == leave.id
    (block,) = [block for block in form.blocks if block.get("block_id") == ids.COVER]
    assert block["element"]["focus_on_load"] is True
    hedy = world.people[HEDY]
    cover = {"text": {"type": "plain_text", "text": hedy.name}, "value": hedy.id}
    assert world.slack.submit(BOB, form, {ids.COVER: cover}).errors == {}
    world.deliver()

    updated = [message for message in world.slack.dm(BOB) if message.ts == told.ts]
    assert [message.visible_text for message in updated] == [
        "*Ada Lovelace is away today.*\nMon 1 Jun 2026"
    ]


def test_an_admin_who_approves_covered_leave_may_choose_another_cover(world: World) -> None:
    world.add_admin()
    leave = covered_by(world, ADA, EVE)
    world.deliver()

    sick(world)

    told = world.slack.dm(ADMIN)[-1]
    assert "They were to cover for Eve Elsewhere" in told.visible_text
    assert [(button.text, button.value) for button in told.buttons] == [
        ("Choose another cover", leave.id)
    ]


def test_one_person_gets_one_message_for_all_reasons(world: World) -> None:
    covered_by(world, ADA, GRACE)
    covered_by(world, ADA, HEDY)
    world.deliver()
    before = len(world.slack.dm(GRACE))

    sick(world)

    (told,) = world.slack.dm(GRACE)[before:]
    assert told.visible_text.splitlines() == [
        "*Ada Lovelace is on sick leave today.* Nothing to approve.",
        "Sick leave, Mon 1 Jun 2026, 1 day",
        "They were to cover for you: Mon 1 to Wed 3 Jun 2026.",
        "Choose another cover",
        "They were to cover for Hedy Lamarr: Mon 1 to Wed 3 Jun 2026.",
    ]


def test_covered_leave_on_other_days_is_no_news(world: World) -> None:
    with_bob(world)
    covered_by(world, ADA, BOB, first_day=date(2026, 6, 2))
    world.deliver()
    before = len(world.slack.dm(BOB))

    sick(world)
    assert len(world.slack.dm(BOB)) == before

    world.change(leave_requests.edit, world.request().id, {"end_date": date(2026, 6, 2)}, by=ADA)
    (told,) = world.slack.dm(BOB)[before:]
    assert told.visible_text.startswith("*Ada Lovelace is away until Tue 2 Jun.*")


def test_the_message_follows_changes_and_the_cancellation(world: World) -> None:
    request = sick(world)
    sent = only(world, GRACE)

    world.change(leave_requests.edit, request.id, {"end_date": date(2026, 6, 3)}, by=ADA)
    assert only(world, GRACE).visible_text == (
        "*Ada Lovelace is on sick leave until Wed 3 Jun.* Nothing to approve.\n"
        "Sick leave, Mon 1 to Wed 3 Jun 2026, 3 days"
    )

    world.change(leave_requests.cancel, request.id, by=ADA)
    assert only(world, GRACE).ts == sent.ts
    assert only(world, GRACE).visible_text == (
        "*Ada Lovelace's absence until Wed 3 Jun was cancelled.*\n"
        "Sick leave, Mon 1 to Wed 3 Jun 2026, 3 days"
    )


def test_leave_that_was_cancelled_before_the_message_is_not_told(world: World) -> None:
    draft = Draft(leave_type_id=world.leave_type("sick"), start_date=TODAY, end_date=TODAY)
    request = world.database.write_now(
        leave_requests.submit, by=world.caller(ADA), draft=draft, now=world.clock()
    )
    world.write(leave_requests.cancel, request.id, by=ADA)

    world.deliver()

    assert world.slack.dm(GRACE) == []


def test_recorded_leave_is_told_to_all_approvers_but_the_recorder(world: World) -> None:
    draft = Draft(
        leave_type_id=world.leave_type("sick"),
        start_date=date(2026, 5, 28),
        end_date=date(2026, 5, 29),
    )
    world.change(leave_requests.create, draft=draft, user_id=world.people[ADA].id, by=GRACE)

    assert world.slack.dm(GRACE) == []
    assert only(world, HEDY).text.startswith(
        "Ada Lovelace was on sick leave from Thu 28 May until Fri 29 May. Nothing to approve."
    )
    assert only(world, ADA).text.startswith("Grace Hopper recorded this leave for you.")


@pytest.mark.parametrize(("day", "told"), [(date(2026, 5, 1), 1), (date(2026, 4, 30), 0)])
def test_leave_that_ended_over_a_month_ago_is_no_news(world: World, day: date, told: int) -> None:
    draft = Draft(leave_type_id=world.leave_type("sick"), start_date=day, end_date=day)

    world.change(leave_requests.create, draft=draft, user_id=world.people[ADA].id, by=GRACE)

    assert len(world.slack.dm(HEDY)) == told


def test_who_covers_is_told(world: World) -> None:
    eve = world.people[EVE]
    cover = {"text": {"type": "plain_text", "text": eve.name}, "value": eve.id}

    sick(world, cover_user_id=cover)

    assert "Covered by Eve Elsewhere" in only(world, GRACE).visible_text
    assert "Covered by Eve Elsewhere." in only(world, GRACE).text


def test_a_change_that_needs_approval_does_not_show_the_card_to_colleagues(world: World) -> None:
    with_bob(world)
    strict = {"changes_need_approval": True}
    world.write(leave_types.update, world.leave_type("sick"), strict)
    covered_by(world, ADA, BOB)
    world.deliver()
    request = sick(world, note="Flu")

    longer = {"end_date": date(2026, 6, 2), "note": "Flu and cough"}
    world.change(leave_requests.edit, request.id, longer, by=ADA)

    assert labels(world.card(GRACE)) == ["Approve", "Decline"]
    told = world.slack.dm(BOB)[-1]
    assert told.visible_text.startswith("*Ada Lovelace is away today.*")
    assert "ick" not in str(world.slack.dm(BOB))
    assert "Flu" not in str(world.slack.dm(BOB))


# Still sick


@pytest.mark.both_engines
def test_still_sick_tomorrow_extends_the_leave_and_all_messages(world: World) -> None:
    request = sick(world)
    stale = only(world, ADA)

    world.press(ADA, ids.STILL_SICK, stale)

    assert (world.request().id, world.request().end_date) == (request.id, date(2026, 6, 2))
    assert only(world, ADA).text == (
        "Get well soon. Grace Hopper and Hedy Lamarr know; colleagues see “Away”. "
        "Sick leave, Mon 1 to Tue 2 Jun 2026, 2 days."
    )
    assert labels(only(world, ADA))[0] == "Still sick on Wed 3 Jun"
    assert only(world, GRACE).text.startswith("Ada Lovelace is on sick leave until Tue 2 Jun.")

    world.slack.click(ADA, stale, ids.STILL_SICK, force=True)
    world.settled()

    assert world.request().end_date == date(2026, 6, 2)
    assert world.ephemerals(ADA) == [
        "Nothing changed: this leave ends on Tue 2 Jun 2026. “Change” sets another day."
    ]


def test_a_morning_becomes_a_whole_day_when_sick_leave_goes_on(world: World) -> None:
    sick(world, part_of_day=ids.MORNING)

    world.click(ADA, ids.STILL_SICK, only(world, ADA))

    request = world.request()
    assert (request.end_date, request.total_half_days) == (date(2026, 6, 2), 4)
    assert (request.start_half_day, request.end_half_day) == (None, None)


@pytest.mark.parametrize(
    ("days_later", "label", "end_date"),
    [
        # A Friday: the next working day is a Monday.
        (4, "Still sick tomorrow", date(2026, 6, 5)),
        (7, "Still sick tomorrow", date(2026, 6, 8)),
        (8, "Still sick tomorrow", None),
    ],
)
def test_a_late_click_extends_the_leave_through_today(
    world: World, days_later: int, label: str, end_date: date | None
) -> None:
    sick(world)
    message = only(world, ADA)
    assert labels(message)[0] == label
    world.clock.advance(days=days_later)

    world.click(ADA, ids.STILL_SICK, message)

    assert world.request().end_date == (end_date or TODAY)
    assert world.ephemerals(ADA) == (
        []
        if end_date
        else ["Nothing changed: this leave ends on Mon 1 Jun 2026. “Change” sets another day."]
    )


def test_the_button_names_the_next_working_day(world: World) -> None:
    world.clock.advance(days=4)

    sick(world, start_date="2026-06-05", end_date="2026-06-05")

    assert labels(only(world, ADA))[0] == "Still sick on Mon 8 Jun"
