"""Spans of leave for tests of pure rules: a week in March 2026, and strategies for properties."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from hypothesis import strategies as st

from storage.base.leave_values import HalfDay
from storage.rules import counted_days
from storage.rules.counted_days import Span

MONDAY, WEDNESDAY, FRIDAY = date(2026, 3, 2), date(2026, 3, 4), date(2026, 3, 6)
SATURDAY, SUNDAY = date(2026, 3, 7), date(2026, 3, 8)
FIVE_DAYS: Final = counted_days.working_week(
    ("monday", "tuesday", "wednesday", "thursday", "friday")
)

_half_days: st.SearchStrategy[HalfDay | None] = st.sampled_from((None, "am", "pm"))


@st.composite
def any_span(draw: st.DrawFn) -> Span:
    start_date = draw(st.dates(date(2026, 1, 1), date(2026, 3, 1)))
    end_date = start_date + timedelta(days=draw(st.integers(0, 20)))
    start_half_day, end_half_day = draw(_half_days), draw(_half_days)
    if start_date == end_date and (start_half_day, end_half_day) == ("pm", "am"):
        end_half_day = "pm"
    return Span(
        start_date=start_date,
        end_date=end_date,
        start_half_day=start_half_day,
        end_half_day=end_half_day,
    )
