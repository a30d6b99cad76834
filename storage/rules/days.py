"""Counts the halves of a request: which are requested, worked and no public holiday."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from storage.rules.halves import AFTERNOON, MORNING, NOTHING, WHOLE_DAY
from storage.rules.spans import Span
from storage.rules.working_week import WorkingWeek

UncountedReason = Literal["not_worked", "half_worked", "public_holiday"]

_HALF_DAYS_OF_MASK: Final = (0, 1, 1, 2)
_MONDAY_ORDINAL: Final = 1


def requested_halves(span: Span, day: date) -> int:
    """The mask of the halves of ``day`` in the span."""
    morning_slot = 2 * day.toordinal()
    return _covered(span.first_slot, span.last_slot, morning_slot)


def _covered(first_slot: int, last_slot: int, morning_slot: int) -> int:
    mask = MORNING if first_slot <= morning_slot <= last_slot else NOTHING
    return mask | (AFTERNOON if first_slot <= morning_slot + 1 <= last_slot else NOTHING)


@dataclass(frozen=True, kw_only=True, slots=True)
class Holiday:
    """A public holiday and the mask of its halves.

    ``country_code`` is of the country or region that named it, None if the organisation did.
    """

    name: str
    halves: int = WHOLE_DAY
    country_code: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DayCount:
    """The count of one date of a span: ``counted = requested & worked & ~holiday``, all masks.

    ``holiday`` also has halves that are not worked; ``holiday_name`` is None without a holiday, and
    ``holiday_country`` unless a country or region named it.
    """

    date: date
    requested: int
    worked: int
    holiday: int
    holiday_name: str | None
    counted: int
    holiday_country: str | None = None

    @property
    def half_days(self) -> int:
        """0, 1 or 2."""
        return _HALF_DAYS_OF_MASK[self.counted]

    @property
    def uncounted_reason(self) -> UncountedReason | None:
        """Why the date counts less than was requested, else None.

        A holiday on a day off is ``not_worked``: the working week comes first. ``half_worked``:
        only one of the requested halves is a working one.
        """
        if self.counted == self.requested:
            return None
        worked = self.requested & self.worked
        if worked == NOTHING:
            return "not_worked"
        return "public_holiday" if worked & self.holiday else "half_worked"


def count_days(
    span: Span,
    week: WorkingWeek,
    holidays: Mapping[date, Holiday],
    first_day: date = date.min,
    last_day: date = date.max,
) -> list[DayCount]:
    """The count of every date of the span, in order; of those between two days, both included.

    ``holidays`` may hold dates outside the span.
    """
    first_slot, last_slot = span.first_slot, span.last_slot
    first_ordinal, last_ordinal = first_slot >> 1, last_slot >> 1
    counted_from = max(first_ordinal, first_day.toordinal())
    counted_until = min(last_ordinal, last_day.toordinal())
    days: list[DayCount] = []
    for ordinal in range(counted_from, counted_until + 1):
        day = date.fromordinal(ordinal)
        requested = (
            WHOLE_DAY
            if first_ordinal < ordinal < last_ordinal
            else _covered(first_slot, last_slot, 2 * ordinal)
        )
        worked = week[(ordinal - _MONDAY_ORDINAL) % 7]
        holiday = holidays.get(day)
        if holiday is None:
            days.append(
                DayCount(
                    date=day,
                    requested=requested,
                    worked=worked,
                    holiday=NOTHING,
                    holiday_name=None,
                    counted=requested & worked,
                )
            )
        else:
            days.append(
                DayCount(
                    date=day,
                    requested=requested,
                    worked=worked,
                    holiday=holiday.halves,
                    holiday_name=holiday.name,
                    counted=requested & worked & ~holiday.halves,
                    holiday_country=holiday.country_code,
                )
            )
    return days


def counted_halves(days: Iterable[DayCount]) -> str:
    """The ``counted`` mask of each date as one digit: `LeaveRequest.counted_halves`."""
    return "".join(["0123"[day.counted] for day in days])
