"""Lists in Slack's settings say what admins want to know before they open an entry."""

from __future__ import annotations

from datetime import date
from urllib.parse import quote

import pytest

from bot.base import ids
from storage.admin import departments, organisations, people
from storage.base.allowance_values import Amount
from storage.base.values import User
from storage.leave import ledgers
from tests.bot import test_settings_access
from tests.bot.test_settings_access import click, settings
from tests.bot.world import ADA, ADMIN, GRACE, World
from tests.builders import a_leave_type, a_request, personal_token
from tests.fakes.slack import View


@pytest.fixture(autouse=True)
def admin(world: World) -> User:
    return world.add_admin()


def choose(world: World, view: View, who: str, choice: str) -> View:
    """Choose in the menu of a person in the list; returns the modal that opens."""
    value = f"{choice} {world.people[who].id}"
    return test_settings_access.choose(world, ADMIN, view, "settings.people.menu", value)


def days_left(world: World, who: str) -> Amount | float:
    user_id = world.people[who].id
    balance = world.database.read_now(
        ledgers.balance, user_id, on=None, by=world.acme.caller, now=world.clock()
    )
    return balance.remaining_half_days / 2


def test_leave_types_show_their_rules(world: World) -> None:
    a_leave_type(
        world.database,
        world.acme,
        name="Care & <more>",
        requires_approval=False,
        deducts_allowance=False,
        is_private=True,
    )

    shown = settings(world, ADMIN, "settings.leave_types").visible_text

    assert "Annual leave*\nNeeds approval · Uses the allowance" in shown
    assert "Care &amp; &lt;more&gt;*\nNo approval · Doesn't use the allowance · Private" in shown


def test_departments_show_their_manager_and_how_many_people_belong_to_them(world: World) -> None:
    by, now = world.acme.caller, world.clock()
    engineering = str(world.people[ADA].department_id)
    head = {"manager_id": world.people[GRACE].id}
    world.database.write_now(departments.update, engineering, head, by=by, now=now)
    world.database.write_now(departments.create, {"name": "Empty"}, by=by, now=now)

    shown = settings(world, ADMIN, "settings.departments").visible_text

    assert "Engineering*\nManager: Grace Hopper · " in shown
    assert "Empty*\nNo manager · 0 people" in shown


def test_people_are_listed_with_role_manager_and_balance(world: World) -> None:
    by, now = world.acme.caller, world.clock()
    manager = {"manager_id": world.people[GRACE].id}
    world.database.write_now(people.update, world.people[ADA].id, manager, by=by, now=now)
    a_request(
        world.database,
        world.acme,
        world.people[ADA],
        start_date=date(2026, 6, 8),
        end_date=date(2026, 6, 9),
        now=now,
    )

    shown = settings(world, ADMIN, "settings.people").visible_text

    left = f"{days_left(world, ADA):g} days left in 2026"
    assert f"Ada Lovelace*\nMember · Engineering · Manager: Grace Hopper · {left}" in shown
    assert "`hiatus import`" in shown


def test_the_menu_of_a_person_opens_what_was_chosen(world: World) -> None:
    titles = []
    for choice in (ids.MENU_EDIT, ids.MENU_BALANCE, ids.MENU_DEACTIVATE, ids.MENU_ARCHIVE):
        opened = choose(world, settings(world, ADMIN, "settings.people"), ADA, choice)
        assert "Ada" in opened.visible_text
        titles.append(opened.callback_id)
        world.slack.close(ADMIN, opened, is_cleared=True)

    assert titles == [
        "settings.people.form",
        "settings.people.adjustment.form",
        "settings.people.deactivate.form",
        "settings.people.archive.form",
    ]


def test_a_balance_is_adjusted_once_with_a_reason(world: World) -> None:
    before = days_left(world, ADA)
    form = choose(world, settings(world, ADMIN, "settings.people"), ADA, ids.MENU_BALANCE)

    zero = world.slack.submit(ADMIN, form, {"days": "0", "reason": "Moved"})
    sent = world.submit(ADMIN, form, {"days": "-1.5", "reason": "Moved & <house>"})
    done = world.slack.open_modal(ADMIN)
    world.slack.close(ADMIN, done, is_cleared=True)
    again = choose(world, settings(world, ADMIN, "settings.people"), ADA, ids.MENU_BALANCE)

    assert list(zero.errors) == ["days"]
    assert sent.errors == {}
    assert days_left(world, ADA) == before - 1.5
    assert f"{before - 1.5:g} days left" in done.visible_text
    assert "• -1.5: Moved & <house>" in again.visible_text


def test_public_holidays_are_listed_by_date_and_changed_one_by_one(world: World) -> None:
    sets = settings(world, ADMIN, "settings.holidays")
    days = click(world, ADMIN, sets, "settings.overrides")
    change = next(
        button
        for button in days.buttons
        if button.element.get("accessibility_label") == "Change Fri 25 Dec 2026"
    )

    form = click(world, ADMIN, days, "settings.overrides.day", change.value)
    assert world.submit(ADMIN, form, {}).errors == {}
    after = world.slack.open_modal(ADMIN, "Changed: see below")

    assert "United Kingdom (GB)*\nNext holiday: Fri 25 Dec 2026" in sets.visible_text
    assert "Fri 25 Dec 2026: Christmas Day" in days.visible_text
    assert "Not a public holiday" in after.visible_text


def test_a_feed_is_added_to_a_calendar_with_one_click(world: World) -> None:
    token = world.write(personal_token, by=ADA)

    text = settings(world, ADA, "settings.feeds").visible_text

    link = f"{world.slack.app_url}/cal/{token}"
    google = quote(link.replace("https://", "webcal://"), safe="")
    assert f"<https://calendar.google.com/calendar/r?cid={google}|Add to Google Calendar>" in text
    outlook = quote(f"{link}?scope=team", safe="")
    assert f"addfromweb?url={outlook}&amp;name=Your%20team|Add to Outlook>" in text
    assert "/subscribe?scope=team|Add to Apple Calendar>" in text


def test_the_working_week_of_the_organisation_has_a_row_for_each_day(world: World) -> None:
    form = settings(world, ADMIN, "settings.organisation")
    week = [block["block_id"] for block in form.blocks if "working_days" in block["block_id"]]
    every_day_off = dict.fromkeys(week, ids.NOTHING)

    refused = world.slack.submit(ADMIN, form, every_day_off)
    halves = {"working_days/friday": "friday:am", "working_days/saturday": "saturday"}
    accepted = world.slack.submit(ADMIN, form, every_day_off | halves)

    organisation = world.database.read_now(
        organisations.get, by=world.acme.caller, now=world.clock()
    )
    assert refused.errors == {"working_days/monday": "Choose at least one working day."}
    assert accepted.errors == {}
    assert organisation.working_days == ("friday:am", "saturday")
