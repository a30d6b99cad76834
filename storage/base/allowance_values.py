"""Immutable values of allowances: their terms over time, and the figures of people.

What counts from a day on has ``valid_from``: None is at any time before the next. Where
``is_by_leave_year`` is true, it counts for each person from the first day of the leave year that
contains the day.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Final, Literal

Granting = Literal["yearly", "monthly"]
ProRataMethod = Literal["days", "months_started", "full_months"]
ProRataRounding = Literal["half_day_up", "half_day_nearest", "day_up", "day_nearest"]
# Half-days; a fraction only where a figure has decimals: 16.8 days are 168/5 half-days.
Amount = int | Fraction
# The allowance that a new organisation begins with, in half-days a year.
NEW_ALLOWANCE_HALF_DAYS: Final = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class TenureStep:
    """The half-days a year of who has been employed for that many years."""

    after_years: int
    half_days_per_year: Amount


@dataclass(frozen=True, kw_only=True, slots=True)
class AllowanceTerms:
    """The rules of an allowance from a day on; None as ``valid_from``: also for the time before.

    ``is_by_leave_year``: for each person from the first day of the leave year that contains
    ``valid_from``. ``half_days_per_year`` is None where only people with a figure of their own get
    any. ``carry_over_half_days`` None carries everything over. Carried days expire so many months
    after the leave year began, or at the end of a calendar month (1 to 12), or never.
    """

    id: str
    valid_from: date | None
    is_by_leave_year: bool = False
    half_days_per_year: Amount | None
    granting: Granting = "yearly"
    by_tenure: tuple[TenureStep, ...] = ()
    available_after_months: int | None = None
    may_borrow: bool = False
    overdraft_half_days: int = 0
    carry_over_half_days: Amount | None = 0
    carry_over_expires_after_months: int | None = None
    carry_over_expiry_month: int | None = None
    credits_expire_after_months: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Allowance:
    """A pot of days. ``terms`` are by ``valid_from``; the first count for the time before, too."""

    id: str
    name: str
    code: str
    is_default: bool
    is_archived: bool
    earnable: bool
    terms: tuple[AllowanceTerms, ...]
    created_at: datetime
    updated_at: datetime
    version: int


@dataclass(frozen=True, kw_only=True, slots=True)
class AllowanceUse:
    """The allowance that leave of a type draws on if it begins on ``valid_from`` or later.

    ``allowance_id`` is None where it draws on none.
    """

    valid_from: date | None
    allowance_id: str | None
    is_by_leave_year: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class AllowanceFigure:
    """The half-days a year of a person or department in an allowance, from a day on.

    None as ``half_days`` is the figure of the department or of the allowance's terms. For
    ``valid_from`` and ``is_by_leave_year`` see `AllowanceTerms`.
    """

    allowance_id: str
    valid_from: date | None
    is_by_leave_year: bool = False
    half_days: Amount | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ProRata:
    """How a part of a leave year is granted, from a day on. As `AllowanceTerms` for the dates.

    ``full_claim_after_months``: who has been employed that long gets the whole year's.
    """

    valid_from: date | None = None
    is_by_leave_year: bool = False
    method: ProRataMethod = "days"
    rounding: ProRataRounding = "half_day_up"
    full_claim_after_months: int | None = None
    full_claim_for_leavers_after_june: bool = False
