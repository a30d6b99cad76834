from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from storage.admin import departments, people
from storage.base.allowance_values import Amount
from storage.base.errors import InUse, InvalidInput, NameTaken, NotFound
from storage.db import locks
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.db.tables import DepartmentRow
from storage.leave import ledgers
from storage.outbox import audit, organisation_config
from storage.people import allowance_terms, department_rows, people_rows
from storage.rules import employment_terms
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    an_organisation,
    audit_entries,
    dry_run,
)
from tests.refusals import crossing

pytestmark = pytest.mark.shared_database

LATER = NOW + timedelta(hours=1)


def test_a_change_is_stored_and_visible(database: Database, acme: Acme) -> None:
    department = a_department(database, acme, default_leave_allowance_half_days=50)
    database.read_now(organisation_config.of_organisation, acme.id)

    changes: dict[str, Any] = {"name": "Research", "default_leave_allowance_half_days": None}
    after = acme.write(departments.update, department.id, changes, now=LATER)

    assert replace(after, figures=()) == replace(department, **changes, updated_at=LATER, version=2)
    config = database.read_now(organisation_config.of_organisation, acme.id)
    stored = config.departments[department.id]
    assert allowance_terms.department_as_of(config, stored, LATER.date()) == after
    newest = audit_entries(database, acme.caller)[0]
    assert (newest.action, newest.subject_id) == ("department.updated", department.id)
    assert newest.changes == {
        "name": {"before": "Engineering", "after": "Research"},
        "default_leave_allowance": {"before": 25, "after": None},
        "later_leave_allowances": {
            "before": None,
            "after": [{"valid_from": "2026-01-01", "by_leave_year": False, "days": None}],
        },
    }


@pytest.mark.parametrize("name", ["Research", " RESEARCH ", "research"])
def test_department_names_are_unique(database: Database, acme: Acme, name: str) -> None:
    research = a_department(database, acme, name="Research")
    sales = a_department(database, acme, name="Sales")
    elsewhere = an_organisation(database, name="Other")

    with pytest.raises(NameTaken) as refusal:
        a_department(database, acme, name=name)
    with pytest.raises(NameTaken):
        acme.write(departments.update, sales.id, {"name": name}, now=LATER)
    with pytest.raises(NameTaken):
        dry_run(database, departments.update, sales.id, {"name": name}, by=acme.caller, now=LATER)

    assert (refusal.value.other_id, refusal.value.other_name) == (research.id, "Research")
    assert a_department(database, elsewhere, name=name).name == name.strip()
    changed = acme.write(departments.update, research.id, {"name": name}, now=LATER)
    assert changed.name == name.strip()


def test_departments_that_had_one_name_before_can_still_be_changed(database: Database) -> None:
    acme = an_organisation(database)
    first = a_department(database, acme, name="Research")
    second = a_department(database, acme, name="Sales")
    database.write_now(
        lambda tx: tx.update(
            DepartmentRow, {"name": "Research"}, organisation_id=acme.id, id=second.id
        )
    )

    change = {"default_leave_allowance_half_days": 40, "name": "Research"}
    for department in (first, second):
        after = acme.write(departments.update, department.id, change, now=LATER)
        assert after.default_leave_allowance_half_days == 40


def test_of_two_concurrent_departments_with_one_name_one_is_created(database: Database) -> None:
    acme = an_organisation(database)
    together = threading.Barrier(2)

    def make(name: str) -> str:
        together.wait()
        try:
            return a_department(database, acme, name=name).id
        except NameTaken as refusal:
            return refusal.code

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(make, ("Research", "research")))

    assert outcomes.count("name_taken") == 1


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        ({}, "/name", "required"),
        ({"name": "x" * 201}, "/name", "invalid_length"),
        ({"name": "a", "default_leave_allowance_half_days": -1}, "/default_leave_allowance", None),
        ({"name": "a", "manager_id": "grace"}, "/manager_id", "not_found"),
        ({"name": "a", "colour": "red"}, "/colour", "unknown_field"),
    ],
)
def test_wrong_fields_are_refused(
    database: Database, acme: Acme, fields: dict[str, Any], pointer: str, code: str | None
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        acme.write(departments.create, fields)

    assert refusal.value.errors[0].pointer == pointer
    assert refusal.value.code == (code or "invalid_days")


def test_a_manager_is_of_the_organisation_and_not_archived(database: Database) -> None:
    acme, globex = an_organisation(database), an_organisation(database, name="Globex")
    department = a_department(database, acme)
    stranger = a_person(database, globex)
    former = a_person(database, acme, status="archived")

    def code_for(manager_id: str) -> str:
        with pytest.raises(InvalidInput) as refusal:
            acme.write(departments.update, department.id, {"manager_id": manager_id})
        return refusal.value.code

    assert code_for(stranger.id) == "not_found"
    assert code_for(former.id) == "manager_archived"


def test_an_empty_department_is_deleted(database: Database, acme: Acme) -> None:
    department = a_department(database, acme)

    acme.write(departments.delete, department.id, now=LATER)

    with pytest.raises(NotFound):
        acme.read(department_rows.get, department.id)
    assert database.read_now(organisation_config.of_organisation, acme.id).departments == {}
    newest = audit_entries(database, acme.caller)[0]
    assert newest.action == "department.deleted"
    assert newest.changes["name"] == {"before": "Engineering", "after": None}


def test_a_department_with_members_cannot_be_deleted(database: Database, acme: Acme) -> None:
    department = a_department(database, acme)
    ada = a_person(database, acme, department_id=department.id)

    with pytest.raises(InUse):
        acme.write(departments.delete, department.id, now=LATER)

    acme.write(people.update, ada.id, {"department_id": None}, now=LATER)
    acme.write(departments.delete, department.id, now=LATER)


def test_a_department_with_future_members_cannot_be_deleted(database: Database, acme: Acme) -> None:
    department = a_department(database, acme)
    ada = a_person(database, acme)
    joins = {"department_id": department.id, "effective_from": LATER.date() + timedelta(days=1)}
    acme.write(people.update, ada.id, joins, now=LATER)

    with pytest.raises(InUse):
        acme.write(departments.delete, department.id, now=LATER)


def test_former_members_keep_the_allowance_of_a_deleted_department(database: Database) -> None:
    acme = an_organisation(database)
    department = a_department(database, acme, default_leave_allowance_half_days=60)
    ada = a_person(database, acme, department_id=department.id)
    leaves = {"department_id": None, "effective_from": date(2026, 4, 1)}
    acme.write(people.update, ada.id, leaves, now=LATER)

    def remaining_half_days() -> Amount:
        balance = acme.read(ledgers.balance, ada.id, on=None, now=LATER)
        return balance.remaining_half_days

    # 90 days of 60 half-days and 275 of the organisation's 50, rounded up.
    assert remaining_half_days() == 53
    acme.write(departments.delete, department.id, now=LATER)

    first, second = employment_terms.records_of(acme.read(people_rows.get, ada.id))
    assert (first.department_id, first.leave_allowance_half_days) == (None, 60)
    assert (second.department_id, second.leave_allowance_half_days) == (None, None)
    assert remaining_half_days() == 53


def test_a_department_with_archived_people_only_can_be_deleted(database: Database) -> None:
    acme = an_organisation(database)
    department = a_department(database, acme)
    team = [
        a_person(database, acme, department_id=department.id, status="archived") for _ in range(3)
    ]
    elsewhere = a_department(database, acme, name="Sales")
    other = a_person(database, acme, department_id=elsewhere.id, status="archived")

    acme.write(departments.delete, department.id, now=LATER)

    for former in team:
        person = acme.read(people_rows.get, former.id)
        assert (person.department_id, person.status, person.updated_at) == (None, "archived", LATER)
        assert person.version == former.version + 1
        entries = acme.read(audit.entries, PageOf(), subject_id=former.id)
        assert entries.items[0].changes == {
            "department_id": {"before": department.id, "after": None}
        }
    assert acme.read(people_rows.get, other.id) == other


def test_pages_are_in_the_order_of_creation(database: Database, acme: Acme) -> None:
    department_ids = [
        a_department(database, acme, name=f"Team {second}", now=NOW + timedelta(seconds=second)).id
        for second in range(3)
    ]

    first = acme.read(department_rows.page, PageOf(limit=2))
    second = acme.read(department_rows.page, PageOf(limit=2, cursor=first.next_cursor))

    assert [department.id for department in (*first.items, *second.items)] == department_ids
    assert second.next_cursor is None


def test_joining_and_changing_a_department_do_not_deadlock(database: Database, acme: Acme) -> None:
    department = a_department(database, acme)
    ada = {"email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace"}

    runs = crossing(
        database,
        lambda tx: locks.organisation(tx, acme.id),
        lambda tx: departments.update(
            tx, department.id, {"name": "Sales"}, by=acme.caller, now=NOW
        ),
        lambda tx: people.create(
            tx, ada | {"department_id": department.id}, by=acme.caller, now=NOW
        ),
    )

    assert runs == 2
