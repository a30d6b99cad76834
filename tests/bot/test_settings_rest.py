"""Public holidays and webhooks in Slack's settings, over signed HTTP."""

from __future__ import annotations

import re
from datetime import date
from functools import partial
from typing import Any

import pytest

from api.webhooks.webhook_urls import resolve_and_check
from bot.base import ids
from storage.admin import holiday_overrides
from storage.base.calendar_values import HolidayOverride
from storage.base.event_values import Webhook
from storage.base.values import User
from storage.db.pages import PageOf
from storage.outbox import notification_outbox, organisation_config
from storage.webhooks import webhooks
from tests.bot.test_settings_access import as_sent, click, settings
from tests.bot.world import ADMIN, World
from tests.builders import signing_secrets
from tests.fakes.slack import View

# An address, so that no name has to be resolved.
URL = "https://93.184.215.14/hook"
SECRET = re.compile(r"whsec_[\w+/=]+")


@pytest.fixture(autouse=True)
def admin(world: World) -> User:
    """Anna, an admin with a Slack account."""
    anna = world.add_admin()
    world.app.services.check_webhook_url = partial(resolve_and_check, allow_private=False)
    return anna


def webhooks_of(world: World) -> list[Webhook]:
    return world.database.read_now(webhooks.page, PageOf(limit=100), by=world.acme.caller).items


def codes(world: World) -> list[str]:
    config = world.database.read_now(organisation_config.of_organisation, world.acme.id)
    return sorted(holiday_set.country_code for holiday_set in config.holiday_sets.values())


def overrides_of(world: World) -> list[HolidayOverride]:
    config = world.database.read_now(organisation_config.of_organisation, world.acme.id)
    (set_id,) = [
        holiday_set.id
        for holiday_set in config.holiday_sets.values()
        if holiday_set.country_code == "GB"
    ]
    page = world.database.read_now(
        holiday_overrides.page, set_id, PageOf(limit=100), by=world.acme.caller
    )
    return page.items


def test_a_country_is_added_once_and_removed(world: World) -> None:
    form = click(world, ADMIN, settings(world, ADMIN, "settings.holidays"), "settings.holidays.new")
    offered = world.slack.suggest(ADMIN, form, "settings.search.country", "DE-BY").body["options"]
    first = world.slack.submit(ADMIN, form, {"country_code": offered[0]})
    world.slack.send_raw(*as_sent(first.payload))
    world.settled()
    assert codes(world) == ["DE-BY", "GB"]

    listed = world.slack.open_modal(ADMIN, "DE-BY")
    (button,) = [
        button
        for button in listed.buttons
        if "DE-BY" in button.element.get("accessibility_label", "")
    ]
    days = click(world, ADMIN, listed, "settings.overrides", button.value)
    done = click(world, ADMIN, days, "settings.holidays.remove")
    assert "removed" in done.visible_text
    assert codes(world) == ["GB"]


def test_the_organisations_own_country_stays(world: World) -> None:
    days = click(world, ADMIN, settings(world, ADMIN, "settings.holidays"), "settings.overrides")

    click(world, ADMIN, days, "settings.holidays.remove")

    assert codes(world) == ["GB"]


def test_a_holiday_without_effects_is_changed_and_restored(world: World) -> None:
    days = click(world, ADMIN, settings(world, ADMIN, "settings.holidays"), "settings.overrides")
    form = click(world, ADMIN, days, "settings.overrides.new")
    values = {"date": "2026-08-04", "half": "am", "name": "Founders' morning"}

    assert world.submit(ADMIN, form, values).errors == {}

    (override,) = overrides_of(world)
    assert (override.date, override.half, override.is_holiday) == (date(2026, 8, 4), "am", True)
    listed = world.slack.open_modal(ADMIN, "Founders' morning")
    confirmation = click(world, ADMIN, listed, "settings.overrides.remove")
    assert (
        "goes back to the country's standard. No one's leave changes." in confirmation.visible_text
    )
    assert overrides_of(world) == [override]
    world.submit(ADMIN, confirmation)
    assert overrides_of(world) == []
    assert "No changes to the standard holidays." in world.slack.open_modal(ADMIN).visible_text


@pytest.mark.parametrize(
    ("filled", "field"),
    [({"date": "2026-08-04"}, "name"), ({"date": "2300-08-04", "name": "Far"}, "date")],
)
def test_an_invalid_day_is_reported_at_its_field(
    world: World, filled: dict[str, str], field: str
) -> None:
    days = click(world, ADMIN, settings(world, ADMIN, "settings.holidays"), "settings.overrides")
    form = click(world, ADMIN, days, "settings.overrides.new")

    assert list(world.slack.submit(ADMIN, form, filled).errors) == [field]


def test_a_duplicate_day_is_reported_at_the_day_in_the_persons_language(world: World) -> None:
    world.slack.change_person(ADMIN, locale="de-DE")
    values = {"date": "2026-08-04", "name": "Founders' day"}
    days = click(world, ADMIN, settings(world, ADMIN, "settings.holidays"), "settings.overrides")
    world.submit(ADMIN, click(world, ADMIN, days, "settings.overrides.new"), values)
    days = world.slack.open_modal(ADMIN, "Founders")

    response = world.slack.submit(
        ADMIN, click(world, ADMIN, days, "settings.overrides.new"), values
    )

    assert response.errors == {
        "date": "Für Di 4. Aug. 2026 gibt es schon eine Änderung. Entferne sie zuerst."
    }


# Webhooks


def a_webhook(world: World) -> View:
    """The modal that shows the secret of a new webhook."""
    form = click(world, ADMIN, settings(world, ADMIN, "settings.webhooks"), "settings.webhooks.new")
    assert world.submit(ADMIN, form, {"url": URL}).errors == {}
    return world.slack.open_modal(ADMIN)


def test_a_webhook_is_created_and_its_secret_shown_once(world: World) -> None:
    modal = a_webhook(world)

    (secret,) = SECRET.findall(modal.visible_text)
    (webhook,) = webhooks_of(world)
    assert (webhook.url, webhook.events) == (URL, ("*",))
    stored_secrets = world.database.read_now(
        signing_secrets, world.acme.id, webhook.id, now=world.clock()
    )
    assert stored_secrets == [secret]
    assert secret not in repr(world.slack.calls())


@pytest.mark.parametrize(
    "url", ["http://93.184.215.14/", "https://10.0.0.1/hook", "https://[::1]/", "nonsense"]
)
def test_a_url_that_rest_refuses_is_refused_in_slack(world: World, url: str) -> None:
    form = click(world, ADMIN, settings(world, ADMIN, "settings.webhooks"), "settings.webhooks.new")

    response = world.slack.submit(ADMIN, form, {"url": url})

    assert list(response.errors) == ["url"]
    assert webhooks_of(world) == []


def opened(world: World) -> View:
    """The modal of the only webhook."""
    world.slack.close(ADMIN, a_webhook(world))
    listed = world.slack.open_modal(ADMIN, URL)
    return click(world, ADMIN, listed, ids.WEBHOOK)


def test_a_webhooks_state_is_shown_and_a_test_is_sent(world: World) -> None:
    modal = opened(world)
    assert "Active\nNothing sent yet." in modal.visible_text

    tested = click(world, ADMIN, modal, "settings.webhook.test")

    assert "Sending a test." in tested.visible_text
    assert "The last event (ping) is waiting to be sent." in tested.visible_text


def test_an_admin_enables_a_webhook_from_the_message_about_it(world: World) -> None:
    world.slack.close(ADMIN, opened(world))
    (webhook,) = webhooks_of(world)
    world.database.write_now(
        webhooks.disable, world.acme.id, webhook.id, "It answered 410.", now=world.clock()
    )
    world.database.write_now(
        notification_outbox.notify_admins,
        world.acme.id,
        "webhook_disabled",
        webhook_id=webhook.id,
        now=world.clock(),
    )
    world.deliver()
    message = world.slack.wait_for_dm(ADMIN, showing="switched off")

    world.click(ADMIN, ids.WEBHOOK, message)
    modal = world.slack.open_modal(ADMIN, "It answered 410.")
    on = click(world, ADMIN, modal, "settings.webhook.on")

    assert "PATCH" not in message.visible_text
    assert "Active" in on.visible_text
    assert webhooks_of(world)[0].is_active
    off = click(world, ADMIN, on, "settings.webhook.off")
    assert "Switched off" in off.visible_text
    assert not webhooks_of(world)[0].is_active


def form_of(world: World) -> View:
    """The form that changes the only webhook."""
    form = click(world, ADMIN, opened(world), "settings.webhook.edit")
    assert form.callback_id == "settings.webhook.edit.form"
    return form


def test_a_webhooks_url_and_events_are_changed_once(world: World) -> None:
    form = form_of(world)
    values = {"url": URL + "/moved", "events": ["leave_request.approved"]}

    first = world.slack.submit(ADMIN, form, values)
    world.slack.send_raw(*as_sent(first.payload))
    world.settled()

    (changed,) = webhooks_of(world)
    assert (changed.url, changed.events, changed.version) == (
        URL + "/moved",
        ("leave_request.approved",),
        2,
    )
    assert world.audited("webhook.updated") == 1
    modal = world.slack.open_modal(ADMIN, URL + "/moved")
    assert "leave_request.approved\nActive" in modal.visible_text
    world.slack.close(ADMIN, modal)
    assert URL + "/moved\nActive" in world.slack.open_modal(ADMIN).visible_text


def test_a_webhook_cannot_be_moved_to_a_url_that_rest_refuses(world: World) -> None:
    response = world.slack.submit(ADMIN, form_of(world), {"url": "https://10.0.0.1/hook"})

    assert list(response.errors) == ["url"]
    assert webhooks_of(world)[0].url == URL


def test_an_unchanged_url_is_not_resolved_again(world: World) -> None:
    form = form_of(world)

    async def refuse(_: str) -> object:
        raise AssertionError("the URL did not change")

    world.app.services.check_webhook_url = refuse
    response = world.slack.submit(ADMIN, form, {"events": ["leave_request.declined"]})

    assert response.errors == {}
    assert webhooks_of(world)[0].events == ("leave_request.declined",)


def test_saving_an_unchanged_webhook_changes_nothing(world: World) -> None:
    assert world.slack.submit(ADMIN, form_of(world)).errors == {}

    assert webhooks_of(world)[0].version == 1


def test_a_webhook_deleted_meanwhile_is_reported_in_its_form(world: World) -> None:
    form = form_of(world)
    (webhook,) = webhooks_of(world)
    world.write(webhooks.delete, webhook.id)

    response = world.slack.submit(ADMIN, form, {"url": URL + "/moved"})

    assert "This no longer exists." in response.errors["url"]


def test_a_new_secret_is_shown_once_and_both_sign(world: World) -> None:
    rotated = click(world, ADMIN, opened(world), "settings.webhook.rotate")

    (secret,) = SECRET.findall(rotated.visible_text)
    (webhook,) = webhooks_of(world)
    stored_secrets = world.database.read_now(
        signing_secrets, world.acme.id, webhook.id, now=world.clock()
    )
    assert stored_secrets[0] == secret
    assert len(stored_secrets) == 2


def test_a_webhook_is_deleted(world: World) -> None:
    done = click(world, ADMIN, opened(world), "settings.webhook.delete")

    assert "deleted" in done.visible_text
    assert webhooks_of(world) == []


def test_a_disabled_webhook_cannot_be_tested(world: World) -> None:
    modal: Any = opened(world)
    (webhook,) = webhooks_of(world)
    world.database.write_now(webhooks.disable, world.acme.id, webhook.id, "off", now=world.clock())

    refusal = click(world, ADMIN, modal, "settings.webhook.test")

    assert "Switch the webhook on first" in refusal.visible_text
