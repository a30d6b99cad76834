"""Which leave a closure books, against a model that looks at each half by itself."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from storage.rules import closure_days, counted_days
from storage.rules.counted_days import DayCount, Span

FIRST = date(2026, 12, 21)
DAYS = 14
BASE = 2 * FIRST.toordinal()
SLOTS = range(BASE, BASE + 2 * DAYS)

slots = st.sets(st.sampled_from(SLOTS))
spans = st.tuples(st.sampled_from(SLOTS), st.sampled_from(SLOTS)).map(
    lambda ends: counted_days.span_of_slots(min(ends), max(ends))
)


@st.composite
def disjoint_spans(draw: st.DrawFn) -> list[Span]:
    """Spans of leave in order, none of which overlaps another, each with its ends as drawn."""
    cuts = sorted(draw(st.sets(st.sampled_from(SLOTS), max_size=8)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    return [counted_days.span_of_slots(first, last) for first, last in pairs]


def of(span: Span) -> set[int]:
    return set(range(span.first_slot, span.last_slot + 1))


def test_worked_slots_are_the_halves_that_count() -> None:
    days = [
        DayCount(
            date=FIRST + timedelta(days=mask),
            requested=3,
            worked=mask,
            holiday=0,
            holiday_name=None,
            counted=mask,
        )
        for mask in range(4)
    ]

    assert closure_days.worked_slots(days) == {BASE + 2, BASE + 5, BASE + 6, BASE + 7}


@given(closed=spans, off=disjoint_spans(), first_day=st.integers(-1, DAYS), allowed=slots)
def test_free_halves_are_in_the_closure_later_than_yesterday_and_without_leave(
    closed: Span, off: list[Span], first_day: int, allowed: set[int]
) -> None:
    today = FIRST + timedelta(days=first_day)
    days = {date.fromordinal(slot >> 1) for slot in allowed}

    free = closure_days.free_slots(closed, off, today, days)

    assert free == {
        slot
        for slot in of(closed)
        if date.fromordinal(slot >> 1) >= today
        and date.fromordinal(slot >> 1) in days
        and not any(slot in of(leave) for leave in off)
    }


@given(
    existing=disjoint_spans(),
    free=slots,
    worked=slots,
    first_day=st.integers(0, DAYS - 1),
    extends=st.booleans(),
)
def test_every_free_half_that_counts_is_booked_once_and_days_that_have_passed_stay(
    existing: list[Span], free: set[int], worked: set[int], first_day: int, extends: bool
) -> None:
    today = FIRST + timedelta(days=first_day)
    begin = 2 * today.toordinal()
    free = {slot for slot in free if slot >= begin}

    plan = closure_days.plan(free, worked, existing, today, extends=extends)

    booked = [of(booking.span) for booking in plan if booking.span is not None]
    everything = set().union(*booked)
    # No half is booked twice.
    assert sum(map(len, booked)) == len(everything)
    # From today on, only free halves, and all of those that count.
    later = {slot for slot in everything if slot >= begin}
    assert later <= free
    assert later & worked == free & worked
    # Before today, what was booked.
    assert {slot for slot in everything if slot < begin} == {
        slot for span in existing for slot in of(span) if slot < begin
    }
    # Each existing leave is answered for once.
    assert sorted(each.existing for each in plan if each.existing is not None) == list(
        range(len(existing))
    )
    for booking in plan:
        if booking.span is None:
            continue
        if booking.span.first_slot >= begin:
            assert booking.span.first_slot in worked
        if booking.existing is None or booking.span.last_slot >= begin:
            assert booking.span.last_slot in worked
        if booking.existing is not None and not extends:
            assert of(booking.span) <= of(existing[booking.existing])


@given(free=slots, worked=slots, first_day=st.integers(0, DAYS - 1))
def test_planning_what_is_booked_changes_nothing(
    free: set[int], worked: set[int], first_day: int
) -> None:
    today = FIRST + timedelta(days=first_day)
    free = {slot for slot in free if slot >= 2 * today.toordinal()}
    booked = [each.span for each in closure_days.plan(free, worked, [], today, extends=True)]
    existing = [span for span in booked if span is not None]

    again = closure_days.plan(free, worked, existing, today, extends=True)

    assert [(each.existing, each.span) for each in again] == list(enumerate(existing))
