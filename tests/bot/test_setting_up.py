"""A new admin sets Hiatus up by the checklist on the Home tab alone, from the installation on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.base import ids
from storage.db.database import Database
from storage.workspaces import slack_workspaces
from tests.bot.browser import Browser, by_oauth
from tests.bot.world import World
from tests.fakes.slack import LoopbackSlack, View

UMBRELLA = "T2"
INA = "UINA"
PIA = "UPIA"
CHANNEL = "C2GENERAL"


@pytest.fixture
def world(database: Database, slack: LoopbackSlack) -> Iterator[World]:
    """Ina and Pia in a workspace, before Ina installs Hiatus there."""
    slack.add_team(UMBRELLA, None, name="Umbrella", domain="umbrella")
    for who, name in ((INA, "Ina Installer"), (PIA, "Pia Payroll")):
        email = f"{who.lower()}@umbrella.example"
        slack.add_person(who, email, name, team_id=UMBRELLA, tz="Europe/Berlin")
    slack.add_channel(CHANNEL, "general", team_id=UMBRELLA)
    with World(database, slack, slack_settings=by_oauth(slack)) as running:
        yield running


def home(world: World) -> View:
    world.slack.open_home(INA, team_id=UMBRELLA)
    world.settled()
    return world.slack.home(INA, team_id=UMBRELLA)


def steps(world: World) -> dict[str, str]:
    """The buttons of the checklist with their values."""
    return {
        button.text: str(button.value)
        for button in home(world).buttons
        if button.action_id == ids.CHECKLIST_STEP
    }


def press(
    world: World,
    view: View,
    action_id: str,
    value: str | None = None,
    *,
    block_id: str | None = None,
) -> View:
    """Press a button; returns the modal on top."""
    pressed = world.slack.click_in_view(
        INA, view, action_id, value, block_id=block_id, team_id=UMBRELLA
    )
    assert pressed.ok
    world.settled()
    return world.slack.open_modal(INA, team_id=UMBRELLA)


def do(world: World, label: str) -> View:
    """Press the button of a step; returns the modal that opens."""
    return press(world, home(world), ids.CHECKLIST_STEP, steps(world)[label])


def send(world: World, form: View, values: dict[str, object]) -> None:
    """Fill in the form, send it, and close what is below it."""
    assert world.slack.submit(INA, form, values, team_id=UMBRELLA).errors == {}
    world.settled()
    close(world)


def close(world: World) -> None:
    while world.slack.has_modal(INA, team_id=UMBRELLA):
        top = world.slack.open_modal(INA, team_id=UMBRELLA)
        world.slack.close(INA, top, is_cleared=True, team_id=UMBRELLA)


def test_the_checklist_leads_from_the_installation_to_a_configured_organisation(
    world: World,
) -> None:
    Browser(world).install(world.slack, INA, UMBRELLA)
    assert list(steps(world)) == [
        "Choose a region",
        "Check the allowance",
        "Check the leave year",
        "Check the carry-over",
        "Check the leave types",
        "Add people",
        "Paste days left",
        "Choose a channel",
        "Add your calendar",
    ]

    form = do(world, "Choose a region")
    offered = world.slack.suggest(INA, form, "settings.search.country", "Bayern", team_id=UMBRELLA)
    send(world, form, {"country_code": offered.body["options"][0]})
    send(world, do(world, "Check the allowance"), {"default_leave_allowance": "30"})
    send(world, do(world, "Check the leave year"), {})
    send(world, do(world, "Check the carry-over"), {})
    do(world, "Check the leave types")
    close(world)
    assert "Colleagues join when they first use Hiatus" in home(world).visible_text
    adding = press(world, do(world, "Add people"), "settings.people.new")
    send(world, adding, {"slack_user_id": PIA})
    assert "1 person has no manager, so admins get their requests." in home(world).visible_text
    people = do(world, "Assign managers")
    assert "30 days left" in people.visible_text
    pia = next(block for block in people.blocks if "Pia Payroll" in str(block))
    edit = pia["accessory"]["options"][0]["value"]
    person = press(world, people, "settings.people.menu", edit, block_id=pia["block_id"])
    manager = world.slack.suggest(INA, person, "settings.search.person", "Ina", team_id=UMBRELLA)
    send(world, person, {"manager_id": manager.body["options"][1]})
    send(world, do(world, "Paste days left"), {})
    send(world, do(world, "Choose a channel"), {"channel": CHANNEL})
    do(world, "Add your calendar")
    close(world)

    assert "Set up Hiatus" not in home(world).visible_text
    umbrella = world.database.read_now(slack_workspaces.find, UMBRELLA)
    assert umbrella is not None
    assert umbrella.country_code == "DE-BY"


def test_a_country_that_is_right_without_a_region_is_saved_as_it_is(world: World) -> None:
    Browser(world).install(world.slack, INA, UMBRELLA)

    send(world, do(world, "Choose a region"), {})

    assert "Choose a region" not in steps(world)
