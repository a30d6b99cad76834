"""Labels for people in Slack's settings, over signed HTTP."""

from __future__ import annotations

from storage.admin import labels
from storage.admin.labels import Label
from storage.db.pages import PageOf
from tests.bot.test_settings_access import as_sent, click, settings
from tests.bot.world import ADMIN, World


def labels_of(world: World) -> list[Label]:
    page = PageOf(limit=100)
    return world.database.read_now(labels.page, page, by=world.acme.caller).items


def test_a_label_is_added_once_changed_and_deleted(world: World) -> None:
    world.add_admin()
    form = click(world, ADMIN, settings(world, ADMIN, "settings.labels"), "settings.labels.new")
    added = world.slack.submit(ADMIN, form, {"name": "First aider", "colour": "#2E86DE"})
    world.slack.send_raw(*as_sent(added.payload))
    world.settled()
    (label,) = labels_of(world)

    listed = world.slack.open_modal(ADMIN, "Labels")
    form = click(world, ADMIN, listed, "settings.labels.edit", label.id)
    world.slack.submit(ADMIN, form, {"colour": "#10ac84"})
    world.settled()
    (after,) = labels_of(world)
    listed_after = world.slack.open_modal(ADMIN, "Labels")
    form = click(world, ADMIN, listed_after, "settings.labels.edit", label.id)
    done = click(world, ADMIN, form, "settings.labels.delete")

    assert (label.name, label.colour) == ("First aider", "#2e86de")
    assert "*First aider*\n#2e86de" in listed.visible_text
    assert (after.name, after.colour) == ("First aider", "#10ac84")
    assert "#10ac84" in listed_after.visible_text
    assert "deleted" in done.visible_text
    assert labels_of(world) == []


def test_a_wrong_colour_and_a_taken_name_are_refused_at_their_fields(world: World) -> None:
    world.add_admin()
    new = {"name": "First aider", "colour": "#2e86de"}
    world.database.write_now(labels.create, new, by=world.acme.caller, now=world.clock())
    form = click(world, ADMIN, settings(world, ADMIN, "settings.labels"), "settings.labels.new")

    wrong = world.slack.submit(ADMIN, form, {"name": "Warden", "colour": "blue"})
    taken = world.slack.submit(ADMIN, form, {"name": "FIRST aider", "colour": "#2e86de"})

    assert list(wrong.errors) == ["colour"]
    assert list(taken.errors) == ["name"]
    assert len(labels_of(world)) == 1
