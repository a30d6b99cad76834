"""Closures in Slack: what people are told, once each, and what they cannot do."""

from __future__ import annotations

from datetime import date
from typing import Any

from bot.base import ids
from playground.loopback.blocks import located
from storage.admin import closures
from storage.base.leave_values import Closure
from storage.db.pages import PageOf
from storage.leave import decisions, leave_lists, leave_requests
from storage.leave.drafts import Draft
from storage.people import people_rows
from tests.bot.world import ADA, EVE, GRACE, HEDY, World
from tests.builders import a_leave_type


def closed(world: World, **fields: Any) -> Closure:
    """A closure from 24 December 2026 to 1 January 2027, of the world's own owner."""
    settings: dict[str, Any] = {
        "name": "Christmas closure",
        "leave_type_id": world.leave_type("annual"),
        "start_date": date(2026, 12, 24),
        "end_date": date(2027, 1, 1),
        **fields,
    }
    return world.write(closures.create, settings)


def texts(world: World, who: str) -> list[str]:
    return [message.visible_text for message in world.slack.dm(who)]


def test_everyone_is_told_once_and_no_approver_is_asked(world: World) -> None:
    world.link()

    closed(world)
    world.deliver()

    for who in (ADA, GRACE, HEDY, EVE):
        assert texts(world, who) == [
            "*Christmas closure: the company is closed, so leave is booked for you.*\n"
            "Thu 24 to Thu 31 Dec 2026\n"
            "Annual leave: 4 days\n"
            "After this: 21 days left in 2026"
        ]
    (message,) = world.slack.dm(ADA)
    assert message.buttons == []
    assert message.text == (
        "Christmas closure: the company is closed, so leave is booked for you. "
        "Thu 24 to Thu 31 Dec 2026. Annual leave: 4 days. "
        "After this: 21 days left in 2026."
    )


def test_people_whose_home_office_it_takes_are_told_once(world: World) -> None:
    world.link()
    home = a_leave_type(world.database, world.acme, name="Home office", is_away=False)
    day = date(2026, 12, 29)
    draft = Draft(leave_type_id=home.id, start_date=day, end_date=date(2026, 12, 30))
    world.change(leave_requests.submit, draft=draft, by=ADA)
    world.write(decisions.approve, world.request().id)
    world.deliver()
    before = len(texts(world, ADA))

    closed(world)
    world.deliver()

    told = texts(world, ADA)
    assert len(told) == before + 1
    assert "Thu 24 to Thu 31 Dec 2026" in told[-1]


def test_a_change_is_told_to_those_whose_days_change(world: World) -> None:
    world.link()
    closure = closed(world)
    world.deliver()

    world.write(closures.update, closure.id, {"name": "Winter closure"})
    world.deliver()
    renamed = texts(world, ADA)
    world.write(closures.update, closure.id, {"end_date": date(2026, 12, 30)})
    world.deliver()

    assert len(renamed) == 1
    assert texts(world, ADA)[1:] == [
        "*Winter closure has changed. This is your leave now.*\n"
        "Thu 24 to Wed 30 Dec 2026\n"
        "Annual leave: 3 days\n"
        "Before: 4 days\n"
        "After this: 22 days left in 2026"
    ]


def test_a_deleted_closure_is_told_by_its_name(world: World) -> None:
    world.link()
    closure = closed(world)
    world.deliver()

    world.write(closures.delete, closure.id)
    world.deliver()

    assert texts(world, ADA)[1:] == [
        "*Christmas closure: your leave is cancelled. You get 4 days back.*"
    ]


def test_what_changes_before_the_message_is_sent_is_told_in_one(world: World) -> None:
    world.link()
    closure = closed(world)

    world.write(closures.update, closure.id, {"end_date": date(2026, 12, 30)})
    world.deliver()
    again = closed(world, start_date=date(2027, 3, 1), end_date=date(2027, 3, 1))
    world.write(closures.delete, again.id)
    world.deliver()

    (told,) = texts(world, ADA)
    assert "leave is booked for you" in told
    assert "Annual leave: 3 days" in told


def test_own_leave_around_it_is_told_with_all_of_its_parts(world: World) -> None:
    world.link()
    world.submit_over_rest(ADA, start_date=date(2026, 12, 29), end_date=date(2026, 12, 29))
    world.deliver()

    closed(world)
    world.deliver()

    assert "Thu 24 Dec 2026\nWed 30 to Thu 31 Dec 2026" in texts(world, ADA)[-1]
    assert "Annual leave: 3 days" in texts(world, ADA)[-1]


def test_home_offers_neither_change_nor_cancellation(world: World) -> None:
    world.link()
    closed(world)

    home = world.home(ADA)

    assert "The company is closed" in home.visible_text
    menus = [each["action_id"] for _, each in located(home.blocks)]
    assert ids.HOME_LEAVE_MENU not in menus


def test_an_admin_who_cancels_it_for_one_person_is_named_to_them(world: World) -> None:
    world.link()
    closed(world)
    world.deliver()

    leave = world.request(ADA)
    world.write(leave_requests.cancel, leave.id)
    world.deliver()

    assert "cancelled" in texts(world, ADA)[-1]
    assert len(texts(world, ADA)) == 2


def test_people_who_join_in_slack_get_it(world: World) -> None:
    closed(world)
    world.slack.add_person("UNEW", "nora@example.com", "Nora New", tz="Europe/London")

    world.open_form("UNEW")

    nora = world.database.read_now(people_rows.find_by_slack_id, world.acme.id, "UNEW")
    assert nora is not None
    page = world.database.read_now(
        leave_lists.filtered, PageOf(limit=5), user_id=nora.id, by=world.acme.caller
    )
    assert [each.total_half_days for each in page.items] == [8]
