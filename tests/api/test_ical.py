"""Calendar bytes, read back with the icalendar library and, where the wire matters, as bytes."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st
from icalendar import Calendar, Event

from api.feeds.ical import (
    Feed,
    PublicHoliday,
    WorkingHours,
    nearest_css_name,
    render_event,
    render_feed,
    render_holiday,
)
from storage.base.calendar_values import Absence
from storage.base.leave_values import HalfDay, LeaveStatus, TypeName

HOURS = WorkingHours(day_starts_at="09:00", midday_at="13:00", day_ends_at="17:00")
UPDATED_AT = datetime(2026, 2, 1, 8, 15, 30, 123_000, tzinfo=UTC)
FEED = Feed(name="Ada's leave", source_url="https://hiatus.example.com/cal?scope=team")
HOLIDAY = PublicHoliday(
    country_code="GB-ENG", day=date(2026, 12, 25), name="Christmas Day", updated_at=UPDATED_AT
)

OWN = Absence(
    request_id="01950000-0000-7000-8000-00000000000a",
    person_name="Ada Lovelace",
    is_own=True,
    status="approved",
    start_date=date(2026, 3, 2),
    end_date=date(2026, 3, 2),
    start_half_day=None,
    end_half_day=None,
    summary_type=TypeName("Annual leave"),
    colour="#2e8b57",
    timezone="Europe/London",
    sequence=3,
    updated_at=UPDATED_AT,
)
OTHERS = replace(OWN, is_own=False)


def read(fragment: bytes) -> Event:
    """The one event of a feed around a fragment, as the library reads it."""
    (event,) = Calendar.from_ical(render_feed(FEED, [fragment])).walk("VEVENT")
    assert isinstance(event, Event)
    return event


def lines(rendered: bytes) -> list[str]:
    """The content lines, unfolded."""
    return re.sub(rb"\r\n[ \t]", b"", rendered).decode().removesuffix("\r\n").split("\r\n")


def test_whole_day_is_a_date_with_an_exclusive_end() -> None:
    written = lines(render_event(OWN, HOURS))

    assert "DTSTART;VALUE=DATE:20260302" in written
    assert "DTEND;VALUE=DATE:20260303" in written


def test_last_day_of_several_is_included() -> None:
    absence = replace(OWN, start_date=date(2026, 2, 27), end_date=date(2026, 3, 3))

    event = read(render_event(absence, HOURS))

    assert event.decoded("dtstart") == date(2026, 2, 27)
    assert event.decoded("dtend") == date(2026, 3, 4)


def test_event_carries_identity_and_version_of_the_request() -> None:
    written = lines(render_event(OWN, HOURS))

    assert written[0] == "BEGIN:VEVENT"
    assert written[-1] == "END:VEVENT"
    assert f"UID:{OWN.request_id}" in written
    assert "SEQUENCE:3" in written
    assert "DTSTAMP:20260201T081530Z" in written
    assert "LAST-MODIFIED:20260201T081530Z" in written


@pytest.mark.parametrize(
    ("start", "end", "begins_hour", "ends_hour"),
    [
        ("am", None, 9, 13),
        ("am", "am", 9, 13),
        (None, "am", 9, 13),
        ("pm", None, 13, 17),
        ("pm", "pm", 13, 17),
        (None, "pm", 13, 17),
    ],
)
def test_half_a_day_is_timed_in_utc(
    start: HalfDay | None, end: HalfDay | None, begins_hour: int, ends_hour: int
) -> None:
    absence = replace(OWN, start_half_day=start, end_half_day=end)

    written = lines(render_event(absence, HOURS))

    assert f"DTSTART:20260302T{begins_hour:02}0000Z" in written
    assert f"DTEND:20260302T{ends_hour:02}0000Z" in written


@pytest.mark.parametrize(
    ("start", "end", "begins", "ends"),
    [
        (None, None, date(2026, 3, 2), date(2026, 3, 5)),
        ("am", None, date(2026, 3, 2), date(2026, 3, 5)),
        (None, "pm", date(2026, 3, 2), date(2026, 3, 5)),
        ("am", "pm", date(2026, 3, 2), date(2026, 3, 5)),
        (
            "pm",
            None,
            datetime(2026, 3, 2, 13, tzinfo=UTC),
            datetime(2026, 3, 4, 17, tzinfo=UTC),
        ),
        (
            None,
            "am",
            datetime(2026, 3, 2, 9, tzinfo=UTC),
            datetime(2026, 3, 4, 13, tzinfo=UTC),
        ),
        (
            "pm",
            "am",
            datetime(2026, 3, 2, 13, tzinfo=UTC),
            datetime(2026, 3, 4, 13, tzinfo=UTC),
        ),
    ],
)
def test_several_days_are_one_event_with_any_half_days(
    start: HalfDay | None, end: HalfDay | None, begins: date, ends: date
) -> None:
    absence = replace(OWN, end_date=date(2026, 3, 4), start_half_day=start, end_half_day=end)

    event = read(render_event(absence, HOURS))

    assert event.decoded("dtstart") == begins
    assert event.decoded("dtend") == ends


def test_morning_and_afternoon_is_a_whole_day() -> None:
    absence = replace(OWN, start_half_day="am", end_half_day="pm")

    assert read(render_event(absence, HOURS)).decoded("dtstart") == date(2026, 3, 2)


@pytest.mark.parametrize(
    ("timezone", "day", "midday_in_utc"),
    [
        ("Europe/London", date(2026, 3, 28), 13),
        ("Europe/London", date(2026, 3, 29), 12),
        ("Europe/London", date(2026, 10, 24), 12),
        ("Europe/London", date(2026, 10, 25), 13),
        ("America/New_York", date(2026, 3, 7), 18),
        ("America/New_York", date(2026, 3, 8), 17),
        ("America/New_York", date(2026, 10, 31), 17),
        ("America/New_York", date(2026, 11, 1), 18),
        ("Asia/Kolkata", date(2026, 3, 2), 7.5),
        ("Pacific/Auckland", date(2026, 6, 15), 1),
    ],
)
def test_midday_follows_the_clocks_of_the_person(
    timezone: str, day: date, midday_in_utc: float
) -> None:
    absence = replace(OWN, start_date=day, end_date=day, start_half_day="pm", timezone=timezone)

    event = read(render_event(absence, HOURS))

    midday = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(hours=midday_in_utc)
    assert event.decoded("dtstart") == midday
    assert event.decoded("dtend") == midday + timedelta(hours=4)


@pytest.mark.parametrize(
    ("timezone", "first_day", "last_day", "elapsed_hours"),
    [
        ("Europe/London", date(2026, 3, 28), date(2026, 3, 29), 27),
        ("Europe/London", date(2026, 10, 24), date(2026, 10, 25), 29),
        ("America/New_York", date(2026, 3, 7), date(2026, 3, 8), 27),
        ("America/New_York", date(2026, 10, 31), date(2026, 11, 1), 29),
    ],
)
def test_leave_over_a_change_of_clocks_is_an_hour_shorter_or_longer(
    timezone: str, first_day: date, last_day: date, elapsed_hours: int
) -> None:
    absence = replace(
        OWN, start_date=first_day, end_date=last_day, start_half_day="pm", timezone=timezone
    )

    event = read(render_event(absence, HOURS))

    assert event.decoded("dtend") - event.decoded("dtstart") == timedelta(hours=elapsed_hours)


@pytest.mark.parametrize(
    ("timezone", "day", "begins", "ends"),
    [
        # Half an hour of summer time: +10:30 until the 4th of October, +11 from then on.
        ("Australia/Lord_Howe", date(2026, 10, 3), "20261003T023000Z", "20261003T063000Z"),
        ("Australia/Lord_Howe", date(2026, 10, 4), "20261004T020000Z", "20261004T060000Z"),
        ("Australia/Lord_Howe", date(2026, 4, 4), "20260404T020000Z", "20260404T060000Z"),
        ("Australia/Lord_Howe", date(2026, 4, 5), "20260405T023000Z", "20260405T063000Z"),
        # +12:45, and +13:45 from the 27th of September.
        ("Pacific/Chatham", date(2026, 9, 26), "20260926T001500Z", "20260926T041500Z"),
        ("Pacific/Chatham", date(2026, 9, 27), "20260926T231500Z", "20260927T031500Z"),
        # Samoa went over the date line: no 30th of December 2011, ten hours behind before it,
        # fourteen ahead after it.
        ("Pacific/Apia", date(2011, 12, 29), "20111229T230000Z", "20111230T030000Z"),
        ("Pacific/Apia", date(2011, 12, 30), "20111230T230000Z", "20111231T030000Z"),
        ("Pacific/Apia", date(2011, 12, 31), "20111230T230000Z", "20111231T030000Z"),
    ],
)
def test_an_afternoon_in_unusual_time_zones_starts_at_local_midday(
    timezone: str, day: date, begins: str, ends: str
) -> None:
    absence = replace(OWN, start_date=day, end_date=day, start_half_day="pm", timezone=timezone)

    written = lines(render_event(absence, HOURS))

    assert f"DTSTART:{begins}" in written
    assert f"DTEND:{ends}" in written


def test_leave_over_a_day_that_was_skipped_is_two_days_long() -> None:
    absence = replace(
        OWN,
        start_date=date(2011, 12, 29),
        end_date=date(2011, 12, 31),
        start_half_day="pm",
        timezone="Pacific/Apia",
    )

    event = read(render_event(absence, HOURS))

    assert event.decoded("dtend") - event.decoded("dtstart") == timedelta(hours=28)


def test_a_morning_skipped_by_the_clock_is_not_reversed() -> None:
    """In London 02:05 does not exist on that day; 03:00 follows 01:59 at once."""
    hours = WorkingHours(day_starts_at="02:05", midday_at="03:00", day_ends_at="04:00")
    absence = replace(
        OWN, start_date=date(2026, 3, 29), end_date=date(2026, 3, 29), start_half_day="am"
    )

    event = read(render_event(absence, hours))

    assert event.decoded("dtend") - event.decoded("dtstart") == timedelta(minutes=55)


@given(
    st.sampled_from(sorted(available_timezones())),
    st.dates(date(2005, 1, 1), date(2040, 1, 1)),
    st.integers(0, 3),
    st.sampled_from([("am", None), ("pm", None), (None, "am")]),
    st.sets(st.integers(0, 24 * 12 - 1), min_size=3, max_size=3),
)
def test_every_event_begins_before_it_ends(
    timezone: str,
    day: date,
    length: int,
    halves: tuple[HalfDay | None, HalfDay | None],
    times: set[int],
) -> None:
    begin, middle, end = (f"{five // 12:02}:{five % 12 * 5:02}" for five in sorted(times))
    hours = WorkingHours(day_starts_at=begin, midday_at=middle, day_ends_at=end)
    absence = replace(
        OWN,
        start_date=day,
        end_date=day + timedelta(days=length),
        start_half_day=halves[0],
        end_half_day=halves[1],
        timezone=timezone,
    )

    event = read(render_event(absence, hours))

    assert event.decoded("dtstart") < event.decoded("dtend")


def test_day_before_midnight_utc_keeps_the_person_s_date() -> None:
    absence = replace(OWN, start_half_day="am", timezone="Pacific/Auckland")

    written = lines(render_event(absence, HOURS))

    assert "DTSTART:20260301T200000Z" in written


@pytest.mark.parametrize(
    ("absence", "summary"),
    [
        (OWN, "Annual leave"),
        (replace(OWN, status="pending"), "Annual leave (pending)"),
        (replace(OWN, status="cancelled"), "Annual leave"),
        (OTHERS, "Ada Lovelace: Annual leave"),
        (replace(OTHERS, summary_type=None, colour=None), "Ada Lovelace: Away"),
        (
            replace(OTHERS, summary_type=None, cover_name="Grace\nHopper"),
            "Ada Lovelace: Away (covered by Grace Hopper)",
        ),
        (
            replace(OWN, status="pending", cover_name="Grace Hopper"),
            "Annual leave (pending, covered by Grace Hopper)",
        ),
    ],
    ids=[
        "own",
        "own pending",
        "own cancelled",
        "other's",
        "other's private",
        "other's private, covered",
        "own pending, covered",
    ],
)
def test_summary_has_the_person_and_the_type(absence: Absence, summary: str) -> None:
    assert read(render_event(absence, HOURS))["summary"] == summary


def test_work_elsewhere_of_a_private_type_is_not_called_away() -> None:
    hidden = replace(OTHERS, summary_type=None, colour=None, is_away=False)

    assert read(render_event(hidden, HOURS))["summary"] == "Ada Lovelace: Working elsewhere"


@pytest.mark.parametrize(
    ("absence", "transparency", "busy_status"),
    [
        (OWN, "OPAQUE", "OOF"),
        (replace(OWN, status="pending"), "OPAQUE", "OOF"),
        (replace(OWN, status="cancelled"), "TRANSPARENT", "FREE"),
        (OTHERS, "TRANSPARENT", "FREE"),
        (replace(OWN, is_away=False), "TRANSPARENT", "FREE"),
    ],
    ids=["own", "own pending", "own cancelled", "other's", "own work elsewhere"],
)
def test_only_ones_own_absence_blocks_time(
    absence: Absence, transparency: str, busy_status: str
) -> None:
    written = lines(render_event(absence, HOURS))

    assert f"TRANSP:{transparency}" in written
    assert f"X-MICROSOFT-CDO-BUSYSTATUS:{busy_status}" in written


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        ("pending", "TENTATIVE"),
        ("approved", "CONFIRMED"),
        ("cancelled", "CANCELLED"),
        ("declined", "CANCELLED"),
    ],
)
def test_status_is_translated(status: LeaveStatus, shown: str) -> None:
    assert f"STATUS:{shown}" in lines(render_event(replace(OWN, status=status), HOURS))


def test_type_is_category_and_colour() -> None:
    written = lines(render_event(OWN, HOURS))

    assert "CATEGORIES:Annual leave" in written
    assert "COLOR:seagreen" in written


def test_hidden_type_leaves_no_trace() -> None:
    rendered = render_event(replace(OTHERS, summary_type=None, colour=None), HOURS)

    assert b"Annual" not in rendered
    assert b"COLOR" not in rendered
    assert "CATEGORIES:Away" in lines(rendered)


def test_calendar_names_itself_and_says_when_to_come_back() -> None:
    written = lines(render_feed(FEED, []))

    assert written[0] == "BEGIN:VCALENDAR"
    assert written[-1] == "END:VCALENDAR"
    assert set(written[1:-1]) == {
        "VERSION:2.0",
        "PRODID:-//Hiatus//Leave calendar//EN",
        "METHOD:PUBLISH",
        "NAME:Ada's leave",
        "X-WR-CALNAME:Ada's leave",
        "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
        "X-PUBLISHED-TTL:PT1H",
        "SOURCE;VALUE=URI:https://hiatus.example.com/cal?scope=team",
    }


def test_name_of_the_calendar_is_escaped() -> None:
    written = lines(
        render_feed(Feed(name="R&D; Lyon, \\ 2\r\nMETHOD:CANCEL", source_url=FEED.source_url), [])
    )

    assert r"NAME:R&D\; Lyon\, \\ 2 METHOD:CANCEL" in written
    assert r"X-WR-CALNAME:R&D\; Lyon\, \\ 2 METHOD:CANCEL" in written


def test_events_stay_in_the_order_given() -> None:
    second = replace(OWN, summary_type=TypeName("Second"))
    fragments = [
        render_event(second, HOURS),
        render_event(OWN, HOURS),
        render_holiday(HOLIDAY, HOURS),
    ]

    calendar = Calendar.from_ical(render_feed(FEED, fragments))

    assert [event["summary"] for event in calendar.walk("VEVENT")] == [
        "Second",
        "Annual leave",
        "Christmas Day",
    ]


def test_public_holiday_is_a_whole_day_that_blocks_nothing() -> None:
    written = lines(render_holiday(HOLIDAY, HOURS))

    assert "DTSTART;VALUE=DATE:20261225" in written
    assert "DTEND;VALUE=DATE:20261226" in written
    assert "SUMMARY:Christmas Day" in written
    assert "TRANSP:TRANSPARENT" in written
    assert any(line.startswith("UID:holiday-GB-ENG-2026-12-25-") for line in written)
    assert "DTSTAMP:20260201T081530Z" in written


def test_half_a_holiday_is_timed_by_the_reader_s_clock() -> None:
    eve = replace(
        HOLIDAY, day=date(2026, 12, 24), name="Christmas Eve", half="pm", timezone="Europe/Berlin"
    )

    written = lines(render_holiday(eve, HOURS))

    assert "SUMMARY:Christmas Eve (afternoon)" in written
    assert "DTSTART:20261224T120000Z" in written
    assert "DTEND:20261224T160000Z" in written
    assert "TRANSP:TRANSPARENT" in written


@pytest.mark.parametrize(
    "changed",
    [
        replace(HOLIDAY, name="Yule"),
        replace(HOLIDAY, half="am"),
        replace(HOLIDAY, half="pm"),
        replace(HOLIDAY, day=date(2026, 12, 26)),
        replace(HOLIDAY, country_code="GB-SCT"),
    ],
)
def test_a_holiday_that_is_changed_is_another_event(changed: PublicHoliday) -> None:
    assert (
        read(render_holiday(changed, HOURS))["uid"] != read(render_holiday(HOLIDAY, HOURS))["uid"]
    )


def test_equal_values_give_equal_bytes() -> None:
    assert render_event(replace(OWN), HOURS) == render_event(OWN, replace(HOURS))
    assert render_holiday(replace(HOLIDAY), HOURS) == render_holiday(HOLIDAY, HOURS)
    assert render_feed(replace(FEED), [b"x"]) == render_feed(FEED, [b"x"])


@given(st.text(st.characters(codec=None), max_size=200), st.text(max_size=60), st.text(max_size=60))
def test_no_text_breaks_the_structure(person: str, type_name: str, holiday: str) -> None:
    absence = replace(OTHERS, person_name=person, summary_type=TypeName(type_name))
    feed = Feed(name=person, source_url=FEED.source_url)
    fragments = [
        render_event(absence, HOURS),
        render_holiday(replace(HOLIDAY, name=holiday), HOURS),
    ]

    rendered = render_feed(feed, fragments)

    written = lines(rendered)
    calendar = Calendar.from_ical(rendered)
    event = calendar.events[0]
    assert max(len(line) for line in rendered.split(b"\r\n")) <= 75
    assert re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", rendered) is None
    assert [line for line in written if line.startswith(("BEGIN", "END"))] == [
        "BEGIN:VCALENDAR",
        "BEGIN:VEVENT",
        "END:VEVENT",
        "BEGIN:VEVENT",
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    assert len(written) == 2 + 8 + (2 + 12) + (2 + 11)
    assert event.categories == [
        re.sub(r"[\s\x00-\x1f\x7f-\x9f\ufeff\ud800-\udfff]+", " ", type_name).strip() or "Away"
    ]


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        ("#FF0000", "red"),
        ("#fe0101", "red"),
        ("#00ffff", "cyan"),
        ("#4285f4", "royalblue"),
        ("#123456", "midnightblue"),
        ("#fffffe", "white"),
    ],
)
def test_nearest_css_colour(colour: str, name: str) -> None:
    assert nearest_css_name(colour) == name
