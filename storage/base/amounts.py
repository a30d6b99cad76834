"""Amounts of leave as people write them, in days, and as they are kept, in whole half-days."""

from __future__ import annotations

import math
from typing import Final

from storage.base.errors import InvalidInput

# Nobody has more leave than a leap year has days.
MOST_HALF_DAYS: Final = 2 * 366


def half_days_of(days: float, field: str) -> int:
    """Half-days of a number of days that a body's ``field`` holds: 2.5 gives 5.

    Raises InvalidInput ``not_half_days`` unless it is a multiple of a half from 0 to 366.
    """
    half_days = days * 2
    if (
        not math.isfinite(half_days)
        or half_days != math.floor(half_days)
        or not 0 <= half_days <= MOST_HALF_DAYS
    ):
        raise InvalidInput.of(
            field,
            "not_half_days",
            "Use a number of days from 0 to 366, in half-day steps, such as 25 or 12.5.",
        )
    return int(half_days)


def check_half_days(half_days: int, field: str) -> int:
    """The same bounds for what is in half-days already.

    Raises InvalidInput ``not_half_days``, at the field's name on the wire, which has no unit.
    """
    return half_days_of(half_days / 2, field.removesuffix("_half_days"))


def adjustment_half_days_of(days: float, field: str) -> int:
    """Half-days of a correction, which may have a minus: -2.5 gives -5.

    Raises InvalidInput ``not_half_days`` unless it is a multiple of a half from -366 to 366, or
    when it is 0.
    """
    half_days = days * 2
    if (
        not math.isfinite(half_days)
        or half_days != math.floor(half_days)
        or not 0 < abs(half_days) <= MOST_HALF_DAYS
    ):
        raise InvalidInput.of(
            field,
            "not_half_days",
            "Use a number of days from -366 to 366 other than 0, in half-day steps, such as 2 "
            "or -1.5.",
        )
    return int(half_days)


def days_of(half_days: int) -> float:
    """Half-days as the number of days that the wire shows: whole numbers without a fraction."""
    return half_days // 2 if half_days % 2 == 0 else half_days / 2
