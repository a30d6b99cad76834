"""Slack's settings and Home of an organisation of 5,000 people stay within limits and in time.

The loopback Slack refuses every view that Slack would refuse, and a refusal fails the test.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

import pytest

from bot.base import ids
from storage.base.values import User
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.leave import leave_lists, leave_requests
from storage.leave.drafts import Draft
from storage.operations import people_import
from storage.operations.people_file import Line, PeopleFile
from storage.outbox import organisation_config
from storage.people import people_changes, people_lists, people_rows
from storage.workspaces import setup_checklist
from tests.bot.test_settings_access import click, settings
from tests.bot.test_settings_admin import admin, person, search_result
from tests.bot.world import ADMIN, FIRST_DAY, World
from tests.builders import caller_for
from tests.fakes.slack import Answer, View

__all__ = ["admin"]

pytestmark = pytest.mark.slow

PEOPLE: Final = 5_000
DEPARTMENTS: Final = 150
BOSS: Final = "UBOSS"
# For the admin's picks and submissions; Slack waits three seconds.
SECONDS: Final = 2.5


@pytest.fixture(autouse=True)
def crowd(world: World, admin: User) -> None:
    """5,000 people in 150 departments, who all report to Bea Boss."""
    boss = Line(
        number=1,
        values=_values(1, "Bea", "Boss") | {"role": "approver"},
        department=None,
        manager_email=None,
    )
    lines = [
        Line(
            number=number,
            values=_values(number, f"Person{number:04}", "&" * 80),
            department=f"Department {number % DEPARTMENTS:03} " + "<" * 60,
            manager_email=boss.email,
        )
        for number in range(2, PEOPLE + 1)
    ]

    def import_all(tx: Transaction) -> User:
        people_import.import_people(
            tx,
            PeopleFile(lines=[boss, *lines]),
            by=world.acme.caller,
            now=world.clock(),
            is_update=False,
            progress=lambda _: None,
        )
        person = people_rows.find_by_email(tx, world.acme.id, boss.email)
        assert person is not None
        return people_changes.activate(tx, person, by=world.acme.caller, now=world.clock())

    world.people[BOSS] = world.database.write_now(import_all)
    # An organisation of this size is set up: its first save would fill in rules of its country.
    world.write(setup_checklist.check_off, "country")
    world.slack.add_person(BOSS, boss.email, "Bea Boss")


def _values(number: int, first_name: str, last_name: str) -> dict[str, Any]:
    return {
        "email": f"person{number}@example.com",
        "first_name": first_name,
        "last_name": last_name,
    }


def requests(world: World, number: int) -> None:
    """Request a week of leave for that many of the boss's reports."""
    boss_id = world.people[BOSS].id
    reports = world.database.read_now(
        people_lists.page, PageOf(limit=number), by=world.acme.caller, manager_id=boss_id
    ).items
    annual = world.leave_type("annual")

    def submit(tx: Transaction) -> None:
        for user in reports:
            draft = Draft(
                leave_type_id=annual,
                start_date=FIRST_DAY,
                end_date=FIRST_DAY + timedelta(days=4),
                note="<" * 2_000,
            )
            leave_requests.submit(
                tx, by=caller_for(world.acme, user), draft=draft, now=world.clock()
            )

    world.database.write_now(submit)


def quick(response: Answer) -> Answer:
    assert response.elapsed_seconds < SECONDS
    assert response.ok
    return response


def form_of(world: World, who: str) -> View:
    search = settings(world, ADMIN, "settings.people")
    user = world.people[who]
    picked = search_result(world, search, "settings.people.pick", user.email, user.id)
    quick(world.pick(ADMIN, search, None, "settings.people.pick", picked))
    return world.slack.open_modal(ADMIN, "settings.people.form")


@pytest.mark.parametrize(("typed", "number"), [("", 99), ("person", 99), ("Person4999", 1)])
def test_people_are_searched(world: World, typed: str, number: int) -> None:
    search = settings(world, ADMIN, "settings.people")

    response = quick(world.slack.suggest(ADMIN, search, "settings.people.pick", typed))

    assert len(response.body["options"]) == number


def test_a_manager_and_a_department_are_searched_in_a_persons_form(world: World) -> None:
    form = form_of(world, BOSS)

    managers = quick(world.slack.suggest(ADMIN, form, "settings.search.person", "person"))
    rooms = quick(world.slack.suggest(ADMIN, form, "settings.search.department", "department"))
    chosen = quick(world.slack.suggest(ADMIN, form, "settings.search.department", "DEPARTMENT 149"))

    assert len(managers.body["options"]) == len(rooms.body["options"]) == 100
    assert managers.body["options"][0]["value"] == ids.NOTHING
    nothing, last = chosen.body["options"]
    quick(world.slack.submit(ADMIN, form, {"department_id": last}))
    assert person(world, BOSS).department_id == last["value"]
    # The list below the form, which the next one replaces.
    world.slack.close(ADMIN, world.slack.open_modal(ADMIN), is_cleared=True)
    form = form_of(world, BOSS)
    quick(world.slack.submit(ADMIN, form, {"department_id": nothing}))
    assert person(world, BOSS).department_id is None


def test_departments_are_paginated(world: World) -> None:
    shown, names = settings(world, ADMIN, "settings.departments"), 0
    while True:
        names += sum("accessory" in block for block in shown.blocks)
        if "settings.departments.more" not in {button.action_id for button in shown.buttons}:
            break
        shown = click(world, ADMIN, shown, "settings.departments.more")

    config = world.database.read_now(organisation_config.of_organisation, world.acme.id)
    assert names == len(config.departments) == DEPARTMENTS + 1


def test_the_effects_of_archiving_a_manager_fit_in_a_confirmation(world: World) -> None:
    requests(world, 200)

    confirmation = click(world, ADMIN, form_of(world, BOSS), "settings.people.archive")

    assert "• 4999 people lose their manager: Person" in confirmation.visible_text
    assert "200 requests move to other approvers." in confirmation.visible_text
    assert "… and 195 more" in confirmation.visible_text
    world.submit(ADMIN, confirmation)
    assert person(world, BOSS).status == "archived"
    assert world.audited("leave_request.rerouted") == 100


def test_a_new_working_week_shows_its_effects_before_it_is_saved(world: World) -> None:
    requests(world, 1_000)
    form = settings(world, ADMIN, "settings.organisation")

    days_off = dict.fromkeys(
        ("working_days/wednesday", "working_days/thursday", "working_days/friday"), "none"
    )
    quick(world.slack.submit(ADMIN, form, days_off))

    confirmation = world.slack.open_modal(ADMIN, "Before you save")
    assert "1000 requests will change." in confirmation.visible_text
    assert "1000 people affected: 5,000 days → 2,000 days in total." in confirmation.visible_text
    world.submit(ADMIN, confirmation)
    assert world.database.read_now(_half_days, world) == 4_000


def _half_days(tx: Transaction, world: World) -> int:
    waiting = leave_lists.all_assigned(
        tx,
        world.acme.id,
        world.people[BOSS].id,
        is_admin=False,
        today=world.clock().date(),
        limit=PEOPLE,
    )
    return sum(request.total_half_days for request in waiting)
