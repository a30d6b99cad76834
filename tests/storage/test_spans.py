"""Spans of leave: what a request may be, what overlaps, and how leave is cut and joined."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.base.errors import InvalidInput
from storage.base.leave_values import HalfDay
from storage.rules import counted_days, leave_parts
from storage.rules.counted_days import AFTERNOON, MORNING, NOTHING, WHOLE_DAY, Span
from storage.rules.leave_parts import Part
from tests.spans import FIVE_DAYS, FRIDAY, MONDAY, SATURDAY, SUNDAY, WEDNESDAY, any_span


def slots(span: Span) -> set[int]:
    """The halves of a span, built from `requested_halves` alone."""
    reach = range(span.start_date.toordinal() - 1, span.end_date.toordinal() + 2)
    return {
        2 * ordinal + half
        for ordinal in reach
        for half, mask in ((0, MORNING), (1, AFTERNOON))
        if counted_days.requested_halves(span, date.fromordinal(ordinal)) & mask
    }


@pytest.mark.parametrize(
    ("end_date", "start_half_day", "end_half_day", "pointer", "code"),
    [
        pytest.param(MONDAY, "pm", "am", "/end_half_day", "impossible_half_days", id="pm to am"),
        pytest.param(
            MONDAY - timedelta(days=1), None, None, "/end_date", "end_before_start", id="backwards"
        ),
        pytest.param(
            MONDAY + timedelta(days=366), None, None, "/end_date", "too_long", id="367 days"
        ),
    ],
)
def test_an_impossible_span_is_refused_at_its_field(
    end_date: date,
    start_half_day: HalfDay | None,
    end_half_day: HalfDay | None,
    pointer: str,
    code: str,
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        counted_days.requested_span(MONDAY, end_date, start_half_day, end_half_day)

    assert refusal.value.code == code
    assert [(error.pointer, error.code) for error in refusal.value.errors] == [(pointer, code)]


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        pytest.param(
            Span(start_date=MONDAY, end_date=MONDAY, start_half_day=None, end_half_day="am"),
            Span(start_date=MONDAY, end_date=MONDAY, start_half_day="pm"),
            False,
            id="two halves",
        ),
        pytest.param(
            Span(start_date=MONDAY, end_date=WEDNESDAY, start_half_day=None, end_half_day="am"),
            Span(start_date=WEDNESDAY, end_date=FRIDAY, start_half_day="pm"),
            False,
            id="meeting at midday",
        ),
        pytest.param(
            Span(start_date=MONDAY, end_date=WEDNESDAY),
            Span(start_date=WEDNESDAY, end_date=FRIDAY, start_half_day="pm"),
            True,
            id="one shared half",
        ),
        pytest.param(
            Span(start_date=MONDAY, end_date=FRIDAY),
            Span(start_date=WEDNESDAY, end_date=WEDNESDAY),
            True,
            id="inside",
        ),
        pytest.param(
            Span(start_date=MONDAY, end_date=FRIDAY),
            Span(start_date=SATURDAY, end_date=SUNDAY),
            False,
            id="next to each other",
        ),
    ],
)
def test_overlap_is_counted_in_halves(first: Span, second: Span, shared: bool) -> None:
    assert counted_days.overlaps(first, second) is shared
    assert counted_days.overlaps(second, first) is shared


@given(any_span(), any_span())
def test_spans_overlap_when_they_share_a_half(first: Span, second: Span) -> None:
    assert counted_days.overlaps(first, second) == bool(slots(first) & slots(second))
    assert counted_days.overlaps(first, second) == counted_days.overlaps(second, first)
    assert counted_days.overlaps(first, first)


@given(any_span())
def test_a_span_is_a_contiguous_run_of_halves(span: Span) -> None:
    assert slots(span) == set(range(span.first_slot, span.last_slot + 1))


WEEK = Span(start_date=MONDAY, end_date=SUNDAY)
TUESDAY, THURSDAY = WEDNESDAY - timedelta(days=1), WEDNESDAY + timedelta(days=1)


def leave(span: Span) -> Part:
    counts = counted_days.count_days(span, FIVE_DAYS, {})
    return Part(span=span, counted_halves=counted_days.counted_halves(counts))


def shown(part: Part | None) -> str | None:
    """``02-pm 04 231``: the days of March and the counted halves."""
    if part is None:
        return None
    span = part.span
    begin = f"{span.start_date:%d}" + (f"-{span.start_half_day}" if span.start_half_day else "")
    end = f"{span.end_date:%d}" + (f"-{span.end_half_day}" if span.end_half_day else "")
    return f"{begin} {end} {part.counted_halves}"


@pytest.mark.parametrize(
    ("first_day", "start_half_day", "last_day", "end_half_day", "expected"),
    [
        pytest.param(
            WEDNESDAY,
            None,
            WEDNESDAY,
            None,
            ("02 03 33", "04 04 3", "05 08 3300"),
            id="in the middle",
        ),
        pytest.param(
            WEDNESDAY,
            "pm",
            THURSDAY,
            "am",
            ("02 04-am 331", "04-pm 05-am 21", "05-pm 08 2300"),
            id="from midday until midday",
        ),
        pytest.param(MONDAY, None, TUESDAY, None, (None, "02 03 33", "04 08 33300"), id="begin"),
        pytest.param(
            MONDAY, None, MONDAY, "am", (None, "02 02-am 1", "02-pm 08 2333300"), id="a morning"
        ),
        pytest.param(
            THURSDAY,
            None,
            FRIDAY,
            None,
            ("02 04 333", "05 06 33", None),
            id="all that counts at the end",
        ),
        pytest.param(MONDAY, None, FRIDAY, None, (None, "02 06 33333", None), id="the whole"),
        pytest.param(
            SUNDAY, None, SUNDAY, None, ("02 07 333330", None, None), id="a day off counts nothing"
        ),
    ],
)
def test_leave_is_cut_to_the_half_day(
    first_day: date,
    start_half_day: HalfDay | None,
    last_day: date,
    end_half_day: HalfDay | None,
    expected: tuple[str | None, ...],
) -> None:
    span = Span(
        start_date=first_day,
        end_date=last_day,
        start_half_day=start_half_day,
        end_half_day=end_half_day,
    )

    assert tuple(map(shown, leave_parts.cut(leave(WEEK), span))) == expected


@st.composite
def leave_and_inner_span(draw: st.DrawFn) -> tuple[Part, Span]:
    """Any leave, of which any halves count, and a span within it."""
    span = draw(any_span())
    counted = [
        draw(st.sampled_from((NOTHING, MORNING, AFTERNOON, WHOLE_DAY)))
        & counted_days.requested_halves(span, span.start_date + timedelta(days=number))
        for number in range((span.end_date - span.start_date).days + 1)
    ]
    first_slot = draw(st.integers(span.first_slot, span.last_slot))
    inner = counted_days.span_of_slots(first_slot, draw(st.integers(first_slot, span.last_slot)))
    return Part(span=span, counted_halves="".join(map(str, counted))), inner


def slots_of(part: Part | None) -> list[int]:
    """The numbers of the counted halves."""
    if part is None:
        return []
    first = 2 * part.span.start_date.toordinal()
    return [
        first + 2 * number + half
        for number, mask in enumerate(part.counted_halves)
        for half, bit in enumerate((MORNING, AFTERNOON))
        if int(mask) & bit
    ]


@given(leave_and_inner_span())
def test_cutting_loses_and_doubles_no_half(cut: tuple[Part, Span]) -> None:
    whole, span = cut

    before, within, after = leave_parts.cut(whole, span)

    assert slots_of(before) + slots_of(within) + slots_of(after) == slots_of(whole)
    assert all(span.first_slot <= slot <= span.last_slot for slot in slots_of(within))
    for part in (before, within, after):
        if part is not None:
            assert part.half_days == len(slots_of(part)) > 0
            assert (
                part.span.first_slot
                <= slots_of(part)[0]
                <= slots_of(part)[-1]
                <= part.span.last_slot
            )


@given(leave_and_inner_span())
def test_parts_that_adjoin_are_joined_to_the_same_halves(cut: tuple[Part, Span]) -> None:
    whole, span = cut
    before, within, after = leave_parts.cut(whole, span)

    for first, second in ((before, within), (within, after)):
        if first is not None and second is not None:
            assert leave_parts.adjoin(first.span, second.span)
            joined = leave_parts.join(second, first)
            assert joined == leave_parts.join(first, second)
            assert slots_of(joined) == slots_of(first) + slots_of(second)
    if before is not None and after is not None:
        assert not leave_parts.adjoin(before.span, after.span)
