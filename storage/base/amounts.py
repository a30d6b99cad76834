"""Amounts of leave: days in the API and the UI, whole half-days in storage."""

from __future__ import annotations

import math
from typing import Final

from storage.base.errors import InvalidInput

# The days of a leap year.
MAX_HALF_DAYS: Final = 2 * 366


def half_days_of(days: float, field: str) -> int:
    """Days from a request body's ``field`` in half-days: 2.5 gives 5.

    Raises InvalidInput ``not_half_days`` unless it is a multiple of a half from 0 to 366.
    """
    half_days = days * 2
    if (
        not math.isfinite(half_days)
        or half_days != math.floor(half_days)
        or not 0 <= half_days <= MAX_HALF_DAYS
    ):
        raise InvalidInput.of(
            field,
            "not_half_days",
            "Use a number of days from 0 to 366, in half-day steps, such as 25 or 12.5.",
        )
    return int(half_days)


def check_half_days(half_days: int, field: str) -> int:
    """Checks the same bounds for an amount in half-days.

    Raises InvalidInput ``not_half_days``; the pointer has the API's name, without a unit.
    """
    return half_days_of(half_days / 2, field.removesuffix("_half_days"))


def adjustment_half_days_of(days: float, field: str) -> int:
    """Days of an adjustment, which may be negative, in half-days: -2.5 gives -5.

    Raises InvalidInput ``not_half_days`` unless it is a multiple of a half from -366 to 366, or
    when it is 0.
    """
    half_days = days * 2
    if (
        not math.isfinite(half_days)
        or half_days != math.floor(half_days)
        or not 0 < abs(half_days) <= MAX_HALF_DAYS
    ):
        raise InvalidInput.of(
            field,
            "not_half_days",
            "Use a number of days from -366 to 366 other than 0, in half-day steps, such as 2 "
            "or -1.5.",
        )
    return int(half_days)
