"""Allowances: pots of days with dated terms, granted by month and tenure, and carried over."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import pytest

from storage.admin import (
    allowances,
    dated_terms,
    departments,
    organisation_settings,
    organisations,
    people,
)
from storage.base.allowance_values import TenureStep
from storage.base.errors import CodeTaken, InsufficientAllowance, InvalidInput, NameTaken, NotFound
from storage.base.values import User
from storage.db.database import Database
from storage.leave import adjustments, leave_types, ledgers
from storage.leave.ledgers import Balance
from storage.outbox import organisation_config
from storage.people import people_rows
from storage.rules import employment_terms
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_leave_type,
    a_person,
    a_request,
    an_organisation,
    approved_leave,
    audit_entries,
    dry_run,
    type_id,
)


def an_allowance(database: Database, acme: Acme, name: str = "Volunteering", **terms: Any) -> str:
    """An allowance and a leave type of the same name that draws on it; the allowance's id."""
    shown = database.write_now(allowances.create, {"name": name, **terms}, by=acme.caller, now=NOW)
    a_leave_type(database, acme, name=name, allowance_id=shown.allowance.id)
    return shown.allowance.id


def with_terms(
    database: Database, acme: Acme, effective_from: date | None = date(2000, 1, 1), **terms: Any
) -> None:
    """Other terms of the default allowance."""
    database.write_now(
        allowances.update,
        acme.id,
        terms,
        effective_from=effective_from,
        by=acme.caller,
        now=NOW,
    )


def balance_of(
    database: Database, acme: Acme, user: User, on: date, allowance_id: str | None = None
) -> Balance:
    found = database.read_now(ledgers.balances, user.id, on=on, by=acme.caller, now=NOW)
    return next(each for each in found if each.allowance.id == (allowance_id or acme.id))


def days_left(
    database: Database, acme: Acme, user: User, on: date, allowance_id: str | None = None
) -> float:
    balance = balance_of(database, acme, user, on, allowance_id)
    assert balance.remaining_half_days == sum(line.half_days for line in balance.lines)
    return float(balance.remaining_half_days / 2)


def test_leave_draws_on_the_allowance_of_its_type(database: Database) -> None:
    acme = an_organisation(database)
    volunteering = an_allowance(database, acme, half_days_per_year=4)
    ada = a_person(database, acme)

    with pytest.raises(InsufficientAllowance) as refusal:
        a_request(
            database,
            acme,
            ada,
            code="volunteering",
            start_date=date(2027, 5, 5),
            end_date=date(2027, 5, 7),
        )

    assert (refusal.value.remaining_half_days, refusal.value.needed_half_days) == (4, 6)
    assert "2 days of Volunteering left in the leave year 2027" in str(refusal.value.detail)
    a_request(database, acme, ada, code="volunteering", start_date=date(2027, 5, 6))
    assert days_left(database, acme, ada, date(2027, 1, 1), volunteering) == 1
    assert days_left(database, acme, ada, date(2027, 1, 1)) == 25


def test_next_years_figure_leaves_this_year_and_its_carry_over_as_they_are(
    database: Database,
) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    with_terms(database, acme, half_days_per_year=50, carry_over_half_days=None)

    with_terms(database, acme, date(2027, 1, 1), half_days_per_year=56)

    assert days_left(database, acme, ada, date(2026, 12, 31)) == 25
    assert days_left(database, acme, ada, date(2027, 1, 1)) == 25 + 28


def test_carry_over_follows_the_terms_of_the_year_it_comes_from(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    with_terms(database, acme, carry_over_half_days=10)
    with_terms(database, acme, date(2027, 1, 1), carry_over_half_days=0)

    assert days_left(database, acme, ada, date(2027, 1, 1)) == 30
    assert days_left(database, acme, ada, date(2028, 1, 1)) == 25


def test_settings_of_the_organisation_change_from_this_leave_year_on(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, now=datetime.fromisoformat("2024-01-01T09:00:00+00:00"))
    changes = {"default_leave_allowance_half_days": 60, "carry_over_half_days": 10}

    after = database.write_now(organisation_settings.update, changes, by=acme.caller, now=NOW)

    assert after.default_leave_allowance_half_days == 60
    assert days_left(database, acme, ada, date(2025, 6, 1)) == 25
    assert days_left(database, acme, ada, date(2026, 6, 1)) == 30
    assert days_left(database, acme, ada, date(2027, 6, 1)) == 35


MID_YEAR = date(2026, 5, 1)


def test_terms_that_began_within_the_year_change_from_their_first_day_by_default(
    database: Database,
) -> None:
    """Else the change would end with them, and today's figure would stay."""
    acme = an_organisation(database)
    ada = a_person(database, acme)
    with_terms(database, acme, MID_YEAR, half_days_per_year=54, carry_over_half_days=10)

    with_terms(database, acme, None, half_days_per_year=60)

    [first, second] = acme.read(allowances.get, acme.id, now=NOW).allowance.terms
    assert (first.valid_from, first.half_days_per_year) == (None, 50)
    assert (second.valid_from, second.half_days_per_year) == (MID_YEAR, 60)
    # 120 days of 25 a year and 245 days of 30.
    assert days_left(database, acme, ada, date(2026, 12, 31)) == 28.5


def test_an_organisations_setting_of_within_the_year_changes_from_its_day_by_default(
    database: Database,
) -> None:
    acme = an_organisation(database)
    changes = {"default_leave_allowance_half_days": 54, "pro_rata": "full_months"}
    acme.write(organisation_settings.update, changes, effective_from=MID_YEAR)

    changes = {"default_leave_allowance_half_days": 60, "pro_rata": "months_started"}
    after = acme.write(organisation_settings.update, changes)

    assert (after.default_leave_allowance_half_days, after.pro_rata) == (60, "months_started")
    terms = acme.read(allowances.get, acme.id, now=NOW).allowance.terms
    assert [(each.valid_from, each.half_days_per_year) for each in terms] == [
        (None, 50),
        (MID_YEAR, 60),
    ]
    stored = database.read_now(organisations.by_slug, "acme")
    assert [(each.valid_from, each.method) for each in stored.pro_rata_rules] == [
        (None, "days"),
        (MID_YEAR, "months_started"),
    ]


def test_a_departments_figure_of_within_the_year_changes_from_its_day_by_default(
    database: Database,
) -> None:
    acme = an_organisation(database)
    sales = a_department(database, acme)
    changes = {"default_leave_allowance_half_days": 54}
    acme.write(departments.update, sales.id, changes, effective_from=MID_YEAR)

    changes = {"default_leave_allowance_half_days": 60}
    after = acme.write(departments.update, sales.id, changes)

    assert after.default_leave_allowance_half_days == 60
    assert [(each.valid_from, each.half_days) for each in after.figures] == [(MID_YEAR, 60)]


def test_a_persons_figure_of_within_the_year_changes_from_its_day_by_default(
    database: Database,
) -> None:
    acme = an_organisation(database)
    ada, study = a_person(database, acme), an_allowance(database, acme, "Study")
    for allowance_id in (study, acme.id):
        acme.write(allowances.set_figure, ada.id, allowance_id, 6, effective_from=MID_YEAR)

    for allowance_id in (study, acme.id):
        after = acme.write(allowances.set_figure, ada.id, allowance_id, 8)

    assert [(each.valid_from, each.half_days) for each in after.figures] == [(MID_YEAR, 8)]
    assert [
        (each.valid_from, each.leave_allowance_half_days)
        for each in employment_terms.records_of(after)
    ] == [(None, None), (MID_YEAR, 8)]


def test_terms_by_anniversary_change_for_everyone_once_leave_years_are_the_same(
    database: Database,
) -> None:
    """They began with each leave year that has their day in it, so the change does, too."""
    acme = an_organisation(database, leave_year_type="anniversary")
    ada = a_person(database, acme)
    with_terms(database, acme, None, half_days_per_year=54)
    acme.write(organisation_settings.update, {"leave_year_type": "calendar"})

    with_terms(database, acme, None, half_days_per_year=60)

    assert days_left(database, acme, ada, date(2026, 1, 1)) == 30


def test_each_person_has_new_terms_from_their_own_leave_year_on(database: Database) -> None:
    acme = an_organisation(database, leave_year_type="anniversary")
    ada = a_person(database, acme, start_date=date(2020, 3, 15))

    with_terms(database, acme, None, half_days_per_year=60)

    assert days_left(database, acme, ada, date(2026, 3, 14)) == 25
    assert days_left(database, acme, ada, date(2026, 3, 15)) == 30


def test_monthly_granting_adds_a_twelfth_rounded_up(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    with_terms(database, acme, granting="monthly")

    found = [days_left(database, acme, ada, date(2027, month, 1)) for month in range(1, 13)]

    assert found == [2.5, 4.5, 6.5, 8.5, 10.5, 12.5, 15, 17, 19, 21, 23, 25]


@pytest.mark.parametrize("may_borrow", [False, True])
def test_a_request_is_held_against_what_is_granted_by_its_last_day(
    database: Database, may_borrow: bool
) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, start_date=date(2027, 2, 1))
    with_terms(database, acme, half_days_per_year=48, granting="monthly", may_borrow=may_borrow)
    start, end = date(2027, 6, 14), date(2027, 6, 28)

    if may_borrow:
        a_request(database, acme, ada, start_date=start, end_date=end)
    else:
        with pytest.raises(InsufficientAllowance) as refusal:
            a_request(database, acme, ada, start_date=start, end_date=end)
        assert (refusal.value.remaining_days, refusal.value.needed_days) == (10, 11)
        a_request(database, acme, ada, start_date=date(2027, 6, 14), end_date=date(2027, 6, 25))


def test_leave_that_would_uncover_later_leave_names_it(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    with_terms(database, acme, half_days_per_year=48, granting="monthly")
    a_request(database, acme, ada, start_date=date(2027, 8, 2), end_date=date(2027, 8, 17))

    with pytest.raises(InsufficientAllowance) as refusal:
        a_request(database, acme, ada, start_date=date(2027, 5, 10), end_date=date(2027, 5, 14))

    assert refusal.value.remaining_days == 4
    assert refusal.value.later_leave == (date(2027, 8, 2), date(2027, 8, 17))
    assert "2027-08-02 to 2027-08-17" in str(refusal.value.detail)
    assert days_left(database, acme, ada, date(2027, 5, 10)) == 4


def test_tenure_counts_from_the_anniversary_on(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, start_date=date(2021, 7, 1))
    step = TenureStep(after_years=5, half_days_per_year=54)
    with_terms(database, acme, by_tenure=(step,))

    assert days_left(database, acme, ada, date(2025, 12, 31)) == 25
    assert days_left(database, acme, ada, date(2026, 12, 31)) == 26.5
    assert days_left(database, acme, ada, date(2027, 12, 31)) == 27


def test_carried_days_expire_months_after_the_year_began(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    with_terms(database, acme, carry_over_half_days=10, carry_over_expires_after_months=3)
    # 17 of the 25 days of 2026.
    approved_leave(database, acme, ada, date(2026, 8, 3), date(2026, 8, 25))
    approved_leave(database, acme, ada, date(2027, 3, 1), date(2027, 3, 2))

    assert days_left(database, acme, ada, date(2026, 12, 31)) == 8
    assert days_left(database, acme, ada, date(2027, 3, 31)) == 28
    assert days_left(database, acme, ada, date(2027, 4, 1)) == 25


def test_an_overdraft_has_a_limit(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    with_terms(database, acme, half_days_per_year=2, overdraft_half_days=6)

    with pytest.raises(InsufficientAllowance):
        a_request(
            database,
            acme,
            ada,
            start_date=date(2027, 6, 7),
            end_date=date(2027, 6, 11),
            end_half_day="am",
        )
    a_request(database, acme, ada, start_date=date(2027, 6, 7), end_date=date(2027, 6, 10))

    assert days_left(database, acme, ada, date(2027, 6, 1)) == -3


def test_an_allowance_may_have_to_wait(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, start_date=date(2027, 1, 15))
    with_terms(database, acme, available_after_months=3)

    with pytest.raises(InvalidInput) as refusal:
        a_request(database, acme, ada, start_date=date(2027, 4, 14))

    assert [error.code for error in refusal.value.errors] == ["not_available_yet"]
    assert "2027-04-15" in str(refusal.value.errors[0].detail)
    a_request(database, acme, ada, start_date=date(2027, 4, 15))


def test_a_figure_may_have_two_decimals(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    with_terms(database, acme, half_days_per_year=Fraction(168, 5))
    a_request(database, acme, ada, start_date=date(2026, 8, 3), end_half_day="am")

    assert days_left(database, acme, ada, date(2026, 8, 3)) == 16.3


def test_a_persons_and_a_departments_figure_may_have_two_decimals(database: Database) -> None:
    acme = an_organisation(database)
    team = a_department(database, acme, default_leave_allowance_half_days=Fraction(55, 2))
    ada = a_person(database, acme, leave_allowance_half_days=Fraction(168, 5))
    ben = a_person(database, acme, first_name="Ben", department_id=team.id)

    assert days_left(database, acme, ada, date(2026, 8, 3)) == 16.8
    assert days_left(database, acme, ben, date(2026, 8, 3)) == 13.75
    acme.write(people.update, ada.id, {"leave_allowance_half_days": Fraction(421, 10)})
    acme.write(
        people.update, ada.id, {"department_id": team.id, "effective_from": date(2026, 7, 1)}
    )
    assert acme.read(people_rows.get, ada.id).leave_allowance_half_days == Fraction(421, 10)
    assert days_left(database, acme, ada, date(2026, 8, 3)) == 21.05


def test_a_person_has_a_figure_of_their_own_from_a_day_on(database: Database) -> None:
    acme = an_organisation(database)
    study = an_allowance(database, acme, "Study")
    ada, ben = a_person(database, acme), a_person(database, acme, first_name="Ben")

    database.write_now(
        allowances.set_figure, ada.id, study, Fraction(15, 2), by=acme.caller, now=NOW
    )

    assert days_left(database, acme, ada, date(2026, 6, 1), study) == 3.75
    found = database.read_now(ledgers.balances, ben.id, on=None, by=acme.caller, now=NOW)
    assert [each.allowance.id for each in found] == [acme.id]
    stored = database.read_now(people_rows.get, ada.id, by=acme.caller)
    assert stored.figures[0].valid_from == date(2026, 1, 1)


def test_a_type_draws_on_another_allowance_from_a_day_on(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    sick_days = database.write_now(
        allowances.create, {"name": "Sick days", "half_days_per_year": 20}, by=acme.caller, now=NOW
    ).allowance.id
    annual = type_id(database, acme)
    approved_leave(database, acme, ada, date(2026, 6, 8), date(2026, 6, 9))
    approved_leave(database, acme, ada, date(2026, 8, 3), date(2026, 8, 5))

    changes = {"allowance_id": sick_days}
    database.write_now(
        leave_types.update,
        annual,
        changes,
        effective_from=date(2026, 7, 1),
        by=acme.caller,
        now=NOW,
    )

    assert days_left(database, acme, ada, date(2026, 6, 1)) == 23
    assert days_left(database, acme, ada, date(2026, 6, 1), sick_days) == 7


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"deducts_allowance": False, "allowance_id": "the default"}, "contradicts"),
        ({"deducts_allowance": True, "allowance_id": None}, "contradicts"),
        ({"allowance_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"}, "unknown_allowance"),
    ],
)
def test_a_contradiction_of_a_leave_type_is_refused(
    database: Database, changes: dict[str, Any], code: str
) -> None:
    acme = an_organisation(database)
    if changes["allowance_id"] == "the default":
        changes = {**changes, "allowance_id": acme.id}

    with pytest.raises(InvalidInput) as refusal:
        a_leave_type(database, acme, **changes)

    assert refusal.value.errors[0].code.startswith(code)


@pytest.mark.parametrize(
    ("terms", "pointer", "code"),
    [
        ({"half_days_per_year": -1}, "/half_days_per_year", "invalid_days"),
        ({"overdraft_half_days": -1}, "/overdraft", "not_half_days"),
        ({"granting": "weekly"}, "/granting", "unknown_granting"),
        ({"carry_over_expires_after_months": 13}, "/carry_over_expires_after_months", "out_of"),
        (
            {"by_tenure": (TenureStep(after_years=5, half_days_per_year=54),) * 2},
            "/by_tenure",
            "tenure_not_rising",
        ),
    ],
)
def test_wrong_terms_are_refused(
    database: Database, terms: dict[str, Any], pointer: str, code: str
) -> None:
    acme = an_organisation(database)

    with pytest.raises(InvalidInput) as refusal:
        with_terms(database, acme, **terms)

    [error] = refusal.value.errors
    assert error.pointer.startswith(pointer.removesuffix("_half_days_per_year")[:8])
    assert error.code.startswith(code)


def test_names_and_codes_of_allowances_are_unique(database: Database) -> None:
    acme = an_organisation(database)
    an_allowance(database, acme)

    with pytest.raises(NameTaken):
        database.write_now(
            allowances.create, {"name": "VOLUNTEERING", "code": "v"}, by=acme.caller, now=NOW
        )
    with pytest.raises(CodeTaken):
        database.write_now(
            allowances.create, {"name": "Other", "code": "volunteering"}, by=acme.caller, now=NOW
        )


def test_an_allowance_in_use_is_archived_and_an_unused_one_removed(database: Database) -> None:
    acme = an_organisation(database)
    used = an_allowance(database, acme)
    unused = database.write_now(
        allowances.create, {"name": "Never used"}, by=acme.caller, now=NOW
    ).allowance.id

    archived = database.write_now(allowances.delete, used, by=acme.caller, now=NOW)
    removed = database.write_now(allowances.delete, unused, by=acme.caller, now=NOW)

    assert archived is not None
    assert (archived.is_archived, removed) == (True, None)
    with pytest.raises(NotFound):
        database.read_now(allowances.get, unused, by=acme.caller, now=NOW)
    with pytest.raises(allowances.DefaultAllowance):
        database.write_now(allowances.delete, acme.id, by=acme.caller, now=NOW)
    actions = [entry.action for entry in audit_entries(database, acme.caller)[:2]]
    assert sorted(actions) == ["allowance.archived", "allowance.deleted"]


def test_future_terms_can_be_taken_back_and_others_not(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    with_terms(database, acme, date(2027, 1, 1), half_days_per_year=56)
    shown = database.read_now(allowances.get, acme.id, by=acme.caller, now=NOW)
    first, future = shown.allowance.terms

    with pytest.raises(dated_terms.TermsInForce):
        database.write_now(allowances.delete_terms, acme.id, first.id, by=acme.caller, now=NOW)
    database.write_now(allowances.delete_terms, acme.id, future.id, by=acme.caller, now=NOW)

    assert days_left(database, acme, ada, date(2027, 1, 1)) == 25


def test_a_dry_run_says_whose_balance_becomes_negative(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    approved_leave(database, acme, ada, date(2027, 3, 1), date(2027, 3, 12))

    found = dry_run(
        database,
        allowances.update,
        acme.id,
        {"half_days_per_year": 10},
        effective_from=date(2027, 1, 1),
        by=acme.caller,
        now=NOW,
    )

    [overdrawn] = found.overdrawn
    assert (overdrawn.user_id, overdrawn.year.name) == (ada.id, "2027")
    assert (overdrawn.before_half_days, overdrawn.after_half_days) == (30, -10)
    assert days_left(database, acme, ada, date(2027, 1, 1)) == 15


def test_an_adjustment_belongs_to_its_allowance(database: Database) -> None:
    acme = an_organisation(database)
    volunteering = an_allowance(database, acme, half_days_per_year=4)
    ada = a_person(database, acme)

    added = database.write_now(
        adjustments.add,
        ada.id,
        half_days=2,
        reason="Helped at the fair.",
        leave_year=2026,
        allowance_id=volunteering,
        by=acme.caller,
        now=NOW,
    )

    assert added.allowance_id == volunteering
    assert days_left(database, acme, ada, date(2026, 6, 1), volunteering) == 3
    assert days_left(database, acme, ada, date(2026, 6, 1)) == 25


def test_later_terms_continue_a_change_until_they_differ(database: Database) -> None:
    acme = an_organisation(database)
    with_terms(database, acme, date(2027, 1, 1), carry_over_half_days=10)
    with_terms(database, acme, date(2028, 1, 1), half_days_per_year=60)

    with_terms(database, acme, date(2026, 1, 1), half_days_per_year=54)

    shown = database.read_now(allowances.get, acme.id, by=acme.caller, now=NOW)
    found = [
        (terms.valid_from, terms.half_days_per_year, terms.carry_over_half_days)
        for terms in shown.allowance.terms
    ]
    assert found == [
        (None, 50, 0),
        (date(2026, 1, 1), 54, 0),
        (date(2027, 1, 1), 54, 10),
        (date(2028, 1, 1), 60, 10),
    ]
    assert replace(shown.terms, id="") == replace(shown.allowance.terms[1], id="")


def test_sending_back_what_counts_today_changes_nothing(database: Database) -> None:
    acme = an_organisation(database)
    sales = a_department(database, acme)
    carried = {"carry_over_half_days": None, "by_tenure": ()}
    with_terms(database, acme, date(2026, 5, 1), half_days_per_year=54, **carried)
    of_department = {"default_leave_allowance_half_days": 60}
    how: dict[str, Any] = {"by": acme.caller, "now": NOW}
    database.write_now(
        departments.update, sales.id, of_department, effective_from=date(2026, 5, 1), **how
    )

    with_terms(database, acme, None, half_days_per_year=54, **carried)
    shown = {"default_leave_allowance_half_days": 54, "carry_over_half_days": 732}
    database.write_now(organisation_settings.update, shown, **how)
    database.write_now(departments.update, sales.id, of_department, **how)

    config = database.read_now(organisation_config.of_organisation, acme.id)
    terms = config.allowances[acme.id].terms
    assert [each.valid_from for each in terms] == [None, date(2026, 5, 1)]
    assert terms[-1].carry_over_half_days is None
    (figure,) = config.departments[sales.id].figures
    assert figure.valid_from == date(2026, 5, 1)


def test_lower_balances_are_confirmed_and_come_before_higher_ones(database: Database) -> None:
    acme = an_organisation(database)
    volunteering = an_allowance(database, acme, half_days_per_year=4)
    started = a_person(database, acme, start_date=date(2020, 1, 1))
    a_person(database, acme)
    steps = (TenureStep(after_years=5, half_days_per_year=10),)
    how: dict[str, Any] = {"by": acme.caller, "now": NOW}

    more = dry_run(database, allowances.update, volunteering, {"half_days_per_year": 6}, **how)
    mixed = dry_run(
        database,
        allowances.update,
        volunteering,
        {"half_days_per_year": 2, "by_tenure": steps},
        **how,
    )

    assert (more.affects_others, mixed.affects_others) == (False, True)
    assert more.rebalanced == mixed.rebalanced == 3
    assert mixed.balances[-1].user_id == started.id
    assert {each.allowance_name for each in mixed.balances} == {"Volunteering"}


def test_leave_types_keep_an_archived_allowance_and_are_given_none(database: Database) -> None:
    acme = an_organisation(database)
    volunteering = an_allowance(database, acme)
    how: dict[str, Any] = {"by": acme.caller, "now": NOW}
    database.write_now(allowances.delete, volunteering, **how)
    archived = {"allowance_id": volunteering}

    kept = database.write_now(
        leave_types.update, type_id(database, acme, "volunteering"), archived, **how
    )

    assert kept.allowance_id == volunteering
    with pytest.raises(InvalidInput):
        database.write_now(leave_types.update, type_id(database, acme, "annual"), archived, **how)
