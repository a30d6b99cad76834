"""How leave years follow from each other: carry-over, its lapse, and what a request needs."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.rules import halves, leave_years, year_balances
from storage.rules.leave_years import LeaveYear, LeaveYearRule
from storage.rules.year_balances import Account, CarryOver, Deduction, LeaveYearBalance

CALENDAR = LeaveYearRule(type="calendar", month=1, day=1)
YEAR_2026 = LeaveYear(first_day=date(2026, 1, 1), last_day=date(2026, 12, 31))
RECORDED_FROM = date(2026, 2, 1)


def an_account(
    *,
    granted_half_days: int = 50,
    max_half_days: int = 10,
    expiry_month: int | None = 3,
    rule: LeaveYearRule = CALENDAR,
    recorded_from: date = RECORDED_FROM,
    adjusted: dict[int, int] | None = None,
) -> Account:
    carry_over = (
        CarryOver(
            max_half_days=max_half_days, expiry_month=expiry_month, recorded_from=recorded_from
        )
        if max_half_days
        else None
    )
    return Account(
        rule=rule,
        granted_half_days=granted_half_days,
        adjusted_half_days=adjusted or {},
        carry_over=carry_over,
    )


def leave(start_date: date, half_days: int) -> Deduction:
    """Whole days in a row, weekends not looked at; an odd half-day is a morning."""
    counted_halves = "3" * (half_days // 2) + "1" * (half_days % 2)
    return Deduction(
        counted_halves=counted_halves,
        start_date=start_date,
        end_date=start_date + timedelta(days=len(counted_halves) - 1),
    )


def in_year(account: Account, year: int, *taken: Deduction) -> LeaveYearBalance:
    day = date(year, 7, 1)
    (found,) = year_balances.of_years(account, taken, day, day)
    return found


def test_what_is_left_goes_over_up_to_the_most() -> None:
    account = an_account(expiry_month=None)

    assert in_year(account, 2027).carried_half_days == 10
    assert in_year(account, 2027, leave(date(2026, 6, 1), 45)).carried_half_days == 5
    assert in_year(account, 2027, leave(date(2026, 6, 1), 50)).carried_half_days == 0


def test_an_overdrawn_year_leaves_neither_credit_nor_debt() -> None:
    taken = leave(date(2026, 6, 1), 60)

    assert in_year(an_account(), 2026, taken).final_half_days == -10
    assert in_year(an_account(), 2027, taken).carried_half_days == 0


def test_nothing_is_carried_out_of_years_before_the_person_was_known() -> None:
    assert in_year(an_account(), 2025).final_half_days == 50
    assert in_year(an_account(), 2026).carried_half_days == 0
    assert in_year(an_account(), 2027).carried_half_days == 10


def test_carried_days_are_taken_first_and_lapse_with_their_month() -> None:
    standing = in_year(an_account(), 2027, leave(date(2027, 2, 1), 4), leave(date(2027, 4, 1), 8))

    assert (standing.carried_half_days, standing.lapsing_half_days) == (10, 6)
    assert standing.carried_until == date(2027, 3, 31)
    assert standing.remaining_half_days(date(2027, 3, 31)) == 50 + 10 - 12
    assert standing.remaining_half_days(date(2027, 4, 1)) == 50 + 10 - 12 - 6
    assert standing.final_half_days == 42


def test_what_lapsed_is_not_carried_over_again() -> None:
    account = an_account(granted_half_days=4)

    assert in_year(account, 2028).carried_half_days == 4


def test_what_never_lapses_is_carried_over_again_up_to_the_most() -> None:
    account = an_account(granted_half_days=4, expiry_month=None)

    assert in_year(account, 2028).carried_half_days == 8
    assert in_year(account, 2029).carried_half_days == 10


def test_an_adjustment_is_carried_over_like_any_other_day() -> None:
    account = an_account(granted_half_days=0, adjusted={2026: 3})

    assert in_year(account, 2026).final_half_days == 3
    assert in_year(account, 2027).carried_half_days == 3


@pytest.mark.parametrize(
    ("first_day", "month", "until"),
    [
        pytest.param(date(2026, 1, 1), 3, date(2026, 3, 31), id="calendar year"),
        pytest.param(date(2026, 1, 1), 12, date(2026, 12, 31), id="the whole year"),
        pytest.param(date(2026, 4, 6), 4, date(2026, 4, 30), id="the month it begins in"),
        pytest.param(date(2026, 4, 6), 3, date(2027, 3, 31), id="the month before it ends"),
        pytest.param(date(2026, 10, 1), 1, date(2027, 1, 31), id="in the next calendar year"),
        pytest.param(date(2028, 2, 29), 2, date(2028, 2, 29), id="leap day"),
        pytest.param(date(2027, 2, 28), 2, date(2027, 2, 28), id="no leap day"),
    ],
)
def test_the_month_of_expiry_is_the_first_in_the_leave_year(
    first_day: date, month: int, until: date
) -> None:
    rule = LeaveYearRule(type="fiscal", month=first_day.month, day=first_day.day)
    year = leave_years.leave_year_beginning_in(rule, first_day.year)

    assert year_balances.carried_until(year, month) == until


def test_days_that_lapse_later_can_still_be_taken_before() -> None:
    account = an_account()
    planned = leave(date(2027, 7, 1), 50)

    (before_expiry,) = year_balances.demands(account, [planned], leave(date(2027, 3, 1), 10))
    (after_expiry,) = year_balances.demands(account, [planned], leave(date(2027, 4, 1), 10))

    assert (before_expiry.remaining_half_days, before_expiry.needed_half_days) == (10, 10)
    assert (after_expiry.remaining_half_days, after_expiry.needed_half_days) == (0, 10)


def test_leave_across_the_expiry_takes_carried_days_with_its_first_part() -> None:
    across = leave(date(2027, 3, 30), 20)

    (demand,) = year_balances.demands(an_account(), [leave(date(2027, 7, 1), 34)], across)

    # Two days by 31 March are carried ones; the other three have lapsed.
    assert (demand.remaining_half_days, demand.needed_half_days) == (20, 20)


def test_leave_that_takes_what_next_years_leave_rests_on_is_short_there() -> None:
    account = an_account()
    next_year = leave(date(2027, 2, 1), 56)

    later = year_balances.later_demands(account, [next_year], leave(date(2026, 6, 1), 46))

    assert [(one.year.name, one.remaining_half_days, one.needed_half_days) for one in later] == [
        ("2027", 4, 6)
    ]
    assert year_balances.later_demands(account, [next_year], leave(date(2026, 6, 1), 44)) == []


def test_without_carry_over_no_other_year_is_looked_at() -> None:
    account = an_account(max_half_days=0)
    next_year = leave(date(2027, 2, 1), 60)

    assert year_balances.later_demands(account, [next_year], leave(date(2026, 6, 1), 50)) == []
    assert in_year(account, 2027, next_year).final_half_days == -10


anchors = st.dates(date(2024, 1, 1), date(2024, 12, 31))
rules = st.builds(
    lambda kind, anchor, start_date: LeaveYearRule(
        type=kind, month=anchor.month, day=anchor.day, start_date=start_date
    ),
    st.sampled_from(("calendar", "fiscal", "anniversary")),
    anchors,
    st.none() | st.dates(date(2020, 1, 1), date(2027, 12, 31)),
)
accounts = st.builds(
    an_account,
    granted_half_days=st.integers(0, 60),
    max_half_days=st.integers(0, 20),
    expiry_month=st.none() | st.integers(1, 12),
    rule=rules,
    recorded_from=st.dates(date(2024, 1, 1), date(2027, 12, 31)),
    adjusted=st.dictionaries(st.integers(2024, 2028), st.integers(-20, 20)),
)
counted_masks = st.text("0123", min_size=1, max_size=60)
deductions = st.builds(
    lambda counted, start: Deduction(
        counted_halves=counted, start_date=start, end_date=start + timedelta(days=len(counted) - 1)
    ),
    counted_masks,
    st.dates(date(2024, 1, 1), date(2028, 6, 1)),
)
DAYS = st.dates(date(2024, 1, 1), date(2029, 1, 1))


def everything(account: Account, taken: list[Deduction]) -> list[Any]:
    return year_balances.of_years(account, taken, date(2024, 1, 1), date(2029, 1, 1))


@given(accounts, st.lists(deductions, max_size=8))
def test_every_standing_adds_up_and_no_carry_over_exceeds_its_bounds(
    account: Account, taken: list[Deduction]
) -> None:
    found = everything(account, taken)
    most = account.carry_over.max_half_days if account.carry_over else 0

    for before, standing in zip([None, *found], found, strict=False):
        left = 0 if before is None else max(before.final_half_days, 0)
        assert 0 <= standing.carried_half_days <= min(most, left if before else most)
        assert 0 <= standing.lapsing_half_days <= standing.carried_half_days
        assert standing.remaining_half_days(standing.year.last_day) >= standing.final_half_days
        assert standing.final_half_days == (
            standing.prorated_half_days
            + standing.carried_half_days
            + standing.adjusted_half_days
            - standing.taken_half_days
            - standing.lapsing_half_days
        )


@given(accounts, st.lists(deductions, max_size=5), deductions, st.data())
def test_splitting_leave_never_changes_a_balance(
    account: Account, taken: list[Deduction], one: Deduction, data: Any
) -> None:
    cut = data.draw(st.integers(0, len(one.counted_halves)))
    parts = [
        part
        for part in (
            Deduction(
                counted_halves=one.counted_halves[:cut],
                start_date=one.start_date,
                end_date=one.start_date + timedelta(days=cut - 1),
            ),
            Deduction(
                counted_halves=one.counted_halves[cut:],
                start_date=one.start_date + timedelta(days=cut),
                end_date=one.end_date,
            ),
        )
        if part.counted_halves
    ]

    assert everything(account, [*taken, *parts]) == everything(account, [*taken, one])
    total = halves.total_half_days(one.counted_halves)
    assert sum(halves.total_half_days(part.counted_halves) for part in parts) == total


@given(accounts, st.lists(deductions, max_size=5), deductions)
def test_what_a_request_needs_is_what_it_takes_from_each_year(
    account: Account, taken: list[Deduction], asked: Deduction
) -> None:
    demands = year_balances.demands(account, taken, asked)

    total = halves.total_half_days(asked.counted_halves)
    assert sum(demand.needed_half_days for demand in demands) == total
    after = year_balances.of_years(account, [*taken, asked], asked.start_date, asked.end_date)
    for demand, standing in zip(demands, after, strict=True):
        on = min(asked.end_date, standing.year.last_day)
        left = demand.remaining_half_days - demand.needed_half_days
        assert left == standing.remaining_half_days(on)


@given(accounts, st.lists(deductions, max_size=6), deductions)
def test_leave_that_is_let_through_overdraws_no_year_that_was_not_overdrawn(
    account: Account, taken: list[Deduction], asked: Deduction
) -> None:
    demands = year_balances.demands(account, taken, asked)
    later = year_balances.later_demands(account, taken, asked)
    if any(one.needed_half_days > max(one.remaining_half_days, 0) for one in [*demands, *later]):
        return

    before, after = everything(account, taken), everything(account, [*taken, asked])

    for one, other in zip(before, after, strict=True):
        rests_on_it = other.taken_half_days > 0
        assert not rests_on_it or other.final_half_days >= min(one.final_half_days, 0)
