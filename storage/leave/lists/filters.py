"""What a list of leave requests is filtered by."""

from __future__ import annotations

from datetime import date
from typing import Final, TypedDict

from storage.base.values import LeaveStatus
from storage.leave.lists.sorting import Sort
from storage.rules import spans

# So many rows can be filtered and sorted within a few milliseconds.
FEW_ROWS: Final = 3_000


class Filters(TypedDict, total=False):
    """``first_day`` and ``last_day``: leave with a date between them, both included."""

    status: LeaveStatus | None
    user_id: str | None
    leave_type_id: str | None
    department_id: str | None
    first_day: date | None
    last_day: date | None
    sort: Sort


class PageFilters(TypedDict):
    status: str | None
    user_id: str | None
    leave_type_id: str | None
    department_id: str | None
    first_day: str | None
    last_day: str | None


class Bounds(TypedDict):
    """Upper bounds for the last day of leave that overlaps the filter's days.

    None unless the filter has both a first and a last day (``spans.latest_short_end``,
    ``spans.latest_end``).
    """

    short_until: str | None
    long_until: str | None


def bounds_of(first_day: date | None, last_day: date | None) -> Bounds:
    if first_day is None or last_day is None:
        return Bounds(short_until=None, long_until=None)
    return Bounds(
        short_until=spans.latest_short_end(last_day).isoformat(),
        long_until=spans.latest_end(last_day).isoformat(),
    )
