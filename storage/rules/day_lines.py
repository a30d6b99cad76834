"""The dates of a request: which halves count, and why others do not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Literal

from storage.rules.days import DayCount, UncountedReason
from storage.rules.halves import AFTERNOON, MORNING, WHOLE_DAY, total_half_days

# `not_counted`: did not count when the request was made, but would today.
HalfCount = Literal["counted", "not_asked", "not_worked", "public_holiday", "not_counted"]
LineReason = UncountedReason | Literal["not_asked", "changed_since"]


@dataclass(frozen=True, kw_only=True, slots=True)
class DayLine:
    """One date. ``reason`` is why it counts less than a whole day, else None.

    ``has_changed``: it would count differently today, as working days or holidays have changed.
    ``holiday_country`` is the country or region that named the holiday, if one did.
    """

    date: date
    half_days: int
    am: HalfCount
    pm: HalfCount
    reason: LineReason | None
    holiday_name: str | None
    has_changed: bool
    holiday_country: str | None = None


def stored_lines(counts: Iterable[DayCount], counted_halves: str) -> list[DayLine]:
    """The dates by the stored count; ``counts`` is today's."""
    return [
        _line(count, int(counted)) for count, counted in zip(counts, counted_halves, strict=True)
    ]


def _line(count: DayCount, counted: int) -> DayLine:
    return DayLine(
        date=count.date,
        half_days=total_half_days(str(counted)),
        am=_half(count, counted, MORNING),
        pm=_half(count, counted, AFTERNOON),
        reason=_reason(count, counted),
        holiday_name=count.holiday_name,
        has_changed=counted != count.counted,
        holiday_country=count.holiday_country,
    )


def _half(count: DayCount, counted: int, half: int) -> HalfCount:
    if counted & half:
        return "counted"
    if not count.requested & half:
        return "not_asked"
    if not count.worked & half:
        return "not_worked"
    return "public_holiday" if count.holiday & half else "not_counted"


def _reason(count: DayCount, counted: int) -> LineReason | None:
    if counted == WHOLE_DAY:
        return None
    if counted != count.counted:
        return "changed_since"
    return count.uncounted_reason or "not_asked"
