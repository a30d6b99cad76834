"""A confirmation shows a change's consequences for people's leave before it is saved."""

from __future__ import annotations

import asyncio
import threading
from datetime import date, timedelta
from typing import Any

import pytest

from bot.interaction import errors
from storage.admin import people, people_status
from storage.db.database import Database
from storage.outbox import organisation_config
from storage.people import holiday_sets
from tests.bot.test_settings_access import as_sent, choose, click, settings
from tests.bot.test_settings_admin import (
    admin,
    form_of,
    organisation,
    person,
    search_result,
    week_of,
)
from tests.bot.test_settings_rest import overrides_of
from tests.bot.world import ADA, ADMIN, EVE, FIRST_DAY, World
from tests.builders import a_person, a_request
from tests.fakes.slack import View

__all__ = ["admin"]

# Ada's three days, from Monday; on Tuesdays she then works the morning only.
ADAS = "Ada Lovelace, Mon 3 to Wed 5 Aug 2026: 3 days → 2.5 days"
MORNING = ["monday", "tuesday:am", "wednesday", "thursday", "friday"]


def confirmation_of(world: World, form: View, filled: dict[str, Any]) -> View:
    """Submit the form; returns the confirmation that replaces it."""
    response = world.slack.submit(ADMIN, form, filled)
    assert (response.ok, response.errors) == (True, {})
    world.settled()
    confirmation = world.slack.open_modal(ADMIN, "Before you save")
    assert confirmation.id == form.id
    return confirmation


def confirm(world: World, confirmation: View) -> None:
    """Save; the submission arrives twice, as after a double click."""
    first = world.slack.submit(ADMIN, confirmation)
    assert first.ok
    world.slack.send_raw(*as_sent(first.payload))
    world.settled()


def test_other_working_days_are_shown_then_saved_once(world: World) -> None:
    request = world.submit_over_rest(ADA)

    confirmation = confirmation_of(
        world, form_of(world), week_of(MORNING) | {"leave_allowance": "12.5"}
    )

    assert f"1 request will change.\n• {ADAS}" in confirmation.visible_text
    assert (person(world, ADA).working_days, world.request(ADA)) == (None, request)
    confirm(world, confirmation)
    ada = person(world, ADA)
    assert (ada.working_days, ada.leave_allowance_half_days) == (tuple(MORNING), 25)
    assert ada.department_id == world.people[ADA].department_id
    assert world.request(ADA).total_half_days == 5
    assert (world.audited("user.updated"), world.audited("leave_request.recounted")) == (1, 1)
    # The view below the form is on top again.
    assert world.slack.open_modal(ADMIN).title == "People"


def test_a_cancelled_confirmation_saves_nothing(world: World) -> None:
    request = world.submit_over_rest(ADA)
    confirmation = confirmation_of(world, form_of(world), week_of(MORNING))

    world.slack.close(ADMIN, confirmation)

    assert (person(world, ADA).working_days, world.request(ADA)) == (None, request)
    assert world.slack.open_modal(ADMIN).title == "People"


def test_a_change_without_effects_is_saved_without_a_question(world: World) -> None:
    world.submit_over_rest(ADA)

    response = world.slack.submit(ADMIN, form_of(world), {"leave_allowance": "20"})

    assert response.body in (None, "", {})
    assert person(world, ADA).leave_allowance_half_days == 40


# Ada has requested three days.
OVERDRAWN = "1 person will have a negative balance.\n• Ada Lovelace, 2026: 22 → -1 days left"


def test_a_persons_allowance_that_overdraws_is_confirmed_then_saved(world: World) -> None:
    world.submit_over_rest(ADA)

    confirmation = confirmation_of(world, form_of(world), {"leave_allowance": "2"})

    assert OVERDRAWN in confirmation.visible_text
    assert person(world, ADA).leave_allowance_half_days is None
    confirm(world, confirmation)
    assert person(world, ADA).leave_allowance_half_days == 4


def test_a_departments_new_manager_gets_the_pending_requests(world: World) -> None:
    world.submit_over_rest(ADA)
    listed = settings(world, ADMIN, "settings.departments")
    team_id = world.people[ADA].department_id
    form = choose(world, ADMIN, listed, "settings.departments.menu", f"edit {team_id}")
    eve = search_result(world, form, "settings.search.person", "eve", world.people[EVE].id)

    confirmation = confirmation_of(world, form, {"manager_id": eve, "name": "Engineers & <co>"})

    assert "Grace Hopper and Hedy Lamarr → Eve Elsewhere" in confirmation.visible_text
    confirm(world, confirmation)
    assert "Engineers &amp; &lt;co&gt;" in world.slack.open_modal(ADMIN).visible_text
    assert world.audited("department.updated") == 1


def test_a_new_holiday_and_its_removal_are_confirmed_then_saved(world: World) -> None:
    request = world.submit_over_rest(ADA)
    days = click(world, ADMIN, settings(world, ADMIN, "settings.holidays"), "settings.overrides")
    form = click(world, ADMIN, days, "settings.overrides.new")
    values = {"date": "2026-08-04", "half": "am", "name": "Founders' morning"}

    confirmation = confirmation_of(world, form, values)

    assert ADAS in confirmation.visible_text
    assert (overrides_of(world), world.request(ADA)) == ([], request)
    confirm(world, confirmation)
    (override,) = overrides_of(world)
    assert (str(override.date), override.half, override.name) == (
        "2026-08-04",
        "am",
        "Founders' morning",
    )
    assert world.request(ADA).total_half_days == 5

    listed = world.slack.open_modal(ADMIN, "Founders' morning")
    confirmation = click(world, ADMIN, listed, "settings.overrides.remove")
    assert "Wed 5 Aug 2026: 2.5 days → 3 days" in confirmation.visible_text
    confirm(world, confirmation)
    assert (overrides_of(world), world.request(ADA).total_half_days) == ([], 6)
    assert world.audited("holiday_override.deleted") == 1


def test_other_days_off_are_chosen_with_their_consequences(world: World) -> None:
    sweden = world.write(holiday_sets.add, "SE")
    world.write(people.update, world.people[ADA].id, {"public_holiday_country_code": "SE"})
    eve = date(2026, 12, 24)
    world.submit_over_rest(ADA, start_date=eve - timedelta(days=1), end_date=eve)
    sets = settings(world, ADMIN, "settings.holidays")
    days = click(world, ADMIN, sets, "settings.overrides", sweden.id)
    assert "Also days off: Customary days off" in days.visible_text
    form = click(world, ADMIN, days, "settings.holidays.categories")
    assert "Fri 19 Jun, Thu 24 Dec, Thu 31 Dec" in str(form.blocks)

    confirmation = confirmation_of(world, form, {"categories": []})

    changes = "Wed 23 to Thu 24 Dec 2026: 1 day → 2 days"
    assert changes in confirmation.visible_text
    assert world.request(ADA).total_half_days == 2
    confirm(world, confirmation)
    assert world.request(ADA).total_half_days == 4
    assert "Also days off" not in world.slack.open_modal(ADMIN).visible_text
    assert world.audited("holiday_set.updated") == 1


def test_a_day_is_changed_for_every_year(world: World) -> None:
    days = click(world, ADMIN, settings(world, ADMIN, "settings.holidays"), "settings.overrides")
    form = click(world, ADMIN, days, "settings.overrides.new")
    values = {"date": "2026-12-24", "half": "pm", "name": "Christmas Eve"}

    world.submit(ADMIN, form, values | {"every_year": ["every_year"]})

    (override,) = overrides_of(world)
    assert (override.date, override.half, override.every_year) == (date(2026, 12, 24), "pm", True)
    listed = world.slack.open_modal(ADMIN, "Every 24 Dec: Christmas Eve")
    confirmation = click(world, ADMIN, listed, "settings.overrides.remove")
    shown = "Every 24 Dec (Christmas Eve) goes back to the country's standard."
    assert shown in confirmation.visible_text


def test_another_working_week_recalculates_all_leave(world: World) -> None:
    world.submit_over_rest(ADA)
    world.submit_over_rest(EVE)
    form = settings(world, ADMIN, "settings.organisation")

    days_off = dict.fromkeys(
        ("working_days/wednesday", "working_days/thursday", "working_days/friday"), "none"
    )
    confirmation = confirmation_of(world, form, {"name": "None", **days_off})

    assert (
        "2 requests will change.\n2 people affected: 6 days → 4 days in total."
        in confirmation.visible_text
    )
    assert organisation(world).name == "Acme"
    confirm(world, confirmation)
    after = organisation(world)
    assert (after.name, after.working_days) == ("None", ("monday", "tuesday"))
    assert world.request(EVE).total_half_days == 4
    assert not world.slack.has_modal(ADMIN)


def test_leave_that_would_count_nothing_is_pointed_out(world: World) -> None:
    world.submit_over_rest(ADA, end_date=FIRST_DAY)

    confirmation = confirmation_of(world, form_of(world), week_of(["friday"]))

    assert (
        "1 day → 0 days\nLeave that no longer covers any working days stays"
        in confirmation.visible_text
    )


def test_a_confirmation_names_at_most_five_requests(world: World) -> None:
    for week in range(8):
        day = FIRST_DAY + timedelta(weeks=week)
        a_request(world.database, world.acme, world.people[ADA], start_date=day)

    confirmation = confirmation_of(world, form_of(world), week_of(["monday:am", "tuesday"]))

    assert confirmation.visible_text.count("• Ada Lovelace, Mon") == 5
    assert "… and 3 more" in confirmation.visible_text
    assert "1 person affected: 8 days → 4 days in total." in confirmation.visible_text


@pytest.mark.parametrize(
    ("locale", "shown"), [("en-GB", "2026: 22 → 1 day left"), ("de-DE", "2026: 22 → 1 Tag übrig")]
)
def test_a_single_day_left_is_in_the_singular(world: World, locale: str, shown: str) -> None:
    world.slack.change_person(ADMIN, locale=locale)
    world.submit_over_rest(ADA)

    world.submit(ADMIN, form_of(world), week_of(MORNING) | {"leave_allowance": "3.5"})

    assert shown in world.slack.open_modal(ADMIN).visible_text


def test_an_error_at_the_confirmation_replaces_it(world: World) -> None:
    """The chosen manager is archived between the confirmation and its submission."""
    world.submit_over_rest(ADA)
    form = form_of(world)
    boss = a_person(world.database, world.acme, first_name="Bea", last_name="Boss")
    confirmation = confirmation_of(
        world,
        form,
        {"manager_id": search_result(world, form, "settings.search.person", "bea", boss.id)},
    )
    world.write(people_status.archive, boss.id)

    response = world.slack.submit(ADMIN, confirmation)

    assert response.ok
    assert "This user is archived." in world.slack.open_modal(ADMIN).visible_text
    assert person(world, ADA).manager_id is None


class Slow:
    """The app's database, in which long operations wait for ``may_go_on``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.may_go_on = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def dry_run(self, *args: Any, **kwargs: Any) -> Any:
        await self._until_released()
        return await self._database.dry_run(*args, **kwargs)

    async def write(self, *args: Any, **kwargs: Any) -> Any:
        await self._until_released()
        return await self._database.write(*args, **kwargs)

    async def _until_released(self) -> None:
        while not self.may_go_on.is_set():
            await asyncio.sleep(0.01)


def test_a_slow_change_is_confirmed_and_saved(world: World) -> None:
    world.submit_over_rest(ADA)
    form = form_of(world)
    slow = Slow(world.database)
    world.app.services.database = slow  # type: ignore[assignment]
    world.app.services.answer_seconds = 0.3

    response = world.slack.submit(ADMIN, form, week_of(MORNING))
    assert response.in_time
    assert world.slack.open_modal(ADMIN).visible_text == errors.SLOW
    slow.may_go_on.set()
    world.settled()
    confirmation = world.slack.open_modal(ADMIN, "Before you save")
    assert ADAS in confirmation.visible_text

    slow.may_go_on.clear()
    world.slack.submit(ADMIN, confirmation)
    assert world.slack.open_modal(ADMIN).visible_text == errors.SLOW
    slow.may_go_on.set()
    world.settled()
    assert person(world, ADA).working_days == tuple(MORNING)
    assert world.slack.dm(ADMIN)[-1].text == "Done. Your change was saved."


def test_a_type_that_stops_using_the_allowance_is_confirmed(world: World) -> None:
    world.submit_over_rest(ADA)
    annual = world.leave_type("annual")
    listed = settings(world, ADMIN, "settings.leave_types")
    form = choose(world, ADMIN, listed, "settings.leave_types.menu", f"edit {annual}")

    confirmation = confirmation_of(world, form, {"flags": ["requires_approval"]})

    assert (
        "Leave of this type that begins today or later will not use any allowance.\n"
        "1 person's balance will change.\n"
        "• Ada Lovelace, 2026: 22 → 25 days left"
    ) in confirmation.visible_text
    config = world.database.read_now(organisation_config.of_organisation, world.acme.id)
    assert config.leave_types[annual].deducts_allowance
    confirm(world, confirmation)
    config = world.database.read_now(organisation_config.of_organisation, world.acme.id)
    assert not config.leave_types[annual].deducts_allowance
    assert world.audited("leave_type.updated") == 1
