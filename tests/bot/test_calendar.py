"""The calendar of who is off: typed, from Home, and turned by its buttons."""

from __future__ import annotations

from datetime import date
from typing import Any, get_args

import pytest

from bot.base import ids
from bot.views.calendar import CalendarPage, CalendarScope
from storage.calendars import feeds
from storage.leave import decisions
from tests.bot.world import ADA, EVE, GRACE, HEDY, World
from tests.builders import a_person, a_request
from tests.fakes.slack import Message


def approved(world: World, who: str, **filled: Any) -> None:
    request = a_request(world.database, world.acme, world.people[who], **filled)
    by = world.acme.caller
    if request.status == "pending":
        world.database.write_now(decisions.approve, request.id, by=by, now=world.clock())


def typed(world: World, words: str, who: str = ADA) -> Message:
    world.command(who, words)
    return [message for message in world.slack.ephemerals if message.user == who][-1]


def turned(world: World, message: Message, action_id: str, value: str) -> Message:
    world.slack.click(ADA, message, action_id, value)
    world.settled()
    return [message for message in world.slack.ephemerals if message.user == ADA][-1]


def rows(message: Message) -> list[list[str]]:
    """The table's cells; an emoji by its name between colons."""
    (table,) = [block for block in message.blocks if block["type"] == "table"]
    return [[cell_text(cell) for cell in row] for row in table["rows"]]


def cell_text(cell: dict[str, Any]) -> str:
    if cell["type"] == "raw_text":
        return str(cell["text"])
    (section,) = cell["elements"]
    return "".join(
        f":{part['name']}:" if part["type"] == "emoji" else part["text"]
        for part in section["elements"]
    )


def value_of(message: Message, action_id: str) -> str:
    (button,) = [button for button in message.buttons if button.action_id == action_id]
    return button.value or ""


def test_the_team_is_shown_as_people_and_ten_working_days(world: World) -> None:
    # NOW is Monday, 1 June 2026.
    approved(world, GRACE, start_date=date(2026, 6, 4), end_date=date(2026, 6, 9))
    approved(world, HEDY, start_date=date(2026, 6, 2), end_date=date(2026, 6, 2), code="sick")

    message = typed(world, "calendar")

    heading, ada, grace, hedy = rows(message)
    assert heading == [
        *("Name", "Mon 1", "Tue 2", "Wed 3", "Thu 4", "Fri 5"),
        *("Mon 8", "Tue 9", "Wed 10", "Thu 11", "Fri 12"),
    ]
    assert ada == ["You", *["·"] * 10]
    annual = ":palm_tree: A"
    assert grace == ["Grace Hopper", *["·"] * 3, *[annual] * 4, *["·"] * 3]
    # The type of private leave is hidden from colleagues.
    assert hedy == ["Hedy Lamarr", "·", "●", *["·"] * 8]
    assert ":palm_tree: A Annual leave · ● Away" in message.visible_text


def test_a_screen_reader_reads_the_leave_in_words(world: World) -> None:
    approved(world, GRACE, start_date=date(2026, 6, 4), end_date=date(2026, 6, 9))
    approved(world, ADA, start_date=date(2026, 6, 3), end_half_day="am", end_date=date(2026, 6, 3))

    message = typed(world, "calendar")

    assert message.text.splitlines() == [
        "Your team, Mon 1 to Sun 14 Jun 2026:",
        "• You: Wed 3 Jun 2026, morning (Annual leave)",
        "• Grace Hopper: Thu 4 to Tue 9 Jun 2026 (Annual leave)",
    ]
    assert rows(message)[1][3] == "A am"


def test_without_leave_the_text_says_so(world: World) -> None:
    assert typed(world, "calendar").text.endswith("\nNo one is out.")


def test_pending_leave_is_marked_for_its_owner_and_those_who_decide(world: World) -> None:
    a_request(world.database, world.acme, world.people[ADA], start_date=date(2026, 6, 2))

    own, decider = typed(world, "calendar"), typed(world, "calendar", GRACE)
    stranger = typed(world, "calendar everyone", EVE)

    assert rows(own)[1][2] == rows(decider)[2][2] == ":palm_tree: (A)"
    assert "( ) pending" in own.visible_text
    assert "• Ada Lovelace: Tue 2 Jun 2026 (Annual leave, pending)" in decider.text
    assert "Annual" not in stranger.visible_text


def test_public_holidays_are_marked_and_named(world: World) -> None:
    message = typed(world, "calendar 2026-08-31")

    assert [row[1] for row in rows(message)[1:]] == ["·"] * 3
    christmas = typed(world, "calendar 2026-12-21")
    assert [row[5] for row in rows(christmas)[1:]] == ["🎉"] * 3
    assert "🎉 Fri 25 Dec: Christmas Day" in christmas.visible_text


@pytest.mark.parametrize(
    ("words", "names", "first_day"),
    [
        ("calendar", ["You", "Grace Hopper", "Hedy Lamarr"], "Mon 1"),
        ("calendar team next week", ["You", "Grace Hopper", "Hedy Lamarr"], "Mon 8"),
        ("calendar department", ["You", "Grace Hopper", "Hedy Lamarr"], "Mon 1"),
        (
            "calendar everyone last week",
            ["You", "Eve Elsewhere", "Grace Hopper", "Hedy Lamarr", "Olive Owner"],
            "Mon 25",
        ),
        ("kalender abteilung nächste woche", ["You", "Grace Hopper", "Hedy Lamarr"], "Mon 8"),
        # The week of the day.
        ("calendar 2026-07-09", ["You", "Grace Hopper", "Hedy Lamarr"], "Mon 6"),
    ],
)
def test_typed_words_say_whose_days_and_which_week(
    world: World, words: str, names: list[str], first_day: str
) -> None:
    heading, *people = rows(typed(world, words))

    assert [row[0] for row in people] == names
    assert heading[1] == first_day


@pytest.mark.parametrize(
    ("words", "first_day"),
    [
        ("in two weeks", "Mon 15"),
        ("week of 17 Dec", "Mon 14"),
        ("14 December", "Mon 14"),
        ("the 17th", "Mon 15"),
        ("friday", "Mon 1"),
        ("KW 51", "Mon 14"),
        ("week 51", "Mon 14"),
        # The current week, on a Wednesday.
        ("KW 23", "Mon 1"),
        ("week of 1 june", "Mon 1"),
        ("nächste Woche", "Mon 8"),
        ("in zwei Wochen", "Mon 15"),
        ("am 14. Dezember", "Mon 14"),
        ("dezember", "Mon 30"),
        ("August", "Mon 3"),
        ("im März 2027", "Mon 1"),
        ("june", "Mon 1"),
        ("christmas", "Mon 21"),
    ],
)
def test_the_week_of_the_calendar_is_said_in_words(
    world: World, words: str, first_day: str
) -> None:
    world.clock.advance(days=2)

    for scope in ("", "everyone "):
        assert rows(typed(world, f"calendar {scope}{words}"))[0][1] == first_day


@pytest.mark.parametrize("words", ["december 0000", "banana", "31 feb", "12", "monday and friday"])
def test_a_week_that_is_not_understood_is_no_week(world: World, words: str) -> None:
    assert typed(world, f"calendar {words}").text.startswith("Sorry, I didn't understand")


def test_words_that_the_calendar_does_not_know_are_answered_with_help(world: World) -> None:
    assert typed(world, "calendar of grace").text.startswith("Sorry, I didn't understand")


def test_people_without_a_department_see_everyone(world: World) -> None:
    assert len(rows(typed(world, "calendar", EVE))) == 6


def test_the_buttons_turn_the_message_by_a_week(world: World) -> None:
    message = typed(world, "calendar")

    later = turned(world, message, ids.CALENDAR_FORTH, value_of(message, ids.CALENDAR_FORTH))
    assert rows(later)[0][1] == "Mon 8"
    now = turned(world, later, ids.CALENDAR_BACK, value_of(later, ids.CALENDAR_BACK))

    assert rows(now) == rows(message)


def test_a_week_far_away_is_the_last_that_can_be_shown(world: World) -> None:
    message = typed(world, "calendar 9999-12-30")

    assert rows(message)[0][1] == "Mon 29"
    assert "Mon 29 May to Sun 11 Jun 2028" in message.text


def test_many_people_are_shown_in_pages(world: World) -> None:
    for number in range(20):
        a_person(world.database, world.acme, first_name=f"Z{number:02}")

    message = typed(world, "calendar everyone")
    following = turned(world, message, ids.CALENDAR_NEXT, value_of(message, ids.CALENDAR_NEXT))

    assert (len(rows(message)), len(rows(following))) == (16, 11)
    assert "(page 1 of 2)" in message.visible_text
    assert ids.CALENDAR_NEXT not in {button.action_id for button in following.buttons}
    first = turned(world, following, ids.CALENDAR_FIRST, value_of(following, ids.CALENDAR_FIRST))
    assert rows(first) == rows(message)


def test_home_opens_the_calendar_day_by_day(world: World) -> None:
    approved(world, GRACE, start_date=date(2026, 6, 4), end_date=date(2026, 6, 4), code="sick")
    world.home(ADA)

    world.slack.click_in_view(ADA, world.slack.home(ADA), ids.CALENDAR)
    modal = world.slack.open_modal(ADA)
    world.click_in_view(ADA, modal, ids.CALENDAR_FORTH)

    assert modal.title == "Calendar"
    assert "in your browser" not in modal.visible_text
    assert "*Wed 3 Jun*\nNo one is out." in modal.visible_text
    assert "*Thu 4 Jun*\n• Grace Hopper: Away" in modal.visible_text
    assert "*Mon 8 Jun*" in world.slack.open_modal(ADA).visible_text
    assert "*Thu 4 Jun*" not in world.slack.open_modal(ADA).visible_text


def test_the_calendar_of_home_links_to_the_web_for_those_who_have_a_feed(world: World) -> None:
    by = world.caller(ADA)
    feed = world.database.write_now(feeds.get_or_create_personal, by=by, now=world.clock())
    world.home(ADA)

    world.slack.click_in_view(ADA, world.slack.home(ADA), ids.CALENDAR)

    modal = world.slack.open_modal(ADA)
    assert (
        f"/wallchart/{feed.token}|See who is out this month in your browser>" in modal.visible_text
    )
    assert feed.token not in world.slack.home(ADA).visible_text


@pytest.mark.parametrize(
    "value", ["", "team", "nobody 2026-06-01 1", "team June 1", "team 2026-06-01 x"]
)
def test_a_value_that_is_not_ours_is_no_page(value: str) -> None:
    assert CalendarPage.unpacked(value) is None


def test_a_forged_button_shows_this_week(world: World) -> None:
    message = typed(world, "calendar")
    forged = {"actions": [{"action_id": ids.CALENDAR_FORTH, "value": "x", "type": "button"}]}

    world.slack.click(ADA, message, ids.CALENDAR_FORTH, overrides=forged)
    world.settled()

    assert rows(world.slack.ephemerals[-1]) == rows(message)


@pytest.mark.parametrize("scope", get_args(CalendarScope))
def test_what_a_button_says_is_unpacked_as_it_was_packed(scope: CalendarScope) -> None:
    page = CalendarPage(scope=scope, first_day=date(2026, 6, 1), people=3)

    assert CalendarPage.unpacked(page.packed()) == page
