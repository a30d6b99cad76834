"""Absence limits in Slack's settings, over signed HTTP."""

from __future__ import annotations

from datetime import date

import pytest

from storage.admin import absence_limits
from storage.base.leave_values import AbsenceLimit
from storage.base.values import User
from storage.db.pages import PageOf
from tests.bot.test_consequences import confirm, confirmation_of
from tests.bot.test_settings_access import click, settings
from tests.bot.test_settings_admin import search_result
from tests.bot.world import ADA, ADMIN, GRACE, World
from tests.builders import a_request

NAME = "settings.absence_limits"


@pytest.fixture(autouse=True)
def admin(world: World) -> User:
    """Anna, an admin with a Slack account."""
    return world.add_admin()


def limits_of(world: World) -> list[AbsenceLimit]:
    page = PageOf(limit=100)
    return world.database.read_now(absence_limits.page, page, by=world.acme.caller).items


def test_a_limit_is_added_changed_and_deleted(world: World) -> None:
    engineering = world.people[ADA].department_id
    form = click(world, ADMIN, settings(world, ADMIN, NAME), f"{NAME}.new")
    values = {
        "name": "Christmas sale",
        "department_id": engineering,
        "max_away": "0",
        "from": "2026-12-14",
        "to": "2026-12-23",
        "enforcement": "warn",
    }
    world.submit(ADMIN, form, values)
    (limit,) = limits_of(world)

    listed = world.slack.open_modal(ADMIN, "Absence limits")
    changed = click(world, ADMIN, listed, f"{NAME}.edit", limit.id)
    people = [world.people[who].id for who in (ADA, GRACE)]
    chosen = [
        search_result(world, changed, f"{NAME}.person", typed, user_id)
        for typed, user_id in zip(("ada", "grace"), people, strict=True)
    ]
    others = {"max_away": None, "min_present": "1", "from": None, "is_active": "off"}
    world.submit(ADMIN, changed, {"department_id": "none", "user_ids": chosen} | others)
    (after,) = limits_of(world)
    listed_after = world.slack.open_modal(ADMIN, "Absence limits")
    form = click(world, ADMIN, listed_after, f"{NAME}.edit", limit.id)
    done = click(world, ADMIN, form, f"{NAME}.delete")

    assert (limit.name, limit.department_id, limit.user_ids) == (
        "Christmas sale",
        engineering,
        None,
    )
    assert (limit.max_away, limit.enforcement) == (0, "warn")
    assert (limit.first_day, limit.last_day) == (date(2026, 12, 14), date(2026, 12, 23))
    shown = "At most 0 away · Engineering · Mon 14 to Wed 23 Dec 2026 · Only warns"
    assert shown in listed.visible_text
    assert after.user_ids is not None
    assert set(after.user_ids) == set(people)
    assert (after.department_id, after.max_away, after.min_present) == (None, None, 1)
    assert (after.first_day, after.is_active) == (None, False)
    assert "At least 1 at work · 2 people · Until Wed 23 Dec 2026" in listed_after.visible_text
    assert "deleted" in done.visible_text
    assert limits_of(world) == []


def test_the_form_says_what_the_limit_would_have_refused(world: World) -> None:
    a_request(world.database, world.acme, world.people[ADA])
    form = click(world, ADMIN, settings(world, ADMIN, NAME), f"{NAME}.new")
    confirmation = confirmation_of(world, form, {"name": "No one", "max_away": "0"})
    before = limits_of(world)

    confirm(world, confirmation)

    assert "1 request of the next three months would have been refused" in confirmation.visible_text
    assert before == []
    assert [limit.name for limit in limits_of(world)] == ["No one"]


def test_a_form_with_both_numbers_is_refused(world: World) -> None:
    form = click(world, ADMIN, settings(world, ADMIN, NAME), f"{NAME}.new")
    values = {"name": "Support", "max_away": "2", "min_present": "1"}

    refused = world.slack.submit(ADMIN, form, values)

    assert list(refused.errors) == ["min_present"]
    assert limits_of(world) == []
