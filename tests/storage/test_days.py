from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.base.errors import InvalidInput
from storage.base.values import HalfDay
from storage.rules import days, halves, spans, working_week
from storage.rules.days import Holiday
from storage.rules.halves import AFTERNOON, MORNING, NOTHING, WHOLE_DAY
from storage.rules.spans import Span
from storage.rules.working_week import WorkingWeek

MONDAY, WEDNESDAY, FRIDAY = date(2026, 3, 2), date(2026, 3, 4), date(2026, 3, 6)
SATURDAY, SUNDAY = date(2026, 3, 7), date(2026, 3, 8)
FIVE_DAYS = working_week.working_week(("monday", "tuesday", "wednesday", "thursday", "friday"))
NO_HOLIDAYS: Mapping[date, Holiday] = {}

masks = st.sampled_from((NOTHING, MORNING, AFTERNOON, WHOLE_DAY))
weeks = st.tuples(*[masks] * 7)
half_days: st.SearchStrategy[HalfDay | None] = st.sampled_from((None, "am", "pm"))
dates = st.dates(date(2024, 1, 1), date(2028, 12, 31))
calendars = st.dictionaries(
    st.dates(date(2026, 1, 1), date(2026, 3, 31)),
    st.builds(
        Holiday, name=st.just("Feast"), halves=st.sampled_from((MORNING, AFTERNOON, WHOLE_DAY))
    ),
)


@st.composite
def any_span(draw: st.DrawFn) -> Span:
    start_date = draw(st.dates(date(2026, 1, 1), date(2026, 3, 1)))
    end_date = start_date + timedelta(days=draw(st.integers(0, 20)))
    start_half_day, end_half_day = draw(half_days), draw(half_days)
    if start_date == end_date and (start_half_day, end_half_day) == ("pm", "am"):
        end_half_day = "pm"
    return Span(
        start_date=start_date,
        end_date=end_date,
        start_half_day=start_half_day,
        end_half_day=end_half_day,
    )


def stored(span: Span, week: WorkingWeek, holidays: Mapping[date, Holiday]) -> str:
    return days.counted_halves(days.count_days(span, week, holidays))


def slots(span: Span) -> set[int]:
    """The halves of a span, built from `requested_halves` alone."""
    reach = range(span.start_date.toordinal() - 1, span.end_date.toordinal() + 2)
    return {
        2 * ordinal + half
        for ordinal in reach
        for half, mask in ((0, MORNING), (1, AFTERNOON))
        if days.requested_halves(span, date.fromordinal(ordinal)) & mask
    }


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
    span = spans.requested_span(MONDAY, end_date, start_half_day, end_half_day)

    assert stored(span, FIVE_DAYS, NO_HOLIDAYS) == halves
    assert (span.start_half_day, span.end_half_day) == (start_half_day, end_half_day)


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


def test_366_days_are_still_one_request() -> None:
    span = spans.requested_span(MONDAY, MONDAY + timedelta(days=365))

    assert len(days.count_days(span, FIVE_DAYS, NO_HOLIDAYS)) == 366


@pytest.mark.parametrize(
    ("given_days", "normal"),
    [
        pytest.param(["friday", "monday"], ("monday", "friday"), id="week order"),
        pytest.param(["friday:pm"], ("friday:pm",), id="one half"),
        pytest.param(["friday:pm", "friday:am"], ("friday",), id="two halves are the day"),
        pytest.param(list(reversed(working_week.WEEKDAYS)), working_week.WEEKDAYS, id="all seven"),
    ],
)
def test_working_days_are_normalised(given_days: list[str], normal: tuple[str, ...]) -> None:
    assert working_week.check_working_days(given_days) == normal
    assert working_week.working_week(given_days) == working_week.working_week(normal)


@pytest.mark.parametrize(
    ("given_days", "errors"),
    [
        pytest.param([], [("/working_days", "no_working_days")], id="empty"),
        pytest.param(
            ["monday", "funday"], [("/working_days/1", "unknown_working_day")], id="unknown"
        ),
        pytest.param(["Monday"], [("/working_days/0", "unknown_working_day")], id="capital"),
        pytest.param(["monday:noon"], [("/working_days/0", "unknown_working_day")], id="suffix"),
        pytest.param(
            ["monday", "tuesday", "monday"],
            [("/working_days/2", "duplicate_working_day")],
            id="twice",
        ),
        pytest.param(
            ["friday", "friday:am"],
            [("/working_days/1", "duplicate_working_day")],
            id="day and its half",
        ),
        pytest.param(
            ["friday:am", "friday"],
            [("/working_days/1", "duplicate_working_day")],
            id="half and its day",
        ),
        pytest.param(
            ["x", "monday", "monday"],
            [
                ("/working_days/0", "unknown_working_day"),
                ("/working_days/2", "duplicate_working_day"),
            ],
            id="every error at once",
        ),
    ],
)
def test_wrong_working_days_are_refused_at_their_index(
    given_days: list[str], errors: list[tuple[str, str]]
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        working_week.check_working_days(given_days)

    assert [(error.pointer, error.code) for error in refusal.value.errors] == errors


def test_wrong_working_days_are_refused_at_the_given_field() -> None:
    with pytest.raises(InvalidInput) as refusal:
        working_week.check_working_days(["never"], field="settings/days")

    assert refusal.value.errors[0].pointer == "/settings/days/0"


def test_a_working_week_has_a_mask_for_each_weekday() -> None:
    assert working_week.working_week(("monday", "friday:am", "sunday:pm")) == (3, 0, 0, 0, 1, 0, 2)


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

    [day] = days.count_days(
        spans.requested_span(MONDAY, MONDAY, *requested),
        working_week.working_week((week_entry,)),
        holidays,
    )

    assert (day.half_days, day.uncounted_reason) == (half_days, uncounted_reason)
    assert day.holiday_name == (None if holiday is None else "Feast")


def test_a_half_day_on_a_day_off_does_not_reduce_other_days() -> None:
    span = spans.requested_span(FRIDAY, SUNDAY, None, "am")

    assert stored(span, FIVE_DAYS, NO_HOLIDAYS) == "300"


def test_every_date_is_counted_in_order() -> None:
    span = spans.requested_span(FRIDAY, MONDAY + timedelta(days=7), "pm")
    holidays = {MONDAY + timedelta(days=7): Holiday(name="Feast")}

    assert [
        (day.date, day.requested, day.worked, day.holiday, day.counted, day.uncounted_reason)
        for day in days.count_days(span, FIVE_DAYS, holidays)
    ] == [
        (FRIDAY, AFTERNOON, WHOLE_DAY, NOTHING, AFTERNOON, None),
        (SATURDAY, WHOLE_DAY, NOTHING, NOTHING, NOTHING, "not_worked"),
        (SUNDAY, WHOLE_DAY, NOTHING, NOTHING, NOTHING, "not_worked"),
        (date(2026, 3, 9), WHOLE_DAY, WHOLE_DAY, WHOLE_DAY, NOTHING, "public_holiday"),
    ]


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
    assert halves.begins_at_midday(counted) is begins
    assert halves.ends_at_midday(counted) is ends


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
    assert halves.half_days_in("30123", MONDAY, first_day, last_day) == half_days


@given(any_span(), weeks, calendars)
def test_a_count_never_exceeds_the_requested_or_working_halves(
    span: Span, week: WorkingWeek, holidays: Mapping[date, Holiday]
) -> None:
    counted = days.count_days(span, week, holidays)

    assert [day.date for day in counted] == [
        span.start_date + timedelta(days=n)
        for n in range((span.end_date - span.start_date).days + 1)
    ]
    assert all(day.requested == days.requested_halves(span, day.date) != NOTHING for day in counted)
    assert all(day.worked == week[day.date.weekday()] for day in counted)
    assert all(day.counted == day.requested & day.worked & (3 - day.holiday) for day in counted)
    assert all((day.uncounted_reason is None) == (day.counted == day.requested) for day in counted)
    assert halves.total_half_days(days.counted_halves(counted)) == sum(d.half_days for d in counted)


@given(any_span(), weeks, calendars, st.data())
def test_splitting_a_span_never_changes_the_total(
    span: Span, week: WorkingWeek, holidays: Mapping[date, Holiday], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(span.first_slot, span.last_slot))
    before = _span_of_slots(span.first_slot, cut)
    after = _span_of_slots(cut + 1, span.last_slot)

    parts = [stored(part, week, holidays) for part in (before, after) if part]
    assert sum(map(halves.total_half_days, parts)) == halves.total_half_days(
        stored(span, week, holidays)
    )


def _span_of_slots(first_slot: int, last_slot: int) -> Span | None:
    if first_slot > last_slot:
        return None
    return spans.requested_span(
        date.fromordinal(first_slot // 2),
        date.fromordinal(last_slot // 2),
        "pm" if first_slot % 2 else "am",
        "pm" if last_slot % 2 else "am",
    )


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


@given(st.text("0123", max_size=40), dates, dates, dates)
def test_half_days_of_a_partition_add_up(
    counted: str, start_date: date, one_cut: date, other_cut: date
) -> None:
    first_cut, last_cut = sorted((one_cut, other_cut))
    after_first, after_last = first_cut + timedelta(days=1), last_cut + timedelta(days=1)

    assert halves.half_days_in(counted, start_date, date.min, first_cut) + halves.half_days_in(
        counted, start_date, after_first, last_cut
    ) + halves.half_days_in(counted, start_date, after_last, date.max) == halves.total_half_days(
        counted
    )
