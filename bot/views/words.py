"""Dates, amounts and names in words: always our own, never in the reader's device's time zone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Final
from zoneinfo import ZoneInfo

from storage.values import HalfDay

_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_MOST_NAMES: Final = 5


def day(value: date) -> str:
    """``Mon 3 August 2026``."""
    return f"{_WEEKDAYS[value.weekday()]} {value.day} {_MONTHS[value.month - 1]} {value.year}"


def span(
    start_date: date,
    end_date: date,
    start_half_day: HalfDay | None = None,
    end_half_day: HalfDay | None = None,
) -> str:
    """Two dates, both included, with the halves: ``Mon 3 August 2026 from midday to …``.

    Source of what the halves mean: contract 4.
    """
    if start_date == end_date:
        return day(start_date) + _half_of_one_day(start_half_day, end_half_day)
    begins = " from midday" if start_half_day == "pm" else ""
    ends = " until midday" if end_half_day == "am" else ""
    first = day(start_date)
    if start_date.year == end_date.year:
        first = first.removesuffix(f" {start_date.year}")
    return f"{first}{begins} to {day(end_date)}{ends}"


def amount(half_days: int) -> str:
    """``2.5 days``, ``1 day``, ``half a day``."""
    if half_days == 1:
        return "half a day"
    return "1 day" if half_days == 2 else f"{half_days / 2:g} days"


def moment(instant: datetime, timezone: str) -> str:
    """``2 June 2026, 10:05`` on the clock of an IANA time zone."""
    local = instant.astimezone(ZoneInfo(timezone))
    return f"{local.day} {_MONTHS[local.month - 1]} {local.year}, {local:%H:%M}"


def names(people: Sequence[str]) -> str:
    """``Grace, Hedy and Ada``; after five the rest are a number."""
    shown = list(people[:_MOST_NAMES])
    if len(people) > _MOST_NAMES:
        shown.append(f"{len(people) - _MOST_NAMES} more")
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def _half_of_one_day(start: HalfDay | None, end: HalfDay | None) -> str:
    if start == "pm" or (start is None and end == "pm"):
        return ", afternoon"
    if end == "am" or (end is None and start == "am"):
        return ", morning"
    return ""
