"""Whose decision leave awaits: the four rungs of the ladder, and who is skipped."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

import pytest

from storage import approvers, departments, leave, leave_reading, people
from storage.database import Database
from storage.pages import PageOf
from storage.values import User
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    a_request,
    an_organisation,
    caller_for,
)

TODAY = NOW.date()


class Team(NamedTuple):
    """Ada's ladder, from the lowest rung to the highest."""

    acme: Acme
    ada: User
    manager: User
    head: User
    approver: User
    admin: User


def a_team(database: Database) -> Team:
    acme = an_organisation(database)
    head = a_person(database, acme, first_name="Head")
    team = a_department(database, acme, manager_id=head.id)
    manager = a_person(database, acme, first_name="Grace")
    return Team(
        acme,
        a_person(database, acme, department_id=team.id, manager_id=manager.id),
        manager,
        head,
        a_person(database, acme, first_name="Alan", role="approver", department_id=team.id),
        a_person(database, acme, first_name="Admin", role="admin"),
    )


def asked(database: Database, team: Team) -> set[str]:
    found = database.read_now(approvers.of_person, team.acme.id, team.ada.id, today=TODAY)
    return {user.id for user in found}


def switch_off(database: Database, team: Team, *gone: User) -> None:
    for user in gone:
        database.write_now(people.deactivate, user.id, by=team.acme.caller, now=NOW)


def go_away(database: Database, team: Team, *away: User) -> None:
    for user in away:
        a_request(database, team.acme, user, start_date=TODAY, code="sick")


def test_the_manager_is_asked_first(database: Database) -> None:
    team = a_team(database)

    assert asked(database, team) == {team.manager.id}


def test_without_an_active_manager_the_head_of_department_is_asked(database: Database) -> None:
    team = a_team(database)
    switch_off(database, team, team.manager)

    assert asked(database, team) == {team.head.id}


def test_then_the_departments_approvers(database: Database) -> None:
    team = a_team(database)
    switch_off(database, team, team.manager, team.head)

    assert asked(database, team) == {team.approver.id}


def test_then_admins_and_owners(database: Database) -> None:
    team = a_team(database)
    switch_off(database, team, team.manager, team.head, team.approver)

    assert asked(database, team) == {team.admin.id, team.acme.owner.id}


def test_an_approver_of_another_department_is_not_asked(database: Database) -> None:
    team = a_team(database)
    switch_off(database, team, team.manager, team.head)
    elsewhere = a_department(database, team.acme, name="Sales")
    a_person(database, team.acme, role="approver", department_id=elsewhere.id)

    assert asked(database, team) == {team.approver.id}


def test_a_manager_on_leave_stays_and_the_next_rung_is_added(database: Database) -> None:
    team = a_team(database)
    go_away(database, team, team.manager)

    assert asked(database, team) == {team.manager.id, team.head.id}


def test_rungs_are_added_until_somebody_is_present(database: Database) -> None:
    team = a_team(database)
    go_away(database, team, team.manager, team.head, team.approver)

    assert asked(database, team) == {
        team.manager.id,
        team.head.id,
        team.approver.id,
        team.admin.id,
        team.acme.owner.id,
    }


def test_nobody_is_asked_about_himself(database: Database) -> None:
    team = a_team(database)
    database.write_now(
        departments.update,
        str(team.ada.department_id),
        {"manager_id": team.ada.id},
        by=team.acme.caller,
        now=NOW,
    )
    switch_off(database, team, team.manager)

    assert asked(database, team) == {team.approver.id}


@pytest.mark.parametrize("who", ["manager", "head", "approver", "admin", "owner", "ada"])
def test_the_list_of_what_awaits_somebody_agrees_with_the_ladder(
    database: Database, who: str
) -> None:
    team = a_team(database)
    go_away(database, team, team.manager)
    request = a_request(database, team.acme, team.ada)
    person: User = team.acme.owner if who == "owner" else getattr(team, who)

    page = database.read_now(
        leave_reading.awaiting, PageOf(), by=caller_for(team.acme, person), now=NOW
    )

    assert (request.id in [found.id for found in page.items]) == (
        person.id in asked(database, team)
    )
    assert database.read_now(
        approvers.is_asked_about, team.acme.id, team.ada.id, approver_id=person.id, today=TODAY
    ) == (person.id in asked(database, team))


def test_what_is_decided_awaits_nobody(database: Database) -> None:
    team = a_team(database)
    request = a_request(database, team.acme, team.ada)
    by = caller_for(team.acme, team.manager)
    database.write_now(leave.approve, request.id, by=by, now=NOW)

    assert database.read_now(leave_reading.awaiting, PageOf(), by=by, now=NOW).items == []


def test_a_changed_manager_takes_over_what_waits(database: Database) -> None:
    team = a_team(database)
    request = a_request(database, team.acme, team.ada, start_date=date(2026, 9, 1))
    database.write_now(
        people.update, team.ada.id, {"manager_id": team.head.id}, by=team.acme.caller, now=NOW
    )

    page = database.read_now(
        leave_reading.awaiting, PageOf(), by=caller_for(team.acme, team.head), now=NOW
    )

    assert [found.id for found in page.items] == [request.id]
