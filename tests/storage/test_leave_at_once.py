"""Two steps at the same moment: the outcome is that of one after the other, in either order.

Every pair of steps that change a request, or how its days count. The request is pending, or has
everything: an open amendment and an interruption in its middle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from datetime import date, timedelta
from itertools import combinations_with_replacement
from random import Random
from typing import Any, Final

import pytest

from storage.admin import employment_records, holiday_overrides, people
from storage.admin.holiday_overrides import NewOverride
from storage.base.leave_values import LeaveRequest
from storage.db.database import Database
from storage.leave import decisions, interruptions, leave_changes, leave_requests
from storage.leave.drafts import Draft
from storage.rules import counted_days
from tests.builders import NOW
from tests.storage import snapshots, steps
from tests.storage.office import Office, an_office
from tests.storage.steps import Act

MONDAY: Final = date(2026, 8, 3)
BEFORE, THURSDAY, FRIDAY, NEXT_FRIDAY = (MONDAY + timedelta(days=days) for days in (-3, 3, 4, 11))
STEPS: Final = (
    "approve",
    "decline",
    "reverse",
    "withdraw",
    "cancel",
    "shorten",
    "lengthen",
    "move",
    "fall ill",
    "care",
    "recover",
    "recover early",
    "ask for more",
    "work less",
    "grant less",
    "grant more",
    "add a holiday",
    "leave",
)


def _acts(office: Office, request: LeaveRequest, random: Random) -> Mapping[str, Act]:
    """What each step does with the request, on random days and halves."""
    before = office.snapshot()
    # Of a pending request none: then its steps are refused.
    ill = next((other for other in before.requests if other.interrupts), request)
    ada, day = office.people[0], MONDAY + timedelta(days=random.randrange(5))
    by_ada, by_owner, by_grace = office.caller(ada), office.owner, office.grace

    def some(leave: LeaveRequest) -> dict[str, Any]:
        span = counted_days.span_of(leave)
        ends = random.choices(range(span.first_slot, span.last_slot + 1), k=2)
        return snapshots.time_of(counted_days.span_of_slots(min(ends), max(ends)))

    def interrupt(code: str) -> Act:
        draft = Draft(leave_type_id=office.types[code], **some(request))
        by = random.choice([by_ada, by_grace])
        return _act(interruptions.interrupt, request.id, draft, by=by)

    edit, submit, cancel = leave_requests.edit, leave_requests.submit, leave_requests.cancel
    earlier = {"start_date": MONDAY - timedelta(days=4)}
    next_week = {"start_date": day + timedelta(days=14), "end_date": day + timedelta(days=16)}
    # A day that the open amendment adds, too.
    more = Draft(leave_type_id=office.types["annual"], start_date=BEFORE, end_date=BEFORE)
    less_work = {"working_days": ["monday", "friday:am"], "effective_from": day}
    less_leave = {"leave_allowance_half_days": 4, "valid_from": day}
    more_leave = {"leave_allowance_half_days": 60, "effective_from": day}
    holiday = NewOverride(date=day, name="Foundation day")
    return {
        "approve": _act(decisions.approve, request.id, by=by_grace),
        "decline": _act(decisions.decline, request.id, reason=None, by=by_grace),
        "reverse": _act(decisions.change_decision, request.id, "declined", by=by_owner),
        "withdraw": _act(leave_changes.withdraw, request.id, by=by_ada),
        "cancel": _act(cancel, request.id, by=by_ada),
        "shorten": _act(edit, request.id, some(request), by=by_ada),
        "lengthen": _act(edit, request.id, earlier, by=by_ada),
        "move": _act(edit, request.id, next_week, by=by_owner),
        "fall ill": interrupt("sick"),
        "care": interrupt("care"),
        "recover": _act(cancel, ill.id, by=by_ada),
        "recover early": _act(edit, ill.id, some(ill), by=by_ada),
        "ask for more": _act(submit, draft=more, by=by_ada),
        "work less": _act(people.update, ada.id, less_work, by=by_owner),
        "grant less": _act(employment_records.add, ada.id, less_leave, by=by_owner),
        "grant more": _act(people.update, ada.id, more_leave, by=by_owner),
        "add a holiday": _act(holiday_overrides.add, before.holiday_set_id, holiday, by=by_owner),
        "leave": _act(people.update, ada.id, {"end_date": day}, by=by_owner),
    }


def _act(use_case: Callable[..., object], *args: object, **how: object) -> Act:
    return lambda tx: use_case(tx, *args, now=NOW, **how)


def _leave_of(office: Office, random: Random) -> LeaveRequest:
    """Two weeks of Ada: pending; or approved, with sick leave on two days and an amendment."""
    ada, database = office.caller(office.people[0]), office.database
    draft = Draft(leave_type_id=office.types["annual"], start_date=MONDAY, end_date=NEXT_FRIDAY)
    leave = database.write_now(leave_requests.submit, by=ada, draft=draft, now=NOW)
    if random.random() < 0.2:
        return leave
    database.write_now(decisions.approve, leave.id, by=office.grace, now=NOW)
    illness = Draft(leave_type_id=office.types["sick"], start_date=THURSDAY, end_date=FRIDAY)
    database.write_now(interruptions.interrupt, leave.id, illness, by=ada, now=NOW)
    longer = {"start_date": BEFORE}
    return database.write_now(leave_requests.edit, leave.id, longer, by=ada, now=NOW)


def _take(office: Office, threads: Executor, pair: tuple[Act, Act], name: str) -> None:
    before = office.snapshot()
    # Less work and less allowance may overdraw it.
    everyone = [person.id for person in office.people]
    one_after_the_other = [
        steps.outcome(office.database, acts, office.read_snapshot) for acts in (pair, pair[::-1])
    ]
    steps.take_at_once(office.database, threads, pair)
    after = office.snapshot()
    assert after.outcome in [possible.outcome for possible in one_after_the_other], name
    for possible in (after, *one_after_the_other):
        snapshots.check(before, possible, overdrawn=everyone)


@pytest.mark.slow
def test_the_outcome_of_two_steps_at_once_is_that_of_one_after_the_other(
    database: Database,
) -> None:
    # Not Hypothesis: which step is first differs from run to run, and so does the outcome.
    seed = Random().randrange(1_000_000)
    random = Random(seed)
    with ThreadPoolExecutor(2) as threads:
        for pair in combinations_with_replacement(STEPS, 2):
            office = an_office(
                database,
                leave_years=random.choice(["calendar", "fiscal", "anniversary"]),
                allowance=random.choice([20, 24, 50]),
                carry_over=0,
                expiry_month=None,
            )
            request = _leave_of(office, random)
            # Of a step that is paired with itself, other days.
            first, second = (_acts(office, request, random)[name] for name in pair)
            _take(office, threads, (first, second), f"{' and '.join(pair)}, seed {seed}")
