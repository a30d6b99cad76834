from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from itertools import product

import pytest

from storage.base.errors import (
    InsufficientAllowance,
    InvalidInput,
    InvalidTransition,
)
from storage.base.leave_values import LEAVE_STATUSES, LeaveStatus, LeaveType
from storage.rules import counted_days, lifecycle, request_rules
from storage.rules.counted_days import DayCount, Span
from storage.rules.leave_years import LeaveYear
from storage.rules.lifecycle import Action
from storage.rules.request_rules import YearDemand
from tests.values import ANNUAL

TODAY = date(2026, 3, 2)  # A Monday.
FIVE_DAYS = counted_days.working_week(("monday", "tuesday", "wednesday", "thursday", "friday"))
YEAR_2026 = LeaveYear(first_day=date(2026, 1, 1), last_day=date(2026, 12, 31))
YEAR_2027 = LeaveYear(first_day=date(2027, 1, 1), last_day=date(2027, 12, 31))


def counted(span: Span) -> list[DayCount]:
    return counted_days.count_days(span, FIVE_DAYS, {})


def from_today(first: int, last: int) -> Span:
    return Span(start_date=TODAY + timedelta(days=first), end_date=TODAY + timedelta(days=last))


def refusals(leave_type: LeaveType, span: Span, note: str | None = None) -> list[tuple[str, str]]:
    with pytest.raises(InvalidInput) as refusal:
        request_rules.check_type_rules(leave_type, span, counted(span), note, TODAY)
    return [(error.pointer, error.code) for error in refusal.value.errors]


@pytest.mark.parametrize(
    ("today", "start_date", "end_date"),
    [
        pytest.param(TODAY, date(2024, 3, 2), date(2024, 3, 2), id="two years back"),
        pytest.param(TODAY, date(2028, 3, 1), date(2028, 3, 2), id="two years ahead"),
        pytest.param(date(2028, 2, 29), date(2026, 2, 28), date(2026, 3, 1), id="leap day, back"),
        pytest.param(date(2028, 2, 29), date(2030, 2, 28), date(2030, 2, 28), id="leap, ahead"),
    ],
)
def test_dates_within_two_years_are_in_reach(today: date, start_date: date, end_date: date) -> None:
    request_rules.check_dates_in_reach(Span(start_date=start_date, end_date=end_date), today)


@pytest.mark.parametrize(
    ("today", "start_date", "end_date", "pointer"),
    [
        pytest.param(TODAY, date(2024, 3, 1), date(2024, 3, 9), "/start_date", id="too early"),
        pytest.param(TODAY, date(2028, 3, 1), date(2028, 3, 3), "/end_date", id="ends too late"),
        pytest.param(
            TODAY, date(2028, 3, 3), date(2028, 3, 9), "/start_date", id="begins too late"
        ),
        pytest.param(
            date(2028, 2, 29), date(2030, 2, 28), date(2030, 3, 1), "/end_date", id="leap, ahead"
        ),
        pytest.param(
            date(2028, 2, 29), date(2026, 2, 27), date(2026, 3, 1), "/start_date", id="leap, back"
        ),
    ],
)
def test_dates_more_than_two_years_away_are_refused(
    today: date, start_date: date, end_date: date, pointer: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        request_rules.check_dates_in_reach(Span(start_date=start_date, end_date=end_date), today)

    assert refusal.value.code == "out_of_reach"
    assert refusal.value.errors[0].pointer == pointer


def test_a_weekend_has_no_working_time() -> None:
    with pytest.raises(InvalidInput) as refusal:
        request_rules.check_working_time(counted_days.counted_halves(counted(from_today(5, 6))))

    assert refusal.value.code == "no_working_time"


def test_half_a_day_is_working_time() -> None:
    morning = Span(start_date=TODAY, end_date=TODAY, start_half_day=None, end_half_day="am")

    request_rules.check_working_time(counted_days.counted_halves(counted(morning)))


def test_an_archived_type_is_refused_before_anything_else() -> None:
    archived = replace(ANNUAL, is_archived=True, requires_note=True)

    assert refusals(archived, from_today(1, 1)) == [("/leave_type_id", "leave_type_archived")]


def test_notice_is_counted_in_calendar_days() -> None:
    noticed = replace(ANNUAL, min_notice_days=7)

    request_rules.check_type_rules(
        noticed, from_today(7, 7), counted(from_today(7, 7)), None, TODAY
    )
    assert refusals(noticed, from_today(6, 9)) == [("/start_date", "too_little_notice")]


def test_a_type_without_notice_can_be_requested_afterwards() -> None:
    request_rules.check_type_rules(
        ANNUAL, from_today(-3, -3), counted(from_today(-3, -3)), None, TODAY
    )


def test_days_off_do_not_count_as_consecutive_days() -> None:
    short = replace(ANNUAL, max_consecutive_days=6)

    request_rules.check_type_rules(short, from_today(0, 7), counted(from_today(0, 7)), None, TODAY)
    assert refusals(short, from_today(0, 8)) == [("/end_date", "too_many_days")]


def test_half_a_day_above_the_maximum_is_refused() -> None:
    span = Span(
        start_date=TODAY, end_date=TODAY + timedelta(days=1), start_half_day=None, end_half_day="am"
    )

    assert refusals(replace(ANNUAL, max_consecutive_days=1), span) == [
        ("/end_date", "too_many_days")
    ]


@pytest.mark.parametrize("note", [None, "", "  \n"])
def test_a_blank_note_is_refused_as_missing(note: str | None) -> None:
    noted = replace(ANNUAL, requires_note=True)

    assert refusals(noted, from_today(0, 0), note) == [("/note", "note_required")]


def test_a_required_note_is_enough() -> None:
    noted = replace(ANNUAL, requires_note=True)

    request_rules.check_type_rules(
        noted, from_today(0, 0), counted(from_today(0, 0)), "Moving house", TODAY
    )


def test_all_broken_rules_are_reported_together() -> None:
    strict = replace(ANNUAL, requires_note=True, min_notice_days=3, max_consecutive_days=1)

    assert refusals(strict, from_today(0, 2)) == [
        ("/start_date", "too_little_notice"),
        ("/end_date", "too_many_days"),
        ("/note", "note_required"),
    ]


def test_the_first_year_with_too_little_allowance_is_named() -> None:
    demands = [
        YearDemand(year=YEAR_2026, remaining_half_days=4, needed_half_days=4),
        YearDemand(year=YEAR_2027, remaining_half_days=1, needed_half_days=2),
    ]

    with pytest.raises(InsufficientAllowance) as refusal:
        request_rules.check_allowance(demands, allow_overdraft=False)

    assert refusal.value.leave_year == "2027"
    assert (refusal.value.remaining_half_days, refusal.value.needed_half_days) == (1, 2)


def test_of_two_years_with_too_little_allowance_the_earlier_is_named() -> None:
    demands = [
        YearDemand(year=YEAR_2026, remaining_half_days=0, needed_half_days=1),
        YearDemand(year=YEAR_2027, remaining_half_days=0, needed_half_days=1),
    ]

    with pytest.raises(InsufficientAllowance) as refusal:
        request_rules.check_allowance(demands, allow_overdraft=False)

    assert refusal.value.leave_year == "2026"


@pytest.mark.parametrize(
    ("demand", "allow_overdraft"),
    [
        pytest.param(
            YearDemand(year=YEAR_2026, remaining_half_days=4, needed_half_days=4),
            False,
            id="exactly enough",
        ),
        pytest.param(
            YearDemand(year=YEAR_2026, remaining_half_days=-2, needed_half_days=0),
            False,
            id="nothing taken of an overdrawn year",
        ),
        pytest.param(
            YearDemand(year=YEAR_2026, remaining_half_days=0, needed_half_days=9),
            True,
            id="overdraft",
        ),
    ],
)
def test_enough_allowance_passes(demand: YearDemand, allow_overdraft: bool) -> None:
    request_rules.check_allowance([demand], allow_overdraft=allow_overdraft)


@pytest.mark.parametrize(
    ("requires_approval", "days_ahead", "warns"),
    [(False, 7, False), (False, 8, True), (False, -30, False), (True, 30, False)],
)
def test_leave_without_approval_that_starts_more_than_a_week_ahead_warns(
    requires_approval: bool, days_ahead: int, warns: bool
) -> None:
    leave_type = replace(ANNUAL, requires_approval=requires_approval)
    start_date = TODAY + timedelta(days=days_ahead)

    warnings = request_rules.far_ahead(leave_type, start_date, TODAY)

    assert [warning.code for warning in warnings] == ["unusually_far_ahead"] * warns


POSSIBLE: dict[tuple[Action, LeaveStatus], LeaveStatus] = {
    ("edit", "pending"): "pending",
    ("approve", "pending"): "approved",
    ("decline", "pending"): "declined",
    ("cancel", "pending"): "cancelled",
    ("cancel", "approved"): "cancelled",
    ("change", "approved"): "approved",
    ("amend", "approved"): "approved",
    ("interrupt", "approved"): "approved",
    ("reverse_to_approved", "declined"): "approved",
    ("reverse_to_declined", "approved"): "declined",
    ("approve_first", "pending"): "pending",
    ("take_back", "pending"): "pending",
    ("reverse_to_first_approval", "declined"): "pending",
}


@pytest.mark.parametrize(("action", "status"), list(POSSIBLE))
def test_a_step_of_the_lifecycle_is_possible(action: Action, status: LeaveStatus) -> None:
    lifecycle.check_transition(action, status)

    assert lifecycle.is_possible(action, status)
    assert lifecycle.LIFECYCLE[action].to_status == POSSIBLE[action, status]


@pytest.mark.parametrize(
    ("action", "status"),
    sorted(set(product(lifecycle.LIFECYCLE, LEAVE_STATUSES)) - set(POSSIBLE)),
)
def test_every_other_step_is_refused_with_the_status(action: Action, status: LeaveStatus) -> None:
    with pytest.raises(InvalidTransition) as refusal:
        lifecycle.check_transition(action, status, "Ada Lovelace")

    assert not lifecycle.is_possible(action, status)
    assert (refusal.value.leave_status, refusal.value.decided_by_name) == (status, "Ada Lovelace")


def test_a_refused_step_has_an_english_sentence() -> None:
    with pytest.raises(InvalidTransition, match="is declined, so it cannot be approved"):
        lifecycle.check_transition("approve", "declined")
