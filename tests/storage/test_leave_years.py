from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.base.errors import InvalidInput
from storage.rules import leave_years
from storage.rules.leave_years import LeaveYear, LeaveYearRule

CALENDAR = LeaveYearRule(type="calendar", month=4, day=6)
FISCAL = LeaveYearRule(type="fiscal", month=4, day=6)
LEAP_DAY = LeaveYearRule(type="fiscal", month=2, day=29)
ANNIVERSARY = LeaveYearRule(type="anniversary", month=4, day=6, start_date=date(2021, 9, 15))

anchors = st.dates(date(2024, 1, 1), date(2024, 12, 31))  # A leap year, so 29 February is met.
rules = st.builds(
    lambda kind, anchor, start_date: LeaveYearRule(
        type=kind, month=anchor.month, day=anchor.day, start_date=start_date
    ),
    st.sampled_from(("calendar", "fiscal", "anniversary")),
    anchors,
    st.none() | st.dates(date(1996, 1, 1), date(2030, 12, 31)),
)


@pytest.mark.parametrize(
    ("rule", "day", "first_day", "last_day", "name"),
    [
        pytest.param(
            CALENDAR, date(2026, 1, 1), date(2026, 1, 1), date(2026, 12, 31), "2026", id="calendar"
        ),
        pytest.param(
            FISCAL, date(2026, 4, 5), date(2025, 4, 6), date(2026, 4, 5), "2025/26", id="last day"
        ),
        pytest.param(
            FISCAL, date(2026, 4, 6), date(2026, 4, 6), date(2027, 4, 5), "2026/27", id="first day"
        ),
        pytest.param(
            LeaveYearRule(type="fiscal", month=1, day=1),
            date(2026, 7, 1),
            date(2026, 1, 1),
            date(2026, 12, 31),
            "2026",
            id="fiscal from January",
        ),
        pytest.param(
            ANNIVERSARY,
            date(2026, 9, 14),
            date(2025, 9, 15),
            date(2026, 9, 14),
            "2025/26",
            id="anniversary",
        ),
        pytest.param(
            replace(ANNIVERSARY, start_date=None),
            date(2026, 9, 14),
            date(2026, 4, 6),
            date(2027, 4, 5),
            "2026/27",
            id="without a start date an anniversary is the organisation's",
        ),
        pytest.param(
            LEAP_DAY, date(2027, 2, 28), date(2027, 2, 28), date(2028, 2, 28), "2027/28", id="leap"
        ),
        pytest.param(
            LEAP_DAY,
            date(2028, 2, 29),
            date(2028, 2, 29),
            date(2029, 2, 27),
            "2028/29",
            id="leap day itself",
        ),
        pytest.param(
            FISCAL,
            date(1999, 12, 31),
            date(1999, 4, 6),
            date(2000, 4, 5),
            "1999/00",
            id="century",
        ),
        pytest.param(
            FISCAL, date.max, date(9999, 4, 6), date.max, "9999/00", id="end of the calendar"
        ),
        pytest.param(FISCAL, date.min, date.min, date(1, 4, 5), "1", id="start of the calendar"),
    ],
)
def test_a_date_falls_in_one_leave_year(
    rule: LeaveYearRule, day: date, first_day: date, last_day: date, name: str
) -> None:
    year = leave_years.leave_year_containing(rule, day)

    assert year == LeaveYear(first_day=first_day, last_day=last_day)
    assert year.name == name


def test_a_span_across_new_year_touches_both_years() -> None:
    touched = leave_years.leave_years_touched(CALENDAR, date(2026, 12, 30), date(2027, 1, 2))

    assert [year.name for year in touched] == ["2026", "2027"]


def test_a_span_within_a_year_touches_one() -> None:
    touched = leave_years.leave_years_touched(CALENDAR, date(2026, 1, 1), date(2026, 12, 31))

    assert [year.name for year in touched] == ["2026"]


@given(rules, st.dates(date(1990, 1, 1), date(2060, 12, 31)))
def test_leave_years_are_consecutive(rule: LeaveYearRule, day: date) -> None:
    year = leave_years.leave_year_containing(rule, day)

    assert year.first_day <= day <= year.last_day
    assert 365 <= (year.last_day - year.first_day).days + 1 <= 366
    assert leave_years.leave_year_containing(rule, year.first_day) == year
    assert leave_years.leave_year_containing(rule, year.last_day) == year
    following = leave_years.leave_year_containing(rule, year.last_day + timedelta(days=1))
    assert following.first_day == year.last_day + timedelta(days=1)
    assert leave_years.leave_year_beginning_in(rule, year.first_day.year) == year


@given(rules, st.dates(date(1990, 1, 1), date(2060, 12, 31)), st.integers(0, 1200))
def test_touched_years_follow_each_other_and_cover_the_span(
    rule: LeaveYearRule, first_day: date, length_days: int
) -> None:
    last_day = first_day + timedelta(days=length_days)

    touched = leave_years.leave_years_touched(rule, first_day, last_day)

    assert touched[0].first_day <= first_day <= touched[0].last_day
    assert touched[-1].first_day <= last_day <= touched[-1].last_day
    assert [year.first_day for year in touched[1:]] == [
        year.last_day + timedelta(days=1) for year in touched[:-1]
    ]


@pytest.mark.parametrize(
    ("month", "day", "pointer"),
    [
        pytest.param(2, 31, "/leave_year_start_day", id="31 February"),
        pytest.param(2, 30, "/leave_year_start_day", id="30 February"),
        pytest.param(4, 31, "/leave_year_start_day", id="31 April"),
        pytest.param(1, 32, "/leave_year_start_day", id="32 January"),
        pytest.param(1, 0, "/leave_year_start_day", id="day 0"),
        pytest.param(13, 1, "/leave_year_start_month", id="month 13"),
        pytest.param(0, 1, "/leave_year_start_month", id="month 0"),
    ],
)
def test_a_start_day_that_does_not_exist_is_refused(month: int, day: int, pointer: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        leave_years.check_leave_year_start(month, day)

    assert refusal.value.code == "impossible_date"
    assert refusal.value.errors[0].pointer == pointer


@given(anchors)
def test_every_day_of_a_leap_year_can_start_a_leave_year(anchor: date) -> None:
    leave_years.check_leave_year_start(anchor.month, anchor.day)
