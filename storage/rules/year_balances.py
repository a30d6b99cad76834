"""Balances of a person's leave years: granted, carried over, adjusted, taken and remaining.

The only place that computes them, for balances and for checks of requests. Nothing is stored: the
carry-over of a year follows from the years before it.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from storage.rules import halves, leave_years
from storage.rules.employment import allowances
from storage.rules.employment.allowances import Entitlement, YearAllowance
from storage.rules.leave_years import LeaveYear, LeaveYearRule
from storage.rules.request_rules import YearDemand


@dataclass(frozen=True, kw_only=True, slots=True)
class CarryOver:
    """How much is carried over into the next leave year, and when that expires.

    ``expiry_month`` (1 to 12, None: never) is the last month in which carried-over days can be
    taken. ``recorded_from`` is the first day on which the person's leave is recorded: nothing is
    carried over from earlier leave years.
    """

    max_half_days: int
    expiry_month: int | None
    recorded_from: date


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """What a person's balances depend on besides leave.

    ``adjusted_half_days`` has the sum of adjustments by the calendar year in which a leave year
    begins. ``carry_over`` is None where nothing is carried over.
    """

    rule: LeaveYearRule
    entitlement: Entitlement
    adjusted_half_days: Mapping[int, int]
    carry_over: CarryOver | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Deduction:
    """Leave that uses the allowance; ``counted_halves`` has a digit for each date."""

    counted_halves: str
    start_date: date
    end_date: date

    def half_days_in_year(self, year: LeaveYear) -> int:
        return self.half_days_in(year.first_day, year.last_day)

    def half_days_in(self, first_day: date, last_day: date) -> int:
        """The half-days between two days, both included."""
        if first_day <= self.start_date and self.end_date <= last_day:
            return halves.total_half_days(self.counted_halves)
        if self.start_date > last_day or self.end_date < first_day:
            return 0
        return halves.half_days_in(self.counted_halves, self.start_date, first_day, last_day)


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaveYearBalance:
    """The balance of one leave year. Future leave counts as taken.

    ``lapsing_half_days`` are the carried half-days that are not taken by ``carried_until``, when
    they expire (None: never).
    """

    year: LeaveYear
    allowance: YearAllowance
    carried_half_days: int
    adjusted_half_days: int
    taken_half_days: int
    lapsing_half_days: int
    carried_until: date | None

    def lapsed_half_days(self, on: date) -> int:
        """The half-days that expired before the day ``on``."""
        has_lapsed = self.carried_until is not None and on > self.carried_until
        return self.lapsing_half_days if has_lapsed else 0

    def remaining_half_days(self, on: date) -> int:
        """The half-days left on the day ``on``; negative if overdrawn."""
        return self.final_half_days + self.lapsing_half_days - self.lapsed_half_days(on)

    @property
    def final_half_days(self) -> int:
        """The half-days left at the end of the year if no more leave is taken."""
        return (
            self.allowance.prorated_half_days
            + self.carried_half_days
            + self.adjusted_half_days
            - self.taken_half_days
            - self.lapsing_half_days
        )


def accrual_start(rule: LeaveYearRule, carry_over: CarryOver | None, first_day: date) -> date:
    """The first day whose leave affects the leave year of ``first_day``."""
    if carry_over is not None:
        first_day = min(first_day, carry_over.recorded_from)
    return leave_years.leave_year_containing(rule, first_day).first_day


def of_years(
    account: Account, deductions: Sequence[Deduction], first_day: date, last_day: date
) -> list[LeaveYearBalance]:
    """The balances of the leave years from ``first_day`` to ``last_day``, oldest first.

    ``deductions`` has all leave since ``accrual_start``. An overdrawn year carries nothing over,
    neither credit nor debt.
    """
    rule, carry_over = account.rule, account.carry_over
    begin = accrual_start(rule, carry_over, first_day)
    balances: list[LeaveYearBalance] = []
    for year in leave_years.leave_years_touched(rule, begin, last_day):
        carried_half_days = 0
        if carry_over is not None and balances and carry_over.recorded_from < year.first_day:
            remaining = max(balances[-1].final_half_days, 0)
            carried_half_days = min(remaining, carry_over.max_half_days)
        balances.append(_balance_of(account, deductions, year, carried_half_days))
    return [balance for balance in balances if balance.year.last_day >= first_day]


def demands(
    account: Account, others: Sequence[Deduction], requested: Deduction
) -> list[YearDemand]:
    """The half-days that this leave needs of each of its leave years, and those that remain there.

    On the leave's last day in that year: days that expire later can still be taken. ``others`` is
    all other leave.
    """
    year_demands = []
    for balance in of_years(
        account, [*others, requested], requested.start_date, requested.end_date
    ):
        needed = requested.half_days_in_year(balance.year)
        remaining = balance.remaining_half_days(min(requested.end_date, balance.year.last_day))
        year_demands.append(
            YearDemand(
                year=balance.year, remaining_half_days=remaining + needed, needed_half_days=needed
            )
        )
    return year_demands


def later_demands(
    account: Account, others: Sequence[Deduction], requested: Deduction
) -> list[YearDemand]:
    """Later leave years that this leave overdraws through a smaller carry-over.

    Days that it takes cannot be carried over, and other leave may need them in the next year.
    ``needed_half_days`` is by how much that year's carry-over shrinks.
    """
    if account.carry_over is None or not others:
        return []
    first_day = requested.start_date
    last_day = max(other.end_date for other in others)
    if last_day <= first_day:
        return []
    after = of_years(account, [*others, requested], first_day, last_day)
    if all(balance.final_half_days >= 0 for balance in after[1:]):
        return []
    before = of_years(account, others, first_day, last_day)
    return [
        YearDemand(
            year=year_before.year,
            remaining_half_days=year_before.final_half_days,
            needed_half_days=year_before.final_half_days - year_after.final_half_days,
        )
        for year_before, year_after in zip(before[1:], after[1:], strict=True)
        if year_after.final_half_days < min(year_before.final_half_days, 0)
        and not requested.half_days_in_year(year_before.year)
    ]


def carried_until(year: LeaveYear, expiry_month: int) -> date:
    """The first end of that month in the leave year."""
    month_end = _month_end(year.first_day.year, expiry_month)
    if month_end < year.first_day and year.first_day.year < year.last_day.year:
        month_end = _month_end(year.last_day.year, expiry_month)
    return min(max(month_end, year.first_day), year.last_day)


def _balance_of(
    account: Account, deductions: Sequence[Deduction], year: LeaveYear, carried_half_days: int
) -> LeaveYearBalance:
    carry_over = account.carry_over
    until = None
    lapsing_half_days = 0
    if carried_half_days and carry_over is not None and carry_over.expiry_month is not None:
        until = carried_until(year, carry_over.expiry_month)
        used = sum(leave.half_days_in(year.first_day, until) for leave in deductions)
        lapsing_half_days = max(carried_half_days - used, 0)
    return LeaveYearBalance(
        year=year,
        allowance=allowances.of_year(account.entitlement, year),
        carried_half_days=carried_half_days,
        adjusted_half_days=account.adjusted_half_days.get(year.first_day.year, 0),
        taken_half_days=sum([leave.half_days_in_year(year) for leave in deductions]),
        lapsing_half_days=lapsing_half_days,
        carried_until=until,
    )


def _month_end(calendar_year: int, month: int) -> date:
    return date(calendar_year, month, monthrange(calendar_year, month)[1])
