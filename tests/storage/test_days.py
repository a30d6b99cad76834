"""Which dates of a span count: requested and working halves without public holidays."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.base.leave_values import HalfDay
from storage.rules import counted_days
from storage.rules.counted_days import (
    AFTERNOON,
    MORNING,
    NOTHING,
    WHOLE_DAY,
    Holiday,
    Span,
    WorkingWeek,
)
from tests.spans import FIVE_DAYS, FRIDAY, MONDAY, SATURDAY, SUNDAY, WEDNESDAY, any_span

NO_HOLIDAYS: Mapping[date, Holiday] = {}

masks = st.sampled_from((NOTHING, MORNING, AFTERNOON, WHOLE_DAY))
weeks = st.tuples(*[masks] * 7)
calendars = st.dictionaries(
    st.dates(date(2026, 1, 1), date(2026, 3, 31)),
    st.builds(
        Holiday, name=st.just("Feast"), halves=st.sampled_from((MORNING, AFTERNOON, WHOLE_DAY))
    ),
)


def stored(span: Span, week: WorkingWeek, holidays: Mapping[date, Holiday]) -> str:
    return counted_days.counted_halves(counted_days.count_days(span, week, holidays))


# Every combination of half days, for a request of one day and of several.
HALF_DAY_TABLE = [
    pytest.param(MONDAY, None, None, "3", id="one day, whole"),
    pytest.param(MONDAY, "am", None, "1", id="one day from morning"),
    pytest.param(MONDAY, "am", "am", "1", id="one day morning to morning"),
    pytest.param(MONDAY, None, "am", "1", id="one day until midday"),
    pytest.param(MONDAY, "pm", None, "2", id="one day from midday"),
    pytest.param(MONDAY, "pm", "pm", "2", id="one day afternoon to afternoon"),
    pytest.param(MONDAY, None, "pm", "2", id="one day ending in the afternoon alone"),
    pytest.param(MONDAY, "am", "pm", "3", id="one day morning to afternoon"),
    pytest.param(WEDNESDAY, None, None, "333", id="several, whole"),
    pytest.param(WEDNESDAY, "am", None, "333", id="several from morning"),
    pytest.param(WEDNESDAY, "pm", None, "233", id="several from midday"),
    pytest.param(WEDNESDAY, None, "pm", "333", id="several until evening"),
    pytest.param(WEDNESDAY, None, "am", "331", id="several until midday"),
    pytest.param(WEDNESDAY, "pm", "am", "231", id="several from midday until midday"),
    pytest.param(WEDNESDAY, "am", "am", "331", id="several from morning until midday"),
    pytest.param(WEDNESDAY, "am", "pm", "333", id="several from morning until evening"),
    pytest.param(WEDNESDAY, "pm", "pm", "233", id="several from midday until evening"),
]


@pytest.mark.parametrize(("end_date", "start_half_day", "end_half_day", "halves"), HALF_DAY_TABLE)
def test_half_days_select_the_requested_halves(
    end_date: date, start_half_day: HalfDay | None, end_half_day: HalfDay | None, halves: str
) -> None:
    span = counted_days.requested_span(MONDAY, end_date, start_half_day, end_half_day)

    assert stored(span, FIVE_DAYS, NO_HOLIDAYS) == halves
    assert (span.start_half_day, span.end_half_day) == (start_half_day, end_half_day)


def test_366_days_are_still_one_request() -> None:
    span = counted_days.requested_span(MONDAY, MONDAY + timedelta(days=365))

    assert len(counted_days.count_days(span, FIVE_DAYS, NO_HOLIDAYS)) == 366


@pytest.mark.parametrize(
    ("requested", "week_entry", "holiday", "half_days", "uncounted_reason"),
    [
        pytest.param((None, None), "monday", None, 2, None, id="worked"),
        pytest.param((None, None), "tuesday", None, 0, "not_worked", id="day off"),
        pytest.param((None, None), "monday:am", None, 1, "half_worked", id="half a working day"),
        pytest.param((None, "am"), "monday:am", None, 1, None, id="requested only what is worked"),
        pytest.param(
            (None, "am"), "monday:pm", None, 0, "not_worked", id="requested the free half"
        ),
        pytest.param((None, None), "monday", WHOLE_DAY, 0, "public_holiday", id="holiday"),
        pytest.param((None, None), "monday", AFTERNOON, 1, "public_holiday", id="half holiday"),
        pytest.param((None, "am"), "monday", AFTERNOON, 1, None, id="holiday in the other half"),
        pytest.param((None, None), "tuesday", WHOLE_DAY, 0, "not_worked", id="holiday on day off"),
        pytest.param(
            (None, None), "monday:am", AFTERNOON, 1, "half_worked", id="holiday in free half"
        ),
        pytest.param(
            (None, None), "monday:am", MORNING, 0, "public_holiday", id="holiday in worked half"
        ),
    ],
)
def test_a_date_counts_requested_working_halves_without_holidays(
    requested: tuple[HalfDay | None, HalfDay | None],
    week_entry: str,
    holiday: int | None,
    half_days: int,
    uncounted_reason: str | None,
) -> None:
    holidays = {} if holiday is None else {MONDAY: Holiday(name="Feast", halves=holiday)}

    [day] = counted_days.count_days(
        counted_days.requested_span(MONDAY, MONDAY, *requested),
        counted_days.working_week((week_entry,)),
        holidays,
    )

    assert (day.half_days, day.uncounted_reason) == (half_days, uncounted_reason)
    assert day.holiday_name == (None if holiday is None else "Feast")


def test_a_half_day_on_a_day_off_does_not_reduce_other_days() -> None:
    span = counted_days.requested_span(FRIDAY, SUNDAY, None, "am")

    assert stored(span, FIVE_DAYS, NO_HOLIDAYS) == "300"


def test_every_date_is_counted_in_order() -> None:
    span = counted_days.requested_span(FRIDAY, MONDAY + timedelta(days=7), "pm")
    holidays = {MONDAY + timedelta(days=7): Holiday(name="Feast")}

    assert [
        (day.date, day.requested, day.worked, day.holiday, day.counted, day.uncounted_reason)
        for day in counted_days.count_days(span, FIVE_DAYS, holidays)
    ] == [
        (FRIDAY, AFTERNOON, WHOLE_DAY, NOTHING, AFTERNOON, None),
        (SATURDAY, WHOLE_DAY, NOTHING, NOTHING, NOTHING, "not_worked"),
        (SUNDAY, WHOLE_DAY, NOTHING, NOTHING, NOTHING, "not_worked"),
        (date(2026, 3, 9), WHOLE_DAY, WHOLE_DAY, WHOLE_DAY, NOTHING, "public_holiday"),
    ]


@given(any_span(), weeks, calendars)
def test_a_count_never_exceeds_the_requested_or_working_halves(
    span: Span, week: WorkingWeek, holidays: Mapping[date, Holiday]
) -> None:
    counted = counted_days.count_days(span, week, holidays)

    assert [day.date for day in counted] == [
        span.start_date + timedelta(days=n)
        for n in range((span.end_date - span.start_date).days + 1)
    ]
    assert all(
        day.requested == counted_days.requested_halves(span, day.date) != NOTHING for day in counted
    )
    assert all(day.worked == week[day.date.weekday()] for day in counted)
    assert all(day.counted == day.requested & day.worked & (3 - day.holiday) for day in counted)
    assert all((day.uncounted_reason is None) == (day.counted == day.requested) for day in counted)
    assert counted_days.total_half_days(counted_days.counted_halves(counted)) == sum(
        d.half_days for d in counted
    )


@given(any_span(), weeks, calendars, st.data())
def test_splitting_a_span_never_changes_the_total(
    span: Span, week: WorkingWeek, holidays: Mapping[date, Holiday], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(span.first_slot, span.last_slot))
    before = _span_of_slots(span.first_slot, cut)
    after = _span_of_slots(cut + 1, span.last_slot)

    parts = [stored(part, week, holidays) for part in (before, after) if part]
    assert sum(map(counted_days.total_half_days, parts)) == counted_days.total_half_days(
        stored(span, week, holidays)
    )


def _span_of_slots(first_slot: int, last_slot: int) -> Span | None:
    if first_slot > last_slot:
        return None
    return counted_days.requested_span(
        date.fromordinal(first_slot // 2),
        date.fromordinal(last_slot // 2),
        "pm" if first_slot % 2 else "am",
        "pm" if last_slot % 2 else "am",
    )
