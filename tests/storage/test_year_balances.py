"""Balances of consecutive leave years: carry-over, expiry, and what requests deduct."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.base.allowance_values import AllowanceTerms
from storage.rules import counted_days, leave_years, request_rules, year_balances
from storage.rules.entitlements import Entitlement, Grant
from storage.rules.leave_years import LeaveYearRule
from storage.rules.year_balances import (
    Account,
    Adjusted,
    Deduction,
    LeaveYearBalance,
    TermsFrom,
)

CALENDAR = LeaveYearRule(type="calendar", month=1, day=1)
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
    terms = AllowanceTerms(
        id="first",
        valid_from=None,
        half_days_per_year=granted_half_days,
        carry_over_half_days=max_half_days,
        carry_over_expiry_month=expiry_month,
    )
    return Account(
        rule=rule,
        entitlement=Entitlement(
            grants=(Grant(first_day=date.min, half_days=granted_half_days),),
            start_date=rule.start_date,
        ),
        adjustments=tuple(
            Adjusted(id=str(year), leave_year=year, half_days=half_days, made_on=RECORDED_FROM)
            for year, half_days in (adjusted or {}).items()
        ),
        terms=(TermsFrom(first_day=date.min, terms=terms),),
        recorded_from=recorded_from,
        passes_from=recorded_from if max_half_days else None,
    )


def leave(start_date: date, half_days: int) -> Deduction:
    """Consecutive whole days, weekends included; an odd half-day is a morning."""
    counted_halves = "3" * (half_days // 2) + "1" * (half_days % 2)
    return Deduction(
        counted_halves=counted_halves,
        start_date=start_date,
        end_date=start_date + timedelta(days=len(counted_halves) - 1),
    )


def in_year(account: Account, year: int, *leave_taken: Deduction) -> LeaveYearBalance:
    day = date(year, 7, 1)
    (balance,) = year_balances.of_years(account, leave_taken, day, day)
    return balance


def test_nothing_is_carried_past_the_end_of_employment() -> None:
    account = an_account(expiry_month=None)
    leaver = replace(account, entitlement=replace(account.entitlement, end_date=date(2026, 12, 31)))
    later = replace(account, entitlement=replace(account.entitlement, end_date=date(2027, 1, 31)))

    after = in_year(leaver, 2027)

    assert (after.carried_half_days, after.final_half_days) == (0, 0)
    assert in_year(later, 2027).carried_half_days == 10


def test_remaining_days_are_carried_over_up_to_the_limit() -> None:
    account = an_account(expiry_month=None)

    assert in_year(account, 2027).carried_half_days == 10
    assert in_year(account, 2027, leave(date(2026, 6, 1), 45)).carried_half_days == 5
    assert in_year(account, 2027, leave(date(2026, 6, 1), 50)).carried_half_days == 0


def test_an_overdrawn_year_carries_nothing_over() -> None:
    overdrawn = leave(date(2026, 6, 1), 60)

    assert in_year(an_account(), 2026, overdrawn).final_half_days == -10
    assert in_year(an_account(), 2027, overdrawn).carried_half_days == 0


def test_nothing_is_carried_over_from_years_without_records() -> None:
    assert in_year(an_account(), 2025).final_half_days == 50
    assert in_year(an_account(), 2026).carried_half_days == 0
    assert in_year(an_account(), 2027).carried_half_days == 10


def test_carried_days_are_taken_first_and_expire_with_their_month() -> None:
    balance = in_year(an_account(), 2027, leave(date(2027, 2, 1), 4), leave(date(2027, 4, 1), 8))

    assert (balance.carried_half_days, balance.lapsing_half_days) == (10, 6)
    assert balance.carried_until == date(2027, 3, 31)
    assert balance.remaining_half_days(date(2027, 3, 31)) == 50 + 10 - 12
    assert balance.remaining_half_days(date(2027, 4, 1)) == 50 + 10 - 12 - 6
    assert balance.final_half_days == 42


def test_expired_days_are_not_carried_over_again() -> None:
    account = an_account(granted_half_days=4)

    assert in_year(account, 2028).carried_half_days == 4


def test_carried_days_without_expiry_are_carried_over_again_up_to_the_limit() -> None:
    account = an_account(granted_half_days=4, expiry_month=None)

    assert in_year(account, 2028).carried_half_days == 8
    assert in_year(account, 2029).carried_half_days == 10


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
def test_carry_over_expires_at_the_first_end_of_the_month_in_the_leave_year(
    first_day: date, month: int, until: date
) -> None:
    rule = LeaveYearRule(type="fiscal", month=first_day.month, day=first_day.day)
    year = leave_years.leave_year_beginning_in(rule, first_day.year)

    assert year_balances.carried_until(year, month) == until


def test_days_can_be_taken_until_they_expire() -> None:
    account = an_account()
    planned = leave(date(2027, 7, 1), 50)

    (before_expiry,) = request_rules.demands(account, [planned], leave(date(2027, 3, 1), 10))
    (after_expiry,) = request_rules.demands(account, [planned], leave(date(2027, 4, 1), 10))

    assert (before_expiry.remaining_half_days, before_expiry.needed_half_days) == (10, 10)
    assert (after_expiry.remaining_half_days, after_expiry.needed_half_days) == (0, 10)


def test_leave_across_the_expiry_takes_carried_days_with_its_first_part() -> None:
    across = leave(date(2027, 3, 30), 20)

    (demand,) = request_rules.demands(an_account(), [leave(date(2027, 7, 1), 34)], across)

    # Two days by 31 March are carried over; the other three have expired.
    assert (demand.remaining_half_days, demand.needed_half_days) == (20, 20)


def test_leave_that_reduces_a_needed_carry_over_is_short_in_the_next_year() -> None:
    account = an_account()
    next_year = leave(date(2027, 2, 1), 56)

    later = request_rules.later_demands(account, [next_year], leave(date(2026, 6, 1), 46))

    assert [
        (demand.year.name, demand.remaining_half_days, demand.needed_half_days) for demand in later
    ] == [("2027", 4, 6)]
    assert request_rules.later_demands(account, [next_year], leave(date(2026, 6, 1), 44)) == []


def test_without_carry_over_no_other_year_is_checked() -> None:
    account = an_account(max_half_days=0)
    next_year = leave(date(2027, 2, 1), 60)

    assert request_rules.later_demands(account, [next_year], leave(date(2026, 6, 1), 50)) == []
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


def everything(account: Account, leave_taken: list[Deduction]) -> list[Any]:
    return year_balances.of_years(account, leave_taken, date(2024, 1, 1), date(2029, 1, 1))


@given(accounts, st.lists(deductions, max_size=8))
def test_every_balance_adds_up_and_no_carry_over_exceeds_its_bounds(
    account: Account, leave_taken: list[Deduction]
) -> None:
    balances = everything(account, leave_taken)
    limit = account.terms[0].terms.carry_over_half_days or 0

    for before, balance in zip([None, *balances], balances, strict=False):
        remaining = 0 if before is None else max(before.final_half_days, 0)
        assert 0 <= balance.carried_half_days <= min(limit, remaining if before else limit)
        assert 0 <= balance.lapsing_half_days <= balance.carried_half_days
        assert balance.remaining_half_days(balance.year.last_day) >= balance.final_half_days
        assert balance.final_half_days == (
            balance.allowance.prorated_half_days
            + balance.carried_half_days
            + balance.adjusted_half_days
            - balance.taken_half_days
            - balance.lapsing_half_days
        )


@given(accounts, st.lists(deductions, max_size=5), deductions, st.data())
def test_splitting_leave_never_changes_a_balance(
    account: Account, leave_taken: list[Deduction], deduction: Deduction, data: Any
) -> None:
    cut = data.draw(st.integers(0, len(deduction.counted_halves)))
    parts = [
        part
        for part in (
            Deduction(
                counted_halves=deduction.counted_halves[:cut],
                start_date=deduction.start_date,
                end_date=deduction.start_date + timedelta(days=cut - 1),
            ),
            Deduction(
                counted_halves=deduction.counted_halves[cut:],
                start_date=deduction.start_date + timedelta(days=cut),
                end_date=deduction.end_date,
            ),
        )
        if part.counted_halves
    ]

    assert everything(account, [*leave_taken, *parts]) == everything(
        account, [*leave_taken, deduction]
    )
    total = counted_days.total_half_days(deduction.counted_halves)
    assert sum(counted_days.total_half_days(part.counted_halves) for part in parts) == total


@given(accounts, st.lists(deductions, max_size=5), deductions)
def test_a_request_needs_what_it_deducts_from_each_year(
    account: Account, leave_taken: list[Deduction], requested: Deduction
) -> None:
    demands = request_rules.demands(account, leave_taken, requested)

    total = counted_days.total_half_days(requested.counted_halves)
    assert sum(demand.needed_half_days for demand in demands) == total
    after = year_balances.of_years(
        account, [*leave_taken, requested], requested.start_date, requested.end_date
    )
    for demand, balance in zip(demands, after, strict=True):
        on = min(requested.end_date, balance.year.last_day)
        remaining = demand.remaining_half_days - demand.needed_half_days
        assert remaining == balance.remaining_half_days(on)


@given(accounts, st.lists(deductions, max_size=6), deductions)
def test_accepted_leave_never_newly_overdraws_a_year(
    account: Account, leave_taken: list[Deduction], requested: Deduction
) -> None:
    demands = request_rules.demands(account, leave_taken, requested)
    later = request_rules.later_demands(account, leave_taken, requested)
    if any(
        demand.needed_half_days > max(demand.remaining_half_days, 0)
        for demand in [*demands, *later]
    ):
        return

    before, after = everything(account, leave_taken), everything(account, [*leave_taken, requested])

    for year_before, year_after in zip(before, after, strict=True):
        has_leave = year_after.taken_half_days > 0
        assert not has_leave or year_after.final_half_days >= min(year_before.final_half_days, 0)
