"""Closures in Slack's settings, over signed HTTP."""

from __future__ import annotations

import pytest

from storage.admin import closures, people
from storage.base.leave_values import Closure
from storage.base.values import User
from storage.db.pages import PageOf
from tests.bot.test_consequences import confirm, confirmation_of
from tests.bot.test_settings_access import click, settings
from tests.bot.world import ADA, ADMIN, World

NAME = "settings.closures"


@pytest.fixture(autouse=True)
def admin(world: World) -> User:
    """Anna, an admin with a Slack account."""
    return world.add_admin()


def closures_of(world: World) -> list[Closure]:
    page = PageOf(limit=100)
    return world.database.read_now(closures.page, page, by=world.acme.caller).items


def test_a_closure_is_added_changed_and_deleted_after_a_look_at_its_effects(world: World) -> None:
    engineering = world.people[ADA].department_id
    form = click(world, ADMIN, settings(world, ADMIN, NAME), f"{NAME}.new")
    values = {
        "name": "Christmas",
        "start_date": "2026-12-24",
        "start_half_day": "midday",
        "end_date": "2027-01-01",
        "leave_type_id": world.leave_type("annual"),
        "department_id": engineering,
        "when_short": "skip",
    }
    added = confirmation_of(world, form, values)
    before = closures_of(world)
    confirm(world, added)
    (closure,) = closures_of(world)

    listed = world.slack.open_modal(ADMIN, "Closures")
    form = click(world, ADMIN, listed, f"{NAME}.edit", closure.id)
    changed = confirmation_of(world, form, {"department_id": "none", "start_half_day": "whole_day"})
    confirm(world, changed)
    (after,) = closures_of(world)
    listed_after = world.slack.open_modal(ADMIN, "Closures")
    form = click(world, ADMIN, listed_after, f"{NAME}.edit", closure.id)
    deletion = click(world, ADMIN, form, f"{NAME}.delete")
    confirm(world, deletion)

    assert before == []
    assert "Ada Lovelace, Thu 24 from midday to Thu 31 Dec 2026: 3.5 days" in added.visible_text
    assert (closure.name, closure.department_id) == ("Christmas", engineering)
    assert (closure.start_half_day, closure.end_half_day) == ("pm", None)
    assert closure.when_short == "skip"
    assert "from midday to Fri 1 Jan 2027 · Engineering · Annual leave" in listed.visible_text
    assert "Ada Lovelace: 3.5 days → 4 days" in changed.visible_text
    assert (after.department_id, after.start_half_day) == (None, None)
    assert "Everyone" in listed_after.visible_text
    assert "Christmas: people get back the days from today onwards." in deletion.visible_text
    assert closures_of(world) == []


def test_the_confirmation_names_those_who_have_too_few_days_left(world: World) -> None:
    by, now = world.acme.caller, world.clock()
    short = {"leave_allowance_half_days": 6}
    world.database.write_now(people.update, world.people[ADA].id, short, by=by, now=now)
    form = click(world, ADMIN, settings(world, ADMIN, NAME), f"{NAME}.new")
    values = {
        "name": "Christmas",
        "start_date": "2026-12-24",
        "end_date": "2027-01-01",
        "leave_type_id": world.leave_type("annual"),
        "when_short": "skip",
    }

    confirm(world, skipped := confirmation_of(world, form, values))

    assert (
        "1 person has too few days left. Nothing is booked for them:\n• Ada Lovelace"
        in skipped.visible_text
    )
    assert "1 person skipped" in world.slack.open_modal(ADMIN, "Closures").visible_text


def test_dates_in_the_wrong_order_are_refused_in_the_form(world: World) -> None:
    form = click(world, ADMIN, settings(world, ADMIN, NAME), f"{NAME}.new")
    values = {
        "name": "Christmas",
        "start_date": "2026-12-24",
        "end_date": "2026-12-23",
        "leave_type_id": world.leave_type("annual"),
    }

    refused = world.slack.submit(ADMIN, form, values)

    assert list(refused.errors) == ["end_date"]
    assert closures_of(world) == []
