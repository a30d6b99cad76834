from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from storage.base.clock import end_of_week

MONDAY = date(2026, 6, 1)
THIS_SUNDAY = date(2026, 6, 7)
NEXT_SUNDAY = date(2026, 6, 14)


def test_the_week_ends_on_sunday_and_at_weekends_on_the_next_one() -> None:
    week = [MONDAY + timedelta(days=index) for index in range(8)]

    assert [end_of_week(day) for day in week] == [
        *[THIS_SUNDAY] * 5,
        *[NEXT_SUNDAY] * 2,
        NEXT_SUNDAY,
    ]


@given(st.dates(date(1999, 1, 1), date(2100, 1, 1)))
def test_the_end_of_the_week_is_a_sunday_with_working_days_before_it(today: date) -> None:
    last = end_of_week(today)

    assert last.weekday() == 6
    assert 2 <= (last - today).days <= 8
