"""Effects of archiving or deactivating a person, and of another manager, on leave requests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from storage.admin import departments, people, people_status
from storage.base.values import User
from storage.db.compiled import Param, compiled
from storage.db.database import Database
from storage.db.tables import NotificationRow, OrganisationRow
from storage.leave import leave_requests
from storage.leave.drafts import Draft
from storage.outbox import organisation_config
from storage.people import approvers
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    a_request,
    an_organisation,
    approved_leave,
    as_it_is,
    audit_entries,
    caller_for,
    dry_run,
    type_id,
)
from tests.refusals import overlapping

pytestmark = pytest.mark.shared_database

MONDAY, WEDNESDAY, FRIDAY = date(2026, 8, 3), date(2026, 8, 5), date(2026, 8, 7)
ON_WEDNESDAY = datetime(2026, 8, 5, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


def archived(database: Database, acme: Acme, user: User, now: datetime = LATER) -> None:
    acme.write(people_status.archive, user.id, now=now)


def test_current_leave_of_an_archived_person_ends_today(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    week = approved_leave(
        database, acme, ada, start_date=MONDAY, end_date=FRIDAY, end_half_day="am"
    )

    archived(database, acme, ada, now=ON_WEDNESDAY)

    stored = as_it_is(database, acme, week)
    assert (stored.status, stored.end_date, stored.end_half_day) == ("approved", WEDNESDAY, None)
    assert (stored.counted_halves, stored.total_half_days) == ("333", 6)
    assert stored.version == week.version + 1


def test_leave_that_began_today_keeps_its_whole_day(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    request = approved_leave(
        database, acme, ada, start_date=WEDNESDAY, end_date=FRIDAY, start_half_day="am"
    )

    archived(database, acme, ada, now=ON_WEDNESDAY)

    stored = as_it_is(database, acme, request)
    assert (stored.start_date, stored.end_date) == (WEDNESDAY, WEDNESDAY)
    assert (stored.start_half_day, stored.end_half_day) == ("am", "pm")
    assert (stored.counted_halves, stored.total_half_days) == ("3", 2)


@pytest.mark.parametrize(
    ("start", "end", "becomes"),
    [
        (date(2026, 7, 6), date(2026, 7, 10), "approved"),
        (date(2026, 8, 3), date(2026, 8, 5), "approved"),
        (date(2026, 8, 6), date(2026, 8, 7), "cancelled"),
    ],
    ids=["past", "ends today", "ahead"],
)
def test_archiving_a_person_ends_or_cancels_approved_leave(
    database: Database, acme: Acme, ada: User, start: date, end: date, becomes: str
) -> None:
    request = approved_leave(database, acme, ada, start_date=start, end_date=end)

    archived(database, acme, ada, now=ON_WEDNESDAY)

    stored = as_it_is(database, acme, request)
    assert stored.status == becomes
    assert (stored == request) == (becomes == "approved")


def test_running_leave_without_past_working_days_is_cancelled(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    request = approved_leave(
        database, acme, ada, start_date=date(2026, 8, 1), end_date=date(2026, 8, 4)
    )

    archived(database, acme, ada, now=datetime(2026, 8, 2, 12, tzinfo=UTC))

    assert as_it_is(database, acme, request).status == "cancelled"


def test_pending_leave_is_cancelled_and_audited_with_its_cause(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    request = a_request(database, acme, ada, start_date=MONDAY)

    archived(database, acme, ada)

    stored = as_it_is(database, acme, request)
    assert (stored.status, stored.cancelled_at) == ("cancelled", LATER)
    entries = audit_entries(database, acme.caller, action="leave_request.cancelled")
    assert [(entry.subject_id, entry.changes["why"]["after"]) for entry in entries] == [
        (request.id, "user_archived")
    ]


@compiled
def _cards(organisation_id: Param[str], event_type: Param[str]) -> Any:
    return NotificationRow.select(NotificationRow.leave_request_id, NotificationRow.user_id).where(
        NotificationRow.organisation_id == organisation_id,
        NotificationRow.event_type == event_type,
        NotificationRow.kind == "approval_card",
    )


def rerouted_cards(database: Database, acme: Acme) -> set[tuple[str, str]]:
    return set(
        database.read_now(
            lambda tx: tx.all(_cards, organisation_id=acme.id, event_type="leave_request.rerouted")
        )
    )


def in_slack(database: Database) -> Acme:
    acme = an_organisation(database)

    def link(tx: Any) -> None:
        tx.update(OrganisationRow, {"slack_team_id": f"T{acme.id[-12:]}"}, id=acme.id)
        organisation_config.changed(tx, acme.id)

    database.write_now(link)
    return acme


@pytest.mark.parametrize("stop", [people_status.archive, people_status.deactivate])
def test_requests_are_reassigned_to_the_next_level(
    database: Database, stop: Callable[..., User]
) -> None:
    acme = in_slack(database)
    grace = a_person(database, acme, first_name="Grace")
    hedy = a_person(database, acme, first_name="Hedy")
    department = a_department(database, acme, manager_id=hedy.id)
    ada = a_person(database, acme, manager_id=grace.id, department_id=department.id)
    request = a_request(database, acme, ada)

    acme.write(stop, grace.id, now=LATER)

    now_approvers = database.read_now(approvers.of_person, acme.id, ada.id, today=date(2026, 6, 1))
    assert [approver.id for approver in now_approvers] == [hedy.id]
    # Grace's card loses its buttons, Hedy gets each.
    assert rerouted_cards(database, acme) == {(request.id, grace.id), (request.id, hedy.id)}
    entries = audit_entries(database, acme.caller, action="leave_request.rerouted")
    assert [(entry.subject_id, entry.changes) for entry in entries] == [
        (request.id, {"approvers": {"before": [grace.id], "after": [hedy.id]}})
    ]
    assert as_it_is(database, acme, request) == request


def test_a_reactivated_approver_gets_the_cards_again(database: Database) -> None:
    acme = in_slack(database)
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    acme.write(people_status.deactivate, grace.id)
    request = a_request(database, acme, ada)

    acme.write(people_status.reactivate, grace.id, now=LATER)

    assert rerouted_cards(database, acme) >= {(request.id, grace.id)}


@pytest.mark.parametrize("of_department", [False, True], ids=["person", "department"])
def test_a_new_manager_gets_the_cards_of_pending_requests(
    database: Database, of_department: bool
) -> None:
    acme = in_slack(database)
    grace = a_person(database, acme, first_name="Grace")
    hedy = a_person(database, acme, first_name="Hedy")
    team = a_department(database, acme, manager_id=grace.id if of_department else None)
    own_manager = None if of_department else grace.id
    ada = a_person(database, acme, department_id=team.id, manager_id=own_manager)
    request = a_request(database, acme, ada)

    update, changed_id = (departments.update, team.id) if of_department else (people.update, ada.id)
    change = {"manager_id": hedy.id}
    acme.write(update, changed_id, change, now=LATER)

    assert rerouted_cards(database, acme) == {(request.id, grace.id), (request.id, hedy.id)}


def test_a_new_role_adds_an_approver_and_a_lost_role_removes_one(database: Database) -> None:
    acme = in_slack(database)
    department = a_department(database, acme)
    ada = a_person(database, acme, department_id=department.id)
    grace = a_person(database, acme, first_name="Grace", department_id=department.id)
    request = a_request(database, acme, ada)

    acme.write(people.update, grace.id, {"role": "approver"}, now=LATER)
    assert rerouted_cards(database, acme) == {(request.id, acme.owner.id), (request.id, grace.id)}
    acme.write(people.update, grace.id, {"role": "member"}, now=LATER)

    entries = audit_entries(database, acme.caller, action="leave_request.rerouted")
    assert [entry.changes["approvers"] for entry in entries] == [
        {"before": [grace.id], "after": [acme.owner.id]},
        {"before": [acme.owner.id], "after": [grace.id]},
    ]


def test_leave_requested_meanwhile_is_assigned_to_a_new_approver_of_the_department(
    database: Database,
) -> None:
    acme = in_slack(database)
    department = a_department(database, acme)
    ada = a_person(database, acme, department_id=department.id)
    grace = a_person(database, acme, first_name="Grace", role="approver")
    draft = Draft(leave_type_id=type_id(database, acme), start_date=MONDAY, end_date=MONDAY)

    overlapping(
        database,
        lambda tx: leave_requests.submit(tx, by=caller_for(acme, ada), draft=draft, now=NOW),
        lambda: acme.write(people.update, grace.id, {"department_id": department.id}, now=LATER),
    )

    assert {user_id for _, user_id in rerouted_cards(database, acme)} == {grace.id, acme.owner.id}


def test_owners_approve_when_both_managers_leave_concurrently(
    database: Database,
) -> None:
    acme = in_slack(database)
    grace = a_person(database, acme, first_name="Grace")
    hedy = a_person(database, acme, first_name="Hedy")
    department = a_department(database, acme, manager_id=hedy.id)
    ada = a_person(database, acme, manager_id=grace.id, department_id=department.id)
    request = a_request(database, acme, ada)

    overlapping(
        database,
        lambda tx: people.update(tx, ada.id, {"manager_id": None}, by=acme.caller, now=LATER),
        lambda: archived(database, acme, hedy),
    )

    assert (request.id, acme.owner.id) in rerouted_cards(database, acme)


def test_approvers_of_many_people_are_those_of_each_person(database: Database, acme: Acme) -> None:
    grace = a_person(database, acme, first_name="Grace")
    department = a_department(database, acme, manager_id=grace.id)
    a_person(database, acme, first_name="Tim", role="approver", department_id=department.id)
    a_person(database, acme, first_name="Ann", role="admin")
    cast = [
        a_person(database, acme, manager_id=grace.id),
        a_person(database, acme, department_id=department.id),
        a_person(database, acme),
        grace,
    ]
    today = date(2026, 6, 1)

    approvers_by_requester = database.read_now(
        approvers.of_people, acme.id, {user.id for user in cast}, today=today
    )

    for user in cast:
        alone = database.read_now(approvers.of_person, acme.id, user.id, today=today)
        assert approvers_by_requester.get(user.id, []) == alone


# The dry run predicts what happens.


@pytest.fixture
def cast(database: Database) -> tuple[Acme, dict[str, User], dict[str, str]]:
    """Every possible approver, each with a pending request; people and departments."""
    acme = an_organisation(database)
    eng = a_department(database, acme, name="Engineering")
    people_of = {
        "boss": a_person(database, acme, first_name="Bea"),
        "admin": a_person(database, acme, first_name="Anna", role="admin"),
        "owner": a_person(database, acme, first_name="Oona", role="owner"),
    }
    sales = a_department(database, acme, name="Sales", manager_id=people_of["boss"].id)
    departments_of = {"eng": eng.id, "sales": sales.id}
    people_of |= {
        "grace": a_person(
            database, acme, first_name="Grace", role="approver", department_id=eng.id
        ),
        "hedy": a_person(
            database, acme, first_name="Hedy", role="approver", department_id=sales.id
        ),
        "ada": a_person(database, acme, department_id=eng.id),
        "sam": a_person(database, acme, first_name="Sam", department_id=sales.id),
        "report": a_person(database, acme, first_name="Rae", manager_id=people_of["boss"].id),
    }
    for user in people_of.values():
        a_request(database, acme, user)
    return acme, people_of, departments_of


def approvers_by_name(
    database: Database, acme: Acme, people_of: dict[str, User]
) -> dict[str, set[str]]:
    names = {user.id: name for name, user in people_of.items()} | {acme.owner.id: "olive"}
    approvers_by_requester = database.read_now(
        approvers.of_people, acme.id, list(names), today=NOW.date()
    )
    return {
        names[user_id]: {names[user.id] for user in users}
        for user_id, users in approvers_by_requester.items()
        if user_id != acme.owner.id
    }


def reassigned(
    database: Database,
    cast: tuple[Acme, dict[str, User], dict[str, str]],
    change: Callable[..., object],
) -> set[str]:
    """Whose requests the change gives to others, as its dry run predicts it."""
    acme, people_of, _ = cast
    before = approvers_by_name(database, acme, people_of)
    effects = dry_run(database, change, by=acme.caller, now=NOW)
    assert approvers_by_name(database, acme, people_of) == before
    acme.write(change)
    after = approvers_by_name(database, acme, people_of)

    names = {user.id: name for name, user in people_of.items()} | {acme.owner.id: "olive"}
    predicted = {
        names[each.request.user_id]: (
            {names[user.id] for user in each.before},
            {names[user.id] for user in each.after},
        )
        for each in effects.reassigned
    }
    assert predicted == {
        name: (before.get(name, set()), after.get(name, set()))
        for name in people_of
        if before.get(name) != after.get(name)
    }
    return set(predicted)


@pytest.mark.parametrize(
    ("who", "changes", "concerned"),
    [
        ("ada", {"manager_id": "boss"}, {"ada"}),
        ("ada", {"department_id": "sales"}, {"ada"}),
        ("ada", {"department_id": None}, {"ada"}),
        ("ada", {"manager_id": "hedy", "department_id": "sales"}, {"ada"}),
        ("ada", {"job_title": "Analyst"}, set()),
        ("report", {"manager_id": None}, {"report"}),
        ("report", {"manager_id": None, "role": "admin"}, {"report", "boss", "grace", "owner"}),
        ("grace", {"role": "member"}, {"ada"}),
        ("grace", {"department_id": "sales"}, {"ada", "grace"}),
        ("hedy", {"department_id": "eng"}, {"ada", "grace", "hedy"}),
        ("ada", {"role": "approver"}, {"grace"}),
        ("sam", {"role": "approver", "department_id": "eng"}, {"ada", "grace", "sam"}),
        ("admin", {"role": "member"}, {"boss", "grace", "owner"}),
        ("admin", {"role": "approver", "department_id": "eng"}, {"ada", "boss", "owner", "grace"}),
    ],
)
def test_a_dry_run_shows_approvers_after_a_change_of_a_person(
    database: Database,
    cast: tuple[Acme, dict[str, User], dict[str, str]],
    who: str,
    changes: dict[str, Any],
    concerned: set[str],
) -> None:
    acme, people_of, departments_of = cast
    ids = departments_of | {name: user.id for name, user in people_of.items()}
    changes = {
        name: ids.get(value, value) if name.endswith("_id") else value
        for name, value in changes.items()
    }

    change = partial(people.update, user_id=people_of[who].id, changes=changes)
    assert reassigned(database, cast, change) >= concerned


@pytest.mark.parametrize(
    ("department", "head", "concerned"),
    [
        ("eng", "boss", {"ada", "grace"}),
        ("sales", None, {"hedy", "sam"}),
        ("sales", "hedy", {"sam", "hedy"}),
        ("sales", "boss", set()),
    ],
)
def test_a_dry_run_shows_approvers_after_another_department_manager(
    database: Database,
    cast: tuple[Acme, dict[str, User], dict[str, str]],
    department: str,
    head: str | None,
    concerned: set[str],
) -> None:
    acme, people_of, departments_of = cast
    changes = {"manager_id": None if head is None else people_of[head].id}

    change = partial(departments.update, department_id=departments_of[department], changes=changes)
    assert reassigned(database, cast, change) == concerned
