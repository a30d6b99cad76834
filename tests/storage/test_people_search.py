"""People are found by name; a menu offers those whose leave the caller may record."""

from __future__ import annotations

from datetime import date

import pytest

from storage.base.errors import DomainError
from storage.base.values import Caller, User
from storage.db.database import Database
from storage.leave import leave_requests, leave_types
from storage.people import people_lists
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    a_request,
    an_organisation,
    caller_for,
    type_id,
)

pytestmark = [pytest.mark.shared_database, pytest.mark.both_engines]


@pytest.mark.parametrize(
    ("typed", "first_names"),
    [
        ("gmail", ["Grace"]),
        ("@gmail.com", []),
        ("com", []),
        ("ada l", ["Ada"]),
        ("LOVELACE", ["Ada"]),
        ("a.king", ["Ada"]),
        ("a.king@gm", ["Ada"]),
        ("king@gmail.com", []),
        ("%", []),
    ],
)
def test_a_domain_matches_no_people(database: Database, typed: str, first_names: list[str]) -> None:
    acme = an_organisation(database)
    a_person(database, acme, email="A.King@gmail.com")
    a_person(database, acme, first_name="Grace", last_name="Hopper", email="gmail.fan@gmail.com")
    a_person(database, acme, first_name="Hedy", last_name="Lamarr", email="hedy@gmail.com")

    people = acme.read(people_lists.find, typed)

    assert [user.first_name for user in people] == first_names


@pytest.mark.parametrize(
    ("typed", "first_names"),
    [
        ("ada", ["Ada"]),
        ("mcdonald", ["Mary Ann"]),
        ("with mary ann", ["Mary Ann"]),
        ("mary", []),
        ("émile or ada", ["Ada", "Émile"]),
        ("adam", []),
        ("", []),
        ("%", []),
    ],
)
def test_people_are_named_by_whole_words(
    database: Database, acme: Acme, typed: str, first_names: list[str]
) -> None:
    a_person(database, acme)
    a_person(database, acme, first_name="Mary Ann", last_name="McDonald", email="mary@acme.example")
    a_person(database, acme, first_name="Émile", email="emile@acme.example")

    people = acme.read(people_lists.named, typed)

    assert [user.first_name for user in people] == first_names


def found(database: Database, by: Caller, words: str = "") -> list[str]:
    people = database.read_now(leave_requests.find_recordable, words, by=by, now=NOW)
    return [person.first_name for person in people]


def are_any(database: Database, by: Caller) -> bool:
    return database.read_now(leave_requests.are_any_recordable, by=by, now=NOW)


def accepted(database: Database, by: Caller, people: list[User]) -> list[str]:
    """The people for whom recording is not refused."""
    names = []
    for person in people:
        try:
            database.read_now(
                leave_requests.check_recordable_person, person, by=by, today=NOW.date()
            )
        except DomainError:
            continue
        names.append(person.first_name)
    return sorted(names)


def staff(database: Database, acme: Acme) -> list[User]:
    """Grace manages Ada, Cleo and Dan; Hedy approves in Ada's and Bob's department."""
    team = a_department(database, acme)
    grace = a_person(database, acme, first_name="Grace")
    hedy = a_person(database, acme, first_name="Hedy", role="approver", department_id=team.id)
    return [
        a_person(database, acme, first_name="Ada", manager_id=grace.id, department_id=team.id),
        a_person(database, acme, first_name="Bob", department_id=team.id),
        a_person(database, acme, first_name="Cleo", status="deactivated", manager_id=grace.id),
        a_person(database, acme, first_name="Dan", status="archived", manager_id=grace.id),
        a_person(database, acme, first_name="Eve"),
        grace,
        hedy,
    ]


def test_a_menu_offers_exactly_those_for_whom_recording_is_allowed(database: Database) -> None:
    acme = an_organisation(database)
    people = staff(database, acme)
    expected = {"Grace": ["Ada", "Cleo"], "Hedy": ["Bob"], "Ada": [], "Eve": []}

    for user in people:
        if user.first_name in expected:
            by = caller_for(acme, user)
            assert (
                found(database, by) == expected[user.first_name] == accepted(database, by, people)
            )
            assert are_any(database, by) == bool(expected[user.first_name])
    everyone = ["Ada", "Bob", "Cleo", "Eve", "Grace", "Hedy"]
    assert found(database, acme.caller) == everyone == accepted(database, acme.caller, people)
    assert are_any(database, acme.caller)


def test_a_menu_follows_the_approval_chain(database: Database, acme: Acme) -> None:
    people = staff(database, acme)
    grace, hedy = people[-2:]
    # While Grace is away, Hedy decides on Ada's leave.
    a_request(database, acme, grace, start_date=date(2026, 6, 1), code="sick")

    assert found(database, caller_for(acme, hedy)) == ["Ada", "Bob"]
    assert found(database, caller_for(acme, grace)) == ["Ada", "Cleo"]


def test_a_search_narrows_the_menu_down(database: Database, acme: Acme) -> None:
    grace = caller_for(acme, staff(database, acme)[-2])

    assert found(database, grace, " cl ") == ["Cleo"]
    assert found(database, grace, "bob") == []
    assert found(database, acme.caller, "bob") == ["Bob"]


def test_approvers_record_for_no_one_without_a_type_for_it(database: Database, acme: Acme) -> None:
    grace = caller_for(acme, staff(database, acme)[-2])
    sick, changes = type_id(database, acme, "sick"), {"is_archived": True}
    acme.write(leave_types.update, sick, changes)

    assert not are_any(database, grace)
    assert are_any(database, acme.caller)
