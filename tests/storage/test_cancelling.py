"""Who cancels which leave: before it begins, by an amendment, and once days of it have passed."""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import partial
from typing import Any

import pytest

from storage.admin import people
from storage.base.errors import InvalidInput, InvalidTransition
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import (
    decisions,
    interruptions,
    leave_amendments,
    leave_changes,
    leave_requests,
    leave_types,
)
from storage.leave.drafts import Draft
from storage.webhooks import delivery_log
from tests.builders import NOW, a_webhook, an_organisation, approved_leave, caller_for, type_id
from tests.refusals import at_once, errors_of
from tests.storage.approved_leave import Case, a_case

pytestmark = pytest.mark.shared_database

FRIDAY = date(2026, 8, 7)
ON_MONDAY = datetime(2026, 8, 3, 12, tzinfo=UTC)
ON_WEDNESDAY = datetime(2026, 8, 5, 12, tzinfo=UTC)
AFTERWARDS = datetime(2026, 8, 10, 12, tzinfo=UTC)
PAST_DAYS = [("/end_date", "past_days")]


def cancel(
    case: Case, by: Caller, now: datetime = NOW, request: LeaveRequest | None = None
) -> LeaveRequest:
    return case.write(leave_requests.cancel, (request or case.leave).id, by=by, now=now)


def a_strict_case(database: Database) -> Case:
    """Changes of Ada's leave need approval."""
    case = a_case(database, FRIDAY)
    case.write(leave_types.update, case.leave.leave_type_id, {"changes_need_approval": True})
    return case


def test_leave_is_cancelled_by_its_owner_until_the_day_it_begins(database: Database) -> None:
    case = a_case(database, FRIDAY)

    assert cancel(case, case.by, ON_MONDAY).status == "cancelled"


@pytest.mark.parametrize("now", [ON_WEDNESDAY, AFTERWARDS])
def test_leave_of_which_days_have_passed_is_not_cancelled_by_its_owner(
    database: Database, now: datetime
) -> None:
    case = a_case(database, FRIDAY)

    assert errors_of(partial(cancel, case, case.by, now)) == PAST_DAYS
    assert case.current() == case.leave
    assert cancel(case, case.acme.caller, now).status == "cancelled"


def test_the_refusal_says_how_to_end_running_leave_today(database: Database) -> None:
    case = a_case(database, FRIDAY)

    with pytest.raises(InvalidInput) as running:
        cancel(case, case.by, ON_WEDNESDAY)
    with pytest.raises(InvalidInput) as past:
        cancel(case, case.by, AFTERWARDS)

    assert running.value.errors[0].detail == (
        "This leave has begun, so only an admin can cancel it. To end it today, change its last "
        "day to 2026-08-05."
    )
    assert past.value.errors[0].detail == (
        "Days of this leave have passed, so only an admin can cancel it."
    )
    ended = case.change(end_date=date(2026, 8, 5), now=ON_WEDNESDAY)
    assert (ended.status, ended.end_date) == ("approved", date(2026, 8, 5))


def test_days_that_never_counted_do_not_begin_leave(database: Database) -> None:
    case = a_case(database, FRIDAY)
    saturday = date(2026, 9, 5)
    leave = approved_leave(database, case.acme, case.ada, saturday, date(2026, 9, 8))

    cancelled = cancel(case, case.by, datetime(2026, 9, 7, 9, tzinfo=UTC), leave)

    assert cancelled.status == "cancelled"


def test_sick_leave_that_was_taken_is_not_taken_back_either(database: Database) -> None:
    case = a_case(database, FRIDAY)
    sick = approved_leave(database, case.acme, case.ada, date(2026, 9, 7), code="sick")

    assert (
        errors_of(partial(cancel, case, case.by, datetime(2026, 9, 8, 9, tzinfo=UTC), sick))
        == PAST_DAYS
    )


def test_an_owner_s_own_leave_follows_the_same_rule_unless_they_are_alone(
    database: Database,
) -> None:
    case = a_case(database, FRIDAY)
    olive = case.acme.owner
    approver = {"manager_id": case.grace.user_id}
    leave = approved_leave(database, case.acme, olive, date(2026, 9, 7), code="sick")
    alone = an_organisation(database)
    other = approved_leave(database, alone, alone.owner, date(2026, 8, 3), FRIDAY)
    after = datetime(2026, 9, 8, 9, tzinfo=UTC)

    case.write(people.update, olive.id, approver)
    assert errors_of(partial(cancel, case, case.acme.caller, after, leave)) == PAST_DAYS
    cancelled = database.write_now(leave_requests.cancel, other.id, by=alone.caller, now=after)
    assert cancelled.status == "cancelled"


def test_recorded_leave_is_cancelled_by_its_recorder_afterwards(database: Database) -> None:
    case = a_case(database, FRIDAY)
    draft = Draft(
        leave_type_id=type_id(database, case.acme, "sick"),
        start_date=date(2026, 5, 20),
        end_date=date(2026, 5, 20),
    )
    recorded = case.write(leave_requests.create, draft=draft, user_id=case.ada.id, by=case.grace)

    assert errors_of(partial(cancel, case, case.by, NOW, recorded)) == PAST_DAYS
    assert cancel(case, case.grace, NOW, recorded).status == "cancelled"


def test_a_type_whose_changes_need_approval_is_cancelled_by_an_amendment(
    database: Database,
) -> None:
    case = a_strict_case(database)
    webhook = a_webhook(database, case.acme)
    before = case.remaining_half_days()

    asked = cancel(case, case.by)
    again = cancel(case, case.by)

    amendment = case.amendment(asked)
    assert (asked.status, asked.total_half_days, again) == ("approved", 10, asked)
    assert (amendment.cancels, amendment.start_date, amendment.end_date) == (
        True,
        case.leave.start_date,
        FRIDAY,
    )
    record = database.read_now(leave_amendments.record, case.acme.id, asked)
    assert record["amendment"] is not None
    assert (record["amendment"]["cancels"], record["amendment"]["total_days"]) == (True, 5)
    assert case.trail()[0].changes["cancels"] == {"before": None, "after": True}

    cancelled = case.approve()

    assert (cancelled.status, cancelled.amendment_id) == ("cancelled", None)
    assert case.amendment(asked).status == "approved"
    assert case.remaining_half_days() == before + 10
    entry = case.trail()[0]
    assert (entry.action, entry.actor_id) == ("leave_request.cancelled", case.grace.user_id)
    assert entry.changes["why"]["after"] == "amendment_approved"
    sent = database.read_now(
        delivery_log.page, webhook.id, PageOf(limit=10), by=case.acme.caller
    ).items
    assert [each.event_type for each in reversed(sent)] == [
        "leave_request.amendment_requested",
        "leave_request.cancelled",
    ]


def test_declined_and_withdrawn_cancellations_keep_the_leave(database: Database) -> None:
    case = a_strict_case(database)

    cancel(case, case.by)
    declined = case.decline("We need you back")
    cancel(case, case.by)
    withdrawn = case.write(leave_changes.withdraw, case.leave.id, by=case.by)

    for kept in (declined, withdrawn):
        assert (kept.status, kept.amendment_id, kept.total_half_days) == ("approved", None, 10)


def test_a_cancellation_replaces_a_change_and_is_replaced_by_one(database: Database) -> None:
    case = a_strict_case(database)
    shorter: dict[str, Any] = {"end_date": date(2026, 8, 6)}

    change = case.amendment(case.change(**shorter))
    cancellation = case.amendment(cancel(case, case.by))
    later = case.amendment(case.change(**shorter))

    assert (change.cancels, cancellation.cancels, later.cancels) == (False, True, False)
    assert [
        database.read_now(decisions.find_amendment, amendment.id, by=case.by).status
        for amendment in (change, cancellation, later)
    ] == ["replaced", "replaced", "open"]


def test_admins_cancel_others_leave_at_once(database: Database) -> None:
    case = a_strict_case(database)

    assert cancel(case, case.acme.caller).status == "cancelled"


def test_a_cancellation_is_not_approved_once_the_leave_has_begun(database: Database) -> None:
    case = a_strict_case(database)
    cancel(case, case.by)

    assert errors_of(partial(case.approve, now=ON_WEDNESDAY)) == PAST_DAYS
    assert case.current().status == "approved"


def test_of_a_change_and_an_approved_cancellation_at_once_one_stays(database: Database) -> None:
    case = a_strict_case(database)
    cancel(case, case.by)

    refused = at_once(case.approve, partial(cancel, case, case.acme.caller))

    assert refused in ([InvalidTransition.code], ["not_found"])
    assert case.current().status == "cancelled"


@pytest.mark.parametrize(("days", "is_refused"), [(31, False), (32, True)])
def test_one_s_own_leave_is_interrupted_31_days_back(
    database: Database, days: int, is_refused: bool
) -> None:
    case = a_case(database, FRIDAY)
    # The 3rd is so many days ago.
    now = datetime(2026, 9, 3 if days == 31 else 4, 9, tzinfo=UTC)
    draft = Draft(
        leave_type_id=type_id(database, case.acme, "sick"),
        start_date=date(2026, 8, 3),
        end_date=date(2026, 8, 3),
    )

    def interrupt(by: Caller) -> object:
        return case.write(interruptions.interrupt, case.leave.id, draft, by=by, now=now)

    if is_refused:
        assert errors_of(lambda: interrupt(case.by)) == [("/start_date", "past_days")]
        interrupt(caller_for(case.acme, case.acme.owner))
    else:
        interrupt(case.by)
    assert case.shown() == ["sick 03 03 3", "annual 04 07 3333"]
