"""Amounts in half-days, and stored counts of leave: their edges and totals."""

from __future__ import annotations

import math
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.base.amounts import check_half_days, half_days_of
from storage.base.errors import InsufficientAllowance, InvalidInput
from storage.rules import counted_days
from tests.spans import FRIDAY, MONDAY, SATURDAY, WEDNESDAY

dates = st.dates(date(2024, 1, 1), date(2028, 12, 31))


@pytest.mark.parametrize(
    ("counted", "begins", "ends"),
    [
        pytest.param("3", False, False, id="whole day"),
        pytest.param("1", False, True, id="a morning alone is an end"),
        pytest.param("2", True, False, id="an afternoon alone is a start"),
        pytest.param("233", True, False, id="from midday"),
        pytest.param("331", False, True, id="until midday"),
        pytest.param("002301000", True, True, id="days off around do not hide it"),
        pytest.param("3123", False, False, id="halves in between are no edges"),
        pytest.param("000", False, False, id="nothing counted"),
        pytest.param("", False, False, id="empty"),
    ],
)
def test_midday_edges_follow_the_counted_days(counted: str, begins: bool, ends: bool) -> None:
    assert counted_days.begins_at_midday(counted) is begins
    assert counted_days.ends_at_midday(counted) is ends


@pytest.mark.parametrize(
    ("first_day", "last_day", "half_days"),
    [
        pytest.param(MONDAY, FRIDAY, 6, id="all of it"),
        pytest.param(date.min, date.max, 6, id="wider"),
        pytest.param(WEDNESDAY, WEDNESDAY, 1, id="one date"),
        pytest.param(date.min, MONDAY, 2, id="the beginning"),
        pytest.param(FRIDAY, date.max, 2, id="the end"),
        pytest.param(date.min, MONDAY - timedelta(days=1), 0, id="just before"),
        pytest.param(date.min, MONDAY - timedelta(days=3), 0, id="before"),
        pytest.param(SATURDAY, date.max, 0, id="after"),
        pytest.param(FRIDAY, MONDAY, 0, id="backwards"),
    ],
)
def test_half_days_are_counted_between_two_dates(
    first_day: date, last_day: date, half_days: int
) -> None:
    assert counted_days.half_days_in("30123", MONDAY, first_day, last_day) == half_days


@given(st.text("0123", max_size=40), dates, dates, dates)
def test_half_days_of_a_partition_add_up(
    counted: str, start_date: date, one_cut: date, other_cut: date
) -> None:
    first_cut, last_cut = sorted((one_cut, other_cut))
    after_first, after_last = first_cut + timedelta(days=1), last_cut + timedelta(days=1)

    assert counted_days.half_days_in(
        counted, start_date, date.min, first_cut
    ) + counted_days.half_days_in(
        counted, start_date, after_first, last_cut
    ) + counted_days.half_days_in(
        counted, start_date, after_last, date.max
    ) == counted_days.total_half_days(counted)


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
