"""Spans of leave: what a request may be, and what overlaps."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given

from storage.base.errors import InvalidInput
from storage.base.values import HalfDay
from storage.rules import counted_days, spans
from storage.rules.counted_days import AFTERNOON, MORNING
from storage.rules.spans import Span
from tests.spans import FRIDAY, MONDAY, SATURDAY, SUNDAY, WEDNESDAY, any_span


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
        spans.requested_span(MONDAY, end_date, start_half_day, end_half_day)

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
    assert spans.overlaps(first, second) is shared
    assert spans.overlaps(second, first) is shared


@given(any_span(), any_span())
def test_spans_overlap_when_they_share_a_half(first: Span, second: Span) -> None:
    assert spans.overlaps(first, second) == bool(slots(first) & slots(second))
    assert spans.overlaps(first, second) == spans.overlaps(second, first)
    assert spans.overlaps(first, first)


@given(any_span())
def test_a_span_is_a_contiguous_run_of_halves(span: Span) -> None:
    assert slots(span) == set(range(span.first_slot, span.last_slot + 1))
