"""Pending requests after the allowance fell: edits, approvals, and the end of their wait."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from storage.admin import daily_changes, people
from storage.admin.daily_changes import Due
from storage.base.allowance_values import Amount
from storage.base.errors import InsufficientAllowance, InvalidInput, OverrideNotAllowed
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, User
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import decisions, leave_requests, ledgers, previews
from storage.leave.drafts import Draft
from storage.webhooks import delivery_log
from tests.builders import (
    NOW,
    Acme,
    a_leave_type,
    a_person,
    a_request,
    a_webhook,
    an_organisation,
    as_it_is,
    audit_entries,
    caller_for,
)
from tests.refusals import at_once

pytestmark = pytest.mark.shared_database

MONDAY, WEDNESDAY, FRIDAY = date(2026, 8, 3), date(2026, 8, 5), date(2026, 8, 7)
AFTER_TWO_WEEKS = datetime(2026, 8, 21, 12, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Ada's pending annual leave from Monday to Friday, which Grace decides."""

    database: Database
    acme: Acme
    ada: User
    by: Caller
    grace: Caller
    request: LeaveRequest

    def allow(self, days: int) -> None:
        """Ada's allowance becomes this."""
        changes = {"leave_allowance_half_days": 2 * days}
        self.acme.write(people.update, self.ada.id, changes)

    def edit(
        self, by: Caller | None = None, *, override_reason: str | None = None, **to: Any
    ) -> LeaveRequest:
        return self.database.write_now(
            leave_requests.edit,
            self.request.id,
            to,
            override_reason=override_reason,
            by=by or self.by,
            now=NOW,
        )

    def approve(
        self,
        request: LeaveRequest | None = None,
        *,
        by: Caller | None = None,
        override_reason: str | None = None,
    ) -> LeaveRequest:
        return self.database.write_now(
            decisions.approve,
            (request or self.request).id,
            override_reason=override_reason,
            by=by or self.grace,
            now=NOW,
        )

    def remaining_days(self) -> Amount | float:
        balance = self.database.read_now(
            ledgers.balance, self.ada.id, on=MONDAY, by=self.by, now=NOW
        )
        return balance.remaining_half_days / 2

    def due(self, now: datetime) -> list[str]:
        found = self.database.read_now(daily_changes.due_requests, now=now)
        return [each.id for each in found if each.organisation_id == self.acme.id]

    def lapse(self, now: datetime = AFTER_TWO_WEEKS) -> None:
        due = Due(organisation_id=self.acme.id, id=self.request.id)
        self.database.write_now(daily_changes.lapse, due, now=now)


def a_case(database: Database, **more: Any) -> Case:
    acme = an_organisation(database, **more)
    grace = a_person(database, acme, first_name="Grace", role="approver")
    ada = a_person(database, acme, manager_id=grace.id)
    return Case(
        database=database,
        acme=acme,
        ada=ada,
        by=caller_for(acme, ada),
        grace=caller_for(acme, grace),
        request=a_request(database, acme, ada, start_date=MONDAY, end_date=FRIDAY),
    )


@pytest.mark.parametrize(
    "changes", [{"end_date": WEDNESDAY}, {"note": "Wales"}, {"end_half_day": "am"}]
)
def test_an_edit_that_adds_nothing_is_not_refused_for_allowance(
    database: Database, changes: dict[str, Any]
) -> None:
    case = a_case(database)
    case.allow(2)

    edited = case.edit(**changes)

    assert {name: getattr(edited, name) for name in changes} == changes
    assert edited.status == "pending"


def test_an_edit_that_adds_days_is_refused_for_allowance(database: Database) -> None:
    case = a_case(database)
    case.allow(5)

    with pytest.raises(InsufficientAllowance):
        case.edit(end_date=date(2026, 8, 10))

    assert as_it_is(database, case.acme, case.request) == case.request


def test_pending_leave_can_be_shortened_when_the_notice_has_run_out(database: Database) -> None:
    case = a_case(database)
    study = a_leave_type(database, case.acme, min_notice_days=14, code="study")
    request = a_request(
        database,
        case.acme,
        case.ada,
        start_date=date(2026, 9, 7),
        end_date=date(2026, 9, 9),
        code=study.code,
    )
    now = datetime(2026, 9, 1, 9, tzinfo=UTC)

    def edit(**to: Any) -> LeaveRequest:
        return database.write_now(leave_requests.edit, request.id, to, by=case.by, now=now)

    with pytest.raises(InvalidInput):
        edit(end_date=date(2026, 9, 10))

    assert edit(end_date=date(2026, 9, 8)).total_half_days == 4


def test_an_admin_lengthens_others_leave_past_the_allowance_with_a_reason(
    database: Database,
) -> None:
    case = a_case(database)
    case.allow(5)
    longer: dict[str, Any] = {"end_date": date(2026, 8, 10)}

    with pytest.raises(OverrideNotAllowed):
        case.edit(override_reason="Please", **longer)
    edited = case.edit(case.acme.caller, override_reason=" Agreed in March ", **longer)

    assert (edited.total_half_days, edited.override_reason) == (12, "Agreed in March")
    entry = audit_entries(database, case.acme.caller, subject_id=edited.id)[0]
    assert entry.changes["override_reason"] == {"before": None, "after": "Agreed in March"}
    # What was overridden stays so: an approver need not repeat it.
    assert case.approve().status == "approved"
    # As it was read, by someone who may not override.
    assert case.edit(override_reason="Agreed in March", note="Wales").note == "Wales"


def test_approved_leave_is_lengthened_past_the_allowance_with_a_reason(
    database: Database,
) -> None:
    case = a_case(database)
    case.approve()
    case.allow(5)
    longer: dict[str, Any] = {"end_date": date(2026, 8, 10)}

    with pytest.raises(InsufficientAllowance):
        case.edit(case.acme.caller, **longer)
    draft = Draft(
        leave_type_id=case.request.leave_type_id, start_date=MONDAY, end_date=longer["end_date"]
    )
    preview = database.read_now(
        previews.preview,
        by=case.acme.caller,
        draft=draft,
        replaces=case.request.id,
        override_reason="Agreed",
        now=NOW,
    )
    changed = case.edit(case.acme.caller, override_reason="Agreed", **longer)

    assert preview.refusals == []
    assert (changed.status, changed.total_half_days) == ("approved", 12)
    assert changed.override_reason == "Agreed"


def test_an_approval_below_zero_is_refused(database: Database) -> None:
    case = a_case(database)
    case.allow(2)

    with pytest.raises(InsufficientAllowance) as refusal:
        case.approve()

    assert (refusal.value.remaining_half_days, refusal.value.needed_half_days) == (4, 10)
    assert as_it_is(database, case.acme, case.request) == case.request


def test_an_admin_approves_below_zero_with_a_reason(database: Database) -> None:
    case = a_case(database)
    case.allow(2)

    with pytest.raises(OverrideNotAllowed):
        case.approve(override_reason="Agreed in March")
    approved = case.approve(by=case.acme.caller, override_reason="Agreed in March")

    assert (approved.status, approved.override_reason) == ("approved", "Agreed in March")
    assert case.remaining_days() == -3


def test_of_two_requests_that_no_longer_fit_together_the_first_is_approved(
    database: Database,
) -> None:
    case = a_case(database)
    second = a_request(
        database, case.acme, case.ada, start_date=date(2026, 9, 7), end_date=date(2026, 9, 11)
    )
    case.allow(6)

    refused = at_once(partial(case.approve), partial(case.approve, second))

    assert refused == ["insufficient_allowance"]
    statuses = {as_it_is(database, case.acme, request).status for request in (case.request, second)}
    assert statuses == {"approved", "pending"}


def test_a_type_that_deducts_nothing_is_approved_without_allowance(database: Database) -> None:
    case = a_case(database)
    unpaid = a_request(database, case.acme, case.ada, start_date=date(2026, 9, 7), code="unpaid")
    case.allow(0)

    assert case.approve(unpaid).status == "approved"


def test_a_pending_request_lapses_two_weeks_after_its_last_day(database: Database) -> None:
    case = a_case(database)
    webhook = a_webhook(database, case.acme)
    before = case.remaining_days()

    assert case.due(AFTER_TWO_WEEKS - timedelta(days=1)) == []
    assert case.due(AFTER_TWO_WEEKS) == [case.request.id]
    case.lapse()

    lapsed = as_it_is(database, case.acme, case.request)
    assert (lapsed.status, lapsed.cancelled_at) == ("cancelled", AFTER_TWO_WEEKS)
    assert case.remaining_days() == before + 5
    entry = audit_entries(database, case.acme.caller, subject_id=lapsed.id)[0]
    assert (entry.action, entry.actor_id, entry.source) == (
        "leave_request.cancelled",
        None,
        "scheduler",
    )
    assert entry.changes["why"]["after"] == "lapsed"
    events = database.read_now(
        delivery_log.page, webhook.id, PageOf(limit=10), by=case.acme.caller
    ).items
    assert [event.event_type for event in events] == ["leave_request.cancelled"]


def test_a_request_that_was_moved_on_does_not_lapse(database: Database) -> None:
    case = a_case(database)
    case.edit(start_date=date(2026, 8, 10), end_date=date(2026, 8, 14))

    case.lapse()

    assert as_it_is(database, case.acme, case.request).status == "pending"


def test_the_last_day_counts_in_the_organisation_s_time_zone(database: Database) -> None:
    case = a_case(database, timezone="Pacific/Auckland")

    # The 21st begins there at noon of the 20th, UTC.
    assert case.due(datetime(2026, 8, 20, 11, tzinfo=UTC)) == []
    assert case.due(datetime(2026, 8, 20, 13, tzinfo=UTC)) == [case.request.id]


def test_two_processes_lapse_a_request_once(database: Database) -> None:
    case = a_case(database)

    assert at_once(case.lapse, case.lapse) == []

    entries = audit_entries(database, case.acme.caller, subject_id=case.request.id)
    assert [entry.action for entry in entries] == [
        "leave_request.cancelled",
        "leave_request.created",
    ]


def test_the_job_lets_requests_lapse(database: Database) -> None:
    case = a_case(database)

    asyncio.run(daily_changes.lapse_requests(database, now=AFTER_TWO_WEEKS))

    assert as_it_is(database, case.acme, case.request).status == "cancelled"
