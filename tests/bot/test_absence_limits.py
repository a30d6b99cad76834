"""What people and approvers see in Slack of absence limits."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from bot.base import ids
from storage.admin import absence_limits
from tests.bot.world import ADA, GRACE, World
from tests.builders import a_person, a_request

FRIDAY: Final = date(2026, 6, 5)


def limited(world: World, **fields: Any) -> None:
    """A limit of no one away for Engineering, and a colleague of Ada's who is away on Friday."""
    department_id = world.people[ADA].department_id
    body = {"name": "Team", "department_id": department_id} | fields
    world.write(absence_limits.create, body)
    colleague = a_person(world.database, world.acme, department_id=department_id)
    a_request(world.database, world.acme, colleague, start_date=FRIDAY, code="sick")


def test_the_form_shows_a_limit_that_refuses_and_is_not_sent(world: World) -> None:
    limited(world, max_away=1)
    day = FRIDAY.isoformat()

    refused = world.send_form(**{ids.FIRST_DAY: day, ids.LAST_DAY: day})

    assert "Fri 5 Jun: 2 of" in " ".join(refused.errors.values())
    assert "away (limit 1)" in " ".join(refused.errors.values())


def test_typed_leave_opens_a_form_with_the_warning(world: World) -> None:
    limited(world, max_away=1, enforcement="warn")

    world.command(ADA, "5 jun")

    form = world.slack.open_modal(ADA)
    assert "Fri 5 Jun: 2 of" in form.visible_text
    assert "away (limit 1)" in form.visible_text


def test_the_approver_sees_the_strength_of_the_team_and_the_limit(world: World) -> None:
    limited(world, max_away=1, enforcement="warn")

    world.a_request(**{ids.FIRST_DAY: "2026-06-04", ids.LAST_DAY: FRIDAY.isoformat()})

    card = world.card(GRACE).visible_text
    assert "Thu 1 away, Fri 2 away" in card
    assert "Team of" in card
    assert "⚠️ Fri 5 Jun: 2 of" in card


def test_cards_that_were_sent_follow_a_new_limit(world: World) -> None:
    world.a_request(**{ids.FIRST_DAY: FRIDAY.isoformat(), ids.LAST_DAY: FRIDAY.isoformat()})
    world.deliver()
    before = world.card(GRACE).visible_text

    limit = world.write(absence_limits.create, {"name": "All", "max_away": 0})
    world.deliver()
    limited_card = world.card(GRACE).visible_text
    world.write(absence_limits.delete, limit.id)
    world.deliver()

    assert "(limit 0)" not in before
    assert "⚠️ Fri 5 Jun: 1 of" in limited_card
    assert "(limit 0)" not in world.card(GRACE).visible_text


def test_the_team_on_days_of_several_weeks_is_shown_with_dates(world: World) -> None:
    world.a_request(**{ids.FIRST_DAY: "2026-06-08", ids.LAST_DAY: "2026-06-19"})

    assert "Mon 8 to Fri 19 Jun 1 away" in world.card(GRACE).visible_text
