"""Falling ill on leave in Slack: the form, the command, Home and the messages."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from bot.base import ids
from storage.admin import people
from storage.db.pages import PageOf
from storage.leave import interruptions, leave_lists, leave_requests
from storage.leave.drafts import Draft
from tests.bot.test_home import menu_of
from tests.bot.world import ADA, EVE, GRACE, HEDY, World
from tests.fakes.slack import View

WHAT = "Sick leave, Tue 4 Aug 2026, 1 day"


def on_leave(world: World, day: int = 4) -> None:
    """Ada's leave from Monday 3 to Wednesday 5 August, approved; it is that day of August.

    Day 0 is the last of July.
    """
    world.a_request()
    world.press(GRACE, ids.APPROVE)
    world.clock.advance(days=(date(2026, 8, 1) - world.clock.now.date()).days + day - 1)
    world.deliver()


def open_form(world: World) -> View:
    """The form that the button of Ada's last message opens."""
    world.click(ADA, ids.INTERRUPT, world.own_message(ADA))
    return world.slack.open_modal(ADA, ids.INTERRUPTION_FORM)


def fall_ill(world: World, **filled: Any) -> None:
    assert world.slack.submit(ADA, open_form(world), filled).errors == {}
    world.deliver()


def fall_ill_over_rest(world: World, day: date) -> None:
    draft = Draft(leave_type_id=world.leave_type("sick"), start_date=day, end_date=day)
    world.change(interruptions.interrupt, world.request().id, draft, by=ADA)


def approved(world: World) -> list[tuple[str, date, date, int]]:
    """Ada's approved leave, earliest first: type, first and last day, half-days."""
    page = world.database.read_now(
        leave_lists.visible, PageOf(), by=world.caller(ADA), now=world.clock(), status="approved"
    )
    code = {world.leave_type(code): code for code in ("annual", "sick")}
    return sorted(
        (
            (code[each.leave_type_id], each.start_date, each.end_date, each.total_half_days)
            for each in page.items
        ),
        key=lambda shown: shown[1],
    )


def labels(buttons: Any) -> list[str]:
    return [button.text for button in buttons]


SPLIT = [
    ("annual", date(2026, 8, 3), date(2026, 8, 3), 2),
    ("sick", date(2026, 8, 4), date(2026, 8, 4), 2),
    ("annual", date(2026, 8, 5), date(2026, 8, 5), 2),
]


def test_a_person_on_leave_falls_ill_today(world: World) -> None:
    on_leave(world)

    form = open_form(world)
    assert form.title == "I fell ill"
    assert "Annual leave" in form.visible_text
    assert "Which days of this leave were you ill? You get them back." in form.visible_text
    assert world.slack.submit(ADA, form, {ids.NOTE: "Flu"}).errors == {}
    world.deliver()

    assert approved(world) == SPLIT
    ill = world.own_message(ADA)
    assert ill.text == f"Get well soon! This replaces leave that you had booked. {WHAT}."
    assert labels(ill.buttons) == ["Change", "Cancel leave"]
    (rest,) = [message for message in world.slack.dm(ADA)[:-1] if message.buttons]
    assert rest.text == (
        "Grace Hopper approved your request. Annual leave, Mon 3 Aug 2026, 1 day. "
        "After this: 23 days left in 2026."
    )
    told = f"Ada Lovelace's approved leave was interrupted. {WHAT}."
    assert [world.slack.dm(who)[-1].text for who in (GRACE, HEDY)] == [told, told]
    assert world.slack.dm(EVE) == []


def test_leave_of_which_nothing_is_left_is_shown_as_replaced(world: World) -> None:
    on_leave(world)

    fall_ill(world, **{ids.FIRST_DAY: "2026-08-03", ids.LAST_DAY: "2026-08-05"})

    assert approved(world) == [("sick", date(2026, 8, 3), date(2026, 8, 5), 6)]
    assert "Other leave replaced this." in [
        message.text[: len("Other leave replaced this.")] for message in world.slack.dm(ADA)
    ]
    card = world.card(GRACE).visible_text
    assert "Replaced by other leave, 4 Aug 2026" in card
    assert "Cancelled" not in card


def test_an_end_of_employment_gives_no_days_back(world: World) -> None:
    on_leave(world, day=2)
    fall_ill_over_rest(world, date(2026, 8, 4))

    world.change(people.update, world.people[ADA].id, {"end_date": date(2026, 7, 31)})

    because = "because your employment ends on Fri 31 Jul 2026."
    told = {message.text for message in world.slack.dm(ADA) if because in message.text}
    assert sorted(told) == [
        f"Your leave was cancelled, {because} Annual leave, Mon 3 Aug 2026, 1 day.",
        f"Your leave was cancelled, {because} Annual leave, Wed 5 Aug 2026, 1 day.",
        f"Your leave was cancelled, {because} {WHAT}.",
    ]
    assert "Cancelled because employment ends, 2 Aug 2026" in world.card(GRACE).visible_text
    assert (
        "Ada Lovelace's approved leave was cancelled, because their employment ends. "
        "Annual leave, Mon 3 Aug 2026, 1 day."
    ) in [message.text for message in world.slack.dm(GRACE)]


def test_the_form_keeps_to_the_leave(world: World) -> None:
    on_leave(world)

    answer = world.slack.submit(ADA, open_form(world), {ids.LAST_DAY: "2026-08-07"})

    assert answer.errors == {
        ids.LAST_DAY: "Choose days of the leave: Mon 3 Aug 2026 to Wed 5 Aug 2026."
    }
    assert approved(world) == [("annual", date(2026, 8, 3), date(2026, 8, 5), 6)]


@pytest.mark.parametrize(
    ("begins", "filled", "sick"),
    [
        # The form proposes today, the first day, of which only the afternoon is leave.
        (True, {}, ("sick", date(2026, 8, 3), date(2026, 8, 3), 1)),
        (
            True,
            {ids.FIRST_DAY: "2026-08-04", ids.LAST_DAY: "2026-08-04"},
            ("sick", date(2026, 8, 4), date(2026, 8, 4), 2),
        ),
        (
            False,
            {ids.FIRST_DAY: "2026-08-04", ids.LAST_DAY: "2026-08-05"},
            ("sick", date(2026, 8, 4), date(2026, 8, 5), 3),
        ),
    ],
)
def test_whole_days_are_chosen_unless_the_leave_has_only_a_half(
    world: World, begins: bool, filled: dict[str, str], sick: tuple[str, date, date, int]
) -> None:
    world.a_request(**{ids.BEGINS if begins else ids.ENDS: ids.MIDDAY})
    world.press(GRACE, ids.APPROVE)
    world.clock.advance(days=(date(2026, 8, 3) - world.clock.now.date()).days)
    world.deliver()

    fall_ill(world, **filled)

    assert sick in approved(world)
    assert sum(half_days for _, _, _, half_days in approved(world)) == 5


def test_a_cancelled_interruption_gives_its_days_back(world: World) -> None:
    on_leave(world)
    fall_ill(world)

    world.press(ADA, ids.CANCEL, world.own_message(ADA))

    assert approved(world) == [
        ("annual", date(2026, 8, 3), date(2026, 8, 4), 4),
        ("annual", date(2026, 8, 5), date(2026, 8, 5), 2),
    ]
    assert world.slack.dm(ADA)[-1].text == (
        "You cancelled your request. The days go back to the leave that it replaced, unless that "
        f"leave was cancelled or moved. {WHAT}."
    )
    assert world.slack.dm(GRACE)[-1].text == (
        f"Ada Lovelace's approved leave is no longer interrupted. {WHAT}."
    )


def test_the_form_says_where_the_days_of_a_shorter_interruption_go(world: World) -> None:
    on_leave(world)
    fall_ill(world, **{ids.FIRST_DAY: "2026-08-04", ids.LAST_DAY: "2026-08-05"})

    world.click(ADA, ids.EDIT, world.own_message(ADA))
    form = world.slack.open_modal(ADA, ids.EDIT_FORM)
    world.pick(ADA, form, ids.LAST_DAY, ids.RECOUNT, "2026-08-04")

    shown = world.slack.open_modal(ADA).visible_text
    assert "*Goes back to the leave that it replaced: 1 day*" in shown
    assert "Gives back" not in shown


def test_the_command_offers_the_interruption_while_leave_is_there(world: World) -> None:
    on_leave(world)

    world.slack.command(ADA, "/timeoff", "sick today pm")
    form = world.slack.open_modal(ADA, ids.INTERRUPTION_FORM)
    assert world.slack.submit(ADA, form, {}).errors == {}
    world.deliver()

    assert approved(world) == [
        ("annual", date(2026, 8, 3), date(2026, 8, 4), 3),
        ("sick", date(2026, 8, 4), date(2026, 8, 4), 1),
        ("annual", date(2026, 8, 5), date(2026, 8, 5), 2),
    ]


def test_the_command_opens_the_request_form_for_other_days(world: World) -> None:
    on_leave(world, day=7)

    world.slack.command(ADA, "/timeoff", "sick today")

    assert world.slack.open_modal(ADA, ids.REQUEST_FORM).title == "Request leave"


def test_it_is_offered_on_leave_that_begins_within_two_days(world: World) -> None:
    on_leave(world, day=0)
    assert menu_of(world.home(ADA), ids.HOME_LEAVE_MENU) == ["Change", "Cancel leave…"]
    assert labels(world.own_message(ADA).buttons) == ["Change", "Cancel leave"]

    world.clock.advance(days=1)
    world.deliver()
    assert labels(world.own_message(ADA).buttons) == ["Change", "Cancel leave", "I fell ill"]
    offered = menu_of(world.home(ADA), ids.HOME_LEAVE_MENU)
    assert offered == ["Change", "Cancel leave…", "I fell ill"]


def test_leave_that_was_cancelled_meanwhile_is_not_interrupted(world: World) -> None:
    on_leave(world)
    form = open_form(world)
    world.write(leave_requests.cancel, world.request().id)

    world.slack.submit(ADA, form, {})

    assert approved(world) == []
    assert "Already cancelled by Olive Owner." in world.slack.open_modal(ADA).visible_text
