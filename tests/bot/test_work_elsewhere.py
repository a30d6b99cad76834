"""People at work elsewhere: what Slack shows of home office, and what it never calls "out"."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from storage.base.leave_values import LeaveRequest
from storage.leave import leave_requests
from tests.bot.world import ADA, GRACE, HEDY, World
from tests.builders import a_request, approved_leave, home_office
from tests.fakes.slack import Message

# Today is a Monday.
TODAY = date(2026, 6, 1)
TOMORROW = TODAY + timedelta(days=1)


def at_home(world: World, who: str, day: date = TODAY, **more: Any) -> LeaveRequest:
    person = world.people[who]
    return a_request(world.database, world.acme, person, start_date=day, code="home-office", **more)


def answer(world: World, who: str, typed: str) -> Message:
    world.command(who, typed)
    return [message for message in world.slack.ephemerals if message.user == who][-1]


@pytest.mark.both_engines
def test_who_is_out_names_people_at_work_elsewhere_on_a_line_of_their_own(world: World) -> None:
    home_office(world.database, world.acme)
    at_home(world, ADA)
    at_home(world, GRACE, start_half_day="pm")

    shown = answer(world, HEDY, "out")
    assert shown.text == (
        "No one is off today, Mon 1 Jun.\n"
        "Working elsewhere: Ada Lovelace (Home office) and "
        "Grace Hopper (Home office, Mon 1 Jun 2026, afternoon)"
    )

    approved_leave(world.database, world.acme, world.people[HEDY], TODAY, code="sick")
    shown = answer(world, ADA, "out")
    assert "Hedy Lamarr: Mon 1 Jun 2026 (Away)" in shown.text
    assert "\nWorking elsewhere: You (Home office) and Grace Hopper" in shown.text
    assert "Home office" not in shown.text.partition("Working elsewhere")[0]


def test_days_are_named_where_only_some_of_the_asked_days_are_elsewhere(world: World) -> None:
    home_office(world.database, world.acme)
    at_home(world, ADA, TOMORROW)

    assert answer(world, ADA, "out week").text.endswith(
        "Working elsewhere: You (Home office, Tue 2 Jun 2026)"
    )
    assert answer(world, ADA, "out tomorrow").text.endswith("Working elsewhere: You (Home office)")


def test_home_lists_people_at_work_elsewhere_today_and_counts_none_as_out(world: World) -> None:
    home_office(world.database, world.acme)
    at_home(world, ADA)
    at_home(world, GRACE, TOMORROW)

    shown = world.home(HEDY)

    assert "No one is out.\nShow everyone\nWorking elsewhere: Ada Lovelace (Home office)" in (
        shown.visible_text
    )
    assert not [block for block in shown.blocks if block["type"] == "table"]


def test_more_than_ten_people_at_work_elsewhere_are_others(world: World) -> None:
    home_office(world.database, world.acme)
    for number in range(11):
        at_home(world, GRACE, TODAY + timedelta(weeks=number))
        at_home(world, ADA, TODAY + timedelta(weeks=number, days=1))

    shown = answer(world, HEDY, "out 1 june - 30 sep").text

    assert shown.endswith(" and others")
    assert shown.count("Hopper") + shown.count("Lovelace") == 10


def test_private_types_of_people_at_work_elsewhere_stay_private(world: World) -> None:
    home_office(world.database, world.acme, name="Rehab", is_private=True)
    at_home(world, ADA)

    assert answer(world, HEDY, "out").text.endswith("Working elsewhere: Ada Lovelace")
    calendar = answer(world, HEDY, "calendar everyone")
    assert "◊ Working elsewhere" in calendar.visible_text
    assert "Ada Lovelace: Mon 1 Jun 2026 (Working elsewhere)" in calendar.text
    assert "Rehab" not in calendar.text + calendar.visible_text
    world.deliver()
    assert "Ada Lovelace is working elsewhere today: Rehab." in world.slack.dm(GRACE)[-1].text
    assert "colleagues see “Working elsewhere”" in world.slack.dm(ADA)[-1].text


def test_the_calendar_marks_work_elsewhere_with_a_small_letter(world: World) -> None:
    home_office(world.database, world.acme)
    at_home(world, ADA)
    approved_leave(world.database, world.acme, world.people[GRACE], TODAY)

    shown = answer(world, HEDY, "calendar")

    assert "h Home office, working" in shown.visible_text
    assert "Ada Lovelace: Mon 1 Jun 2026 (Home office, working)" in shown.text
    assert "Grace Hopper: Mon 1 Jun 2026 (Annual leave)" in shown.text


def test_approvers_are_told_that_a_person_works_elsewhere_not_that_they_are_off(
    world: World,
) -> None:
    home_office(world.database, world.acme)
    request = at_home(world, ADA, TOMORROW)
    world.deliver()

    told = world.slack.dm(GRACE)[-1]
    assert told.text.startswith(
        "Ada Lovelace is working elsewhere on Tue 2 Jun: Home office. Nothing to approve."
    )

    world.write(leave_requests.cancel, request.id, by=ADA)
    world.deliver()
    assert world.slack.dm(GRACE)[-1].text.startswith(
        "Ada Lovelace is no longer working elsewhere on Tue 2 Jun."
    )


def test_germans_read_it_in_german(world: World) -> None:
    home_office(world.database, world.acme, name="Homeoffice")
    world.slack.change_person(HEDY, locale="de-DE")
    at_home(world, ADA)

    assert answer(world, HEDY, "wer ist weg").text.endswith(
        "An anderem Ort tätig: Ada Lovelace (Homeoffice)"
    )
