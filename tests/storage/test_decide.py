"""Editing, deciding and reversing a decision: who may, in which status, and the effects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from typing import Any

import pytest

from storage.admin import people
from storage.base.errors import (
    InsufficientAllowance,
    InsufficientRole,
    InvalidInput,
    InvalidTransition,
    NotFound,
    OverlappingLeave,
    OwnRequest,
)
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, User
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import decisions, leave_requests, leave_rows
from storage.leave.decisions import Decision, NotYourApproval
from storage.outbox import audit
from storage.people import people_rows
from storage.rules.lifecycle import REVERSAL_WINDOW
from storage.webhooks import delivery_log
from tests.builders import (
    NOW,
    Acme,
    a_person,
    a_request,
    a_webhook,
    an_organisation,
    audit_entries,
    caller_for,
)
from tests.refusals import at_once

pytestmark = [pytest.mark.shared_database, pytest.mark.both_engines]

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
    entries = acme.read(audit.entries, PageOf())

    for changes in ({}, {"note": "At the sea", "end_date": request.end_date}):
        edited = database.write_now(
            leave_requests.edit, request.id, changes, by=caller_for(acme, ada), now=NOW
        )
        assert edited == request

    assert acme.read(audit.entries, PageOf()) == entries


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
    assert acme.read(leave_rows.get, request.id, now=NOW) == settled


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
    acme.write(people.update, ada.id, {"manager_id": None})

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

    stored = acme.read(leave_rows.get, request.id, now=NOW)
    assert (decided, refused) == ([stored.status], [stored.status] * 7)
    assert stored.version == 2
    decisions = audit_entries(database, acme.caller, subject_id=request.id)
    assert len(decisions) == 2


LAST_MOMENT = NOW + REVERSAL_WINDOW - timedelta(seconds=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A request of Ada, whose manager is Grace."""

    acme: Acme
    ada: Caller
    grace: Caller
    request: LeaveRequest


def a_case(database: Database) -> Case:
    acme = an_organisation(database)
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    request = a_request(database, acme, ada)
    return Case(
        acme=acme, ada=caller_for(acme, ada), grace=caller_for(acme, grace), request=request
    )


def decided(database: Database, case: Case, status: Decision) -> LeaveRequest:
    if status == "approved":
        return database.write_now(decisions.approve, case.request.id, by=case.grace, now=NOW)
    return database.write_now(
        decisions.decline, case.request.id, reason="No", by=case.grace, now=NOW
    )


@pytest.mark.parametrize(("first", "then"), [("approved", "declined"), ("declined", "approved")])
def test_a_decision_is_reversed(database: Database, first: Decision, then: Decision) -> None:
    case = a_case(database)
    before = decided(database, case, first)

    after = database.write_now(
        decisions.change_decision, before.id, then, reason=None, by=case.grace, now=LAST_MOMENT
    )

    assert (after.status, after.decided_at, after.decision_reason) == (then, LAST_MOMENT, None)
    assert (after.version, after.total_half_days) == (3, before.total_half_days)
    (entry, *_) = audit_entries(database, case.acme.caller)
    assert entry.action == f"leave_request.{then}"
    assert entry.changes["status"] == {"before": first, "after": then}
    assert entry.changes["why"]["after"] == "decision_changed"


def test_an_admin_reverses_a_decision_and_becomes_its_decider(database: Database) -> None:
    case = a_case(database)
    decided(database, case, "approved")

    after = database.write_now(
        decisions.change_decision, case.request.id, "declined", by=case.acme.caller, now=NOW
    )

    assert after.decided_by == case.acme.owner.id


def test_a_decision_is_final_after_ten_minutes(database: Database) -> None:
    case = a_case(database)
    decided(database, case, "approved")

    with pytest.raises(InvalidTransition) as refusal:
        database.write_now(
            decisions.change_decision,
            case.request.id,
            "declined",
            by=case.grace,
            now=NOW + REVERSAL_WINDOW,
        )

    assert refusal.value.decided_by_name == "Grace Lovelace"


@pytest.mark.parametrize("status", ["approved", "declined"])
def test_a_decision_cannot_be_reversed_to_itself(database: Database, status: Decision) -> None:
    case = a_case(database)
    decided(database, case, status)

    with pytest.raises(InvalidTransition):
        database.write_now(
            decisions.change_decision, case.request.id, status, by=case.grace, now=NOW
        )


def test_requesters_cannot_reverse_decisions_on_their_own_requests(database: Database) -> None:
    case = a_case(database)
    decided(database, case, "declined")

    with pytest.raises(OwnRequest):
        database.write_now(
            decisions.change_decision, case.request.id, "approved", by=case.ada, now=NOW
        )


def test_a_former_approver_cannot_reverse_a_decision(database: Database) -> None:
    case = a_case(database)
    decided(database, case, "approved")
    database.write_now(
        people.update,
        str(case.ada.user_id),
        {"manager_id": None},
        by=case.acme.caller,
        now=NOW,
    )

    with pytest.raises(NotYourApproval):
        database.write_now(
            decisions.change_decision, case.request.id, "declined", by=case.grace, now=NOW
        )


def test_another_approver_cannot_reverse_a_decision(database: Database) -> None:
    case = a_case(database)
    database.write_now(decisions.approve, case.request.id, by=case.acme.caller, now=NOW)

    with pytest.raises(NotYourApproval):
        database.write_now(
            decisions.change_decision, case.request.id, "declined", by=case.grace, now=NOW
        )


def test_an_automatic_approval_cannot_be_reversed(database: Database) -> None:
    case = a_case(database)
    ada = database.read_now(people_rows.get, str(case.ada.user_id), by=case.acme.caller)
    sick = a_request(database, case.acme, ada, code="sick", start_date=date(2026, 9, 7))

    with pytest.raises(InvalidTransition):
        database.write_now(
            decisions.change_decision, sick.id, "declined", by=case.acme.caller, now=NOW
        )


def test_a_reversal_checks_overlap_and_allowance_again(database: Database) -> None:
    case = a_case(database)
    decided(database, case, "declined")
    ada = database.read_now(people_rows.get, str(case.ada.user_id), by=case.acme.caller)
    other = a_request(database, case.acme, ada)

    with pytest.raises(OverlappingLeave):
        database.write_now(
            decisions.change_decision, case.request.id, "approved", by=case.grace, now=NOW
        )
    database.write_now(leave_requests.cancel, other.id, by=case.ada, now=NOW)
    a_request(database, case.acme, ada, start_date=date(2026, 10, 1), end_date=date(2026, 11, 4))
    with pytest.raises(InsufficientAllowance):
        database.write_now(
            decisions.change_decision, case.request.id, "approved", by=case.grace, now=NOW
        )


def test_of_two_concurrent_reversals_one_is_saved(database: Database) -> None:
    case = a_case(database)
    decided(database, case, "approved")

    def decline(by: Caller) -> None:
        database.write_now(decisions.change_decision, case.request.id, "declined", by=by, now=NOW)

    codes = at_once(lambda: decline(case.grace), lambda: decline(case.acme.caller))

    assert codes == ["invalid_transition"]


def test_webhooks_receive_a_reversal_as_a_decision(database: Database) -> None:
    case = a_case(database)
    webhook = a_webhook(database, case.acme, url="https://example.com/hook")
    decided(database, case, "approved")
    database.write_now(
        decisions.change_decision, case.request.id, "declined", by=case.grace, now=NOW
    )

    events = database.read_now(
        delivery_log.page, webhook.id, PageOf(limit=10), by=case.acme.caller
    ).items
    assert [(event.event_type, event.sequence) for event in events] == [
        ("leave_request.declined", 3),
        ("leave_request.approved", 2),
    ]


def test_a_request_that_changed_since_it_was_read_is_not_saved(database: Database) -> None:
    acme = an_organisation(database)
    as_read = a_request(database, acme, a_person(database, acme))
    approved = acme.write(decisions.approve, as_read.id)

    is_saved = acme.write(
        leave_rows.save, "leave_request.declined", as_read, replace(as_read, status="declined")
    )

    after = database.read_now(leave_rows.find, acme.id, as_read.id)
    assert not is_saved
    assert after == approved
