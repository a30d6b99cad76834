"""Exactly the users who may decide on a request see it as pending."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.admin import departments, people, people_status
from storage.base.errors import DomainError
from storage.base.leave_values import LeaveRequest
from storage.base.values import User
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import ReminderRow
from storage.leave import decisions, leave_lists
from storage.notifications import approval_cards, reminder_checks, reminders
from storage.people import approvers, people_rows
from storage.workspaces import slack_workspaces
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
PEOPLE = range(5)


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A possible approver; ``is_escalated_to`` if the levels below did not answer."""

    role: str
    is_in_team: bool
    is_active: bool
    is_away: bool
    is_escalated_to: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """``manager`` and ``head`` of Ada's team are indices of ``people``."""

    people: list[Candidate]
    manager: int | None
    head: int | None


A_PERSON_OR_NONE = st.one_of(st.none(), st.sampled_from(PEOPLE))
CASES = st.builds(
    Case,
    people=st.lists(
        st.builds(
            Candidate,
            role=st.sampled_from(["member", "approver", "admin"]),
            is_in_team=st.booleans(),
            is_active=st.booleans(),
            is_away=st.sampled_from([False, False, True]),
            is_escalated_to=st.sampled_from([False, False, True]),
        ),
        min_size=len(PEOPLE),
        max_size=len(PEOPLE),
    ),
    manager=A_PERSON_OR_NONE,
    head=A_PERSON_OR_NONE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    acme: Acme
    ada: User
    others: list[User]
    request: LeaveRequest

    @property
    def all_users(self) -> list[User]:
        return [self.ada, *self.others, self.acme.owner]


def set_up(database: Database, case: Case) -> Setting:
    """Ada requests leave while all users are active; then the changes of the case are made."""
    acme = an_organisation(database)
    team = a_department(database, acme)
    others = [
        a_person(
            database,
            acme,
            first_name=f"P{number}",
            role=candidate.role,
            department_id=team.id if candidate.is_in_team else None,
        )
        for number, candidate in enumerate(case.people)
    ]
    ada = a_person(database, acme, department_id=team.id)
    request = a_request(database, acme, ada, start_date=date(2026, 9, 1))

    def change(tx: Transaction) -> None:
        by, now = acme.caller, NOW
        if case.manager is not None:
            manager = {"manager_id": others[case.manager].id}
            people.update(tx, ada.id, manager, by=by, now=now)
        if case.head is not None:
            departments.update(tx, team.id, {"manager_id": others[case.head].id}, by=by, now=now)
        for candidate, user in zip(case.people, others, strict=True):
            if candidate.is_escalated_to:
                escalate_to(tx, acme, request, user)
            if not candidate.is_active:
                people_status.deactivate(tx, user.id, by=by, now=now)

    for candidate, user in zip(case.people, others, strict=True):
        if candidate.is_away:
            a_request(database, acme, user, start_date=TODAY, code="sick")
    database.write_now(change)
    return Setting(acme=acme, ada=ada, others=others, request=request)


def escalate_to(tx: Transaction, acme: Acme, request: LeaveRequest, user: User) -> None:
    """As ``escalations`` does when the levels below have not answered."""
    tx.insert(
        ReminderRow,
        organisation_id=acme.id,
        leave_request_id=request.id,
        user_id=user.id,
        asked_at=NOW,
        sent=0,
        is_next_step=True,
        due_at=NOW + timedelta(days=1),
    )


def expected(case: Case, setting: Setting) -> set[str]:
    """The pending approvers of Ada's request, computed level by level."""
    numbers, candidates = list(PEOPLE), case.people
    levels = [
        [] if case.manager is None else [case.manager],
        [] if case.head is None else [case.head],
        [n for n in numbers if candidates[n].role == "approver" and candidates[n].is_in_team],
        [n for n in numbers if candidates[n].role == "admin"],
    ]
    approver_ids: set[str] = set()
    for number, level in enumerate(levels):
        active = [n for n in level if candidates[n].is_active]
        approver_ids |= {setting.others[n].id for n in active}
        if number == 3:
            approver_ids.add(setting.acme.owner.id)
        if any(not candidates[n].is_away for n in active):
            break
    escalated_to = [n for n in numbers if candidates[n].is_escalated_to and candidates[n].is_active]
    return approver_ids | {setting.others[n].id for n in escalated_to}


class RolledBack(Exception):
    pass


def may_approve(database: Database, setting: Setting, user: User) -> bool:
    def attempt(tx: Transaction) -> None:
        decisions.approve(tx, setting.request.id, by=caller_for(setting.acme, user), now=NOW)
        raise RolledBack

    try:
        database.write_now(attempt)
    except RolledBack:
        return True
    except DomainError:
        return False
    return False


def is_listed(database: Database, setting: Setting, use_case: Any, user: User) -> bool:
    by = caller_for(setting.acme, user)
    page = database.read_now(use_case, PageOf(), by=by, now=NOW)
    return setting.request.id in [request.id for request in page.items]


@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(CASES)
def test_lists_cards_and_decisions_agree_for_every_user(database: Database, case: Case) -> None:
    setting = set_up(database, case)
    expected_ids = expected(case, setting)

    assigned = database.read_now(
        approvers.of_request, setting.acme.id, setting.request, today=TODAY
    )
    assert {approver.id for approver in assigned} == expected_ids
    for user in setting.all_users:
        current = database.read_now(people_rows.get, user.id, by=setting.acme.caller)
        is_active, is_admin = current.status == "active", user.role in ("admin", "owner")
        is_assigned = user.id in expected_ids
        card = database.read_now(
            approval_cards.card,
            setting.acme.id,
            setting.request.id,
            viewer_id=user.id,
            now=NOW,
        )
        assert card is not None
        assert is_listed(database, setting, leave_lists.assigned, user) == is_assigned
        # Home shows what awaits them only to such people.
        could = database.read_now(approvers.could_decide, setting.acme.id, user.id)
        assert could or is_admin or not is_assigned
        if is_active:
            assert may_approve(database, setting, user) == (is_assigned or is_admin)
            assert card.may_decide == (is_assigned or is_admin)
            is_visible = is_assigned or is_admin or user is setting.ada
            assert is_listed(database, setting, leave_lists.visible, user) == is_visible


def test_an_escalated_request_is_listed_until_it_is_decided(database: Database, acme: Acme) -> None:
    database.write_now(slack_workspaces.link_only_organisation, "T1", now=NOW)
    head = a_person(database, acme, first_name="Head")
    manager = a_person(database, acme, first_name="Grace")
    team = a_department(database, acme, manager_id=head.id)
    ada = a_person(database, acme, department_id=team.id, manager_id=manager.id)
    request = a_request(database, acme, ada, start_date=date(2026, 9, 1))
    database.write_now(reminders.start, acme.id, request.id, manager.id, now=NOW)
    setting = Setting(acme=acme, ada=ada, others=[head, manager], request=request)
    before = is_listed(database, setting, leave_lists.assigned, head)

    # Six of the manager's working days later, at work.
    while database.write_now(reminder_checks.run, acme.id, now=NOW + timedelta(days=8)):
        pass
    after = is_listed(database, setting, leave_lists.assigned, head)
    # Five minutes before Head's day begins and the reminder is checked again.
    decided_at = datetime(2026, 6, 10, 7, 55, tzinfo=UTC)
    database.write_now(decisions.approve, request.id, by=caller_for(acme, head), now=decided_at)
    checked_rows = [
        database.write_now(reminder_checks.run, acme.id, now=decided_at + timedelta(minutes=minute))
        for minute in (6, 7)
    ]
    database.write_now(
        decisions.change_decision,
        request.id,
        "declined",
        by=caller_for(acme, head),
        now=decided_at + timedelta(minutes=9),
    )

    assert checked_rows == [1, 0]
    assert (before, after) == (False, True)
    assert not is_listed(database, setting, leave_lists.assigned, head)
    assert not is_listed(database, setting, leave_lists.assigned, manager)


@pytest.mark.parametrize("other", ["request", "organisation"])
def test_an_escalation_assigns_only_its_request(database: Database, other: str) -> None:
    case = Case(
        people=[
            Candidate(
                role="member", is_in_team=False, is_active=True, is_away=False, is_escalated_to=True
            )
        ]
        * len(PEOPLE),
        manager=None,
        head=None,
    )
    setting = set_up(database, case)
    user = setting.others[0]
    if other == "request":
        second = a_request(database, setting.acme, setting.ada, start_date=date(2026, 10, 1))
        setting = replace(setting, request=second)
    else:
        setting = replace(set_up(database, case), acme=setting.acme)

    assert not is_listed(database, setting, leave_lists.assigned, user)
    assert not may_approve(database, setting, user)
