"""Working weeks, the nth working day after a day, and when work begins in a time zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.base.errors import InvalidInput
from storage.calendars.absences import end_of_week
from storage.notifications.reminder_schedule import plan
from storage.rules import counted_days
from storage.rules.counted_days import AFTERNOON, MORNING, NOTHING, WHOLE_DAY, Holiday, working_week
from storage.rules.worktime import MAX_DAYS, Hours, Worktime, next_work_start, nth_working_day_after

MONDAY_TO_FRIDAY = ("monday", "tuesday", "wednesday", "thursday", "friday")


def works(
    *working_days: str,
    timezone: str = "Europe/London",
    holidays: tuple[date, ...] = (),
    away: dict[date, int] | None = None,
) -> Worktime:
    return Worktime(
        week=working_week(working_days or MONDAY_TO_FRIDAY),
        holidays={day: Holiday(name="Holiday") for day in holidays},
        away=away or {},
        hours=Hours(starts_at="09:00", midday_at="13:00", ends_at="17:00", timezone=timezone),
    )


@pytest.mark.parametrize(
    ("worktime", "day", "number", "expected"),
    [
        (works(), "2026-06-01", 1, "2026-06-02"),
        (works(), "2026-06-05", 1, "2026-06-08"),
        (works(), "2026-06-06", 1, "2026-06-08"),
        (works(), "2026-06-03", 5, "2026-06-10"),
        (works(holidays=(date(2026, 12, 25), date(2027, 1, 1))), "2026-12-24", 5, "2027-01-04"),
        (works("tuesday", "thursday:pm"), "2026-06-01", 3, "2026-06-09"),
        (works(away={date(2026, 6, 2): WHOLE_DAY}), "2026-06-01", 1, "2026-06-03"),
        (works(away={date(2026, 6, 2): MORNING}), "2026-06-01", 1, "2026-06-02"),
    ],
)
def test_the_nth_working_day_after_a_day_is_found(
    worktime: Worktime, day: str, number: int, expected: str
) -> None:
    assert nth_working_day_after(
        worktime.halves, date.fromisoformat(day), number
    ) == date.fromisoformat(expected)


def test_without_working_days_there_is_no_next_working_day() -> None:
    assert nth_working_day_after(lambda _: NOTHING, date(2026, 6, 1), 1) is None


@given(
    st.lists(st.sampled_from([NOTHING, MORNING, AFTERNOON, WHOLE_DAY]), min_size=7, max_size=7),
    st.sets(st.integers(0, 60)),
    st.dates(date(2020, 1, 1), date(2030, 12, 31)),
    st.integers(1, 12),
)
def test_n_minus_one_working_days_are_between_a_day_and_the_nth_after_it(
    week: list[int], holidays: set[int], day: date, number: int
) -> None:
    worktime = Worktime(
        week=tuple(week),
        holidays={day + timedelta(days=ahead): Holiday(name="Holiday") for ahead in holidays},
        away={},
        hours=Hours(starts_at="09:00", midday_at="13:00", ends_at="17:00", timezone="UTC"),
    )

    nth = nth_working_day_after(worktime.halves, day, number)

    if not any(week):
        assert nth is None
        return
    assert nth is not None
    assert 0 < (nth - day).days < MAX_DAYS
    between = [day + timedelta(days=ahead) for ahead in range(1, (nth - day).days)]
    assert worktime.halves(nth) != NOTHING
    assert sum(worktime.halves(date_between) != NOTHING for date_between in between) == number - 1


@pytest.mark.parametrize(
    ("timezone", "day", "begins"),
    [
        ("Europe/London", "2026-03-27", "2026-03-27T09:00Z"),
        ("Europe/London", "2026-03-30", "2026-03-30T08:00Z"),
        ("Europe/London", "2026-10-26", "2026-10-26T09:00Z"),
        ("America/New_York", "2026-06-01", "2026-06-01T13:00Z"),
        ("Asia/Kolkata", "2026-06-01", "2026-06-01T03:30Z"),
        ("Pacific/Kiritimati", "2027-01-01", "2026-12-31T19:00Z"),
    ],
)
def test_work_begins_in_the_persons_time_zone(timezone: str, day: str, begins: str) -> None:
    worktime = works(timezone=timezone)

    begins_at = worktime.begins_at(date.fromisoformat(day))

    assert begins_at.astimezone(UTC) == datetime.fromisoformat(begins)


def test_an_afternoon_begins_and_a_morning_ends_at_midday() -> None:
    worktime = works("monday:am", "tuesday:pm")
    monday, tuesday = datetime(2026, 6, 1, tzinfo=UTC), datetime(2026, 6, 2, tzinfo=UTC)

    # London is an hour ahead of UTC in June.
    at_work = [
        (day.day, hour)
        for day in (monday, tuesday)
        for hour in range(24)
        if worktime.is_at_work(day.replace(hour=hour))
    ]

    assert at_work == [(1, 8), (1, 9), (1, 10), (1, 11), (2, 12), (2, 13), (2, 14), (2, 15)]
    assert next_work_start(worktime, monday.replace(hour=9)) == tuesday.replace(hour=12)


ASKED_AT = datetime(2026, 6, 1, 9, tzinfo=UTC)  # A Monday.


@pytest.mark.parametrize(
    ("now", "sent", "is_due", "then"),
    [
        ("2026-06-01T12:00Z", 0, False, (0, "2026-06-02T08:00Z")),
        ("2026-06-02T08:00Z", 0, True, (1, "2026-06-04T08:00Z")),
        ("2026-06-04T08:00Z", 1, True, (2, "2026-06-08T08:00Z")),
        ("2026-06-08T08:00Z", 2, True, (3, "2026-06-09T08:00Z")),
        # Then the request is escalated, which is not a reminder.
        ("2026-06-09T08:00Z", 3, False, (4, None)),
        # After a time without runs: one reminder, not two, and none at night or at the weekend.
        ("2026-06-05T10:00Z", 0, True, (2, "2026-06-08T08:00Z")),
        ("2026-06-04T22:00Z", 0, False, (0, "2026-06-05T08:00Z")),
        ("2026-06-06T10:00Z", 0, False, (0, "2026-06-08T08:00Z")),
    ],
)
def test_reminders_are_due_after_one_three_and_five_working_days(
    now: str, sent: int, is_due: bool, then: tuple[int, str | None]
) -> None:
    reminder = plan(works(), ASKED_AT, sent, now=datetime.fromisoformat(now))

    next_at = None if then[1] is None else datetime.fromisoformat(then[1])
    assert (reminder.is_due, reminder.sent, reminder.next_at) == (is_due, then[0], next_at)


@settings(max_examples=30)
@given(
    st.sampled_from(["Europe/London", "America/Los_Angeles", "Australia/Lord_Howe", "Asia/Tokyo"]),
    st.integers(0, 26_000).map(
        lambda hours: datetime(2025, 1, 1, tzinfo=UTC) + timedelta(hours=hours)
    ),
    st.sets(st.sampled_from(MONDAY_TO_FRIDAY), min_size=1),
    st.integers(2, 40),
)
def test_any_number_of_runs_sends_three_reminders_in_working_hours(
    timezone: str, asked_at: datetime, working_days: set[str], hours_between: int
) -> None:
    worktime = works(*working_days, timezone=timezone)
    now, sent, asked_next, reminded = asked_at, 0, 0, []

    while now < asked_at + timedelta(days=50):
        reminder = plan(worktime, asked_at, sent, now=now)
        if reminder.is_due:
            reminded.append(now)
        sent = reminder.sent
        asked_next += reminder.is_escalated
        assert reminder.next_at is None or reminder.next_at > now
        now += timedelta(hours=hours_between)

    assert len(reminded) <= 3
    assert asked_next <= 1
    assert all(worktime.is_at_work(at) for at in reminded)
    assert len(reminded) == 3 or hours_between > 3


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


@pytest.mark.parametrize(
    ("given_days", "normal"),
    [
        pytest.param(["friday", "monday"], ("monday", "friday"), id="week order"),
        pytest.param(["friday:pm"], ("friday:pm",), id="one half"),
        pytest.param(["friday:pm", "friday:am"], ("friday",), id="two halves are the day"),
        pytest.param(list(reversed(counted_days.WEEKDAYS)), counted_days.WEEKDAYS, id="all seven"),
    ],
)
def test_working_days_are_normalised(given_days: list[str], normal: tuple[str, ...]) -> None:
    assert counted_days.check_working_days(given_days) == normal
    assert counted_days.working_week(given_days) == counted_days.working_week(normal)


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
        counted_days.check_working_days(given_days)

    assert [(error.pointer, error.code) for error in refusal.value.errors] == errors


def test_wrong_working_days_are_refused_at_the_given_field() -> None:
    with pytest.raises(InvalidInput) as refusal:
        counted_days.check_working_days(["never"], field="settings/days")

    assert refusal.value.errors[0].pointer == "/settings/days/0"


def test_a_working_week_has_a_mask_for_each_weekday() -> None:
    assert counted_days.working_week(("monday", "friday:am", "sunday:pm")) == (3, 0, 0, 0, 1, 0, 2)
