"""API keys and calendar feeds in Slack's settings, over signed HTTP."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.base import ids
from playground.loopback.blocks import located
from storage.base.errors import Unauthenticated
from storage.base.secrets import Secrets
from storage.base.values import ApiKey
from storage.calendars import feed_owners, feeds
from storage.db.pages import PageOf
from storage.keys import api_keys, authentication
from tests import builders, outside
from tests.bot.world import ADA, EVE, World
from tests.builders import owner_of_feed, personal_token
from tests.fakes.slack import View

KEY = re.compile(r"hiatus_sk_live_\w+")


def settings(world: World, who: str, button: str) -> View:
    """The settings that a button in the menu of the Home tab opens."""
    return click(world, who, click(world, who, world.home(who), ids.SETTINGS), button)


def click(world: World, who: str, view: View, action_id: str, value: str | None = None) -> View:
    """Click; returns the modal that is on top afterwards."""
    assert world.click_in_view(who, view, action_id, value).ok
    return world.slack.open_modal(who)


def choose(world: World, who: str, view: View, action_id: str, value: str) -> View:
    """Choose in the overflow menu that offers the value; returns the modal on top afterwards."""
    (block_id,) = [
        block["block_id"]
        for block, element in located(view.blocks)
        if element["type"] == "overflow" and value in [each["value"] for each in element["options"]]
    ]
    assert world.pick(who, view, block_id, action_id, value).ok
    return world.slack.open_modal(who)


def keys_of(world: World, who: str) -> list[ApiKey]:
    page = world.database.read_now(
        api_keys.page, PageOf(limit=100), by=world.caller(who), own_only=True, is_revoked=False
    )
    return page.items


def a_key(world: World, who: str = ADA, **filled: Any) -> View:
    """The modal that shows a new key."""
    form = click(world, who, settings(world, who, "settings.keys"), "settings.keys.new")
    values = {"name": "payroll", "scopes": ["leave:read", "users:read"]} | filled
    assert world.submit(who, form, values).errors == {}
    return world.slack.open_modal(who)


def test_a_key_is_made_shown_once_and_works(world: World) -> None:
    with capture_logs() as logs:
        shown = a_key(world, expires_at="2026-12-31")

    (secret,) = KEY.findall(shown.visible_text)
    authenticated = world.database.read_now(authentication.authenticate, secret, now=world.clock())
    (key,) = keys_of(world, ADA)
    assert authenticated.caller.user_id == world.people[ADA].id
    assert authenticated.caller.scopes == {"leave:read", "users:read"}
    assert (key.name, key.expires_at) == ("payroll", datetime(2027, 1, 1, tzinfo=UTC))
    # The secret is only in that response: not in a call to Slack, a message, a log or the view.
    assert secret not in repr(world.slack.calls())
    assert secret not in repr(world.slack.messages)
    assert secret not in shown.private_metadata
    assert secret not in repr(logs)


def test_the_list_shows_a_key_without_its_secret(world: World) -> None:
    modal = a_key(world, name="<!here> & payroll")
    (secret,) = KEY.findall(modal.visible_text)

    world.slack.close(ADA, modal)
    listed = world.slack.open_modal(ADA)

    assert "<!here> & payroll (hiatus_sk_live_" in listed.visible_text
    assert "users:read, leave:read\nNever used" in listed.visible_text
    assert secret not in json.dumps(listed.body)


def test_the_list_shows_the_time_of_a_keys_last_use(world: World) -> None:
    a_key(world)
    (key,) = keys_of(world, ADA)
    world.database.write_now(authentication.record_use, world.acme.id, key.id, now=world.clock())
    world.slack.close(ADA, world.slack.open_modal(ADA), is_cleared=True)

    assert "Last used 1 Jun 2026, 10:00" in settings(world, ADA, "settings.keys").visible_text


@pytest.mark.parametrize(
    ("filled", "field"),
    [
        ({"name": " "}, "name"),
        ({"expires_at": "2026-05-30"}, "expires_at"),
    ],
)
def test_an_error_of_a_new_key_is_shown_at_its_field(
    world: World, filled: dict[str, str], field: str
) -> None:
    form = click(world, ADA, settings(world, ADA, "settings.keys"), "settings.keys.new")

    response = world.slack.submit(ADA, form, {"name": "ci", "scopes": ["leave:read"], **filled})

    assert list(response.errors) == [field]
    assert keys_of(world, ADA) == []


def test_a_refused_form_can_be_sent_again(world: World) -> None:
    form = click(world, ADA, settings(world, ADA, "settings.keys"), "settings.keys.new")
    world.slack.submit(ADA, form, {"name": " ", "scopes": ["leave:read"]})

    assert world.slack.submit(ADA, form, {"name": "ci"}).errors == {}

    assert [key.name for key in keys_of(world, ADA)] == ["ci"]


@pytest.mark.both_engines
def test_a_form_that_is_sent_twice_creates_one_key(world: World) -> None:
    form = click(world, ADA, settings(world, ADA, "settings.keys"), "settings.keys.new")
    values = {"name": "ci", "scopes": ["leave:read"]}
    first = world.slack.submit(ADA, form, values)

    again = world.slack.send_raw(*as_sent(first.payload))

    assert again.ok
    assert "hiatus_sk_live_" not in str(again.body)
    assert len(keys_of(world, ADA)) == 1


def test_revoking_asks_for_confirmation_and_ends_the_key(world: World) -> None:
    modal = a_key(world)
    (secret,) = KEY.findall(modal.visible_text)
    world.slack.close(ADA, modal)
    listed = world.slack.open_modal(ADA)
    (button,) = [button for button in listed.buttons if button.action_id == "settings.keys.revoke"]
    assert button.element["confirm"]["style"] == "danger"

    after = click(world, ADA, listed, "settings.keys.revoke")

    assert "You have no API keys." in after.visible_text
    with pytest.raises(Unauthenticated):
        world.database.read_now(authentication.authenticate, secret, now=world.clock())


def test_users_cannot_revoke_a_colleagues_key(world: World) -> None:
    a_key(world, ADA)
    (key,) = keys_of(world, ADA)
    listed = settings(world, EVE, "settings.keys")
    forged = {"actions": [{"action_id": "settings.keys.revoke", "value": key.id, "type": "button"}]}

    world.click_in_view(EVE, listed, "settings.keys.new", overrides=forged)

    assert len(keys_of(world, ADA)) == 1
    assert world.slack.open_modal(EVE).title == "Hiatus"


def test_many_keys_are_paginated(world: World) -> None:
    for number in range(25):
        builders.a_key(world.database, world.acme, world.people[ADA], name=f"key {number}")
    first = settings(world, ADA, "settings.keys")
    assert "key 24 " in first.visible_text
    assert "key 4 " not in first.visible_text

    second = click(world, ADA, first, "settings.keys.more")

    assert "key 4 " in second.visible_text
    assert "Show more" not in [button.text for button in second.buttons]


# Calendar feeds


def links(view: View) -> list[str]:
    """The feeds' addresses, as one copies them; links to add a feed to a calendar are left out."""
    return re.findall(r"https?://\S+/cal/[^/`\s]+(?=\s|`|$)", view.visible_text)


def test_the_shown_links_belong_to_the_users_feed(world: World) -> None:
    modal = settings(world, ADA, "settings.feeds")

    own, team, organisation = links(modal)
    token = own.rsplit("/", 1)[1]
    assert own.startswith(world.slack.app_url)
    assert (team, organisation) == (f"{own}?scope=team", f"{own}?scope=org")
    owner = owner_of_feed(world.database, token)
    assert owner.user_id == world.people[ADA].id


def test_regenerating_asks_for_confirmation_and_ends_the_old_links(world: World) -> None:
    modal = settings(world, ADA, "settings.feeds")
    old = links(modal)[0].rsplit("/", 1)[1]
    (button,) = [
        button for button in modal.buttons if button.action_id == "settings.feeds.regenerate"
    ]
    assert button.element["confirm"]["style"] == "danger"

    after = click(world, ADA, modal, "settings.feeds.regenerate")

    assert links(after)[0].rsplit("/", 1)[1] != old
    assert world.database.read_now(feed_owners.find_by_token, old) is None


def test_a_named_feed_is_added_once_and_removed(world: World) -> None:
    modal = settings(world, ADA, "settings.feeds")
    form = click(world, ADA, modal, "settings.feeds.new")
    first = world.slack.submit(ADA, form, {"name": "Kitchen *display*"})
    world.slack.send_raw(*as_sent(first.payload))
    world.settled()
    listed = world.slack.open_modal(ADA, "Kitchen")
    assert len(links(listed)) == 4

    after = click(world, ADA, listed, "settings.feeds.remove")

    assert "Kitchen" not in after.visible_text
    assert len(links(after)) == 3


def test_each_feed_shows_the_time_and_the_program_of_its_last_fetch(world: World) -> None:
    ada = world.caller(ADA)
    feed = world.database.write_now(feeds.create, None, by=ada, now=world.clock())
    world.database.write_now(
        feed_owners.record_fetch, world.acme.id, feed.id, "Thunderbird", now=world.clock()
    )

    text = settings(world, ADA, "settings.feeds").visible_text
    assert "by Thunderbird." in text
    assert text.count("No calendar has used it yet.") == 1
    assert f"Leave: {world.people[ADA].name}" in text


def test_links_whose_secret_key_was_lost_can_be_replaced(world: World, database_url: str) -> None:
    ada = world.caller(ADA)
    world.database.write_now(feeds.create, "Phone", by=ada, now=world.clock())
    world.database.write_now(personal_token, by=ada, now=world.clock())
    lost_token = Secrets.generate().encrypt("encrypted with a key that is gone")
    outside.run(database_url, f"UPDATE calendar_feeds SET token_encrypted = '{lost_token}'")

    modal = settings(world, ADA, "settings.feeds")
    assert links(modal) == []
    assert "Your links can no longer be shown" in modal.visible_text
    assert "Phone" in modal.visible_text

    after = click(world, ADA, modal, "settings.feeds.regenerate")
    assert len(links(after)) == 3
    after = click(world, ADA, after, "settings.feeds.remove")
    assert "Phone" not in after.visible_text


def test_users_cannot_remove_a_colleagues_feed(world: World) -> None:
    feed = world.write(feeds.create, "mine", by=ADA)
    modal = settings(world, EVE, "settings.feeds")
    forged = {
        "actions": [{"action_id": "settings.feeds.remove", "value": feed.id, "type": "button"}]
    }

    world.click_in_view(EVE, modal, "settings.feeds.new", overrides=forged)

    owner_of_feed(world.database, feed.token)
    assert "mine" not in world.slack.open_modal(EVE).visible_text


def test_a_click_in_a_closed_list_does_nothing(world: World) -> None:
    modal = settings(world, ADA, "settings.feeds")
    world.slack.close(ADA, modal)

    response = world.click_in_view(ADA, modal, "settings.feeds.regenerate", force=True)

    assert response.ok
    assert not world.slack.has_modal(ADA)


def as_sent(payload: dict[str, Any]) -> tuple[bytes]:
    from urllib.parse import urlencode

    return (urlencode({"payload": json.dumps(payload)}).encode(),)
