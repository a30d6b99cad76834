"""Who approves: the four levels of the approval chain, and skipped approvers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import pytest

from storage.admin import departments, people, people_status
from storage.base.values import User
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import leave_lists
from storage.people import approvers, people_rows
from storage.people.people_rows import SlackProfile
from storage.workspaces import slack_profiles
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    a_request,
    a_slack_profile,
    an_organisation,
    audit_entries,
    caller_for,
)

pytestmark = [pytest.mark.shared_database, pytest.mark.both_engines]

TODAY = NOW.date()


@dataclass(frozen=True, kw_only=True, slots=True)
class Team:
    """Ada's approval chain, from the lowest level to the highest."""

    acme: Acme
    ada: User
    manager: User
    head: User
    approver: User
    admin: User

    @property
    def owner(self) -> User:
        return self.acme.owner


def a_team(database: Database) -> Team:
    acme = an_organisation(database)
    head = a_person(database, acme, first_name="Head")
    team = a_department(database, acme, manager_id=head.id)
    manager = a_person(database, acme, first_name="Grace")
    return Team(
        acme=acme,
        ada=a_person(database, acme, department_id=team.id, manager_id=manager.id),
        manager=manager,
        head=head,
        approver=a_person(
            database, acme, first_name="Alan", role="approver", department_id=team.id
        ),
        admin=a_person(database, acme, first_name="Admin", role="admin"),
    )


def approver_ids(database: Database, team: Team) -> set[str]:
    users = database.read_now(approvers.of_person, team.acme.id, team.ada.id, today=TODAY)
    return {user.id for user in users}


def switch_off(database: Database, team: Team, *gone: User) -> None:
    for user in gone:
        database.write_now(people_status.deactivate, user.id, by=team.acme.caller, now=NOW)


def go_away(database: Database, team: Team, *away: User) -> None:
    for user in away:
        a_request(database, team.acme, user, start_date=TODAY, code="sick")


@pytest.mark.parametrize(
    ("inactive", "away", "expected"),
    [
        ("", "", "manager"),
        ("manager", "", "head"),
        ("manager head", "", "approver"),
        ("manager head approver", "", "admin owner"),
        ("", "manager", "manager head"),
        ("", "manager head approver", "manager head approver admin owner"),
    ],
)
def test_the_lowest_level_with_an_approver_who_is_there_decides_with_those_below(
    database: Database, inactive: str, away: str, expected: str
) -> None:
    team = a_team(database)
    elsewhere = a_department(database, team.acme, name="Sales")
    a_person(database, team.acme, role="approver", department_id=elsewhere.id)

    switch_off(database, team, *(getattr(team, name) for name in inactive.split()))
    go_away(database, team, *(getattr(team, name) for name in away.split()))

    assert approver_ids(database, team) == {getattr(team, name).id for name in expected.split()}


def test_requesters_are_never_their_own_approvers(database: Database) -> None:
    team = a_team(database)
    database.write_now(
        departments.update,
        str(team.ada.department_id),
        {"manager_id": team.ada.id},
        by=team.acme.caller,
        now=NOW,
    )
    switch_off(database, team, team.manager)

    assert approver_ids(database, team) == {team.approver.id}


def test_a_new_manager_takes_over_pending_requests(database: Database) -> None:
    team = a_team(database)
    request = a_request(database, team.acme, team.ada, start_date=date(2026, 9, 1))
    database.write_now(
        people.update, team.ada.id, {"manager_id": team.head.id}, by=team.acme.caller, now=NOW
    )

    page = database.read_now(
        leave_lists.assigned, PageOf(), by=caller_for(team.acme, team.head), now=NOW
    )

    assert [item.id for item in page.items] == [request.id]


def linked(database: Database, acme: Acme, user: User, slack_user_id: str) -> User:
    """The person as soon as a Slack account with their confirmed address is known."""
    profile = a_slack_profile(
        user.email,
        slack_user_id=slack_user_id,
        first_name=user.first_name,
        last_name=user.last_name,
    )
    database.write_now(slack_profiles.sync, acme.id, profile, now=NOW)
    return acme.read(people_rows.get, user.id)


def test_pending_people_approve_once_their_slack_account_is_known(database: Database) -> None:
    acme = an_organisation(database)
    manager = a_person(database, acme, first_name="Grace", status="pending")
    ada = a_person(database, acme, manager_id=manager.id)
    team = Team(
        acme=acme, ada=ada, manager=manager, head=acme.owner, approver=acme.owner, admin=acme.owner
    )
    assert approver_ids(database, team) == {acme.owner.id}

    grace = linked(database, acme, manager, "UGRACE")

    assert grace.status == "pending"
    assert approver_ids(database, team) == {manager.id}


def test_pending_requests_go_to_a_manager_whose_account_becomes_known(database: Database) -> None:
    acme = an_organisation(database)
    manager = a_person(database, acme, first_name="Grace", status="pending")
    ada = a_person(database, acme, manager_id=manager.id)
    request = a_request(database, acme, ada)
    grace = linked(database, acme, manager, "UGRACE")

    waiting = database.read_now(
        leave_lists.assigned, PageOf(limit=10), by=caller_for(acme, grace), now=NOW
    )

    assert [leave_request.id for leave_request in waiting.items] == [request.id]
    entries = audit_entries(database, acme.caller, action="leave_request.rerouted")
    assert [entry.subject_id for entry in entries] == [request.id]


def test_a_pending_admin_with_a_known_account_decides_for_a_sole_owner(database: Database) -> None:
    acme = an_organisation(database)
    admin = a_person(database, acme, first_name="Anna", role="admin", status="pending")
    at_once = a_request(database, acme, acme.owner)
    linked(database, acme, admin, "UANNA")

    later = a_request(database, acme, acme.owner, start_date=date(2026, 9, 7))

    assert (at_once.status, later.status) == ("approved", "pending")


def test_a_person_deactivated_in_slack_no_longer_approves(database: Database, acme: Acme) -> None:
    manager = a_person(database, acme, first_name="Grace", status="pending")
    ada = a_person(database, acme, manager_id=manager.id)
    team = Team(
        acme=acme, ada=ada, manager=manager, head=acme.owner, approver=acme.owner, admin=acme.owner
    )
    linked(database, acme, manager, "UGRACE")

    gone = SlackProfile(
        slack_user_id="UGRACE",
        email=None,
        first_name="",
        last_name="",
        timezone=None,
        locale=None,
        avatar_url=None,
        is_deleted=True,
    )
    database.write_now(slack_profiles.sync, acme.id, gone, now=NOW)

    assert approver_ids(database, team) == {acme.owner.id}
