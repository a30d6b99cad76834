"""German readers see German names of public holidays, and the names that people typed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest

from bot.base import ids
from storage.admin import holiday_overrides, people
from storage.admin.holiday_overrides import NewOverride
from storage.db.database import Database
from storage.outbox import organisation_config
from tests.bot.test_settings_access import click, settings
from tests.bot.world import ADA, ADMIN, GRACE, World
from tests.builders import a_person
from tests.fakes.slack import LoopbackSlack, View

CORPUS_CHRISTI = date(2026, 6, 4)
FEAST = date(2026, 6, 8)


@pytest.fixture
def bavaria(database: Database, slack: LoopbackSlack) -> Iterator[World]:
    """An organisation in Bavaria whose people read German."""
    with World(database, slack, country_code="DE-BY", timezone="Europe/Berlin") as world:
        anna = a_person(database, world.acme, first_name="Anna", last_name="Admin", role="admin")
        slack.add_person(ADMIN, anna.email, anna.name)
        for who in (ADA, ADMIN):
            slack.change_person(who, locale="de-DE")
        yield world


def override(world: World, new: NewOverride) -> None:
    config = world.database.read_now(organisation_config.of_organisation, world.acme.id)
    (set_id,) = config.holiday_sets
    world.clock.advance(seconds=1)
    world.write(holiday_overrides.add, set_id, new)


def form_for(world: World, typed: str) -> View:
    world.command(ADA, typed)
    return world.slack.open_modal(ADA, ids.REQUEST_FORM)


def test_the_form_names_public_holidays_in_german(bavaria: World) -> None:
    override(bavaria, NewOverride(date=FEAST, name="Founders' Day"))

    form = form_for(bavaria, "3.-9. juni")

    named = "Feiertage: Do 4. Juni (Fronleichnam), Mo 8. Juni (Founders' Day)"
    assert named in form.visible_text


def test_the_calendar_names_public_holidays_in_german(bavaria: World) -> None:
    override(bavaria, NewOverride(date=FEAST, name="Good Friday"))
    bavaria.home(ADA)

    bavaria.slack.command(ADA, "/timeoff", "kalender")
    bavaria.click_in_view(ADA, bavaria.slack.home(ADA), ids.CALENDAR)

    (message,) = bavaria.slack.ephemerals
    named = "🎉 Do 4. Juni: Fronleichnam · 🎉 Mo 8. Juni: Good Friday"
    assert named in message.visible_text
    modal = bavaria.slack.open_modal(ADA)
    assert "*Do 4. Juni*\n🎉 Fronleichnam" in modal.visible_text
    assert "*Mo 8. Juni*\n🎉 Good Friday" in modal.visible_text


def test_a_public_holiday_of_two_countries_is_named_once(bavaria: World) -> None:
    vienna = {"public_holiday_country_code": "AT-9"}
    bavaria.database.write_now(
        people.update,
        bavaria.people[GRACE].id,
        vienna,
        by=bavaria.acme.caller,
        now=bavaria.clock(),
    )

    bavaria.command(ADA, "kalender 2026-12-21")

    (message,) = bavaria.slack.ephemerals
    assert "🎉 Fr 25. Dez.: Erster Weihnachtstag" in message.visible_text
    assert "Christtag" not in message.visible_text


def test_the_message_about_recalculated_leave_names_the_public_holiday_in_german(
    bavaria: World,
) -> None:
    bavaria.a_request(start_date="2026-06-03", end_date="2026-06-05")

    override(bavaria, NewOverride(date=CORPUS_CHRISTI, name=None, is_holiday=False))
    bavaria.deliver()

    told = bavaria.slack.dm(ADA)[-1].text
    assert "Do 4. Juni 2026 ist kein Feiertag mehr (Fronleichnam)" in told


def test_the_list_of_public_holidays_is_in_german(bavaria: World) -> None:
    override(bavaria, NewOverride(date=FEAST, name="Founders' Day"))
    # Without a name, the organisation's change keeps that of the country.
    override(bavaria, NewOverride(date=CORPUS_CHRISTI, name=None, is_holiday=False))

    sets = settings(bavaria, ADMIN, "settings.holidays")
    days = click(bavaria, ADMIN, sets, "settings.overrides")

    assert "So 1. Nov. 2026: Allerheiligen" in days.visible_text
    assert "Mo 8. Juni 2026: Founders' Day\nGeändert" in days.visible_text
    assert "Do 4. Juni 2026: Fronleichnam\nKein Feiertag" in days.visible_text
    remove = next(each for each in days.buttons if each.action_id == "settings.overrides.remove")
    removal = click(bavaria, ADMIN, days, "settings.overrides.remove", remove.value)
    assert "Do 4. Juni 2026 (Fronleichnam)" in removal.visible_text


@pytest.mark.parametrize("typed", ["erster mai", "Labor Day"])
def test_a_public_holiday_is_understood_by_both_names(bavaria: World, typed: str) -> None:
    form = form_for(bavaria, typed)

    assert form.values[ids.FIRST_DAY][ids.RECOUNT]["selected_date"] == "2027-05-01"
