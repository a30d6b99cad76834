"""Absence limits as admins manage them: their fields, bounds and who sees them."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from storage.admin import absence_limits
from storage.admin.absence_limits import MAX_LIMITS, MAX_PEOPLE, TooManyAbsenceLimits
from storage.base.errors import InsufficientRole, InvalidInput
from storage.base.leave_values import AbsenceLimit
from storage.db.database import Database
from storage.db.pages import PageOf
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    an_organisation,
    audit_entries,
    caller_for,
)

UNKNOWN = "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"


def limited(acme: Acme, **fields: Any) -> AbsenceLimit:
    return acme.write(absence_limits.create, {"name": "Support", "max_away": 2} | fields)


def test_only_admins_see_and_change_absence_limits(database: Database, acme: Acme) -> None:
    limit = limited(acme)
    ada = caller_for(acme, a_person(database, acme))

    with pytest.raises(InsufficientRole):
        database.read_now(absence_limits.page, PageOf(), by=ada)
    with pytest.raises(InsufficientRole):
        database.read_now(absence_limits.get, limit.id, by=ada)
    with pytest.raises(InsufficientRole):
        database.write_now(absence_limits.create, {"name": "A", "max_away": 1}, by=ada, now=NOW)
    with pytest.raises(InsufficientRole):
        database.write_now(absence_limits.delete, limit.id, by=ada, now=NOW)

    assert acme.read(absence_limits.page, PageOf()).items == [limit]


def test_a_new_limit_is_for_everyone_blocks_and_is_active(database: Database, acme: Acme) -> None:
    limit = limited(acme)

    assert (limit.department_id, limit.user_ids) == (None, None)
    assert (limit.first_day, limit.last_day, limit.min_present) == (None, None, None)
    assert (limit.enforcement, limit.is_active) == ("block", True)


def test_people_are_named_once_and_kept_in_order(database: Database, acme: Acme) -> None:
    ada, bob = (a_person(database, acme).id for _ in range(2))

    limit = limited(acme, user_ids=[bob, ada, bob])

    assert limit.user_ids == (bob, ada)
    assert acme.read(absence_limits.get, limit.id) == limit


@pytest.mark.parametrize(
    ("changes", "pointer", "code"),
    [
        ({"max_away": None}, "/max_away", "required"),
        ({"min_present": 2}, "/min_present", "invalid_value"),
        ({"max_away": -1}, "/max_away", "out_of_range"),
        ({"max_away": None, "min_present": 0}, "/min_present", "out_of_range"),
        ({"first_day": date(2026, 12, 2), "last_day": date(2026, 12, 1)}, "/to", "to_before_from"),
        ({"department_id": UNKNOWN}, "/department_id", "not_found"),
        ({"user_ids": [UNKNOWN]}, "/user_ids/0", "not_found"),
        ({"user_ids": []}, "/user_ids", "too_short"),
        ({"user_ids": [str(number) for number in range(MAX_PEOPLE + 1)]}, "/user_ids", "too_long"),
        ({"enforcement": "forbid"}, "/enforcement", "not_one_of"),
        ({"name": "\u200b"}, "/name", "no_visible_letter"),
    ],
)
def test_impossible_fields_are_refused(
    database: Database, acme: Acme, changes: dict[str, Any], pointer: str, code: str
) -> None:
    limit = limited(acme)

    with pytest.raises(InvalidInput) as created:
        limited(acme, **changes)
    with pytest.raises(InvalidInput) as changed:
        acme.write(absence_limits.update, limit.id, changes)

    for refused in (created, changed):
        (error,) = refused.value.errors
        assert (error.pointer, error.code) == (pointer, code)
    assert acme.read(absence_limits.get, limit.id) == limit


def test_the_audit_trail_has_the_dates_as_the_api_names_them(
    database: Database, acme: Acme
) -> None:
    limit = limited(acme, first_day=date(2026, 12, 1))

    acme.write(absence_limits.update, limit.id, {"last_day": date(2026, 12, 2)})

    updated, created = audit_entries(database, acme.caller, subject_id=limit.id)
    assert created.changes["from"] == {"before": None, "after": "2026-12-01"}
    assert updated.changes == {"to": {"before": None, "after": "2026-12-02"}}


def test_a_limit_is_for_a_department_or_for_people(database: Database, acme: Acme) -> None:
    department = a_department(database, acme, name="Support")
    ada = a_person(database, acme)

    with pytest.raises(InvalidInput) as refused:
        limited(acme, department_id=department.id, user_ids=[ada.id])

    assert [error.pointer for error in refused.value.errors] == ["/user_ids"]


def test_people_of_another_organisation_are_unknown(database: Database, acme: Acme) -> None:
    stranger = a_person(database, an_organisation(database))

    with pytest.raises(InvalidInput) as refused:
        limited(acme, user_ids=[stranger.id])

    assert [error.code for error in refused.value.errors] == ["not_found"]


def test_an_organisation_has_at_most_fifty_limits(database: Database, acme: Acme) -> None:
    for _ in range(MAX_LIMITS):
        limited(acme)

    with pytest.raises(TooManyAbsenceLimits):
        limited(acme)
