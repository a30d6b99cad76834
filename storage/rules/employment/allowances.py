"""The allowance of a leave year, pro rata by the calendar days of each grant and of employment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise
from typing import Literal

from storage.base.values import EmploymentPeriod
from storage.rules.leave_years import LeaveYear

StepKind = Literal["start", "change", "end"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """The half-days of a whole leave year, granted from a day on until the next grant."""

    first_day: date
    half_days: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Entitlement:
    """What a person is granted over time. The first grant also counts for the time before it.

    ``grants`` are in the order of their days; ``start_date`` and ``end_date`` are the first and
    last day of the present employment, None if unknown; ``earlier`` are the periods before it.
    """

    grants: tuple[Grant, ...]
    start_date: date | None = None
    end_date: date | None = None
    earlier: tuple[EmploymentPeriod, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One reason why a year's allowance differs from a whole year's, in the order of days.

    ``half_days`` is the difference; ``day`` the first day of employment or of the new grant, or
    the last day of employment.
    """

    kind: StepKind
    day: date
    half_days: int


@dataclass(frozen=True, kw_only=True, slots=True)
class YearAllowance:
    """``granted_half_days`` and the steps add up to ``prorated_half_days``."""

    granted_half_days: int
    prorated_half_days: int
    steps: tuple[Step, ...] = ()


def by_period(entitlement: Entitlement) -> list[Entitlement]:
    """What each period of employment alone grants, oldest first; the last is the present one."""
    earlier = [
        Entitlement(
            grants=entitlement.grants, start_date=period.start_date, end_date=period.end_date
        )
        for period in entitlement.earlier
    ]
    return [*earlier, replace(entitlement, earlier=()) if earlier else entitlement]


def of_year(entitlement: Entitlement, year: LeaveYear) -> YearAllowance:
    """The allowance of one leave year in the present employment.

    Rounded up to a half-day once for the year.

    ``granted_half_days`` is the whole year's at the first day of employment in it.
    """
    grants, start_date, end_date = entitlement.grants, entitlement.start_date, entitlement.end_date
    starts_within = start_date is not None and start_date > year.first_day
    ends_within = end_date is not None and end_date < year.last_day
    if len(grants) == 1 and not starts_within and not ends_within:
        whole = grants[0].half_days
        return YearAllowance(granted_half_days=whole, prorated_half_days=whole)
    first_day = max(start_date or year.first_day, year.first_day)
    present = _grants_between(grants, first_day, year.last_day)
    granted = present[0].half_days
    steps: list[tuple[StepKind, date]] = []
    sums = [granted]
    if starts_within and start_date is not None:
        sums.append(_prorated(present[:1], first_day, year.last_day, year))
        steps.append(("start", start_date))
    for count, grant in enumerate(present[1:], 2):
        if end_date is None or grant.first_day <= end_date:
            sums.append(_prorated(present[:count], first_day, year.last_day, year))
            steps.append(("change", grant.first_day))
    if ends_within and end_date is not None:
        sums.append(_prorated(present, first_day, end_date, year))
        steps.append(("end", end_date))
    return YearAllowance(
        granted_half_days=granted,
        prorated_half_days=sums[-1],
        steps=tuple(
            Step(kind=kind, day=day, half_days=after - before)
            for (kind, day), (before, after) in zip(steps, pairwise(sums), strict=True)
            if after != before
        ),
    )


def _grants_between(grants: Sequence[Grant], first_day: date, last_day: date) -> list[Grant]:
    """Those that count between two days; the first one begins by ``first_day``."""
    earlier = [grant for grant in grants if grant.first_day <= first_day]
    return [
        earlier[-1] if earlier else grants[0],
        *(grant for grant in grants if first_day < grant.first_day <= last_day),
    ]


def _prorated(grants: Sequence[Grant], first_day: date, last_day: date, year: LeaveYear) -> int:
    """The part of the year's allowance between two days, both included, rounded up."""
    half_days_by_days = 0
    for at, grant in enumerate(grants):
        begin = first_day if at == 0 else grant.first_day
        end = last_day
        if at + 1 < len(grants):
            end = min(end, grants[at + 1].first_day - timedelta(days=1))
        half_days_by_days += grant.half_days * max((end - begin).days + 1, 0)
    return -(-half_days_by_days // ((year.last_day - year.first_day).days + 1))
