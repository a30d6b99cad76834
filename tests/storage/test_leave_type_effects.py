"""Dry runs of a leave type that starts or stops using the allowance."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from storage.admin import leave_type_changes
from storage.admin.effects import Effects
from storage.base.errors import InsufficientRole
from storage.base.values import User
from storage.db.database import Database
from storage.leave import leave_types
from tests.builders import (
    NOW,
    Acme,
    a_person,
    an_organisation,
    approved_leave,
    caller_for,
    dry_run,
    type_id,
)

pytestmark = pytest.mark.shared_database


def effects_of(database: Database, acme: Acme, code: str, **changes: Any) -> Effects:
    leave_type_id = type_id(database, acme, code)
    return dry_run(
        database, leave_type_changes.update, leave_type_id, changes, by=acme.caller, now=NOW
    )


def test_balances_rise_when_a_type_stops_using_the_allowance(database: Database) -> None:
    acme = an_organisation(database)
    ada, grace = a_person(database, acme), a_person(database, acme, first_name="Grace")
    approved_leave(database, acme, ada, date(2026, 8, 3), date(2026, 8, 7))
    approved_leave(database, acme, grace, date(2026, 8, 3), code="unpaid")

    effects = effects_of(database, acme, "annual", deducts_allowance=False)

    assert (effects.deducts_allowance, effects.rebalanced, effects.overdrawn) == (False, 1, ())
    (balance,) = effects.balances
    assert (balance.user_id, balance.before_half_days, balance.after_half_days) == (ada.id, 40, 50)
    assert effects.affects_others
    kept = database.read_now(leave_types.get, type_id(database, acme), by=acme.caller)
    assert kept.deducts_allowance


def test_balances_become_negative_when_a_type_starts_using_it(database: Database) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=4)
    ada = a_person(database, acme)
    approved_leave(database, acme, ada, date(2026, 8, 3), date(2026, 8, 7), code="unpaid")

    effects = effects_of(database, acme, "unpaid", deducts_allowance=True)

    assert (effects.deducts_allowance, effects.rebalanced) == (True, 1)
    assert [balance.after_half_days for balance in effects.overdrawn] == [-6]


def test_only_past_leave_is_told_as_well(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, start_date=date(2024, 1, 1))
    approved_leave(database, acme, ada, date(2025, 8, 4))

    effects = effects_of(database, acme, "annual", deducts_allowance=False)

    assert (effects.deducts_allowance, effects.rebalanced, effects.balances) == (False, 0, ())
    assert effects.affects_others


@pytest.mark.parametrize("changes", [{"name": "Holiday"}, {"deducts_allowance": True}])
def test_other_changes_affect_no_one(database: Database, changes: dict[str, Any]) -> None:
    acme = an_organisation(database)
    approved_leave(database, acme, a_person(database, acme))

    assert effects_of(database, acme, "annual", **changes) == Effects()


def test_only_admins_see_what_would_change(database: Database, acme: Acme, ada: User) -> None:
    with pytest.raises(InsufficientRole):
        dry_run(
            database,
            leave_type_changes.update,
            type_id(database, acme),
            {"deducts_allowance": False},
            by=caller_for(acme, ada),
            now=NOW,
        )
