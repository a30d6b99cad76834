"""A dry run predicts the balances that the change then gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from typing import Any

import pytest

from storage.admin import (
    departments,
    organisation_settings,
    people,
)
from storage.admin.effects import Effects
from storage.base.allowance_values import Amount
from storage.base.values import User
from storage.db.database import Database, Transaction
from storage.leave import ledgers
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    a_request,
    an_organisation,
    dry_run,
)

pytestmark = pytest.mark.shared_database

TODAY = NOW.date()
LATER = NOW + timedelta(hours=1)
NEXT_YEAR = date(2027, 1, 1)

Change = Callable[..., Any]
Remaining = dict[tuple[str, date], Amount]


def remaining(
    database: Database, acme: Acme, users: Iterable[User], days: Iterable[date]
) -> Remaining:
    """The remaining balance of every user as of each day, in half-days."""
    ids = [user.id for user in users]

    def read(tx: Transaction) -> Remaining:
        return {
            (user_id, on): ledgers.balance(
                tx, user_id, on=on, by=acme.caller, now=LATER
            ).remaining_half_days
            for user_id in ids
            for on in days
        }

    return database.read_now(read)


@pytest.mark.parametrize(
    ("changes", "balances"),
    [
        (
            {"leave_allowance_half_days": 30, "effective_from": date(2027, 1, 1)},
            [("2027", 50, 30)],
        ),
        # 25 days until 30 June, 15 from then on.
        (
            {"leave_allowance_half_days": 30, "effective_from": date(2027, 7, 1)},
            [("2027", 50, 40)],
        ),
        ({"end_date": date(2027, 6, 30)}, [("2027", 50, 25)]),
        ({"leave_allowance_half_days": 30}, [("2026", 50, 30)]),
    ],
)
def test_a_dry_run_shows_the_balance_of_the_year_in_which_a_change_begins(
    database: Database, changes: dict[str, Any], balances: list[tuple[str, int, int]]
) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)

    effects = dry_run(database, people.update, ada.id, changes, by=acme.caller, now=LATER)

    assert [
        (balance.year.name, balance.before_half_days, balance.after_half_days)
        for balance in effects.balances
    ] == balances


def test_leave_years_that_begin_on_another_day_are_told_apart(database: Database) -> None:
    acme = an_organisation(database, leave_year_type="anniversary")
    ada = a_person(database, acme, start_date=date(2024, 3, 1))
    a_request(database, acme, ada, start_date=date(2026, 8, 3), end_date=date(2026, 8, 7))
    changes = {"start_date": date(2024, 7, 1)}

    dry_run_effects = dry_run(database, people.update, ada.id, changes, by=acme.caller, now=LATER)

    balances = {
        (balance.year.first_day, balance.on): (balance.before_half_days, balance.after_half_days)
        for balance in dry_run_effects.balances
    }
    assert balances == {
        # The leave of August falls into the year that begins in July by then.
        (date(2025, 7, 1), TODAY): (None, 50),
        (date(2026, 3, 1), TODAY): (40, None),
        (date(2026, 7, 1), date(2026, 7, 1)): (None, 40),
    }
    acme.write(people.update, ada.id, changes, now=LATER)
    days = (TODAY, date(2026, 7, 1))
    assert remaining(database, acme, [ada], days) == {(ada.id, TODAY): 50, (ada.id, days[1]): 40}


def test_effects_say_that_an_allowance_of_many_people_changes(database: Database) -> None:
    acme = an_organisation(database)
    research = a_department(database, acme)
    of_organisation = organisation_settings.update
    of_department = partial(departments.update, department_id=research.id)
    trials: list[tuple[Change, dict[str, Any], bool]] = [
        (of_organisation, {"name": "Acme Ltd"}, False),
        (of_organisation, {"default_leave_allowance_half_days": 40}, True),
        (of_organisation, {"leave_year_start_month": 4, "leave_year_type": "fiscal"}, True),
        (of_organisation, {"carry_over_half_days": 10}, True),
        (of_department, {"name": "Development"}, False),
        (of_department, {"default_leave_allowance_half_days": 61}, True),
    ]

    for change, changes, moves in trials:
        recorded = dry_run(database, change, changes=changes, by=acme.caller, now=LATER)
        assert recorded.changes_allowances == moves
        assert replace(recorded, balances=(), rebalanced=0) == Effects(changes_allowances=moves)


def test_effects_list_the_balances_that_an_organisations_setting_lowers(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, start_date=date(2026, 7, 15))

    # 170 of 365 days of 25, then five months of 25, or 170 days of 24.
    trials: list[tuple[dict[str, Any], int]] = [
        ({"pro_rata": "full_months"}, 21),
        ({"default_leave_allowance_half_days": 48}, 23),
    ]
    for changes, after_half_days in trials:
        recorded = dry_run(
            database, organisation_settings.update, changes, by=acme.caller, now=LATER
        )

        assert recorded.rebalanced == len({each.user_id for each in recorded.balances})
        [of_ada] = [each for each in recorded.balances if each.user_id == ada.id]
        assert (of_ada.before_half_days, of_ada.after_half_days) == (24, after_half_days)
        assert recorded.affects_others
