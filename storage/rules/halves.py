"""Halves of days as masks, and the counted halves of a stored request.

A mask is ``MORNING``, ``AFTERNOON``, ``WHOLE_DAY`` or ``NOTHING``. ``counted_halves`` is a string
with the mask of each date of a request as one digit.
"""

from __future__ import annotations

from datetime import date
from typing import Final

NOTHING: Final = 0
MORNING: Final = 1
AFTERNOON: Final = 2
WHOLE_DAY: Final = 3


def total_half_days(counted_halves: str) -> int:
    """Half-days in a stored string."""
    # Digits 1 and 2 are one half-day, 3 is two and 0 none.
    return len(counted_halves) + counted_halves.count("3") - counted_halves.count("0")


def half_days_in(counted_halves: str, start_date: date, first_day: date, last_day: date) -> int:
    """Half-days between two dates; the first digit of the string is ``start_date``.

    ``first_day`` and ``last_day`` are included and may lie outside the request.
    """
    start_ordinal = start_date.toordinal()
    begin = first_day.toordinal() - start_ordinal
    end = last_day.toordinal() - start_ordinal + 1
    if end <= 0:  # A negative index would count from the end of the string.
        return 0
    return total_half_days(counted_halves[max(begin, 0) : end])


def begins_at_midday(counted_halves: str) -> bool:
    """Whether only the afternoon counts on the first date that counts."""
    return counted_halves.lstrip("0").startswith("2")


def ends_at_midday(counted_halves: str) -> bool:
    """Whether only the morning counts on the last date that counts."""
    return counted_halves.rstrip("0").endswith("1")
