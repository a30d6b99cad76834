"""The checklist on the Home tab of an admin of a new organisation, over signed HTTP."""

from __future__ import annotations

import pytest

from bot.base import ids
from tests.bot.test_settings_access import click
from tests.bot.world import ADA, ADMIN, World
from tests.fakes.slack import View

TITLE = "Set up Hiatus"


@pytest.fixture(autouse=True)
def _admin(world: World) -> None:
    world.add_admin()


def home_of(world: World, who: str) -> View:
    world.slack.open_home(who)
    world.settled()
    return world.slack.home(who)


def test_each_step_opens_the_modal_in_which_it_is_done(world: World) -> None:
    home = home_of(world, ADMIN)

    steps = {
        block["accessory"]["text"]["text"]: block["accessory"]["value"]
        for block in home.blocks
        if block.get("accessory", {}).get("action_id") == ids.CHECKLIST_STEP
    }

    assert "4 people have no manager, so admins get their requests." in home.visible_text
    assert "You have the national holidays of United Kingdom." in home.visible_text
    titles = {
        label: click(world, ADMIN, home, ids.CHECKLIST_STEP, step).title
        for label, step in steps.items()
    }
    assert titles == {
        "Choose a region": "Organisation",
        "Check the allowance": "Allowance",
        "Check the leave year": "Leave year",
        "Check the carry-over": "Carry-over",
        "Check the leave types": "Leave types",
        "Assign managers": "People",
        "Paste days left": "Days left",
        "Choose a channel": "Add a digest",
        "Add your calendar": "Calendar feeds",
    }


def test_a_setting_that_is_right_is_done_once_it_is_saved(world: World) -> None:
    form = click(world, ADMIN, home_of(world, ADMIN), ids.CHECKLIST_STEP, "allowance")
    fields = [block["block_id"] for block in form.blocks]
    assert fields == ["default_leave_allowance", "effective_from"]

    world.submit(ADMIN, form, {})

    home = world.slack.home(ADMIN, "Set up Hiatus").visible_text
    assert "Check the allowance" not in home
    assert "Check the leave year" in home
    assert world.audited("setup_checklist.allowance_checked") == 1


def test_members_have_no_checklist(world: World) -> None:
    assert TITLE not in home_of(world, ADA).visible_text


def test_a_step_that_is_done_in_its_modal_is_gone_without_opening_home_again(
    world: World,
) -> None:
    world.slack.add_channel("C0DIGEST01", "who-is-out")
    form = click(world, ADMIN, home_of(world, ADMIN), ids.CHECKLIST_STEP, "digest")

    world.slack.submit(ADMIN, form, {"channel": "C0DIGEST01"})
    world.settled()

    home = world.slack.home(ADMIN)
    assert "Choose a channel" not in home.visible_text
    assert "Choose a region" in home.visible_text


def test_looking_at_the_links_of_the_calendar_is_enough(world: World) -> None:
    click(world, ADMIN, home_of(world, ADMIN), ids.CHECKLIST_STEP, "feed")

    assert "Add your calendar" not in world.slack.home(ADMIN).visible_text


def test_hiding_the_checklist_asks_for_confirmation_and_removes_it(world: World) -> None:
    home = home_of(world, ADMIN)
    (button,) = [button for button in home.buttons if button.action_id == ids.CHECKLIST_HIDE]
    assert button.element["confirm"]["style"] == "primary"

    world.slack.click_in_view(ADMIN, home, ids.CHECKLIST_HIDE)
    world.settled()

    assert TITLE not in world.slack.home(ADMIN).visible_text
    assert world.audited("setup_checklist.hidden") == 1
