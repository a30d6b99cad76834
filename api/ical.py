"""Absences as iCalendar bytes (RFC 5545, RFC 7986); pure.

Who may see what was decided before: an ``Absence`` holds nothing hidden. Equal values give equal
bytes. Source: contract 8.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from icalendar import Calendar, Event, vText

from api.css_colours import nearest_css_name
from storage.values import Absence, HalfDay, LeaveStatus

PRODID: Final = "-//Hiatus//Leave calendar//EN"
AWAY: Final = "Away"

_END_OF_CALENDAR: Final = b"END:VCALENDAR\r\n"
_STATUS: Final[dict[LeaveStatus, str]] = {
    "pending": "TENTATIVE",
    "approved": "CONFIRMED",
    "cancelled": "CANCELLED",
    "declined": "CANCELLED",  # seen while pending by a calendar that is to forget it
}
_HALF_SUFFIX: Final[dict[HalfDay | None, str]] = {
    None: "",
    "am": " (morning)",
    "pm": " (afternoon)",
}
# Controls are not TEXT (RFC 5545, 3.3.11), lone surrogates are not UTF-8, and U+0085, U+2028 and
# U+2029 end a line for readers that split as Python does.
_NOT_ON_ONE_LINE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


class WorkingHours(NamedTuple):
    """The organisation's day as ``HH:MM`` each, in the absent person's time zone."""

    day_starts_at: str
    midday_at: str
    day_ends_at: str


class Feed(NamedTuple):
    """``source_url`` is the absolute URL that the calendar is subscribed to, token included."""

    name: str
    source_url: str


class PublicHoliday(NamedTuple):
    """A holiday; ``updated_at`` is when its set, or the override of that day, last changed."""

    country_code: str
    day: date
    name: str
    updated_at: datetime
    half: HalfDay | None = None


def render_feed(feed: Feed, fragments: Iterable[bytes]) -> bytes:
    """A whole calendar around rendered events, in the order in which they come."""
    return b"".join([_head(feed), *fragments, _END_OF_CALENDAR])


def render_event(absence: Absence, hours: WorkingHours) -> bytes:
    """One leave request as a VEVENT, CRLF at its end.

    Whole days are dates; leave that begins or ends at midday is timed in UTC, as one event.
    """
    label = _one_line(absence.summary_type or "") or AWAY
    # Leave that was called off blocks nobody's time, in calendars that still show it.
    is_busy = absence.is_own and _STATUS[absence.status] != "CANCELLED"
    begins, ends = _span(absence, hours)

    event = Event()
    event.add("uid", absence.request_id)
    event.add("sequence", absence.version)
    event.add("dtstamp", absence.updated_at)
    event.add("last-modified", absence.updated_at)
    event.add("dtstart", begins)
    event.add("dtend", ends)
    event.add("summary", _summary(absence, label))
    event.add("status", _STATUS[absence.status])
    event.add("transp", "OPAQUE" if is_busy else "TRANSPARENT")
    event.add("x-microsoft-cdo-busystatus", "OOF" if is_busy else "FREE")
    event.add("categories", [label])
    if absence.colour is not None:
        event.add("color", nearest_css_name(absence.colour))
    return bytes(event.to_ical())


def render_holiday(holiday: PublicHoliday) -> bytes:
    """A public holiday as an all-day VEVENT that blocks no time, CRLF at its end."""
    event = Event()
    event.add("uid", f"holiday-{holiday.country_code}-{holiday.day.isoformat()}")
    event.add("sequence", 0)
    event.add("dtstamp", holiday.updated_at)
    event.add("last-modified", holiday.updated_at)
    event.add("dtstart", holiday.day)
    event.add("dtend", holiday.day + timedelta(days=1))
    event.add("summary", _one_line(holiday.name) + _HALF_SUFFIX[holiday.half])
    event.add("status", "CONFIRMED")
    event.add("transp", "TRANSPARENT")
    event.add("x-microsoft-cdo-busystatus", "FREE")
    event.add("categories", ["Public holiday"])
    return bytes(event.to_ical())


class FragmentCache:
    """The rendered events used last, at most ``max_events`` of each kind; safe between threads.

    The key is the whole value that goes in, so nothing has to be dropped when data change. An
    event and its key take about 1.5 kB.
    """

    def __init__(self, max_events: int = 20_000) -> None:
        self.event = lru_cache(max_events)(render_event)
        self.holiday = lru_cache(max_events)(render_holiday)


# Programs ask for a feed every few minutes, and its head never changes.
@lru_cache(2_000)
def _head(feed: Feed) -> bytes:
    calendar = Calendar()
    calendar.add("prodid", PRODID)
    calendar.add("version", "2.0")
    calendar.add("method", "PUBLISH")
    # NAME and X-WR-CALNAME are unknown to the library: without vText it escapes nothing in them.
    calendar.add("name", vText(_one_line(feed.name)))
    calendar.add("x-wr-calname", vText(_one_line(feed.name)))
    # RFC 7986, 5.7 and 5.8 have no default type, and the library's own arguments leave VALUE out.
    calendar.add("refresh-interval", timedelta(hours=1), parameters={"VALUE": "DURATION"})
    calendar.add("source", feed.source_url, parameters={"VALUE": "URI"})
    calendar.add("x-published-ttl", "PT1H")
    return bytes(calendar.to_ical()).removesuffix(_END_OF_CALENDAR)


def _summary(absence: Absence, label: str) -> str:
    suffix = " (pending)" if absence.status == "pending" else ""
    name = "" if absence.is_own else _one_line(absence.person_name)
    return f"{name}: {label}{suffix}" if name else f"{label}{suffix}"


def _span(absence: Absence, hours: WorkingHours) -> tuple[date, date]:
    """Begin and exclusive end: two dates for whole days, two UTC datetimes otherwise."""
    first_half, last_half = _outer_halves(absence)
    if first_half == "am" and last_half == "pm":
        # Half-open in iCalendar: an event on the 24th alone ends on the 25th (RFC 5545, 3.6.1).
        return absence.start_date, absence.end_date + timedelta(days=1)
    begins_at = hours.day_starts_at if first_half == "am" else hours.midday_at
    ends_at = hours.midday_at if last_half == "am" else hours.day_ends_at
    zone = ZoneInfo(absence.timezone)
    return _in_utc(absence.start_date, begins_at, zone), _in_utc(absence.end_date, ends_at, zone)


def _outer_halves(absence: Absence) -> tuple[HalfDay, HalfDay]:
    """The first half-day away and the last; on a single day either field may name both."""
    start, end = absence.start_half_day, absence.end_half_day
    if absence.start_date == absence.end_date:
        return start or end or "am", end or start or "pm"
    return start or "am", end or "pm"


def _in_utc(day: date, hours_and_minutes: str, zone: ZoneInfo) -> datetime:
    local = datetime.combine(day, time.fromisoformat(hours_and_minutes), tzinfo=zone)
    return local.astimezone(UTC)


def _one_line(text: str) -> str:
    return _NOT_ON_ONE_LINE.sub(" ", text).strip()
