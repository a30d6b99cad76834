"""Digests and display links in Slack's settings, over signed HTTP."""

from __future__ import annotations

import pytest

from storage.admin import channel_digests, organisation_settings
from storage.base.values import ChannelDigest, User
from storage.calendars import display_links
from storage.calendars.display_links import DisplayLink
from storage.db.pages import PageOf
from tests.bot.test_digest import NINE, TODAY, off, run_jobs
from tests.bot.test_settings_access import as_sent, click, settings
from tests.bot.world import ADA, ADMIN, World

CHANNEL = "CWHOISOUT"


@pytest.fixture(autouse=True)
def admin(world: World) -> User:
    """Anna, an admin with a Slack account, and a channel."""
    anna = world.add_admin()
    world.slack.add_channel(CHANNEL, "who-is-out", is_member=True)
    return anna


def digests_of(world: World) -> list[ChannelDigest]:
    page = PageOf(limit=100)
    return world.database.read_now(channel_digests.page, page, by=world.acme.caller).items


def test_a_digest_is_added_once_changed_and_deleted(world: World) -> None:
    engineering = world.people[ADA].department_id
    form = click(world, ADMIN, settings(world, ADMIN, "settings.digests"), "settings.digests.new")
    values = {"channel": CHANNEL, "department_id": engineering, "frequency": "weekly"}
    first = world.slack.submit(ADMIN, form, values)
    world.slack.send_raw(*as_sent(first.payload))
    world.settled()
    (digest,) = digests_of(world)

    listed = world.slack.open_modal(ADMIN, "Digests")
    changed = click(world, ADMIN, listed, "settings.digests.edit", digest.id)
    world.submit(ADMIN, changed, {"department_id": "none", "locale": "de"})
    (after,) = digests_of(world)
    listed_after = world.slack.open_modal(ADMIN, "Digests")
    form = click(world, ADMIN, listed_after, "settings.digests.edit", digest.id)
    done = click(world, ADMIN, form, "settings.digests.delete")

    assert (digest.channel, digest.department_id) == (CHANNEL, engineering)
    assert (digest.frequency, digest.locale) == ("weekly", "en")
    assert "Weekly · Engineering · English" in listed.visible_text
    assert (after.department_id, after.frequency, after.locale) == (None, "weekly", "de")
    assert "Weekly · Everyone · Deutsch" in listed_after.visible_text
    assert "deleted" in done.visible_text
    assert digests_of(world) == []


def test_the_list_shows_the_organisations_digest_and_why_slack_refuses_a_channel(
    world: World,
) -> None:
    world.link()
    by, now = world.acme.caller, world.clock()
    own = {"digest_channel": "CEVERYONE"}
    world.database.write_now(organisation_settings.update, own, by=by, now=now)
    world.database.write_now(channel_digests.create, {"channel": "CGONE"}, by=by, now=now)
    off(world, ADA, TODAY, TODAY)
    run_jobs(world, NINE)

    listed = settings(world, ADMIN, "settings.digests")
    organisation = click(world, ADMIN, listed, "settings.in_slack")

    assert "Set in the organisation settings" in listed.visible_text
    assert "The channel doesn't exist, or it's private" in listed.visible_text
    assert organisation.callback_id == "settings.in_slack.form"


def test_the_same_digest_is_refused_in_the_form(world: World) -> None:
    by, now = world.acme.caller, world.clock()
    world.database.write_now(channel_digests.create, {"channel": CHANNEL}, by=by, now=now)
    form = click(world, ADMIN, settings(world, ADMIN, "settings.digests"), "settings.digests.new")

    refused = world.slack.submit(ADMIN, form, {"channel": CHANNEL})

    assert refused.errors == {"channel": "This channel already gets this digest."}


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
