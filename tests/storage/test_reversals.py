"""Reversals of decisions: permission, time limit, and repeated checks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import pytest

from storage.admin import people
from storage.base.errors import (
    InsufficientAllowance,
    InvalidTransition,
    OverlappingLeave,
    OwnRequest,
)
from storage.base.values import Caller, LeaveRequest
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import decisions, leave_requests
from storage.leave.decisions import Decision, NotYourApproval
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

pytestmark = pytest.mark.shared_database

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
