"""Allowances in Slack's settings, over signed HTTP. Today is Monday, 1 June 2026."""

from __future__ import annotations

from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any

import pytest

from storage.admin import allowances, departments, organisation_settings
from storage.base.allowance_values import Allowance, AllowanceTerms
from storage.leave import leave_types, ledgers
from storage.outbox import organisation_config
from tests.bot.test_consequences import confirm, confirmation_of
from tests.bot.test_settings_access import as_sent, choose, click, settings
from tests.bot.test_settings_admin import (
    admin,
    departments_of,
    leave_types_of,
    organisation,
    search_result,
)
from tests.bot.world import ADA, ADMIN, World
from tests.builders import a_person, a_request
from tests.fakes.slack import View

__all__ = ["admin"]

SCREEN = "settings.allowances"
MENU = f"{SCREEN}.menu"
NEXT_YEAR = date(2027, 1, 1)


def allowances_of(world: World) -> list[Allowance]:
    config = world.database.read_now(organisation_config.of_organisation, world.acme.id)
    return sorted(config.allowances.values(), key=lambda allowance: allowance.id)


def terms_of(world: World) -> tuple[AllowanceTerms, ...]:
    """The terms of the default allowance."""
    return allowances_of(world)[0].terms


def volunteering(world: World, **terms: Any) -> Allowance:
    return world.write(
        allowances.create, {"name": "Volunteering", "half_days_per_year": 4} | terms
    ).allowance


def change(world: World, allowance_id: str, terms: dict[str, Any], day: date) -> None:
    world.write(allowances.update, allowance_id, terms, effective_from=day)


def editing(world: World, allowance_id: str) -> View:
    listed = settings(world, ADMIN, SCREEN)
    if allowance_id == world.acme.id:
        return click(world, ADMIN, listed, f"{SCREEN}.edit")
    return choose(world, ADMIN, listed, MENU, f"edit {allowance_id}")


def close_all(world: World) -> None:
    if world.slack.has_modal(ADMIN):
        world.slack.close(ADMIN, world.slack.open_modal(ADMIN), is_cleared=True)


def remaining(world: World, on: date) -> float:
    """Ada's days left of the default allowance."""
    balance = world.database.read_now(
        ledgers.balance, world.people[ADA].id, on=on, by=world.acme.caller, now=world.clock()
    )
    return float(balance.remaining_half_days) / 2


def test_an_allowance_is_added_once_with_all_its_terms(world: World) -> None:
    listed = settings(world, ADMIN, SCREEN)
    assert "25 days a year" in listed.visible_text
    form = click(world, ADMIN, listed, f"{SCREEN}.new")

    first = world.slack.submit(
        ADMIN,
        form,
        {
            "name": "Sick days & *more*",
            "days_per_year": "16.8",
            "granting": "monthly",
            "by_tenure": "5: 18\n\n10 : 20,25",
            "flags": ["may_borrow", "earnable"],
            "available_after_months": "3",
            "overdraft_days": "1.5",
            "carried": "days",
            "carry_over": "5",
            "carry_over_expires_after_months": "3",
            "credits_expire_after_months": "6",
        },
    )
    world.slack.send_raw(*as_sent(first.payload))
    world.settled()

    assert first.errors == {}
    _, added = allowances_of(world)
    assert (added.name, added.code, added.earnable) == (
        "Sick days & *more*",
        "sick-days-more",
        True,
    )
    (terms,) = added.terms
    assert (terms.half_days_per_year, terms.granting) == (Fraction(168, 5), "monthly")
    assert [(step.after_years, step.half_days_per_year) for step in terms.by_tenure] == [
        (5, 36),
        (10, Fraction(81, 2)),
    ]
    assert (terms.may_borrow, terms.available_after_months) == (True, 3)
    assert (terms.overdraft_half_days, terms.carry_over_half_days) == (3, 10)
    assert (terms.carry_over_expires_after_months, terms.credits_expire_after_months) == (3, 6)
    assert (
        "16.8 days a year, granted monthly · 18 days after 5 years · 20.25 days after 10 years · "
        "can be taken after 3 months at work · can be taken early · up to 1.5 days below zero · "
        "carries over 5 days for 3 months · can be earned"
    ) in world.slack.open_modal(ADMIN, "Sick days &amp; *more*").visible_text


def test_an_allowance_without_a_figure_carries_over_all_days(world: World) -> None:
    form = click(world, ADMIN, settings(world, ADMIN, SCREEN), f"{SCREEN}.new")

    assert world.submit(ADMIN, form, {"name": "Sabbatical", "carried": "all"}).errors == {}

    (terms,) = allowances_of(world)[1].terms
    assert (terms.half_days_per_year, terms.carry_over_half_days) == (None, None)
    shown = world.slack.open_modal(ADMIN, "Sabbatical").visible_text
    assert "Only people with days of their own · carries over all days left" in shown


def test_days_that_are_only_earned_are_no_ones_figure(world: World) -> None:
    world.write(allowances.create, {"name": "Time in lieu", "earnable": True})

    shown = settings(world, ADMIN, SCREEN).visible_text

    assert "Can be earned" in shown
    assert "people with days of their own" not in shown


def test_saving_the_form_as_it_opened_changes_nothing(world: World) -> None:
    default = allowances_of(world)[0]
    carry = {"carry_over_half_days": None, "by_tenure": (), "half_days_per_year": Fraction(168, 5)}
    change(world, default.id, carry, date(2026, 5, 1))
    change(world, default.id, {"half_days_per_year": 60}, NEXT_YEAR)
    before = allowances_of(world)

    assert world.submit(ADMIN, editing(world, default.id)).errors == {}
    close_all(world)
    assert world.submit(ADMIN, settings(world, ADMIN, "settings.leave_year")).errors == {}

    assert allowances_of(world) == before


def test_fewer_days_from_january_are_shown_then_saved_once(world: World) -> None:
    before = remaining(world, NEXT_YEAR)
    form = editing(world, world.acme.id)
    assert "Leave empty to change it from 1 Jan 2026 on." in form.visible_text

    confirmation = confirmation_of(
        world, form, {"days_per_year": "20", "effective_from": "2027-01-01"}
    )

    shown = confirmation.visible_text
    assert "6 people's balances will change." in shown
    assert "Ada Lovelace, 2027: 25 → 20 days left" in shown
    assert len(terms_of(world)) == 1

    confirm(world, confirmation)

    of_past, of_future = terms_of(world)
    assert (of_past.half_days_per_year, of_future.half_days_per_year) == (50, 40)
    assert of_future.valid_from == NEXT_YEAR
    assert (remaining(world, date(2026, 12, 31)), remaining(world, NEXT_YEAR)) == (25, before - 5)
    assert "changes on 1 Jan 2027" in world.slack.open_modal(ADMIN, "Allowances").visible_text


def test_more_days_are_saved_at_once_from_the_first_day_of_the_leave_year(world: World) -> None:
    response = world.submit(ADMIN, editing(world, world.acme.id), {"days_per_year": "28"})

    assert response.errors == {}
    assert [(each.valid_from, each.half_days_per_year) for each in terms_of(world)] == [
        (None, 50),
        (date(2026, 1, 1), 56),
    ]


def test_a_change_counts_by_default_from_when_the_terms_of_today_began(world: World) -> None:
    change(world, world.acme.id, {"half_days_per_year": 54}, date(2026, 5, 1))
    form = editing(world, world.acme.id)
    assert "Leave empty to change it from 1 May 2026 on." in form.visible_text

    assert world.submit(ADMIN, form, {"days_per_year": "28"}).errors == {}

    assert [(each.valid_from, each.half_days_per_year) for each in terms_of(world)] == [
        (None, 50),
        (date(2026, 5, 1), 56),
    ]


def test_with_anniversaries_the_form_says_that_leave_years_differ(world: World) -> None:
    world.write(organisation_settings.update, {"leave_year_type": "anniversary"})

    form = editing(world, world.acme.id)

    assert "from each person's present leave year on" in form.visible_text
    assert world.submit(ADMIN, form, {"days_per_year": "28"}).errors == {}
    assert terms_of(world)[-1].is_by_leave_year


def test_the_consequences_name_an_allowance_other_than_the_default(world: World) -> None:
    other = volunteering(world)

    confirmation = confirmation_of(world, editing(world, other.id), {"days_per_year": "1"})

    assert "Ada Lovelace, Volunteering 2026: 2 → 1 day left" in confirmation.visible_text


@pytest.mark.parametrize(
    ("filled", "field", "sentence"),
    [
        ({"name": " "}, "name", "characters"),
        ({"name": "annual LEAVE"}, "name", "already exists"),
        ({"days_per_year": "16.888"}, "days_per_year", "two decimals"),
        ({"by_tenure": "five: 27"}, "by_tenure", "“5: 27”"),
        ({"by_tenure": "5: 27\n5: 28"}, "by_tenure", "in the order of years"),
        ({"by_tenure": "5: 400"}, "by_tenure", "from 0 to 366"),
        ({"by_tenure": "99: 27"}, "by_tenure", "from 1 to 60"),
        ({"carried": "days"}, "carry_over", "Enter how many days"),
        ({"overdraft_days": "0.3"}, "overdraft_days", "half-day steps"),
    ],
)
def test_an_invalid_allowance_is_reported_at_its_field(
    world: World, filled: dict[str, str], field: str, sentence: str
) -> None:
    world.write(allowances.update, world.acme.id, {"name": "Annual leave"})
    before = allowances_of(world)
    form = click(world, ADMIN, settings(world, ADMIN, SCREEN), f"{SCREEN}.new")

    response = world.slack.submit(ADMIN, form, {"name": "Volunteering"} | filled)

    assert list(response.errors) == [field]
    assert sentence in response.errors[field]
    assert allowances_of(world) == before


def test_a_day_of_another_century_is_reported_at_its_field(world: World) -> None:
    filled = {"days_per_year": "20", "effective_from": "2126-01-01"}

    response = world.slack.submit(ADMIN, editing(world, world.acme.id), filled)

    assert response.errors == {"effective_from": "Choose a date within 30 years of today."}


def test_future_terms_are_taken_back_after_their_effects_are_shown(world: World) -> None:
    change(world, world.acme.id, {"half_days_per_year": 56}, NEXT_YEAR)
    form = editing(world, world.acme.id)
    assert "At first: 25 days a year" in form.visible_text
    assert "From 1 Jan 2027: 28 days a year" in form.visible_text

    question = click(world, ADMIN, form, f"{SCREEN}.terms.remove")

    assert "From 1 Jan 2027: 28 days a year" in question.visible_text
    assert "Ada Lovelace, 2027: 28 → 25 days left" in question.visible_text
    assert len(terms_of(world)) == 2
    first = world.slack.submit(ADMIN, question)
    world.slack.send_raw(*as_sent(first.payload))
    world.settled()
    assert [each.half_days_per_year for each in terms_of(world)] == [50]
    assert "2027" not in world.slack.open_modal(ADMIN, "Days per year").visible_text


def test_terms_that_count_cannot_be_taken_back(world: World) -> None:
    change(world, world.acme.id, {"half_days_per_year": 56}, NEXT_YEAR)
    form = editing(world, world.acme.id)
    question = click(world, ADMIN, form, f"{SCREEN}.terms.remove")
    world.clock.now = datetime(2027, 1, 2, 9, tzinfo=UTC)

    world.slack.submit(ADMIN, question)

    assert "They have counted since" in world.slack.open_modal(ADMIN).visible_text
    assert len(terms_of(world)) == 2


def test_a_used_allowance_is_archived_and_restored_an_unused_one_deleted(world: World) -> None:
    used = volunteering(world)
    world.write(allowances.create, {"name": "Unused"})
    unused = allowances_of(world)[2]
    study = leave_types_of(world)[-1]
    form = choose(
        world,
        ADMIN,
        settings(world, ADMIN, "settings.leave_types"),
        "settings.leave_types.menu",
        f"edit {study.id}",
    )
    world.submit(ADMIN, form, {"allowance_id": used.id})
    for allowance in (used, unused):
        close_all(world)
        listed = settings(world, ADMIN, SCREEN)
        question = choose(world, ADMIN, listed, MENU, f"archive {allowance.id}")
        assert f"can no longer be given {allowance.name}." in question.visible_text
        assert world.submit(ADMIN, question).ok

    assert [(each.name, each.is_archived) for each in allowances_of(world)[1:]] == [
        ("Volunteering", True)
    ]
    listed = world.slack.open_modal(ADMIN, "Archived")
    # The default allowance is always there.
    assert f"archive {world.acme.id}" not in str(listed.blocks)
    listed = choose(world, ADMIN, listed, MENU, f"restore {used.id}")
    assert "Archived" not in listed.visible_text
    assert not allowances_of(world)[1].is_archived


def test_the_code_of_an_allowance_is_shown_and_can_be_changed(world: World) -> None:
    other = volunteering(world)
    form = editing(world, other.id)
    assert form.values["code"]["answer"]["value"] == "volunteering"

    taken = world.slack.submit(ADMIN, form, {"code": allowances_of(world)[0].code})
    assert list(taken.errors) == ["code"]
    assert world.submit(ADMIN, form, {"code": "good-deeds"}).errors == {}

    assert allowances_of(world)[1].code == "good-deeds"


def test_a_new_allowance_gets_the_typed_code_or_one_of_its_name(world: World) -> None:
    for filled in ({"name": "Study", "code": "learning"}, {"name": "Sick days"}):
        close_all(world)
        form = click(world, ADMIN, settings(world, ADMIN, SCREEN), f"{SCREEN}.new")
        assert world.submit(ADMIN, form, filled).errors == {}

    assert [each.code for each in allowances_of(world)[1:]] == ["learning", "sick-days"]


@pytest.mark.parametrize(
    ("terms", "line"),
    [
        ({"half_days_per_year": None, "earnable": True}, "Can be earned"),
        ({"half_days_per_year": None}, "Only people with days of their own"),
        ({"half_days_per_year": 4, "earnable": True}, "2 days a year · can be earned"),
    ],
)
def test_what_an_allowance_grants_begins_with_a_capital(
    world: World, terms: dict[str, Any], line: str
) -> None:
    volunteering(world, **terms)

    listed = settings(world, ADMIN, SCREEN)

    assert f"*Volunteering*\n{line}" in listed.visible_text


# Other forms


def leave_type_form(world: World, leave_type_id: str = "") -> View:
    close_all(world)
    listed = settings(world, ADMIN, "settings.leave_types")
    if not leave_type_id:
        return click(world, ADMIN, listed, "settings.leave_types.new")
    return choose(world, ADMIN, listed, "settings.leave_types.menu", f"edit {leave_type_id}")


def blocks_of(view: View) -> set[str]:
    return {str(block.get("block_id")) for block in view.blocks}


def test_a_leave_type_has_a_choice_of_allowances_once_there_are_several(world: World) -> None:
    assert "allowance_id" not in blocks_of(leave_type_form(world))
    other = volunteering(world)

    form = leave_type_form(world)
    assert "Uses the allowance" not in form.visible_text
    assert world.submit(ADMIN, form, {"name": "Helping", "allowance_id": other.id}).errors == {}
    assert world.submit(ADMIN, leave_type_form(world), {"name": "Holiday"}).errors == {}

    helping, holiday = leave_types_of(world)[-2:]
    assert (helping.allowance_id, helping.deducts_allowance) == (other.id, True)
    assert (holiday.allowance_id, holiday.deducts_allowance) == (world.acme.id, True)
    assert "Uses Volunteering" in world.slack.open_modal(ADMIN, "Helping").visible_text


def test_another_allowance_of_a_leave_type_is_shown_before_it_is_saved(world: World) -> None:
    other = volunteering(world)
    annual = next(each for each in leave_types_of(world) if each.code == "annual")
    a_request(world.database, world.acme, world.people[ADA], start_date=date(2026, 8, 3))

    form = leave_type_form(world, annual.id)
    confirmation = confirmation_of(world, form, {"allowance_id": other.id})

    shown = confirmation.visible_text
    assert "will use the allowance “Volunteering”." in shown
    assert "Ada Lovelace, Volunteering 2026: 2 → 1 day left" in shown
    confirm(world, confirmation)
    form = leave_type_form(world, annual.id)
    confirm(world, confirmation_of(world, form, {"allowance_id": "none"}))
    annual = next(each for each in leave_types_of(world) if each.code == "annual")
    assert (annual.allowance_id, annual.deducts_allowance) == (None, False)


def test_a_leave_type_uses_another_allowance_from_a_chosen_day_on(world: World) -> None:
    other = volunteering(world)
    annual = next(each for each in leave_types_of(world) if each.code == "annual")
    a_request(world.database, world.acme, world.people[ADA], start_date=date(2026, 8, 3))
    a_request(world.database, world.acme, world.people[ADA], start_date=date(2027, 8, 3))
    filled = {"allowance_id": other.id, "effective_from": "2027-01-01"}

    confirmation = confirmation_of(world, leave_type_form(world, annual.id), filled)

    shown = confirmation.visible_text
    assert "begins on 1 Jan 2027 or later will use the allowance “Volunteering”." in shown
    assert "Ada Lovelace, Volunteering 2027: 2 → 1 day left" in shown
    confirm(world, confirmation)
    assert "From 1 Jan 2027: Volunteering" in leave_type_form(world, annual.id).visible_text
    (annual,) = (each for each in leave_types_of(world) if each.code == "annual")
    assert [(use.valid_from, use.allowance_id) for use in annual.allowance_uses] == [
        (None, world.acme.id),
        (NEXT_YEAR, other.id),
    ]


def test_a_planned_allowance_of_a_leave_type_is_taken_back_by_that_of_today(world: World) -> None:
    volunteering(world)
    annual = next(each for each in leave_types_of(world) if each.code == "annual")
    planned = {"allowance_id": None}
    world.write(leave_types.update, annual.id, planned, effective_from=NEXT_YEAR)
    form = leave_type_form(world, annual.id)
    assert "From 1 Jan 2027: no allowance" in form.visible_text

    assert world.submit(ADMIN, form, {"effective_from": "2027-01-01"}).errors == {}

    assert "From 1 Jan 2027" not in leave_type_form(world, annual.id).visible_text


def test_a_leave_type_uses_no_other_allowance_from_a_day_of_another_century(world: World) -> None:
    annual = next(each for each in leave_types_of(world) if each.code == "annual")
    filled = {"name": "Annual", "effective_from": "2126-01-01"}

    response = world.slack.submit(ADMIN, leave_type_form(world, annual.id), filled)

    assert response.errors == {"effective_from": "Choose a date within 30 years of today."}


def test_a_leave_type_keeps_an_archived_allowance(world: World) -> None:
    other = volunteering(world)
    world.submit(ADMIN, leave_type_form(world), {"name": "Helping", "allowance_id": other.id})
    world.write(allowances.delete, other.id)
    helping = leave_types_of(world)[-1]

    response = world.submit(ADMIN, leave_type_form(world, helping.id), {"name": "Help"})

    assert response.errors == {}
    assert (leave_types_of(world)[-1].name, leave_types_of(world)[-1].allowance_id) == (
        "Help",
        other.id,
    )


def test_the_organisations_allowance_changes_from_a_chosen_day(world: World) -> None:
    form = settings(world, ADMIN, "settings.leave_year")
    assert "Leave empty to change it from 1 Jan 2026 on." in form.visible_text
    # The day is next to what it is about: a leave year changes at once.
    assert [block["block_id"] for block in form.blocks][-4:] == [
        "default_leave_allowance",
        "carry_over",
        "carry_over_expiry_month",
        "effective_from",
    ]

    filled = {"default_leave_allowance": "28.25", "effective_from": "2027-01-01"}
    assert world.submit(ADMIN, form, filled).errors == {}

    assert organisation(world).default_leave_allowance_half_days == 50
    assert [(each.valid_from, each.half_days_per_year) for each in terms_of(world)] == [
        (None, 50),
        (NEXT_YEAR, Fraction(113, 2)),
    ]


def chosen_part(form: View) -> str:
    (block,) = (each for each in form.blocks if each["block_id"] == "pro_rata")
    return str(block["element"]["initial_option"]["text"]["text"])


def offered_parts(form: View) -> list[str]:
    (block,) = (each for each in form.blocks if each["block_id"] == "pro_rata")
    return [option["value"] for option in block["element"]["options"]]


@pytest.mark.parametrize(
    ("preset", "label", "method", "months"),
    [
        ("days", "By days, rounded up to half days (default)", "days", None),
        ("GB", "UK: months started", "months_started", None),
        ("DE", "Germany: full months (BUrlG)", "full_months", 6),
    ],
)
def test_the_organisation_chooses_how_part_of_a_year_is_granted(
    world: World, preset: str, label: str, method: str, months: int | None
) -> None:
    own = {"pro_rata": "full_months", "pro_rata_rounding": "day_up"}
    world.write(organisation_settings.update, own)
    form = settings(world, ADMIN, "settings.leave_year")
    assert chosen_part(form) == "Own settings (set over the API)"

    assert world.submit(ADMIN, form, {"pro_rata": preset}).errors == {}

    after = organisation(world)
    assert (after.pro_rata, after.full_claim_after_months) == (method, months)
    close_all(world)
    form = settings(world, ADMIN, "settings.leave_year")
    assert chosen_part(form) == label
    assert offered_parts(form) == ["days", "GB", "DE"]


def test_settings_of_part_of_a_year_that_are_no_preset_stay(world: World) -> None:
    own = {"pro_rata": "full_months", "pro_rata_rounding": "day_up"}
    world.write(organisation_settings.update, own)

    form = settings(world, ADMIN, "settings.leave_year")
    assert world.submit(ADMIN, form, {"default_leave_allowance": "26"}).errors == {}

    after = organisation(world)
    assert (
        after.default_leave_allowance_half_days,
        after.pro_rata,
        after.pro_rata_rounding,
    ) == (52, "full_months", "day_up")


def test_what_part_of_a_year_takes_away_is_shown_before_it_is_saved(world: World) -> None:
    a_person(world.database, world.acme, first_name="Kai", start_date=date(2026, 7, 15))
    form = settings(world, ADMIN, "settings.leave_year")

    confirmation = confirmation_of(world, form, {"pro_rata": "DE"})

    assert "Kai" in confirmation.visible_text
    assert "2026: 12 → 10 days left" in confirmation.visible_text
    confirm(world, confirmation)
    assert organisation(world).pro_rata == "full_months"


def test_a_chosen_part_of_a_year_is_not_that_of_the_country_of_the_setup(world: World) -> None:
    """While the setup is open, the country fills what no admin has chosen."""
    form = settings(world, ADMIN, "settings.leave_year")
    assert world.submit(ADMIN, form, {"pro_rata": "GB"}).errors == {}
    form = settings(world, ADMIN, "settings.organisation")
    country = search_result(world, form, "settings.search.country", "DE-BY", "DE-BY")

    assert world.submit(ADMIN, form, {"country_code": country}).errors == {}

    assert organisation(world).pro_rata == "months_started"


def test_a_departments_allowance_changes_from_a_chosen_day(world: World) -> None:
    (engineering,) = departments_of(world)
    listed = settings(world, ADMIN, "settings.departments")
    form = choose(world, ADMIN, listed, "settings.departments.menu", f"edit {engineering.id}")
    assert "Leave empty to change it from 1 Jan 2026 on." in form.visible_text

    filled = {"default_leave_allowance": "30", "effective_from": "2027-01-01"}
    assert world.submit(ADMIN, form, filled).errors == {}

    (engineering,) = departments_of(world)
    assert engineering.default_leave_allowance_half_days is None
    assert [(each.valid_from, each.half_days) for each in engineering.figures] == [(NEXT_YEAR, 60)]
    assert (remaining(world, date(2026, 12, 31)), remaining(world, NEXT_YEAR)) == (25, 30)


def test_a_department_form_shows_todays_allowance_and_saving_it_changes_nothing(
    world: World,
) -> None:
    (engineering,) = departments_of(world)
    for days, day in ((60, date(2026, 5, 1)), (64, NEXT_YEAR)):
        changes = {"default_leave_allowance_half_days": days}
        world.write(departments.update, engineering.id, changes, effective_from=day)
    before = departments_of(world)
    listed = settings(world, ADMIN, "settings.departments")
    form = choose(world, ADMIN, listed, "settings.departments.menu", f"edit {engineering.id}")
    assert form.values["default_leave_allowance"]["answer"]["value"] == "30"

    assert world.submit(ADMIN, form).errors == {}

    assert departments_of(world) == before
