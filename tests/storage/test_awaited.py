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
from storage.base.values import LeaveRequest, User
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import ReminderRow
from storage.directory import pending_approvals, people_rows
from storage.leave import caller_leave, decisions, leave_reading
from storage.notifications import approval_cards, reminder_checks, reminders
from storage.slack import slack_workspaces
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
class Drawn:
    """A possible approver; ``is_asked_next`` if the approvers before them did not answer."""

    role: str
    is_in_team: bool
    is_active: bool
    is_away: bool
    is_asked_next: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """An organisation; the manager and the head of Ada's team are people by their number."""

    people: list[Drawn]
    manager: int | None
    head: int | None


A_PERSON_OR_NONE = st.one_of(st.none(), st.sampled_from(PEOPLE))
DRAWINGS = st.builds(
    Drawing,
    people=st.lists(
        st.builds(
            Drawn,
            role=st.sampled_from(["member", "approver", "admin"]),
            is_in_team=st.booleans(),
            is_active=st.booleans(),
            is_away=st.sampled_from([False, False, True]),
            is_asked_next=st.sampled_from([False, False, True]),
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


def set_up(database: Database, drawing: Drawing) -> Setting:
    """Ada requests leave while all users are active; then the drawn changes are made."""
    acme = an_organisation(database)
    team = a_department(database, acme)
    others = [
        a_person(
            database,
            acme,
            first_name=f"P{number}",
            role=one.role,
            department_id=team.id if one.is_in_team else None,
        )
        for number, one in enumerate(drawing.people)
    ]
    ada = a_person(database, acme, department_id=team.id)
    request = a_request(database, acme, ada, start_date=date(2026, 9, 1))

    def place(tx: Transaction) -> None:
        by, now = acme.caller, NOW
        if drawing.manager is not None:
            manager = {"manager_id": others[drawing.manager].id}
            people.update(tx, ada.id, manager, by=by, now=now)
        if drawing.head is not None:
            departments.update(tx, team.id, {"manager_id": others[drawing.head].id}, by=by, now=now)
        for one, user in zip(drawing.people, others, strict=True):
            if one.is_asked_next:
                ask_next(tx, acme, request, user)
            if not one.is_active:
                people_status.deactivate(tx, user.id, by=by, now=now)

    for one, user in zip(drawing.people, others, strict=True):
        if one.is_away:
            a_request(database, acme, user, start_date=TODAY, code="sick")
    database.write_now(place)
    return Setting(acme=acme, ada=ada, others=others, request=request)


def ask_next(tx: Transaction, acme: Acme, request: LeaveRequest, user: User) -> None:
    """As reminders.py does if no approver before that person has answered."""
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


def expected(drawing: Drawing, setting: Setting) -> set[str]:
    """The pending approvers of Ada's request, computed level by level."""
    numbers, drawn = list(PEOPLE), drawing.people
    levels = [
        [] if drawing.manager is None else [drawing.manager],
        [] if drawing.head is None else [drawing.head],
        [n for n in numbers if drawn[n].role == "approver" and drawn[n].is_in_team],
        [n for n in numbers if drawn[n].role == "admin"],
    ]
    asked: set[str] = set()
    for number, level in enumerate(levels):
        active = [n for n in level if drawn[n].is_active]
        asked |= {setting.others[n].id for n in active}
        if number == 3:
            asked.add(setting.acme.owner.id)
        if any(not drawn[n].is_away for n in active):
            break
    asked_next = [n for n in numbers if drawn[n].is_asked_next and drawn[n].is_active]
    return asked | {setting.others[n].id for n in asked_next}


class Undone(Exception):
    pass


def may_approve(database: Database, setting: Setting, user: User) -> bool:
    def attempt(tx: Transaction) -> None:
        decisions.approve(tx, setting.request.id, by=caller_for(setting.acme, user), now=NOW)
        raise Undone

    try:
        database.write_now(attempt)
    except Undone:
        return True
    except DomainError:
        return False
    return False


def seen(database: Database, setting: Setting, use_case: Any, user: User) -> bool:
    by = caller_for(setting.acme, user)
    page = database.read_now(use_case, PageOf(), by=by, now=NOW)
    return setting.request.id in [one.id for one in page.items]


@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(DRAWINGS)
def test_lists_cards_and_decisions_agree_for_every_user(
    database: Database, drawing: Drawing
) -> None:
    setting = set_up(database, drawing)
    wanted = expected(drawing, setting)
    place = (setting.acme.id, setting.request.id)

    named = database.read_now(
        pending_approvals.of_request, setting.acme.id, setting.request, today=TODAY
    )
    assert {one.id for one in named} == wanted
    for user in setting.all_users:
        current = database.read_now(people_rows.get, user.id, by=setting.acme.caller)
        is_active, is_admin = current.status == "active", user.role in ("admin", "owner")
        is_asked = user.id in wanted
        card = database.read_now(approval_cards.card, *place, viewer_id=user.id, now=NOW)
        assert card is not None
        assert seen(database, setting, caller_leave.assigned, user) == is_asked
        if is_active:
            assert may_approve(database, setting, user) == (is_asked or is_admin)
            assert card.may_decide == (is_asked or is_admin)
            is_seen = is_asked or is_admin or user is setting.ada
            assert seen(database, setting, leave_reading.visible, user) == is_seen


def test_an_escalated_request_is_listed_until_it_is_decided(
    database: Database,
) -> None:
    acme = an_organisation(database)
    database.write_now(slack_workspaces.link_only_organisation, "T1", now=NOW)
    head = a_person(database, acme, first_name="Head")
    manager = a_person(database, acme, first_name="Grace")
    team = a_department(database, acme, manager_id=head.id)
    ada = a_person(database, acme, department_id=team.id, manager_id=manager.id)
    request = a_request(database, acme, ada, start_date=date(2026, 9, 1))
    database.write_now(reminders.start, acme.id, request.id, manager.id, now=NOW)
    setting = Setting(acme=acme, ada=ada, others=[head, manager], request=request)
    before = seen(database, setting, caller_leave.assigned, head)

    # Six of the manager's working days later, at work.
    while database.write_now(reminder_checks.run, acme.id, now=NOW + timedelta(days=8)):
        pass
    after = seen(database, setting, caller_leave.assigned, head)
    # Five minutes before Head's day begins and the reminder is looked at again.
    decided_at = datetime(2026, 6, 10, 7, 55, tzinfo=UTC)
    database.write_now(decisions.approve, request.id, by=caller_for(acme, head), now=decided_at)
    looked_at = [
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

    assert looked_at == [1, 0]
    assert (before, after) == (False, True)
    assert not seen(database, setting, caller_leave.assigned, head)
    assert not seen(database, setting, caller_leave.assigned, manager)


@pytest.mark.parametrize("other", ["request", "organisation"])
def test_the_next_step_is_asked_about_one_request_alone(database: Database, other: str) -> None:
    drawing = Drawing(
        people=[
            Drawn(
                role="member", is_in_team=False, is_active=True, is_away=False, is_asked_next=True
            )
        ]
        * len(PEOPLE),
        manager=None,
        head=None,
    )
    setting = set_up(database, drawing)
    one = setting.others[0]
    if other == "request":
        second = a_request(database, setting.acme, setting.ada, start_date=date(2026, 10, 1))
        setting = replace(setting, request=second)
    else:
        setting = replace(set_up(database, drawing), acme=setting.acme)

    assert not seen(database, setting, caller_leave.assigned, one)
    assert not may_approve(database, setting, one)
