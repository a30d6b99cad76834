"""Editing, approving, declining and cancelling: who may, in which status, and the effects."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any

import pytest

from storage.admin import people
from storage.base.errors import (
    InsufficientRole,
    InvalidInput,
    InvalidTransition,
    NotFound,
)
from storage.base.values import Caller, LeaveRequest, User
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import decisions, leave_reading, leave_requests
from storage.leave.decisions import NotYourApproval
from storage.outbox import audit
from tests.builders import (
    NOW,
    Acme,
    a_person,
    a_request,
    an_organisation,
    audit_entries,
    caller_for,
)
from tests.refusals import at_once

pytestmark = pytest.mark.shared_database

Step = Callable[[Database, str, Caller], LeaveRequest]


def approve(database: Database, request_id: str, by: Caller) -> LeaveRequest:
    return database.write_now(decisions.approve, request_id, by=by, now=NOW)


def decline(database: Database, request_id: str, by: Caller) -> LeaveRequest:
    return database.write_now(decisions.decline, request_id, reason=" Too busy ", by=by, now=NOW)


def cancel(database: Database, request_id: str, by: Caller) -> LeaveRequest:
    return database.write_now(leave_requests.cancel, request_id, by=by, now=NOW)


def edit(database: Database, request_id: str, by: Caller) -> LeaveRequest:
    changes: dict[str, Any] = {"end_date": date(2026, 8, 4), "end_half_day": "am"}
    return database.write_now(leave_requests.edit, request_id, changes, by=by, now=NOW)


def test_an_approval_records_the_approver_and_the_time(database: Database, acme: Acme) -> None:
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    request = a_request(database, acme, ada)

    approved = approve(database, request.id, caller_for(acme, grace))

    assert (approved.status, approved.decided_by, approved.decided_at) == (
        "approved",
        grace.id,
        NOW,
    )
    assert approved.version == request.version + 1
    entry = audit_entries(database, acme.caller, subject_id=request.id)[0]
    assert (entry.action, entry.actor_id) == ("leave_request.approved", grace.id)
    assert entry.changes["status"] == {"before": "pending", "after": "approved"}


def test_an_edit_is_recalculated_and_may_keep_its_own_days(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    request = a_request(database, acme, ada)

    edited = edit(database, request.id, caller_for(acme, ada))

    assert (edited.total_half_days, edited.status, edited.version) == (3, "pending", 2)


def test_an_edit_without_a_difference_writes_nothing(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    request = a_request(database, acme, ada, note="At the sea")
    entries = database.read_now(audit.entries, PageOf(), by=acme.caller)

    for changes in ({}, {"note": "At the sea", "end_date": request.end_date}):
        edited = database.write_now(
            leave_requests.edit, request.id, changes, by=caller_for(acme, ada), now=NOW
        )
        assert edited == request

    assert database.read_now(audit.entries, PageOf(), by=acme.caller) == entries


def test_an_edit_cannot_clear_a_date(database: Database, acme: Acme, ada: User) -> None:
    request = a_request(database, acme, ada)

    with pytest.raises(InvalidInput, match="cannot be null"):
        database.write_now(
            leave_requests.edit, request.id, {"start_date": None}, by=caller_for(acme, ada), now=NOW
        )


LATER: dict[str, tuple[Step, tuple[Step, ...]]] = {
    "approved": (approve, (approve, decline)),
    "declined": (decline, (approve, decline, edit, cancel)),
    "cancelled": (cancel, (approve, decline, edit, cancel)),
}


@pytest.mark.parametrize(
    ("status", "first", "late"),
    [
        pytest.param(status, first, late, id=f"{late.__name__} what is {status}")
        for status, (first, lates) in LATER.items()
        for late in lates
    ],
)
def test_a_stale_step_is_refused_by_the_status(
    database: Database, acme: Acme, status: str, first: Step, late: Step
) -> None:
    request = a_request(database, acme, a_person(database, acme))
    settled = first(database, request.id, acme.caller)

    with pytest.raises(InvalidTransition) as refused:
        late(database, request.id, acme.caller)

    assert refused.value.leave_status == status
    assert database.read_now(leave_reading.get, request.id, by=acme.caller, now=NOW) == settled


@pytest.mark.parametrize("step", [approve, decline, cancel, edit])
def test_a_person_without_access_to_the_request_gets_not_found(
    database: Database, step: Step
) -> None:
    acme, other = an_organisation(database), an_organisation(database, name="Other")
    request = a_request(database, acme, a_person(database, acme))
    hedy = a_person(database, acme, first_name="Hedy")

    for caller in (caller_for(acme, hedy), other.caller):
        with pytest.raises(NotFound):
            step(database, request.id, caller)


def test_an_approver_without_admin_rights_can_neither_edit_nor_cancel(database: Database) -> None:
    acme = an_organisation(database)
    grace = a_person(database, acme, first_name="Grace")
    request = a_request(database, acme, a_person(database, acme, manager_id=grace.id))

    for step in (edit, cancel):
        with pytest.raises(InsufficientRole):
            step(database, request.id, caller_for(acme, grace))


def test_a_former_approver_sees_the_request_and_cannot_decide(database: Database) -> None:
    acme = an_organisation(database)
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    request = a_request(database, acme, ada)
    approve(database, request.id, caller_for(acme, grace))
    database.write_now(people.update, ada.id, {"manager_id": None}, by=acme.caller, now=NOW)

    with pytest.raises(NotYourApproval):
        decline(database, request.id, caller_for(acme, grace))


def test_of_decisions_at_once_the_later_ones_are_refused_with_the_status_of_the_first(
    database: Database, acme: Acme
) -> None:
    grace = a_person(database, acme, first_name="Grace")
    request = a_request(database, acme, a_person(database, acme, manager_id=grace.id))
    decided: list[str] = []
    refused: list[str] = []

    def decide(step: Step, by: Caller) -> None:
        try:
            decided.append(step(database, request.id, by).status)
        except InvalidTransition as error:
            refused.append(error.leave_status)

    at_once(
        *(
            partial(decide, step, by)
            for step in (approve, decline)
            for by in (acme.caller, caller_for(acme, grace)) * 2
        )
    )

    stored = database.read_now(leave_reading.get, request.id, by=acme.caller, now=NOW)
    assert (decided, refused) == ([stored.status], [stored.status] * 7)
    assert stored.version == 2
    decisions = audit_entries(database, acme.caller, subject_id=request.id)
    assert len(decisions) == 2
