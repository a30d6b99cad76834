"""When a person is away, until when their Slack status says so, and whose status Slack shows."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.rules.slack_status import (
    Away,
    Halves,
    Known,
    Status,
    Step,
    away_at,
    next_step,
)

NOON = datetime(2027, 8, 4, 12, 0, tzinfo=UTC)


def slots(first: date, last: date, *, from_midday: bool = False, to_midday: bool = False) -> range:
    """The halves from a day to another, both included."""
    return range(2 * first.toordinal() + from_midday, 2 * last.toordinal() + 2 - to_midday)


def halves(
    leave: dict[int, str], *, days_off: tuple[date, ...] = (), timezone: str = "Europe/London"
) -> Halves:
    """A person who works from Monday to Friday, but for ``days_off``."""

    def is_worked(slot: int) -> bool:
        day = date.fromordinal(slot // 2)
        return day.weekday() < 5 and day not in days_off

    first, last = date(2027, 7, 1), date(2027, 10, 31)
    return Halves(
        leave=leave,
        is_worked=is_worked,
        first_slot=2 * first.toordinal(),
        last_slot=2 * last.toordinal() + 1,
        midday_at="13:00",
        timezone=timezone,
    )


def at(leave: range, instant: datetime, **how: object) -> Away | None:
    return away_at(halves(dict.fromkeys(leave, "annual"), **how), instant)[0]  # type: ignore[arg-type]


def test_a_week_in_london_ends_at_midnight_of_the_next_monday() -> None:
    week = slots(date(2027, 8, 2), date(2027, 8, 6))

    away = at(week, NOON)

    assert away == Away(
        leave_type_id="annual",
        returns_on=date(2027, 8, 9),
        returns_at=None,
        ends_at=datetime(2027, 8, 8, 23, 0, tzinfo=UTC),
    )
    # On the weekend after it, but not on the one before.
    assert at(week, datetime(2027, 8, 7, 12, 0, tzinfo=UTC)) == away
    assert at(week, datetime(2027, 8, 1, 22, 59, tzinfo=UTC)) is None
    assert at(week, datetime(2027, 8, 1, 23, 0, tzinfo=UTC)) == away
    assert at(week, datetime(2027, 8, 8, 23, 0, tzinfo=UTC)) is None


def test_a_public_holiday_after_the_leave_makes_it_longer() -> None:
    # The August bank holiday.
    bank_holiday = date(2027, 8, 30)
    week = slots(date(2027, 8, 23), date(2027, 8, 27))

    away = at(week, datetime(2027, 8, 25, 12, 0, tzinfo=UTC), days_off=(bank_holiday,))

    assert away is not None
    assert away.returns_on == date(2027, 8, 31)


def test_a_morning_ends_at_midday_and_an_afternoon_begins_then() -> None:
    day = date(2027, 8, 4)
    morning, afternoon = slots(day, day, to_midday=True), slots(day, day, from_midday=True)
    before, after = (
        datetime(2027, 8, 4, 11, 59, tzinfo=UTC),
        datetime(2027, 8, 4, 12, 0, tzinfo=UTC),
    )

    away = at(morning, before)

    assert away is not None
    assert (away.returns_on, away.returns_at, away.ends_at) == (day, "13:00", after)
    assert at(morning, after) is None
    assert at(afternoon, before) is None
    away = at(afternoon, after)
    assert away is not None
    assert (away.returns_on, away.returns_at) == (date(2027, 8, 5), None)


def test_leave_of_two_types_is_one_absence_whose_emoji_changes() -> None:
    annual = dict.fromkeys(slots(date(2027, 8, 2), date(2027, 8, 4)), "annual")
    sick = dict.fromkeys(slots(date(2027, 8, 5), date(2027, 8, 6)), "sick")

    away, changes_at = away_at(halves(annual | sick), NOON)

    assert away is not None
    assert (away.leave_type_id, away.returns_on) == ("annual", date(2027, 8, 9))
    assert changes_at == datetime(2027, 8, 4, 23, 0, tzinfo=UTC)


def test_a_person_who_never_works_again_has_no_day_of_return() -> None:
    leave = dict.fromkeys(slots(date(2027, 8, 2), date(2027, 8, 6)), "annual")
    never = Halves(
        leave=leave,
        is_worked=lambda slot: False,
        first_slot=min(leave),
        last_slot=max(leave) + 20,
        midday_at="13:00",
        timezone="Europe/London",
    )

    away, _ = away_at(never, NOON)

    assert away is not None
    assert (away.returns_on, away.returns_at) == (None, None)


# Their clocks change at midnight, or by half an hour, or a day is missing.
ZONES = (
    "Europe/London",
    "America/New_York",
    "Asia/Kolkata",
    "Pacific/Auckland",
    "Australia/Lord_Howe",
    "Africa/Cairo",
    "Asia/Beirut",
    "America/Havana",
    "Atlantic/Azores",
)


@st.composite
def settings(draw: st.DrawFn) -> tuple[Halves, datetime]:
    """Any leave and working halves in a month around a change of clocks, and a moment of it."""
    timezone = draw(st.sampled_from(ZONES))
    first = draw(st.sampled_from((date(2027, 3, 10), date(2027, 4, 10), date(2027, 10, 15))))
    first_slot = 2 * first.toordinal()
    kinds = draw(st.lists(st.sampled_from("wwwffal"), min_size=60, max_size=60))
    leave = {
        first_slot + number: {"a": "annual", "l": "sick"}[kind]
        for number, kind in enumerate(kinds)
        if kind in "al"
    }
    worked = {first_slot + number for number, kind in enumerate(kinds) if kind == "w"}
    month = Halves(
        leave=leave,
        is_worked=worked.__contains__,
        first_slot=first_slot,
        last_slot=first_slot + len(kinds) - 1,
        midday_at="13:00",
        timezone=timezone,
    )
    minutes = draw(st.integers(0, 30 * 24 * 60 - 2 * 24 * 60))
    instant = month.begins_at(first_slot) + timedelta(days=1, minutes=minutes)
    return month, instant


@given(settings())
def test_a_status_ends_when_the_first_half_begins_that_the_person_works(
    setting: tuple[Halves, datetime],
) -> None:
    month, instant = setting

    away, changes_at = away_at(month, instant)

    now = month.slot_at(instant)
    assert month.begins_at(now) <= instant < month.begins_at(now + 1)
    assert changes_at is None or changes_at > instant
    if away is None:
        assert now not in month.leave
        return
    assert away.ends_at > instant
    assert changes_at is not None
    assert changes_at <= away.ends_at
    zone = ZoneInfo(month.timezone)
    local = away.ends_at.astimezone(zone)
    just_before = (away.ends_at - timedelta(seconds=1)).astimezone(zone)
    if away.returns_on is not None:
        end = 2 * away.returns_on.toordinal() + (away.returns_at is not None)
        # Nothing is worked from now until then, and then something is.
        assert month.is_worked(end)
        assert not any(
            month.is_worked(slot) and slot not in month.leave for slot in range(now, end)
        )
        wall = time(13) if away.returns_at else time.min
        assert local.date() == away.returns_on
        # A midnight that does not exist is the first moment of the day.
        assert local.time() == wall or just_before.date() < away.returns_on


@given(settings())
def test_the_next_change_is_the_first_one(setting: tuple[Halves, datetime]) -> None:
    month, instant = setting
    away, changes_at = away_at(month, instant)
    if changes_at is None:
        return

    just_before = away_at(month, changes_at - timedelta(seconds=1))[0]

    assert just_before == away
    if away is None or changes_at < away.ends_at:
        assert away_at(month, changes_at)[0] != away


OURS = Status(text="Away", emoji=":palm_tree:", expires_at=NOON + timedelta(days=4))
LONGER = Status(text="Away", emoji=":palm_tree:", expires_at=NOON + timedelta(days=9))
THEIRS = Status(text="In Spain", emoji=":sunny:", expires_at=None)
OVER = Status(text="Lunch", emoji=":cake:", expires_at=NOON)
NONE = Status(text="", emoji="", expires_at=None)
NOTHING = Known()
SET = Known(sent=OURS, shown=OURS)
UNCONFIRMED = Known(sent=OURS, shown=None, is_unconfirmed=True)
UNCONFIRMED_CHANGE = Known(sent=LONGER, shown=OURS, is_unconfirmed=True)


@pytest.mark.parametrize(
    ("wanted", "current", "known", "step"),
    [
        (OURS, NONE, NOTHING, "set"),
        (OURS, OVER, NOTHING, "set"),
        (OURS, THEIRS, NOTHING, "wait"),
        (LONGER, OURS, SET, "set"),
        (LONGER, THEIRS, SET, "leave_alone"),
        (LONGER, NONE, SET, "leave_alone"),
        (None, OURS, SET, "clear"),
        (None, THEIRS, SET, "forget"),
        (None, NONE, SET, "forget"),
        (OURS, OURS, UNCONFIRMED, "keep"),
        (OURS, NONE, UNCONFIRMED, "set"),
        (OURS, THEIRS, UNCONFIRMED, "wait"),
        (None, OURS, UNCONFIRMED, "clear"),
        (LONGER, OURS, UNCONFIRMED_CHANGE, "set"),
        (LONGER, LONGER, UNCONFIRMED_CHANGE, "keep"),
        (None, LONGER, UNCONFIRMED_CHANGE, "clear"),
    ],
)
def test_a_status_that_hiatus_did_not_set_is_left(
    wanted: Status | None, current: Status, known: Known, step: Step
) -> None:
    assert next_step(wanted, current, known, NOON) == step


def test_slack_is_asked_only_if_it_may_not_show_what_is_wanted() -> None:
    assert NOTHING.is_current(None, NOON)
    assert SET.is_current(OURS, NOON)
    assert not SET.is_current(LONGER, NOON)
    assert not SET.is_current(None, NOON)
    assert not UNCONFIRMED.is_current(OURS, NOON)
    # Slack has removed it.
    assert SET.is_current(None, NOON + timedelta(days=4))
