"""Closures as admins manage them: their fields, limits and who sees them."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from storage.admin import closures, departments
from storage.admin.closures import MAX_CLOSURES, TooManyClosures
from storage.base.errors import InsufficientRole, InvalidInput
from storage.base.leave_values import Closure
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import leave_types
from tests.builders import NOW, Acme, a_department, a_person, caller_for, type_id

CHRISTMAS = {
    "name": "Christmas closure",
    "start_date": date(2026, 12, 24),
    "end_date": date(2027, 1, 1),
}


def closed(database: Database, acme: Acme, **fields: Any) -> Closure:
    settings = CHRISTMAS | {"leave_type_id": type_id(database, acme)} | fields
    return acme.write(closures.create, settings)


def test_everyone_reads_closures_and_only_admins_change_them(
    database: Database, acme: Acme
) -> None:
    closure = closed(database, acme)
    ada = caller_for(acme, a_person(database, acme))

    shown = database.read_now(closures.page, PageOf(), by=ada).items
    with pytest.raises(InsufficientRole):
        database.write_now(closures.update, closure.id, {"name": "Mine"}, by=ada, now=NOW)
    with pytest.raises(InsufficientRole):
        database.write_now(closures.delete, closure.id, by=ada, now=NOW)

    assert shown == [closure]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"end_date": date(2026, 12, 23)}, "end_before_start"),
        ({"end_date": date(2029, 1, 1)}, "too_long"),
        ({"start_date": date(2029, 1, 1), "end_date": date(2029, 1, 2)}, "out_of_reach"),
        ({"leave_type_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"}, "unknown_leave_type"),
        ({"department_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"}, "not_found"),
        ({"when_short": "never"}, "invalid_value"),
        ({"name": "\u200b"}, "no_visible_letter"),
    ],
)
def test_impossible_fields_are_refused(
    database: Database, acme: Acme, changes: dict[str, Any], code: str
) -> None:
    closure = closed(database, acme)

    with pytest.raises(InvalidInput) as created:
        closed(database, acme, **changes)
    with pytest.raises(InvalidInput) as changed:
        acme.write(closures.update, closure.id, changes)

    assert [refused.value.errors[0].code for refused in (created, changed)] == [code, code]
    assert acme.read(closures.get, closure.id) == closure


def test_an_organisation_has_at_most_fifty_closures(database: Database, acme: Acme) -> None:
    for _ in range(MAX_CLOSURES):
        closed(database, acme)

    with pytest.raises(TooManyClosures):
        closed(database, acme)


def test_the_closures_of_a_deleted_department_go_with_it(database: Database, acme: Acme) -> None:
    team = a_department(database, acme)
    closed(database, acme, department_id=team.id)
    everyones = closed(database, acme)

    acme.write(departments.delete, team.id)

    assert acme.read(closures.page, PageOf()).items == [everyones]


def test_a_leave_type_of_a_closure_is_archived_instead_of_deleted(
    database: Database, acme: Acme
) -> None:
    created = acme.write(leave_types.create, {"name": "Closure leave"})
    closure = closed(database, acme, leave_type_id=created.id)

    archived = acme.write(leave_types.delete, created.id)

    assert archived is not None
    assert acme.read(closures.get, closure.id) == closure


def test_at_most_five_hundred_people_are_excluded_and_all_of_them_exist(
    database: Database, acme: Acme
) -> None:
    closure = closed(database, acme)
    unknown = "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"

    codes = []
    for excluded in ([unknown], [f"{number}" for number in range(501)]):
        with pytest.raises(InvalidInput) as refused:
            acme.write(closures.update, closure.id, {"excluded_user_ids": excluded})
        codes.append(refused.value.errors[0].code)

    assert codes == ["not_found", "out_of_range"]
