from __future__ import annotations

import math

import pytest

from storage.base.amounts import check_half_days, half_days_of
from storage.base.errors import InsufficientAllowance, InvalidInput


@pytest.mark.parametrize(("days", "half_days"), [(0, 0), (25, 50), (2.5, 5), (366, 732), (-0.0, 0)])
def test_days_become_half_days(days: float, half_days: int) -> None:
    assert half_days_of(days, "leave_allowance") == half_days


@pytest.mark.parametrize("days", [-0.5, 0.3, 366.5, 1e308, math.inf, -math.inf, math.nan])
def test_an_amount_that_is_not_in_half_days_is_refused(days: float) -> None:
    with pytest.raises(InvalidInput) as refusal:
        half_days_of(days, "leave_allowance")

    assert [(e.pointer, e.code) for e in refusal.value.errors] == [
        ("/leave_allowance", "not_half_days")
    ]


def test_half_days_are_refused_with_the_fields_public_name() -> None:
    with pytest.raises(InvalidInput) as refusal:
        check_half_days(733, "leave_allowance_half_days")

    assert refusal.value.errors[0].pointer == "/leave_allowance"


@pytest.mark.parametrize(
    ("half_days", "shown"),
    [(-2, "-1 days"), (0, "0 days"), (1, "0.5 days"), (2, "1 day"), (3, "1.5 days"), (4, "2 days")],
)
def test_a_refusal_says_how_many_days_are_left_in_plain_english(half_days: int, shown: str) -> None:
    refusal = InsufficientAllowance(half_days, 6, "2026")

    assert refusal.detail == f"{shown} left in the leave year 2026. This request needs 3 days."
