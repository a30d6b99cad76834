"""The request form: its live total, leave typed after the command, and changes of a request."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.base import ids
from bot.base.payloads import Values
from bot.views import request_values
from bot.views.request_values import Filled
from storage.db.database import Database
from storage.leave import decisions, leave_requests
from tests.bot.world import ADA, EVE, FIRST_DAY, GRACE, HEDY, World
from tests.builders import a_leave_type
from tests.fakes.slack import LoopbackSlack, View

FIRST_MONDAY = date(2026, 8, 10)
EMPTY = Filled(leave_type_id=None, start_date=None, end_date=None)


def chosen(view: View, block_id: str) -> Any:
    """A field's value."""
    (state,) = view.values[block_id].values()
    option = state.get("selected_option") or {}
    return state.get("selected_date") or option.get("value") or state.get("value")


def fields(view: View) -> tuple[Any, ...]:
    """First day, last day, begins, ends; of a single day, the two are its chosen part."""
    filled = request_values.filled_of(cast(Values, view.values))
    return (
        filled.start_date and filled.start_date.isoformat(),
        filled.end_date and filled.end_date.isoformat(),
        ids.MIDDAY if filled.begins_at_midday else ids.WHOLE_DAY,
        ids.MIDDAY if filled.ends_at_midday else ids.WHOLE_DAY,
    )


def alerts(view: View) -> list[tuple[str, str]]:
    """The level and text of each alert."""
    return [
        (block["level"], block["text"]["text"]) for block in view.blocks if block["type"] == "alert"
    ]


def typed(world: World, text: str, who: str = ADA) -> View:
    world.command(who, text)
    return world.slack.open_modal(who, ids.REQUEST_FORM)


def pick(world: World, view: View, who: str = ADA, **picked: Any) -> View:
    """Pick each value in turn; returns the resulting view."""
    for block_id, value in picked.items():
        assert world.pick(who, view, block_id, ids.RECOUNT, value).ok
    return world.slack.open_modal(who)


def test_the_live_line_follows_every_pick(world: World) -> None:
    form = world.open_form()
    assert "*1 day* (Tue 2 Jun)\nAfter this: 24 days left in 2026" in form.visible_text

    form = pick(world, form, leave_type_id=world.leave_type("sick"))
    assert "This type doesn't use your allowance." in form.visible_text

    form = pick(world, form, leave_type_id=world.leave_type("annual"), start_date="2026-06-01")
    assert "*2 days* (Mon 1 to Tue 2 Jun)" in form.visible_text

    form = pick(world, form, end_date="2026-06-09")
    assert (
        "*7 days* (Mon 1 to Tue 9 Jun)\n"
        "Non-working days: Sat 6 Jun, Sun 7 Jun\n"
        "After this: 18 days left in 2026"
    ) in form.visible_text

    form = pick(world, form, start_half_day=ids.MIDDAY)
    assert "*6.5 days* (Mon 1 to Tue 9 Jun)" in form.visible_text
    assert "No one else on your team is off." in form.visible_text
    assert "This will go to Grace Hopper and Hedy Lamarr for approval." in form.visible_text
    assert fields(form) == ("2026-06-01", "2026-06-09", ids.MIDDAY, ids.WHOLE_DAY)


def test_a_day_between_a_public_holiday_and_the_weekend_is_suggested(world: World) -> None:
    # Christmas Day 2026 is a Friday, and Boxing Day is moved to Monday 28 December.
    form = typed(world, "29-30 dec annual")

    assert (
        "💡 Fri 1 Jan is a public holiday. Add Thu 31 Dec for 10 days off in a row."
    ) in form.visible_text
    assert "💡" not in typed(world, "29-30 dec sick").visible_text


def test_problems_are_shown_before_the_form_is_sent(world: World) -> None:
    world.a_request()

    form = typed(world, "5 aug annual")
    overlap = "This overlaps your leave (Mon 3 to Wed 5 Aug 2026)."
    assert alerts(form) == [("warning", overlap)]
    assert "for approval" not in form.visible_text

    form = pick(world, form, end_date="2026-08-04")
    assert alerts(form) == [("warning", "The last day is before the first day.")]
    below = [block["block_id"] for block in form.blocks].index(ids.LAST_DAY) + 1
    assert form.blocks[below]["type"] == "alert"


def test_a_refusal_that_the_form_shows_is_not_repeated_when_it_is_sent(world: World) -> None:
    world.a_request()
    form = typed(world, "5 aug annual")

    response = world.slack.submit(ADA, form)

    assert response.errors == {}
    overlap = "This overlaps your leave (Mon 3 to Wed 5 Aug 2026)."
    assert alerts(world.slack.open_modal(ADA, ids.REQUEST_FORM)) == [("error", overlap)]
    assert world.request().start_date == date(2026, 8, 3)


def test_a_single_day_has_parts_and_a_range_has_halves_at_both_ends(world: World) -> None:
    form = typed(world, "3 aug pm annual")
    assert chosen(form, ids.PART_OF_DAY) == ids.AFTERNOON
    assert "*half a day* (Mon 3 Aug)" in form.visible_text

    form = pick(world, form, part_of_day=ids.MORNING)
    assert fields(form) == ("2026-08-03", "2026-08-03", "whole_day", "midday")

    form = pick(world, form, part_of_day=ids.AFTERNOON, end_date="2026-08-05")
    assert ids.PART_OF_DAY not in form.values
    assert fields(form) == ("2026-08-03", "2026-08-05", "midday", "whole_day")
    assert "*2.5 days*" in form.visible_text

    form = pick(world, form, end_half_day=ids.MIDDAY, end_date="2026-08-03")
    assert chosen(form, ids.PART_OF_DAY) == ids.WHOLE_DAY
    assert "*1 day*" in form.visible_text


def test_a_morning_becomes_a_whole_day_when_days_are_added(world: World) -> None:
    form = typed(world, "3 aug am annual")

    form = pick(world, form, end_date="2026-08-05")

    assert fields(form) == ("2026-08-03", "2026-08-05", "whole_day", "whole_day")


def test_the_last_day_follows_a_later_first_day(world: World) -> None:
    form = typed(world, "3-5 aug annual")

    for first in ("2026-08-10", "2026-08-17"):
        form = pick(world, form, start_date=first)
        assert fields(form)[:2] == (first, first)
        assert alerts(form) == []

    assert world.slack.submit(ADA, form).errors == {}
    assert world.request().end_date == date(2026, 8, 17)


def test_a_missing_note_is_reported_only_when_the_form_is_sent(world: World) -> None:
    a_leave_type(world.database, world.acme, name="Study leave", requires_note=True)

    form = typed(world, "3 aug study")

    assert alerts(form) == []
    assert world.slack.submit(ADA, form).errors == {ids.NOTE: "Study leave needs a note."}


def far_ahead_block(form: View) -> str:
    return next(name for name in form.values if name.startswith(ids.FAR_AHEAD))


def test_a_sick_day_does_not_make_the_next_form_sick_leave(world: World) -> None:
    world.submit(ADA, typed(world, "today sick"))

    for text in ("8 feb - 12 feb", "17 aug - 28 aug", "xmas eve", ""):
        form = typed(world, text)
        assert chosen(form, ids.LEAVE_TYPE) == world.leave_type("annual")
        assert not any(name.startswith(ids.FAR_AHEAD) for name in form.values)


def test_leave_without_approval_that_starts_far_ahead_has_to_be_confirmed(world: World) -> None:
    form = typed(world, "17 aug - 28 aug sick")
    warning = (
        "Sick leave needs no approval, and this leave starts more than a week from now, on "
        "Mon 17 Aug 2026. Check the leave type and the dates."
    )
    assert ("info", warning) in alerts(form)

    refused = world.slack.submit(ADA, form, force=True)
    assert refused.errors == {
        far_ahead_block(form): "Tick the box to send this, or choose another day or leave type."
    }

    confirmed = {far_ahead_block(form): [ids.FAR_AHEAD]}
    assert world.slack.submit(ADA, form, confirmed).errors == {}
    assert (world.request().status, world.request().start_date) == ("approved", date(2026, 8, 17))


def test_a_confirmed_day_is_not_another_one(world: World) -> None:
    form = typed(world, "17 aug - 28 aug sick")
    first = far_ahead_block(form)
    world.slack.fill(form, first, ids.ANSWER, [ids.FAR_AHEAD])

    later = pick(world, form, start_date="2026-08-18")

    assert far_ahead_block(later) != first
    assert world.slack.submit(ADA, later, force=True).errors.keys() == {far_ahead_block(later)}


def test_a_form_that_is_sent_before_it_shows_the_box_shows_it_then(world: World) -> None:
    form = typed(world, "today sick")

    world.slack.submit(ADA, form, {ids.FIRST_DAY: "2026-08-17", ids.LAST_DAY: "2026-08-17"})

    shown = world.slack.open_modal(ADA, ids.REQUEST_FORM)
    assert fields(shown)[:2] == ("2026-08-17", "2026-08-17")
    confirmed = {far_ahead_block(shown): [ids.FAR_AHEAD]}
    assert world.slack.submit(ADA, shown, confirmed).errors == {}
    assert world.request().start_date == date(2026, 8, 17)


def test_the_later_of_two_quick_selections_is_shown(world: World) -> None:
    form = typed(world, "3 aug annual")
    start = threading.Barrier(2)

    def choose(last_day: str) -> bool:
        start.wait(30)
        return world.slack.pick(ADA, form, ids.LAST_DAY, ids.RECOUNT, last_day).ok

    for _ in range(5):
        with ThreadPoolExecutor() as pool:
            assert all(pool.map(choose, ["2026-08-04", "2026-08-07"]))
        world.settled()
        modal = world.slack.open_modal(ADA)
        days = {"2026-08-04": "*2 days*", "2026-08-07": "*5 days*"}
        assert days[chosen(modal, ids.LAST_DAY)] in modal.visible_text


def test_a_last_day_picked_before_the_form_shows_the_first_day_is_kept(world: World) -> None:
    form = typed(world, "3-5 aug annual")
    pick(world, form, start_date="2026-08-10")
    moved = world.slack.open_modal(ADA)
    assert fields(moved)[:2] == ("2026-08-10", "2026-08-10")

    # In the block that has just been replaced, as the person's Slack still showed it.
    later = pick(world, form, end_date="2026-08-12")

    assert fields(later)[:2] == ("2026-08-10", "2026-08-12")
    assert "*3 days*" in later.visible_text
    assert world.slack.submit(ADA, later).errors == {}
    assert world.request().end_date == date(2026, 8, 12)


def test_a_last_day_picked_with_the_state_of_the_later_form_is_kept(world: World) -> None:
    form = pick(world, typed(world, "3-5 aug annual"), start_date="2026-08-10")
    picked = {
        "type": "datepicker",
        "block_id": ids.LAST_DAY,
        "action_id": ids.RECOUNT,
        "action_ts": f"{time.time():.6f}",
        "selected_date": "2026-08-12",
    }

    world.pick(ADA, form, ids.FIRST_DAY, ids.RECOUNT, "2026-08-10", overrides={"actions": [picked]})

    assert fields(world.slack.open_modal(ADA))[:2] == ("2026-08-10", "2026-08-12")


def test_both_days_stand_however_quickly_they_are_picked(world: World) -> None:
    """The two selections are handled at the same time, in either order."""
    form = typed(world, "3-5 aug annual")
    for week in range(5):
        days = [FIRST_MONDAY + timedelta(weeks=week, days=day) for day in (0, 2)]
        start = threading.Barrier(2)

        def choose(
            picked: tuple[str, date], form: View = form, start: threading.Barrier = start
        ) -> bool:
            start.wait(30)
            block_id, day = picked
            return world.slack.pick(ADA, form, block_id, ids.RECOUNT, day.isoformat()).ok

        last_day = next(name for name in form.values if name.startswith(ids.LAST_DAY))
        with ThreadPoolExecutor() as pool:
            assert all(pool.map(choose, zip((ids.FIRST_DAY, last_day), days, strict=True)))
        world.settled()

        form = world.slack.open_modal(ADA)
        assert fields(form)[:2] == tuple(day.isoformat() for day in days)
        assert "*3 days*" in form.visible_text


def test_a_selection_after_one_that_another_process_showed_is_kept(world: World) -> None:
    form = typed(world, "3-5 aug annual")
    world.slack.fail_next("views.update", error="hash_conflict")

    later = pick(world, form, end_date="2026-08-07")

    assert fields(later)[:2] == ("2026-08-03", "2026-08-07")
    assert "*5 days*" in later.visible_text


def test_the_last_day_follows_a_first_day_that_was_shown_with_another_selection(
    world: World,
) -> None:
    form = typed(world, "3-5 aug annual")
    # Its own selection is still on its way.
    world.slack.fill(form, ids.FIRST_DAY, ids.RECOUNT, "2026-08-10")

    later = pick(world, form, leave_type_id=world.leave_type("unpaid"))

    assert fields(later)[:2] == ("2026-08-10", "2026-08-10")


def test_a_last_day_that_was_picked_too_early_stays_with_its_alert(world: World) -> None:
    form = pick(world, typed(world, "10-12 aug annual"), end_date="2026-08-05")

    later = pick(world, form, leave_type_id=world.leave_type("unpaid"))

    assert fields(later)[:2] == ("2026-08-10", "2026-08-05")
    assert alerts(later)


def test_a_pick_in_a_closed_form_does_nothing(world: World) -> None:
    form = typed(world, "3 aug annual")
    world.slack.fail_next("views.update", error="hash_conflict")
    assert world.pick(ADA, form, ids.LAST_DAY, ids.RECOUNT, "2026-08-04").ok
    world.slack.close(ADA, form)

    world.pick(ADA, form, ids.LAST_DAY, ids.RECOUNT, "2026-08-05", force=True)

    assert world.ephemerals(ADA) == []
    assert not world.slack.has_modal(ADA)


@pytest.mark.parametrize(
    ("text", "shown", "code"),
    [
        ("3-7 aug am sick", ("2026-08-03", "2026-08-07", "whole_day", "midday"), "sick"),
        ("24 dec - 2 jan unpaid", ("2026-12-24", "2027-01-02", "whole_day", "whole_day"), "unpaid"),
        ("fri pm", ("2026-06-05", "2026-06-05", "midday", "whole_day"), None),
        ("sick since friday", ("2026-05-29", "2026-06-01", "whole_day", "whole_day"), "sick"),
    ],
)
def test_typed_leave_is_filled_in(
    world: World, text: str, shown: tuple[Any, ...], code: str | None
) -> None:
    form = typed(world, text)

    assert fields(form) == shown
    assert chosen(form, ids.LEAVE_TYPE) == world.leave_type(code or "annual")
    assert not any(block.get("block_id") == ids.ASIDES for block in form.blocks)


def test_problems_of_typed_leave_stay_in_the_form(world: World) -> None:
    form = typed(world, "3-7 aug pm sick")

    problem = (
        "“pm” could mean the first or the last day. Please choose when your leave starts and "
        "ends.\n"
    )
    assert form.visible_text.startswith(problem)
    assert fields(form)[:2] == ("2026-08-03", "2026-08-07")
    assert pick(world, form, end_date="2026-08-06").visible_text.startswith(problem)


def test_typed_days_follow_the_persons_country_and_time_zone(
    database: Database, slack: LoopbackSlack
) -> None:
    with World(database, slack, country_code="US", timezone="America/New_York") as world:
        world.clock.now = datetime(2026, 6, 1, 2, tzinfo=UTC)  # 31 May in New York
        slack.change_person(ADA, tz="America/New_York")
        slack.change_person(EVE, tz="Asia/Tokyo")

        assert fields(typed(world, "8/3"))[0] == "2026-08-03"
        assert fields(typed(world, "tomorrow"))[0] == "2026-06-01"
        assert fields(typed(world, "tomorrow", EVE))[0] == "2026-06-02"


def test_a_button_opens_the_form_with_what_was_understood(world: World) -> None:
    world.command(ADA, "3-7 aug am sick <!channel>")
    (message,) = world.slack.ephemerals
    assert message.text == (
        "Sorry, I didn't understand “&lt;!channel&gt;”. I read: Sick leave, Mon 3 to "
        "Fri 7 Aug 2026 until midday."
    )
    assert not world.slack.has_modal(ADA)

    world.click(ADA, ids.OPEN_UNDERSTOOD, message)

    form = world.slack.open_modal(ADA, ids.REQUEST_FORM)
    assert fields(form) == ("2026-08-03", "2026-08-07", "whole_day", "midday")
    assert chosen(form, ids.LEAVE_TYPE) == world.leave_type("sick")


def test_a_button_of_another_version_opens_the_form(world: World) -> None:
    assert request_values.unpacked("what|another|version") == EMPTY
    assert request_values.unpacked("|3 aug|||") == EMPTY


@given(
    st.builds(
        Filled,
        leave_type_id=st.none() | st.uuids().map(str),
        start_date=st.none() | st.dates(),
        end_date=st.none() | st.dates(),
        begins_at_midday=st.booleans(),
        ends_at_midday=st.booleans(),
    )
)
def test_what_was_understood_is_in_the_value_of_the_button(filled: Filled) -> None:
    packed = request_values.packed(filled)

    assert request_values.unpacked(packed) == filled
    assert len(packed) <= 2_000


# Changing


def test_a_request_is_changed_from_its_message(world: World) -> None:
    world.a_request(note="Wedding", start_half_day="midday")

    world.click(ADA, ids.EDIT, world.own_message(ADA))
    form = world.slack.open_modal(ADA, ids.EDIT_FORM)
    assert fields(form) == ("2026-08-03", "2026-08-05", "midday", "whole_day")
    assert chosen(form, ids.NOTE) == "Wedding"
    assert "*Annual leave*" in form.visible_text
    assert "*2.5 days*" in form.visible_text

    form = pick(world, form, end_date="2026-08-06")
    assert "*3.5 days*" in form.visible_text
    assert world.slack.submit(ADA, form).errors == {}
    world.deliver()

    request = world.request()
    assert (request.end_date, request.start_half_day, request.version) == (
        date(2026, 8, 6),
        "pm",
        2,
    )
    assert "3.5 days" in world.card(GRACE).visible_text
    (news,) = world.slack.dm(ADA)
    assert news.text.startswith("Your updated request was sent to Grace")
    assert [button.text for button in news.buttons] == ["Edit", "Cancel leave"]


def test_saving_without_a_change_sends_no_messages(world: World) -> None:
    request = world.submit_over_rest(end_date=FIRST_DAY, start_half_day="am")
    world.link()
    world.change(leave_requests.edit, request.id, {"note": "x"}, by=ADA)
    world.click(ADA, ids.EDIT, world.own_message(ADA))
    form = world.slack.open_modal(ADA, ids.EDIT_FORM)

    assert fields(form) == ("2026-08-03", "2026-08-03", "whole_day", "midday")
    assert world.slack.submit(ADA, form).errors == {}
    assert world.deliver() == 0
    assert world.request().version == 2


def test_a_request_that_was_declined_meanwhile_is_not_changed(world: World) -> None:
    request = world.a_request()
    message = world.slack.dm(ADA)[-1]
    world.click(ADA, ids.EDIT, message)
    form = world.slack.open_modal(ADA, ids.EDIT_FORM)
    world.write(decisions.decline, request.id, reason=None, by=GRACE)

    world.slack.pick(ADA, form, ids.LAST_DAY, ids.RECOUNT, "2026-08-04")
    world.submit(ADA, form, {ids.LAST_DAY: "2026-08-04"})
    world.click(ADA, ids.EDIT, message)

    assert "Already declined by Grace Hopper." in world.slack.open_modal(ADA).visible_text
    assert world.ephemerals(ADA) == ["Already declined by Grace Hopper."]
    assert world.request().end_date == request.end_date


def test_a_request_is_cancelled_from_its_message(world: World) -> None:
    world.a_request()

    world.click(ADA, ids.CANCEL, world.own_message(ADA))
    at_once = world.slack.dm(ADA)[-1]
    world.deliver()

    assert at_once.buttons == []
    assert "You cancelled your request." in at_once.text
    assert world.request().status == "cancelled"
    assert world.card(HEDY).buttons == []
    assert [(message.text, message.buttons) for message in world.slack.dm(ADA)] == [
        (at_once.text, [])
    ]
