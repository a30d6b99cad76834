"""Bridge days: when a working day joins leave and days off beside a public holiday."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.rules import counted_days, free_days
from storage.rules.counted_days import WHOLE_DAY, Holiday, Span
from storage.rules.free_days import Bridge
from tests.spans import FIVE_DAYS

# Ascension Day 2026 is a Thursday.
THURSDAY = date(2026, 5, 14)
ASCENSION = {THURSDAY: Holiday(name="Ascension Day")}
WEDNESDAY, FRIDAY = THURSDAY - timedelta(days=1), THURSDAY + timedelta(days=1)
LONG_AGO = date(2026, 1, 1)


def bridge(
    span: Span,
    holidays: dict[date, Holiday],
    *booked: Span,
    not_before: date = LONG_AGO,
    week: tuple[int, ...] = FIVE_DAYS,
) -> Bridge | None:
    counts = counted_days.count_days(free_days.window(span), week, holidays)
    return free_days.bridge_of(counts, span, booked, not_before=not_before)


def whole(first: date, last: date | None = None) -> Span:
    return Span(start_date=first, end_date=last or first)


def test_the_day_between_a_holiday_and_the_weekend_makes_four_days() -> None:
    assert bridge(whole(THURSDAY), ASCENSION) == Bridge(day=FRIDAY, holiday=THURSDAY, days_off=4)


def test_leave_before_the_holiday_is_part_of_the_days_off() -> None:
    monday = date(2026, 5, 11)

    # From Saturday 9 May to Sunday 17 May.
    assert bridge(whole(monday, WEDNESDAY), ASCENSION) == Bridge(
        day=FRIDAY, holiday=THURSDAY, days_off=9
    )


def test_a_bridge_may_be_before_the_leave() -> None:
    tuesday_holiday = {date(2026, 5, 12): Holiday(name="Founders' Day")}

    assert bridge(whole(date(2026, 5, 13)), tuesday_holiday) == Bridge(
        day=date(2026, 5, 11), holiday=date(2026, 5, 12), days_off=5
    )


@pytest.mark.parametrize(
    ("span", "holidays"),
    [
        pytest.param(whole(THURSDAY), {}, id="no holiday"),
        pytest.param(whole(WEDNESDAY, FRIDAY), ASCENSION, id="the bridge is leave already"),
        pytest.param(whole(date(2026, 5, 12)), ASCENSION, id="three days off are no gain"),
        pytest.param(
            Span(start_date=WEDNESDAY, end_date=WEDNESDAY, end_half_day="am"),
            ASCENSION,
            id="leave until midday",
        ),
        pytest.param(
            whole(date(2026, 5, 11), WEDNESDAY),
            {date(2026, 5, 17): Holiday(name="A holiday on a Sunday")},
            id="a holiday on a day off",
        ),
    ],
)
def test_nothing_is_suggested_without_a_gain(span: Span, holidays: dict[date, Holiday]) -> None:
    assert bridge(span, holidays) is None


def test_a_day_that_is_booked_or_over_is_not_suggested() -> None:
    assert bridge(whole(THURSDAY), ASCENSION, whole(FRIDAY)) is None
    assert bridge(whole(THURSDAY), ASCENSION, not_before=FRIDAY + timedelta(days=1)) is None


def test_a_booked_morning_leaves_the_afternoon_to_take() -> None:
    morning = Span(start_date=FRIDAY, end_date=FRIDAY, end_half_day="am")

    assert bridge(whole(THURSDAY), ASCENSION, morning) == Bridge(
        day=FRIDAY, holiday=THURSDAY, days_off=4
    )


@st.composite
def _settings(draw: st.DrawFn) -> tuple[Span, dict[date, Holiday], tuple[int, ...]]:
    first = draw(st.dates(date(2026, 3, 1), date(2026, 3, 31)))
    span = whole(first, first + timedelta(days=draw(st.integers(0, 9))))
    dates = st.dates(date(2026, 2, 10), date(2026, 5, 1))
    holidays = {day: Holiday(name="A holiday") for day in draw(st.sets(dates, max_size=8))}
    week = draw(st.tuples(*[st.sampled_from((0, WHOLE_DAY))] * 7))
    return span, holidays, week


@given(_settings())
def test_a_bridge_makes_as_many_days_off_in_a_row_as_it_says(
    setting: tuple[Span, dict[date, Holiday], tuple[int, ...]],
) -> None:
    span, holidays, week = setting
    found = bridge(span, holidays, week=week)
    if found is None:
        return

    def is_off(day: date) -> bool:
        is_leave = span.start_date <= day <= span.end_date
        return is_leave or day == found.day or day in holidays or not week[day.weekday()]

    first = last = found.day
    while is_off(first - timedelta(days=1)):
        first -= timedelta(days=1)
    while is_off(last + timedelta(days=1)):
        last += timedelta(days=1)
    assert found.days_off == (last - first).days + 1
    assert first <= span.start_date <= span.end_date <= last
    assert not span.start_date <= found.day <= span.end_date
    assert week[found.day.weekday()]
    assert found.day not in holidays
    assert found.holiday in holidays
    assert week[found.holiday.weekday()]
    # It joins days off on both sides.
    assert first < found.day < last
