"""What a change of approved leave does: the contract's table, without a database."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from storage.base.errors import InvalidInput
from storage.base.leave_values import HalfDay, LeaveRequest, LeaveType
from storage.rules import counted_days, lifecycle
from storage.rules.counted_days import Span
from storage.rules.lifecycle import Effect
from tests.values import ANNUAL

# A Wednesday.
TODAY = date(2026, 8, 12)
SICK = replace(ANNUAL, id="sick", name="Sick leave", requires_approval=False)
STRICT = replace(ANNUAL, id="strict", changes_need_approval=True)
WEEK = counted_days.working_week(("monday", "tuesday", "wednesday", "thursday", "friday"))


def leave(
    start: int,
    end: int,
    *,
    start_half_day: HalfDay | None = None,
    end_half_day: HalfDay | None = None,
    leave_type: LeaveType = ANNUAL,
    note: str | None = None,
) -> LeaveRequest:
    """Approved leave between two days of August, Monday to Friday counted."""
    span = Span(
        start_date=date(2026, 8, start),
        end_date=date(2026, 8, end),
        start_half_day=start_half_day,
        end_half_day=end_half_day,
    )
    counted_halves = counted_days.counted_halves(counted_days.count_days(span, WEEK, {}))
    at = datetime(2026, 6, 1, tzinfo=UTC)
    return LeaveRequest(
        id="request",
        user_id="ada",
        leave_type_id=leave_type.id,
        status="approved",
        start_date=span.start_date,
        end_date=span.end_date,
        start_half_day=start_half_day,
        end_half_day=end_half_day,
        total_half_days=counted_days.total_half_days(counted_halves),
        counted_halves=counted_halves,
        note=note,
        decided_by="grace",
        decided_at=at,
        decision_reason=None,
        cancelled_at=None,
        created_at=at,
        updated_at=at,
        version=2,
    )


def effect(before: LeaveRequest, after: LeaveRequest, **how: Any) -> Effect | str:
    """The effect of the owner's change, or the code and field of the refusal."""
    types = {leave_type.id: leave_type for leave_type in (ANNUAL, SICK, STRICT)}
    arguments: dict[str, Any] = {"is_by_admin": False, "has_approver": True} | how
    try:
        return lifecycle.effect_of(
            before,
            after,
            type_before=types[before.leave_type_id],
            type_after=types[after.leave_type_id],
            today=TODAY,
            **arguments,
        )
    except InvalidInput as refusal:
        return f"{refusal.code} {refusal.errors[0].pointer}"


AHEAD = leave(17, 21)
BEGUN = leave(10, 14)
PAST = leave(3, 7)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(AHEAD, AHEAD, "nothing", id="no change"),
        pytest.param(AHEAD, leave(17, 21, note="Sea"), "at_once", id="note"),
        pytest.param(PAST, leave(3, 7, note="Sea"), "at_once", id="note of past leave"),
        pytest.param(AHEAD, leave(17, 20), "at_once", id="shorter"),
        pytest.param(AHEAD, leave(18, 21), "at_once", id="begins later"),
        pytest.param(AHEAD, leave(17, 21, end_half_day="am"), "at_once", id="half a day less"),
        pytest.param(AHEAD, leave(17, 23), "at_once", id="over the weekend"),
        pytest.param(AHEAD, leave(17, 24), "amendment", id="longer"),
        pytest.param(AHEAD, leave(24, 28), "amendment", id="moved"),
        pytest.param(AHEAD, leave(14, 20), "amendment", id="shifted by a day"),
        pytest.param(
            leave(17, 17, end_half_day="am"),
            leave(17, 17, start_half_day="pm"),
            "amendment",
            id="the other half",
        ),
        pytest.param(AHEAD, leave(11, 21), "past_days /start_date", id="into the past"),
        pytest.param(BEGUN, leave(10, 13), "at_once", id="begun, shorter"),
        pytest.param(BEGUN, leave(10, 12), "at_once", id="begun, until today"),
        pytest.param(BEGUN, leave(10, 11), "past_days /end_date", id="begun, until yesterday"),
        pytest.param(BEGUN, leave(11, 14), "past_days /start_date", id="begun, later start"),
        pytest.param(BEGUN, leave(10, 17), "amendment", id="begun, longer"),
        pytest.param(BEGUN, leave(17, 21), "past_days /start_date", id="begun, moved"),
        pytest.param(leave(12, 14), leave(13, 14), "at_once", id="begins today, without today"),
        pytest.param(PAST, leave(3, 6), "past_days /end_date", id="past, shorter"),
        pytest.param(PAST, leave(3, 9), "at_once", id="past, over the weekend"),
        pytest.param(AHEAD, leave(17, 21, leave_type=STRICT), "amendment", id="another type"),
        pytest.param(
            PAST, leave(3, 7, leave_type=STRICT), "past_days /leave_type_id", id="past, other type"
        ),
        pytest.param(AHEAD, leave(17, 25, leave_type=SICK), "at_once", id="to a free type"),
        pytest.param(
            leave(3, 7, leave_type=SICK),
            leave(3, 6, leave_type=SICK),
            "at_once",
            id="past, of a type that needs no approval",
        ),
        pytest.param(
            leave(17, 21, leave_type=STRICT),
            leave(17, 20, leave_type=STRICT),
            "amendment",
            id="shorter, but changes need approval",
        ),
        pytest.param(
            leave(17, 21, leave_type=STRICT),
            leave(17, 21, leave_type=STRICT, note="Sea"),
            "at_once",
            id="note, although changes need approval",
        ),
        pytest.param(
            leave(10, 14, leave_type=STRICT),
            leave(11, 14, leave_type=STRICT),
            "past_days /start_date",
            id="past days, although changes need approval",
        ),
    ],
)
def test_the_owner_changes_approved_leave(
    before: LeaveRequest, after: LeaveRequest, expected: str
) -> None:
    assert effect(before, after) == expected


@pytest.mark.parametrize("after", [leave(24, 28), leave(3, 7), leave(17, 17, leave_type=STRICT)])
def test_admins_change_other_peoples_leave_at_once(after: LeaveRequest) -> None:
    assert effect(BEGUN, after, is_by_admin=True) == "at_once"


@pytest.mark.parametrize("before", [AHEAD, leave(17, 21, leave_type=STRICT), PAST])
def test_a_change_that_no_one_could_approve_applies_at_once(before: LeaveRequest) -> None:
    after = replace(leave(24, 28), leave_type_id=before.leave_type_id)

    assert effect(before, after, has_approver=False) == "at_once"


def test_days_that_stay_as_they_are_keep_their_count() -> None:
    stored = replace(PAST, counted_halves="03333")
    span = replace(counted_days.span_of(PAST), end_date=date(2026, 8, 11))

    counted = lifecycle.halves_after_change(stored, counted_days.count_days(span, WEEK, {}))

    assert counted == "033330033"


@st.composite
def leaves(draw: st.DrawFn) -> LeaveRequest:
    start = draw(st.integers(1, 31))
    end = draw(st.integers(start, min(start + 10, 31)))
    halves_or_none: list[HalfDay | None] = [None, "am", "pm"]
    start_half, end_half = (draw(st.sampled_from(halves_or_none)) for _ in range(2))
    if start == end and (start_half, end_half) == ("pm", "am"):
        end_half = None
    leave_type = draw(st.sampled_from([ANNUAL, SICK, STRICT]))
    return leave(
        start, end, start_half_day=start_half, end_half_day=end_half, leave_type=leave_type
    )


def counted_on(request: LeaveRequest, day: date) -> int:
    number = (day - request.start_date).days
    return int(request.counted_halves[number]) if 0 <= number < len(request.counted_halves) else 0


@given(leaves(), leaves())
def test_no_owner_takes_more_leave_or_changes_the_past_without_approval(
    before: LeaveRequest, after: LeaveRequest
) -> None:
    # Leave of no working time is refused before.
    assume(after.total_half_days > 0)
    august = [date(2026, 8, 1) + timedelta(days=number) for number in range(31)]
    outcome = effect(before, after)

    is_free = after.leave_type_id == SICK.id and before.leave_type_id != STRICT.id
    if outcome == "nothing" or is_free:
        return
    is_same_type = after.leave_type_id == before.leave_type_id
    changed = [
        day
        for day in august
        if counted_on(before, day) != counted_on(after, day)
        or (not is_same_type and (counted_on(before, day) or counted_on(after, day)))
    ]
    if outcome in ("at_once", "amendment"):
        assert all(day >= TODAY for day in changed)
    if outcome == "at_once":
        assert is_same_type
        assert [day for day in august if counted_on(after, day) & ~counted_on(before, day)] == []
    if outcome == "amendment" and before.leave_type_id != STRICT.id:
        assert changed
