"""Balances of a person's leave years: granted, carried over, adjusted, taken and remaining.

A leave year in which a person is hired again has a balance for each period of employment. Nothing
passes from one period to the next: neither what is left, nor what is overdrawn, nor carry-over.

The only place that computes them, for balances and for checks of requests. Nothing is stored: the
carry-over of a year follows from the years before it.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from storage.rules import counted_days, employment_terms, leave_years
from storage.rules.employment_terms import Entitlement, YearAllowance
from storage.rules.leave_years import LeaveYear, LeaveYearRule
from storage.rules.request_rules import YearDemand

_ONE_DAY: Final = timedelta(days=1)


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
class Adjusted:
    """An adjustment of the leave year that begins in a calendar year, and when it was made."""

    id: str
    leave_year: int
    half_days: int
    made_on: date


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """What a person's balances depend on besides leave.

    ``carry_over`` is None where nothing is carried over.
    """

    rule: LeaveYearRule
    entitlement: Entitlement
    adjustments: tuple[Adjusted, ...]
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
            return counted_days.total_half_days(self.counted_halves)
        if self.start_date > last_day or self.end_date < first_day:
            return 0
        return counted_days.half_days_in(self.counted_halves, self.start_date, first_day, last_day)


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaveYearBalance:
    """The balance of one leave year in one period of employment. Future leave counts as taken.

    ``first_day`` and ``last_day`` are the days whose leave it is charged with: all of the year,
    unless the person was hired again in it. The days between two periods belong to the later one.
    ``employment`` is what the period grants. ``lapsing_half_days`` are the carried half-days that
    are not taken by ``carried_until``, when they expire (None: never).
    """

    year: LeaveYear
    first_day: date
    last_day: date
    employment: Entitlement
    allowance: YearAllowance
    carried_half_days: int
    adjustments: tuple[Adjusted, ...]
    taken_half_days: int
    lapsing_half_days: int
    carried_until: date | None

    @property
    def adjusted_half_days(self) -> int:
        return sum(adjusted.half_days for adjusted in self.adjustments)

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
    employments = employment_terms.by_period(account.entitlement)
    balances: list[LeaveYearBalance] = []
    for year in leave_years.leave_years_touched(rule, begin, last_day):
        adjustments = [
            each for each in account.adjustments if each.leave_year == year.first_day.year
        ]
        parts = _parts(employments, year)
        for at, (employment, part) in enumerate(parts):
            carried_half_days = 0
            if (
                carry_over is not None
                and balances
                and balances[-1].employment is employment
                and carry_over.recorded_from < year.first_day
                # Nothing is carried past the end of employment.
                and (employment.end_date or date.max) >= year.first_day
            ):
                remaining = max(balances[-1].final_half_days, 0)
                carried_half_days = min(remaining, carry_over.max_half_days)
            # By the day on which they were made, if the year has several periods.
            is_last = at == len(parts) - 1
            made = [each for each in adjustments if is_last or each.made_on <= part.last_day]
            adjustments = [each for each in adjustments if each not in made]
            balances.append(
                _balance_of(
                    account, deductions, year, employment, part, carried_half_days, tuple(made)
                )
            )
    return [
        balance
        for balance in balances
        if balance.last_day >= first_day and balance.first_day <= last_day
    ]


def _parts(
    employments: Sequence[Entitlement], year: LeaveYear
) -> list[tuple[Entitlement, LeaveYear]]:
    """The days of the leave year that belong to each period of employment."""
    parts = []
    begin = year.first_day
    for employment in employments:
        end = year.last_day
        if employment is not employments[-1] and employment.end_date is not None:
            end = min(employment.end_date, end)
        if begin <= end:
            parts.append((employment, LeaveYear(first_day=begin, last_day=end)))
            begin = end + _ONE_DAY if end < year.last_day else date.max
    return parts


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
        needed = requested.half_days_in(balance.first_day, balance.last_day)
        remaining = balance.remaining_half_days(min(requested.end_date, balance.last_day))
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
        and not requested.half_days_in(year_before.first_day, year_before.last_day)
    ]


def carried_until(year: LeaveYear, expiry_month: int) -> date:
    """The first end of that month in the leave year."""
    month_end = _month_end(year.first_day.year, expiry_month)
    if month_end < year.first_day and year.first_day.year < year.last_day.year:
        month_end = _month_end(year.last_day.year, expiry_month)
    return min(max(month_end, year.first_day), year.last_day)


def _balance_of(
    account: Account,
    deductions: Sequence[Deduction],
    year: LeaveYear,
    employment: Entitlement,
    part: LeaveYear,
    carried_half_days: int,
    adjustments: tuple[Adjusted, ...],
) -> LeaveYearBalance:
    carry_over = account.carry_over
    until = None
    lapsing_half_days = 0
    if carried_half_days and carry_over is not None and carry_over.expiry_month is not None:
        until = carried_until(year, carry_over.expiry_month)
        until_end = min(until, part.last_day)
        used = sum(leave.half_days_in(part.first_day, until_end) for leave in deductions)
        lapsing_half_days = max(carried_half_days - used, 0)
    return LeaveYearBalance(
        year=year,
        first_day=part.first_day,
        last_day=part.last_day,
        employment=employment,
        allowance=employment_terms.of_year(employment, year),
        carried_half_days=carried_half_days,
        adjustments=adjustments,
        taken_half_days=sum([leave.half_days_in_year(part) for leave in deductions]),
        lapsing_half_days=lapsing_half_days,
        carried_until=until,
    )


def _month_end(calendar_year: int, month: int) -> date:
    return date(calendar_year, month, monthrange(calendar_year, month)[1])
