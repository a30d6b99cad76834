"""The pasted table of what everyone has left, over signed HTTP."""

from __future__ import annotations

import pytest

from bot.base import ids
from storage.leave import ledgers
from tests.bot.test_settings_access import click, settings
from tests.bot.world import ADA, ADMIN, GRACE, World
from tests.fakes.slack import View

NAME = "settings.opening_figures"
TABLE = "Name\tDays left\nAda Lovelace\t12,5\ngrace@example.com; 8\nBob; 3"


@pytest.fixture(autouse=True)
def _admin(world: World) -> None:
    world.add_admin()


def sent(world: World, form: View, text: str) -> View:
    (table,) = [name for name in form.values if name.startswith("table")]
    assert world.submit(ADMIN, form, {table: text}).errors == {}
    return world.slack.open_modal(ADMIN)


def left(world: World, who: str) -> float:
    balance = world.database.read_now(
        ledgers.balance, world.people[who].id, on=None, by=world.acme.caller, now=world.clock()
    )
    return float(balance.remaining_half_days / 2)


def test_a_table_is_shown_before_it_is_saved_and_unknown_lines_stay(world: World) -> None:
    text = TABLE.replace("grace@example.com", world.people[GRACE].email)
    checked = sent(world, settings(world, ADMIN, NAME), text)

    shown = checked.visible_text
    assert "2 matched, 1 unknown" in shown
    assert "Ada Lovelace: 25 → 12.5 days" in shown
    assert (
        "Line 4, “Bob; 3”: No one has this name. Use the e-mail address, or add the person first."
    ) in shown
    assert left(world, ADA) == 25

    saved = sent(world, checked, text)

    assert "Saved for 2 people." in saved.visible_text
    assert (left(world, ADA), left(world, GRACE)) == (12.5, 8)
    (table,) = [block for block in saved.blocks if block["block_id"].startswith("table")]
    assert table["element"]["initial_value"] == "Bob; 3"

    again = sent(world, saved, text)
    assert "2 people have these days already." in again.visible_text


def test_a_table_that_was_changed_after_the_check_is_checked_again(world: World) -> None:
    checked = sent(world, settings(world, ADMIN, NAME), "Ada Lovelace; 12.5")

    again = sent(world, checked, "Ada Lovelace; 13")

    assert "Ada Lovelace: 25 → 13 days" in again.visible_text
    assert left(world, ADA) == 25


def test_without_a_table_the_step_of_the_checklist_is_done(world: World) -> None:
    world.home(ADMIN)
    form = click(world, ADMIN, world.slack.home(ADMIN), ids.CHECKLIST_STEP, "opening_figures")

    assert world.submit(ADMIN, form, {}).errors == {}

    assert "How many days has everyone left?" not in world.slack.home(ADMIN).visible_text
    assert left(world, ADA) == 25


def test_a_day_too_far_away_is_refused_at_its_field(world: World) -> None:
    form = settings(world, ADMIN, NAME)
    (table,) = [name for name in form.values if name.startswith("table")]

    response = world.submit(ADMIN, form, {table: "Ada Lovelace; 1", "on": "2028-01-01"})

    assert response.errors == {"on": "Choose a day within a year of today."}
