"""Display links in Slack's settings, over signed HTTP."""

from __future__ import annotations

import pytest

from storage.base.values import User
from storage.calendars import display_links
from storage.calendars.display_links import DisplayLink
from storage.db.pages import PageOf
from tests.bot.test_settings_access import as_sent, click, settings
from tests.bot.world import ADA, ADMIN, World


@pytest.fixture(autouse=True)
def admin(world: World) -> User:
    """Anna, an admin with a Slack account."""
    return world.add_admin()


def links_of(world: World) -> list[DisplayLink]:
    page = PageOf(limit=100)
    return world.database.read_now(display_links.page, page, by=world.acme.caller).items


def test_a_display_link_is_added_once_shown_and_removed(world: World) -> None:
    engineering = world.people[ADA].department_id
    form = click(
        world, ADMIN, settings(world, ADMIN, "settings.display_links"), "settings.display_links.new"
    )
    added = world.slack.submit(ADMIN, form, {"name": "Kitchen", "department_id": engineering})
    world.slack.send_raw(*as_sent(added.payload))
    world.settled()
    (link,) = links_of(world)

    listed = world.slack.open_modal(ADMIN, "Display links")
    after = click(world, ADMIN, listed, "settings.display_links.remove", link.id)

    assert (link.name, link.department_id) == ("Kitchen", engineering)
    assert "*Kitchen* · Engineering" in listed.visible_text
    assert f"/wallchart/{link.token}" in listed.visible_text
    assert "Kitchen" not in after.visible_text
    assert links_of(world) == []


def test_a_link_without_a_name_is_refused_in_the_form(world: World) -> None:
    form = click(
        world, ADMIN, settings(world, ADMIN, "settings.display_links"), "settings.display_links.new"
    )

    refused = world.slack.submit(ADMIN, form, {"name": " "})

    assert list(refused.errors) == ["name"]
    assert links_of(world) == []
