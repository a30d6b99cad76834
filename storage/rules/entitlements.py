"""What a person is granted in a leave year, and when: pro rata, with tenure, month by month.

The allowance of a leave year is the part of each grant that lies in it and in employment, by the
organisation's method, rounded once for the year. What is granted by a day follows from the dates;
no job adds anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor
from typing import Final, Literal

from storage.base.allowance_values import Amount, ProRata, TenureStep
from storage.base.values import EmploymentPeriod
from storage.rules import dated
from storage.rules.leave_years import LeaveYear, months_after

StepKind = Literal["start", "change", "end"]
_ONE_DAY: Final = timedelta(days=1)
_MONTHS: Final = 12
# Leavers of the second half of a leave year may have a full claim.
_HALF_YEAR: Final = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """The half-days of a whole leave year, granted from a day on until the next grant.

    ``by_tenure`` are those of people who have been employed for long, by years.
    """

    first_day: date
    half_days: Amount
    by_tenure: tuple[TenureStep, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ProRataFrom:
    """A way to grant parts of a leave year, for the person from a day on."""

    first_day: date
    rule: ProRata


AS_ALWAYS: Final = (ProRataFrom(first_day=date.min, rule=ProRata()),)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entitlement:
    """What a person is granted over time. The first grant also counts for the time before it.

    ``grants`` and ``pro_rata`` are in the order of their days; ``start_date`` and ``end_date`` are
    the first and last day of the present employment, None if unknown; ``earlier`` are the periods
    before it.
    """

    grants: tuple[Grant, ...]
    start_date: date | None = None
    end_date: date | None = None
    earlier: tuple[EmploymentPeriod, ...] = ()
    pro_rata: tuple[ProRataFrom, ...] = AS_ALWAYS


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One reason why a year's allowance differs from a whole year's, in the order of days.

    ``half_days`` is the difference; ``day`` the first day of employment or of the new grant, or
    the last day of employment.
    """

    kind: StepKind
    day: date
    half_days: Amount


@dataclass(frozen=True, kw_only=True, slots=True)
class Granted:
    """The half-days that are granted in all from a day of the leave year on."""

    first_day: date
    half_days: Amount


@dataclass(frozen=True, kw_only=True, slots=True)
class YearAllowance:
    """``granted_half_days`` and the steps add up to ``prorated_half_days``.

    ``schedule`` says when they are granted, in the order of days; empty: all at the beginning.
    """

    granted_half_days: Amount
    prorated_half_days: Amount
    steps: tuple[Step, ...] = ()
    schedule: tuple[Granted, ...] = ()

    def half_days_by(self, day: date) -> Amount:
        """What is granted by the day, the day included."""
        if not self.schedule:
            return self.prorated_half_days
        return next(
            (each.half_days for each in reversed(self.schedule) if each.first_day <= day), 0
        )


def by_period(entitlement: Entitlement) -> list[Entitlement]:
    """What each period of employment alone grants, oldest first; the last is the present one."""
    present = EmploymentPeriod(start_date=entitlement.start_date, end_date=entitlement.end_date)
    return [
        replace(
            entitlement,
            grants=_with_tenure(entitlement.grants, period.start_date),
            start_date=period.start_date,
            end_date=period.end_date,
            earlier=(),
        )
        for period in (*entitlement.earlier, present)
    ]


def _with_tenure(grants: tuple[Grant, ...], start_date: date | None) -> tuple[Grant, ...]:
    """The grants of one employment, each with what its years of employment give."""
    if not any(grant.by_tenure for grant in grants):
        return grants
    found: list[Grant] = []
    for grant, after in zip(grants, [*grants[1:], None], strict=True):
        end = date.max if after is None else after.first_day
        found.append(Grant(first_day=grant.first_day, half_days=grant.half_days))
        for step in grant.by_tenure:
            if start_date is None:
                break
            reached_on = months_after(start_date, _MONTHS * step.after_years)
            if reached_on <= grant.first_day:
                found[-1] = replace(found[-1], half_days=step.half_days_per_year)
            elif reached_on < end:
                found.append(Grant(first_day=reached_on, half_days=step.half_days_per_year))
    return tuple(found)


def of_year(
    entitlement: Entitlement, year: LeaveYear, *, is_monthly: bool = False
) -> YearAllowance:
    """The allowance of one leave year in the only period of employment.

    ``granted_half_days`` is the whole year's at the first day of employment in it.
    """
    grants, start_date, end_date = entitlement.grants, entitlement.start_date, entitlement.end_date
    starts_within = start_date is not None and start_date > year.first_day
    ends_within = end_date is not None and end_date < year.last_day
    if len(grants) == 1 and not starts_within and not ends_within and not is_monthly:
        whole = grants[0].half_days
        return YearAllowance(granted_half_days=whole, prorated_half_days=whole)
    first_day = max(start_date or year.first_day, year.first_day)
    rule = dated.last_from(entitlement.pro_rata, first_day).rule
    claim_on = _full_claim_on(rule, start_date)
    last_day = min(end_date or year.last_day, year.last_day)
    is_full_at_end = (
        ends_within
        and rule.full_claim_for_leavers_after_june
        and (claim_on or date.min) <= last_day
        and last_day >= months_after(year.first_day, _HALF_YEAR)
    )
    is_full_at_start = starts_within and claim_on is not None and claim_on <= last_day
    present = _grants_between(grants, first_day, year.last_day)
    granted = present[0].half_days
    steps: list[tuple[StepKind, date]] = []
    sums = [granted]
    first_counted = year.first_day if is_full_at_start else first_day
    if starts_within and not is_full_at_start and start_date is not None:
        sums.append(_prorated(rule, present[:1], first_day, year.last_day, year))
        steps.append(("start", start_date))
    for count, grant in enumerate(present[1:], 2):
        if end_date is None or grant.first_day <= end_date:
            sums.append(_prorated(rule, present[:count], first_counted, year.last_day, year))
            steps.append(("change", grant.first_day))
    if ends_within and not is_full_at_end and end_date is not None:
        sums.append(_prorated(rule, present, first_counted, end_date, year))
        steps.append(("end", end_date))
    whole = sums[-1]
    schedule: tuple[Granted, ...] = ()
    if is_monthly:
        schedule = _monthly(present, first_day, last_day, year, whole)
    elif is_full_at_start and claim_on is not None:
        before_claim = _prorated(rule, present, first_day, last_day, year)
        schedule = (
            Granted(first_day=first_day, half_days=min(before_claim, whole)),
            Granted(first_day=claim_on, half_days=whole),
        )
    return YearAllowance(
        granted_half_days=granted,
        prorated_half_days=whole,
        steps=tuple(
            Step(kind=kind, day=day, half_days=after - before)
            for (kind, day), (before, after) in zip(steps, pairwise(sums), strict=True)
            if after != before
        ),
        schedule=schedule,
    )


def _full_claim_on(rule: ProRata, start_date: date | None) -> date | None:
    """The day on which the whole year's allowance is due; None if that is never so."""
    if rule.full_claim_after_months is None or start_date is None:
        return None
    return months_after(start_date, rule.full_claim_after_months)


def _grants_between(grants: Sequence[Grant], first_day: date, last_day: date) -> list[Grant]:
    """Those that count between two days; the first one begins by ``first_day``."""
    earlier = [grant for grant in grants if grant.first_day <= first_day]
    return [
        earlier[-1] if earlier else grants[0],
        *(grant for grant in grants if first_day < grant.first_day <= last_day),
    ]


def _prorated(
    rule: ProRata, grants: Sequence[Grant], first_day: date, last_day: date, year: LeaveYear
) -> Amount:
    """The part of the year's allowance between two days, both included, rounded."""
    # As on gov.uk, twelfths are for starters: the part of a leaver is that of their days.
    is_leaver_by_days = rule.method == "months_started" and last_day < year.last_day
    if rule.method == "days" or is_leaver_by_days:
        parts: Fraction = _by_days(grants, first_day, last_day, year)
    else:
        months = (
            _months_touched(year, first_day, last_day)
            if rule.method == "months_started"
            else _full_months(first_day, last_day)
        )
        parts = sum(
            (
                Fraction(dated.last_from(grants, max(month, first_day)).half_days) / _MONTHS
                for month in months
            ),
            Fraction(0),
        )
    match rule.rounding:
        case "half_day_up":
            return ceil(parts)
        case "half_day_nearest":
            return floor(parts + Fraction(1, 2))
        case "day_up":
            return 2 * ceil(parts / 2)
        case "day_nearest":
            return 2 * floor(parts / 2 + Fraction(1, 2))


def _by_days(grants: Sequence[Grant], first_day: date, last_day: date, year: LeaveYear) -> Fraction:
    half_days_by_days: Amount = 0
    for at, grant in enumerate(grants):
        begin = first_day if at == 0 else grant.first_day
        end = last_day
        if at + 1 < len(grants):
            end = min(end, grants[at + 1].first_day - _ONE_DAY)
        half_days_by_days += grant.half_days * max((end - begin).days + 1, 0)
    return Fraction(half_days_by_days) / ((year.last_day - year.first_day).days + 1)


def _months_touched(year: LeaveYear, first_day: date, last_day: date) -> list[date]:
    """The first days of the months of the leave year in which any of the days lies."""
    return [month for month, end in _months_of(year) if month <= last_day and end >= first_day]


@lru_cache(maxsize=1_000)
def _months_of(year: LeaveYear) -> tuple[tuple[date, date], ...]:
    """The first and last day of each month of the leave year."""
    months = [months_after(year.first_day, count) for count in range(_MONTHS)]
    ends = [*(after - _ONE_DAY for after in months[1:]), year.last_day]
    return tuple(zip(months, ends, strict=True))


def _full_months(first_day: date, last_day: date) -> list[date]:
    """The first days of the whole months between two days, counted from the first of them."""
    return [
        months_after(first_day, count)
        for count in range(_MONTHS)
        if months_after(first_day, count + 1) - _ONE_DAY <= last_day
    ]


def _monthly(
    grants: Sequence[Grant], first_day: date, last_day: date, year: LeaveYear, whole: Amount
) -> tuple[Granted, ...]:
    """What is granted by the start of each month; the last month has the whole year's."""
    months = [max(month, first_day) for month in _months_touched(year, first_day, last_day)]
    granted = []
    twelfths: Amount = 0
    for month in months:
        twelfths += dated.last_from(grants, month).half_days
        # Rounded up without fractions: balances of many years and allowances add up often.
        half_days = whole if month == months[-1] else min(-(-twelfths // _MONTHS), whole)
        granted.append(Granted(first_day=month, half_days=half_days))
    return tuple(granted)
