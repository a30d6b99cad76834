"""Balances of a person's leave years in one allowance: granted, carried over, taken, remaining.

A leave year in which a person is hired again has a balance for each period of employment. Nothing
passes from one period to the next: neither what is left, nor what is overdrawn, nor carry-over.

The only place that computes them, for balances and for checks of requests. Nothing is stored: the
carry-over of a year follows from the years before it.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise
from typing import Final

from storage.base.allowance_values import AllowanceTerms, Amount
from storage.rules import counted_days, dated, entitlements, leave_years
from storage.rules.entitlements import Entitlement, YearAllowance
from storage.rules.leave_years import LeaveYear, LeaveYearRule, months_after

_ONE_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class TermsFrom:
    """Terms of an allowance, for the person from a day on. The first also count before it."""

    first_day: date
    terms: AllowanceTerms


@dataclass(frozen=True, kw_only=True, slots=True)
class Credit:
    """Half-days for work on a day; ``until`` is the last day to take them, None: always."""

    id: str
    worked_on: date
    half_days: int
    until: date | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Adjusted:
    """An adjustment of the leave year that begins in a calendar year, and when it was made."""

    id: str
    leave_year: int
    half_days: int
    made_on: date


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """What a person's balances in an allowance depend on besides leave.

    ``terms`` are in the order of their days. ``recorded_from`` is the first day on which the
    person's leave is recorded: nothing is carried over from earlier leave years. ``passes_from`` is
    the first day on which anything may pass to the next leave year; None: nothing ever does.
    """

    rule: LeaveYearRule
    entitlement: Entitlement
    adjustments: tuple[Adjusted, ...]
    terms: tuple[TermsFrom, ...]
    recorded_from: date
    passes_from: date | None
    credits: tuple[Credit, ...] = ()

    def terms_on(self, day: date) -> AllowanceTerms:
        return dated.last_from(self.terms, day).terms


@dataclass(frozen=True, kw_only=True, slots=True)
class Deduction:
    """Leave that draws on the allowance; ``counted_halves`` has a digit for each date."""

    counted_halves: str
    start_date: date
    end_date: date

    @property
    def days(self) -> tuple[date, date]:
        return self.start_date, self.end_date

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
class CreditBalance:
    """A credit in a leave year: its half-days at the beginning of it, and those not taken.

    ``until`` as in `Credit`. What is not taken by then lapses; a later year has the rest.
    """

    credit: Credit
    half_days: Amount
    left_half_days: Amount


@dataclass(frozen=True, kw_only=True, slots=True)
class TakenBy:
    """The half-days of all leave of a leave year that ends by the day: that of the last one."""

    day: date
    half_days: int
    leave: Deduction


@dataclass(frozen=True, kw_only=True, slots=True)
class Remaining:
    """Half-days left on a day; ``needed_by`` is later leave that nothing more is left for."""

    half_days: Amount
    needed_by: Deduction | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaveYearBalance:
    """The balance of one leave year in one period of employment. Future leave counts as taken.

    ``first_day`` and ``last_day`` are the days whose leave it is charged with: all of the year,
    unless the person was hired again in it. The days between two periods belong to the later one.
    ``employment`` is what the period grants. ``lapsing_half_days`` are the carried half-days that
    are not taken by ``carried_until``, when they expire (None: never). ``taken_by`` is in the order
    of days, where not all is granted at the beginning.
    """

    year: LeaveYear
    first_day: date
    last_day: date
    employment: Entitlement
    allowance: YearAllowance
    carried_half_days: Amount
    adjustments: tuple[Adjusted, ...]
    taken_half_days: int
    lapsing_half_days: Amount
    carried_until: date | None
    credits: tuple[CreditBalance, ...] = ()
    taken_by: tuple[TakenBy, ...] = ()

    @property
    def adjusted_half_days(self) -> int:
        return sum(adjusted.half_days for adjusted in self.adjustments)

    def lapsed_half_days(self, on: date) -> Amount:
        """The carried half-days that expired before the day ``on``."""
        has_lapsed = self.carried_until is not None and on > self.carried_until
        return self.lapsing_half_days if has_lapsed else 0

    def lapsed_credits(self, on: date) -> list[CreditBalance]:
        """The credits that expired before the day ``on``, and not in an earlier leave year."""
        return [
            each
            for each in self.credits
            if each.left_half_days and each.credit.until is not None and each.credit.until < on
        ]

    def credits_by(self, on: date) -> list[CreditBalance]:
        """The credits of work by the day."""
        return [each for each in self.credits if each.credit.worked_on <= on]

    def remaining_half_days(self, on: date) -> Amount:
        """The half-days left on the day ``on``; negative if overdrawn.

        What later leave needs of that which is granted by then is not left.
        """
        return self.remaining(on).half_days

    def remaining(self, on: date, *, may_borrow: bool = False) -> Remaining:
        """As ``remaining_half_days``; ``may_borrow``: with what is granted later in the year."""
        lapsed = self._lapsed(on)
        at_end = self.final_half_days + self._lapsed(date.max) - lapsed
        if not self.allowance.schedule or may_borrow:
            return Remaining(half_days=at_end - self._credits_after(on))
        by_day: dict[date, tuple[int, Deduction | None]] = {on: (0, None)}
        for taken in self.taken_by:
            by_day[max(taken.day, on)] = (
                taken.half_days,
                taken.leave if taken.day > on else None,
            )
        least = Remaining(half_days=at_end - self._credits_after(on))
        for day, (taken_half_days, leave) in by_day.items():
            left = (
                self.allowance.half_days_by(day)
                + self.carried_half_days
                + self.adjusted_half_days
                + sum(each.half_days for each in self.credits_by(on))
                - taken_half_days
                - lapsed
            )
            if left < least.half_days:
                least = Remaining(half_days=left, needed_by=leave)
        return least

    @property
    def final_half_days(self) -> Amount:
        """The half-days left at the end of the year if no more leave is taken."""
        return (
            self.allowance.prorated_half_days
            + self.carried_half_days
            + self.adjusted_half_days
            + sum(each.half_days for each in self.credits)
            - self.taken_half_days
            - self._lapsed(date.max)
        )

    def least_left(self, *, may_borrow: bool) -> Remaining:
        """The least that is left after any leave, of what is granted by then, or at the end."""
        least = Remaining(half_days=self.final_half_days)
        for taken in () if may_borrow else self.taken_by:
            left = (
                self.allowance.half_days_by(taken.day)
                + self.carried_half_days
                + self.adjusted_half_days
                + sum(each.half_days for each in self.credits_by(taken.day))
                - taken.half_days
                - self._lapsed(taken.day)
            )
            if left < least.half_days:
                least = Remaining(half_days=left, needed_by=taken.leave)
        return least

    def not_granted_half_days(self, on: date) -> Amount:
        """What the year grants later, or what later leave needs of it: never negative."""
        at_end = self.remaining(on, may_borrow=True).half_days
        return at_end - self.remaining_half_days(on)

    @property
    def passing_half_days(self) -> Amount:
        """The half-days of credits that may be taken in the next leave year."""
        return sum(
            each.left_half_days
            for each in self.credits
            if each.credit.until is None or each.credit.until > self.last_day
        )

    def _lapsed(self, on: date) -> Amount:
        on = min(on, self.last_day + _ONE_DAY)
        credits = self.lapsed_credits(on)
        return self.lapsed_half_days(on) + sum(each.left_half_days for each in credits)

    def _credits_after(self, on: date) -> Amount:
        return sum(each.half_days for each in self.credits if each.credit.worked_on > on)


def accrual_start(rule: LeaveYearRule, passes_from: date | None, first_day: date) -> date:
    """The first day whose leave affects the leave year of ``first_day``."""
    if passes_from is not None:
        first_day = min(first_day, passes_from)
    return leave_years.leave_year_containing(rule, first_day).first_day


def of_years(
    account: Account, deductions: Sequence[Deduction], first_day: date, last_day: date
) -> list[LeaveYearBalance]:
    """The balances of the leave years from ``first_day`` to ``last_day``, oldest first.

    ``deductions`` has all leave since ``accrual_start``. An overdrawn year carries nothing over,
    neither credit nor debt.
    """
    begin = accrual_start(account.rule, account.passes_from, first_day)
    employments = entitlements.by_period(account.entitlement)
    balances: list[LeaveYearBalance] = []
    for year in leave_years.leave_years_touched(account.rule, begin, last_day):
        adjustments = [
            each for each in account.adjustments if each.leave_year == year.first_day.year
        ]
        parts = _parts(employments, year)
        for at, (employment, part) in enumerate(parts):
            before: LeaveYearBalance | None = None
            if (
                balances
                and balances[-1].employment is employment
                # Nothing is carried past the end of employment.
                and (employment.end_date or date.max) >= year.first_day
            ):
                before = balances[-1]
            # By the day on which they were made, if the year has several periods.
            is_last = at == len(parts) - 1
            made = [each for each in adjustments if is_last or each.made_on <= part.last_day]
            adjustments = [each for each in adjustments if each not in made]
            charged = [
                leave
                for leave in deductions
                if leave.start_date <= part.last_day and leave.end_date >= part.first_day
            ]
            # Of earlier leave years counts what is left at their end, not when it was granted.
            is_dated = part.last_day >= first_day
            balances.append(
                _balance_of(
                    account, charged, year, employment, part, before, tuple(made), is_dated=is_dated
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
    if len(employments) == 1:
        return [(employments[0], year)]
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
    before: LeaveYearBalance | None,
    adjustments: tuple[Adjusted, ...],
    *,
    is_dated: bool,
) -> LeaveYearBalance:
    """``before`` is the balance from which something may pass to this one.

    ``deductions`` has the leave of the part alone. ``is_dated``: with the days on which it is
    granted and taken.
    """
    carried_half_days, until = _carried(account, before, year)
    credits = [
        CreditBalance(credit=each, half_days=each.half_days, left_half_days=each.half_days)
        for each in account.credits
        if part.first_day <= each.worked_on <= part.last_day
    ]
    if before is not None:
        credits += [
            replace(each, half_days=each.left_half_days)
            for each in before.credits
            if each.left_half_days
            and (each.credit.until is None or each.credit.until > before.last_day)
        ]
    lapsing_half_days: Amount = 0
    if credits:
        expiring = [_Expiring(part.first_day, until, carried_half_days if until else 0)]
        expiring += [
            _Expiring(each.credit.worked_on, each.credit.until, each.half_days) for each in credits
        ]
        lapsing_half_days, *left = _left_over(expiring, deductions, part)
        credits = [
            replace(each, left_half_days=half_days)
            for each, half_days in zip(credits, left, strict=True)
        ]
    elif carried_half_days and until is not None:
        # As `_left_over` for the carried days alone, which most years have.
        used_until = min(until, part.last_day)
        used = sum([leave.half_days_in(part.first_day, used_until) for leave in deductions])
        lapsing_half_days = max(carried_half_days - used, 0)
    first_employed = max(part.first_day, employment.start_date or part.first_day)
    is_monthly = is_dated and account.terms_on(first_employed).granting == "monthly"
    allowance = entitlements.of_year(employment, year, is_monthly=is_monthly)
    return LeaveYearBalance(
        year=year,
        first_day=part.first_day,
        last_day=part.last_day,
        employment=employment,
        allowance=allowance,
        carried_half_days=carried_half_days,
        adjustments=adjustments,
        taken_half_days=sum([leave.half_days_in_year(part) for leave in deductions]),
        lapsing_half_days=lapsing_half_days,
        carried_until=until,
        credits=tuple(sorted(credits, key=lambda each: each.credit.worked_on)),
        taken_by=_taken_by(deductions, part) if allowance.schedule else (),
    )


def _carried(
    account: Account, before: LeaveYearBalance | None, year: LeaveYear
) -> tuple[Amount, date | None]:
    """What is carried over into the year, and until when it may be taken (None: always).

    By the terms of the year before, without credits, which pass on by themselves.
    """
    if before is None or account.recorded_from >= year.first_day:
        return 0, None
    terms = account.terms_on(before.last_day)
    left = max(before.final_half_days - before.passing_half_days, 0)
    if terms.carry_over_half_days is not None:
        left = min(left, terms.carry_over_half_days)
    if not left:
        return 0, None
    if terms.carry_over_expiry_month is not None:
        return left, carried_until(year, terms.carry_over_expiry_month)
    if terms.carry_over_expires_after_months is not None:
        until = months_after(year.first_day, terms.carry_over_expires_after_months) - _ONE_DAY
        return left, min(until, year.last_day)
    return left, None


@dataclass(frozen=True, slots=True)
class _Expiring:
    first_day: date
    until: date | None
    half_days: Amount


def _left_over(
    expiring: Sequence[_Expiring], deductions: Sequence[Deduction], part: LeaveYear
) -> list[Amount]:
    """What leave has not used of each by the time it expires, or by the end of the year.

    The earliest to expire are used first, each only from its first day on.
    """
    left = [each.half_days for each in expiring]
    order = sorted(
        range(len(expiring)),
        key=lambda at: (expiring[at].until or date.max, expiring[at].first_day),
    )
    ends = [each.until + _ONE_DAY for each in expiring if each.until is not None]
    edges = {part.first_day, *(each.first_day for each in expiring), *ends}
    inside = sorted(day for day in edges if part.first_day <= day <= part.last_day)
    for begin, after in pairwise([*inside, part.last_day + _ONE_DAY]):
        used: Amount = sum(leave.half_days_in(begin, after - _ONE_DAY) for leave in deductions)
        for at in order:
            if expiring[at].first_day <= begin <= (expiring[at].until or date.max):
                of_this = min(left[at], used)
                left[at] -= of_this
                used -= of_this
    return left


def _taken_by(deductions: Sequence[Deduction], part: LeaveYear) -> tuple[TakenBy, ...]:
    total = 0
    taken: list[TakenBy] = []
    for leave in sorted(deductions, key=lambda leave: leave.end_date):
        half_days = leave.half_days_in_year(part)
        if half_days:
            total += half_days
            day = min(leave.end_date, part.last_day)
            taken.append(TakenBy(day=day, half_days=total, leave=leave))
    return tuple(taken)


def _month_end(calendar_year: int, month: int) -> date:
    return date(calendar_year, month, monthrange(calendar_year, month)[1])
