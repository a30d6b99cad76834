"""Every screen of the settings opens for those who may use it, and for no one else."""

from __future__ import annotations

from typing import Any

import pytest

from bot import screens
from bot.base import ids
from bot.interaction import errors
from bot.screens.screen import Screen
from storage.db.pages import PageOf
from storage.outbox import audit
from tests.bot.registrations import Listener, registered_by
from tests.bot.test_settings_access import as_sent, click, settings
from tests.bot.world import ADA, ADMIN, World

OF_ADMINS = [screen for _, group in screens.OF_ADMINS for screen in group]
CHOICES = [value for name, value in vars(ids).items() if name.startswith("MENU_")]
REFUSED = "the role Admin or higher"

of_admins = pytest.mark.parametrize("screen", OF_ADMINS, ids=lambda screen: screen.name)


def audited(world: World) -> int:
    page = world.database.read_now(audit.entries, PageOf(limit=100), by=world.acme.caller)
    return len(page.items)


@pytest.mark.parametrize("screen", [*screens.OWN, *OF_ADMINS], ids=lambda screen: screen.name)
def test_a_screen_opens_from_home_for_an_admin(world: World, screen: Screen) -> None:
    world.add_admin()

    shown = settings(world, ADMIN, screen.name)

    assert shown.body["title"]["text"] in screen.label
    assert errors.BROKEN not in shown.visible_text


@pytest.mark.parametrize(
    "name",
    [
        listener.name
        for screen in [*screens.OWN, *OF_ADMINS]
        for listener in registered_by(screen.register)
        if listener.name == f"{screen.name}.new"
    ],
)
def test_the_form_of_a_new_entry_opens_from_the_list(world: World, name: str) -> None:
    world.add_admin()

    form = click(world, ADMIN, settings(world, ADMIN, name.removesuffix(".new")), name)

    assert "submit" in form.body
    assert form.callback_id.startswith(name.removesuffix(".new"))


def test_members_are_offered_their_own_screens_alone(world: World) -> None:
    menu = click(world, ADA, world.home(ADA), ids.SETTINGS)

    offered = {button.action_id for button in menu.buttons}

    assert {screen.name for screen in screens.OWN} <= offered
    assert not offered & {screen.name for screen in OF_ADMINS}


@of_admins
def test_members_use_no_button_of_an_admins_screen(world: World, screen: Screen) -> None:
    home, before = world.home(ADA), audited(world)

    for action in _forged_actions(registered_by(screen.register), str(world.people[ADA].id)):
        world.click_in_view(ADA, home, ids.HOME_REQUEST, overrides={"actions": [action]})
        shown = world.slack.open_modal(ADA)
        is_unknown = action["type"] == "overflow" and errors.OUTDATED in shown.visible_text
        assert is_unknown or REFUSED in shown.visible_text, action
        world.slack.close(ADA, shown)

    assert audited(world) == before


def _forged_actions(listeners: list[Listener], value: str) -> list[dict[str, Any]]:
    names = [listener.name for listener in listeners if listener.kind == "action"]
    buttons = [{"action_id": name, "value": value, "type": "button"} for name in names]
    chosen = [
        {"action_id": name, "selected_option": {"value": f"{choice} {value}"}, "type": "overflow"}
        for name in names
        if name.endswith(".menu")
        for choice in CHOICES
    ]
    return [*(each for each in buttons if not each["action_id"].endswith(".menu")), *chosen]


@of_admins
def test_members_send_no_form_of_an_admins_screen(world: World, screen: Screen) -> None:
    form = click(world, ADA, settings(world, ADA, "settings.feeds"), "settings.feeds.new")
    payload = world.submit(ADA, form, {"name": "phone"}).payload
    before = audited(world)

    for listener in registered_by(screen.register):
        if listener.kind == "view":
            payload["view"] |= {"callback_id": listener.name}
            response = world.slack.send_raw(*as_sent(payload))
            assert REFUSED in str(response.body), listener.name

    assert audited(world) == before
