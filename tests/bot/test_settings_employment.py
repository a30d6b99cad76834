"""Admins date changes of a person, and set their last day of work."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from bot.base import ids
from storage.admin import people
from storage.rules import employment_terms
from tests.bot.test_consequences import confirm, confirmation_of
from tests.bot.test_settings_admin import admin, form_of, person, week_of
from tests.bot.world import ADA, ADMIN, GRACE, World
from tests.builders import a_department
from tests.fakes.slack import View

__all__ = ["admin"]

THREE = ["monday", "tuesday", "wednesday"]


def day_in(form: View, name: str) -> str | None:
    """The day that a date picker of the form shows."""
    block = next(block for block in form.blocks if block.get("block_id") == name)
    shown: str | None = block["element"].get("initial_date")
    return shown


def begins(world: World) -> list[date | None]:
    return [record.valid_from for record in employment_terms.records_of(person(world, ADA))]


def test_changes_count_from_today_unless_another_day_is_chosen(world: World) -> None:
    # Monday, 8 June 2026.
    world.clock.advance(days=7)
    form = form_of(world)
    assert day_in(form, "effective_from") == "2026-06-08"

    assert world.slack.submit(ADMIN, form, week_of(THREE)).errors == {}
    world.settled()
    world.slack.close(ADMIN, world.slack.open_modal(ADMIN))
    assert begins(world) == [None, date(2026, 6, 8)]

    chosen = week_of(["friday"]) | {"effective_from": "2026-07-01"}
    assert world.slack.submit(ADMIN, form_of(world), chosen).errors == {}
    world.settled()
    world.slack.close(ADMIN, world.slack.open_modal(ADMIN))

    assert begins(world) == [None, date(2026, 6, 8), date(2026, 7, 1)]
    assert person(world, ADA).working_days == tuple(THREE)
    assert "Changes are already planned from Wed 1 Jul 2026." in form_of(world).visible_text


def test_other_fields_of_a_planned_record_stay_as_planned(world: World) -> None:
    world.clock.advance(days=7)
    sales = a_department(world.database, world.acme, name="Sales")
    planned = {"working_days": THREE, "effective_from": date(2026, 7, 1)}
    world.write(people.update, world.people[ADA].id, planned)

    moved = {"department_id": sales.id, "effective_from": "2026-08-01"}
    assert world.slack.submit(ADMIN, form_of(world), moved).errors == {}

    last = employment_terms.records_of(person(world, ADA))[-1]
    assert (last.valid_from, last.department_id) == (date(2026, 8, 1), sales.id)
    assert last.working_days == tuple(THREE)


def test_the_settings_of_a_new_person_count_for_the_leave_year(world: World) -> None:
    form = form_of(world)
    assert day_in(form, "effective_from") == "2026-01-01"

    joined = week_of(THREE) | {"leave_allowance": "15", "start_date": "2026-02-01"}
    assert world.slack.submit(ADMIN, form, joined).errors == {}

    assert begins(world) == [None]
    ada = person(world, ADA)
    assert (ada.working_days, ada.leave_allowance_half_days) == (tuple(THREE), 30)


def test_a_last_day_shows_its_plan_before_it_is_saved_and_the_person_is_told(
    world: World,
) -> None:
    world.clock.advance(days=7)
    # Monday to Wednesday.
    request = world.submit_over_rest(ADA)
    world.settled()

    confirmation = confirmation_of(world, form_of(world), {"end_date": "2026-08-04"})

    shown = confirmation.visible_text
    assert "1 request will change." in shown
    assert "ends on Tue 4 Aug 2026 (2 days)" in shown
    # 216 of 365 days of 25, rounded up: 15 days.
    assert "Ada Lovelace, 2026: 22 → 13 days left" in shown
    assert "Ada Lovelace will be archived after Tue 4 Aug 2026." in shown
    assert person(world, ADA).end_date is None
    confirm(world, confirmation)
    assert person(world, ADA).end_date == date(2026, 8, 4)
    assert world.request(ADA).end_date == date(2026, 8, 4)
    assert world.request(ADA).version == request.version + 1
    world.deliver()
    told = [message.text for message in world.slack.dm(ADA)]
    assert any("because your employment ends on Tue 4 Aug 2026" in text for text in told)


def test_a_later_first_day_shows_the_leave_that_starts_later_and_tells_the_person(
    world: World,
) -> None:
    request = world.submit_over_rest(ADA)
    world.settled()
    second = request.start_date + timedelta(days=1)
    world.deliver()

    confirmation = confirmation_of(world, form_of(world), {"start_date": second.isoformat()})

    assert "starts on Tue 4 Aug 2026 (2 days)" in confirmation.visible_text
    confirm(world, confirmation)
    assert world.request(ADA).start_date == second
    world.write(people.update, world.people[ADA].id, {"start_date": date(2026, 9, 1)})
    world.deliver()
    told = [message.text for message in world.slack.dm(ADA)]
    assert any("because your employment starts on Tue 1 Sept 2026" in text for text in told)
    assert "Cancelled because employment starts later" in world.card(GRACE).visible_text


def test_leave_after_the_last_day_is_refused_at_its_field(world: World) -> None:
    world.write(people.update, world.people[ADA].id, {"end_date": date(2026, 8, 4)})

    refused: Any = world.send_form(ADA)

    assert refused.errors == {
        ids.LAST_DAY: "Employment ends on Tue 4 Aug 2026. Choose that day or an earlier one."
    }


def test_a_day_that_is_out_of_order_is_shown_at_its_field(world: World) -> None:
    form = form_of(world)

    response = world.slack.submit(
        ADMIN, form, {"start_date": "2026-03-01", "end_date": "2026-02-01"}
    )

    assert response.errors == {
        "end_date": "Employment starts on Sun 1 Mar 2026, so it cannot end before that day."
    }
