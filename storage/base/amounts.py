"""Amounts of leave: days in the API and the UI, whole half-days in storage."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Final

from storage.base.allowance_values import Amount
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


def amount_of(days: float, field: str) -> Amount:
    """Days from a request body's ``field`` in half-days: 16.8 gives 168/5.

    Raises InvalidInput ``invalid_days`` unless it is from 0 to 366, with at most two decimals.
    """
    # Of the shortest text, so that 16.8 is not 16.800000000000000710….
    exact = Fraction(Decimal(repr(days))) if math.isfinite(days) else Fraction(-1)
    if not 0 <= exact <= MAX_HALF_DAYS // 2 or (100 * exact).denominator != 1:
        raise InvalidInput.of(
            field,
            "invalid_days",
            "Use a number of days from 0 to 366 with at most two decimals, such as 25 or 16.8.",
        )
    half_days = 2 * exact
    return half_days.numerator if half_days.denominator == 1 else half_days


def check_amount(half_days: Amount, field: str) -> Amount:
    """Checks the same bounds for an amount in half-days. Raises InvalidInput ``invalid_days``."""
    return amount_of(float(half_days) / 2, field.removesuffix("_half_days"))


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
