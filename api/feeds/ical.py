"""Absences as iCalendar bytes (RFC 5545, RFC 7986); pure.

Who may see what was decided before: an ``Absence`` holds nothing hidden. Equal values give equal
bytes. Source: contract 8.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from icalendar import Calendar, Event, vText

from api.feeds.css_colours import nearest_css_name
from storage.base.calendar_values import Absence
from storage.base.fields import without_bidirectional
from storage.base.values import HalfDay, LeaveStatus

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
# U+2029 end a line for readers that split as Python does. U+FEFF is lost where a text begins.
_NOT_ON_ONE_LINE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]+")
# RFC 5545, 3.3.11.
_ESCAPED: Final = re.compile(r"[\\;,]")


class _OneLine(vText):
    """A text on one line. Of itself the library takes a backslash before an N for a line's end."""

    def to_ical(self) -> bytes:
        return _ESCAPED.sub(r"\\\g<0>", self).encode()


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkingHours:
    """The organisation's day as ``HH:MM`` each, in the absent person's time zone."""

    day_starts_at: str
    midday_at: str
    day_ends_at: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Feed:
    """``source_url`` is where the calendar comes from, without the token: files are forwarded."""

    name: str
    source_url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PublicHoliday:
    """A holiday; ``updated_at`` is when its set was made, or the sequence was last raised.

    ``timezone`` is that of whoever reads the feed: half a day begins and ends by his clock.
    """

    country_code: str
    day: date
    name: str
    updated_at: datetime
    half: HalfDay | None = None
    timezone: str = "UTC"
    sequence: int = 0


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
    event.add("sequence", absence.sequence)
    event.add("dtstamp", absence.updated_at)
    event.add("last-modified", absence.updated_at)
    event.add("dtstart", begins)
    event.add("dtend", ends)
    event.add("summary", _OneLine(_summary(absence, label)))
    event.add("status", _STATUS[absence.status])
    event.add("transp", "OPAQUE" if is_busy else "TRANSPARENT")
    event.add("x-microsoft-cdo-busystatus", "OOF" if is_busy else "FREE")
    event.add("categories", _OneLine(label))
    if absence.colour is not None:
        event.add("color", nearest_css_name(absence.colour))
    return bytes(event.to_ical())


def render_holiday(holiday: PublicHoliday, hours: WorkingHours) -> bytes:
    """A public holiday as a VEVENT that blocks no time, CRLF at its end; half a day is timed."""
    begins, ends = _span_of(holiday.day, holiday.day, holiday.half, None, holiday.timezone, hours)
    label = _one_line(holiday.name) + _HALF_SUFFIX[holiday.half]

    event = Event()
    event.add("uid", _holiday_uid(holiday, label, begins, ends))
    event.add("sequence", holiday.sequence)
    event.add("dtstamp", holiday.updated_at)
    event.add("last-modified", holiday.updated_at)
    event.add("dtstart", begins)
    event.add("dtend", ends)
    event.add("summary", _OneLine(label))
    event.add("status", "CONFIRMED")
    event.add("transp", "TRANSPARENT")
    event.add("x-microsoft-cdo-busystatus", "FREE")
    event.add("categories", ["Public holiday"])
    return bytes(event.to_ical())


def _holiday_uid(holiday: PublicHoliday, label: str, begins: date, ends: date) -> str:
    """One for all that the event shows: a holiday that is changed is another event.

    Overrides and releases of the holidays library come without a number that only grows, and
    calendars ignore an event that differs under an old UID and SEQUENCE.
    """
    shown = f"{label}\n{begins.isoformat()}\n{ends.isoformat()}".encode()
    digest = hashlib.sha256(shown).hexdigest()[:12]
    return f"holiday-{holiday.country_code}-{holiday.day.isoformat()}-{digest}"


# Programs ask for a feed every few minutes, and its head never changes.
@lru_cache(2_000)
def _head(feed: Feed) -> bytes:
    calendar = Calendar()
    calendar.add("prodid", PRODID)
    calendar.add("version", "2.0")
    calendar.add("method", "PUBLISH")
    # NAME and X-WR-CALNAME are unknown to the library: of itself it escapes nothing in them.
    calendar.add("name", _OneLine(_one_line(feed.name)))
    calendar.add("x-wr-calname", _OneLine(_one_line(feed.name)))
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
    return _span_of(
        absence.start_date,
        absence.end_date,
        absence.start_half_day,
        absence.end_half_day,
        absence.timezone,
        hours,
    )


def _span_of(
    first_day: date,
    last_day: date,
    start: HalfDay | None,
    end: HalfDay | None,
    timezone: str,
    hours: WorkingHours,
) -> tuple[date, date]:
    """Begin and exclusive end: two dates for whole days, two UTC datetimes otherwise."""
    if first_day == last_day:
        # On a single day either field may name both halves.
        first_half, last_half = start or end or "am", end or start or "pm"
    else:
        first_half, last_half = start or "am", end or "pm"
    if first_half == "am" and last_half == "pm":
        # Half-open in iCalendar: an event on the 24th alone ends on the 25th (RFC 5545, 3.6.1).
        return first_day, last_day + timedelta(days=1)
    begins_at = hours.day_starts_at if first_half == "am" else hours.midday_at
    ends_at = hours.midday_at if last_half == "am" else hours.day_ends_at
    local_begin, local_end = _local(first_day, begins_at), _local(last_day, ends_at)
    zone = ZoneInfo(timezone)
    begins, ends = _in_utc(local_begin, zone), _in_utc(local_end, zone)
    # Where clocks jump over one of the two, it may come out before the other.
    return begins, ends if begins < ends else begins + (local_end - local_begin)


def _local(day: date, hours_and_minutes: str) -> datetime:
    return datetime.combine(day, time.fromisoformat(hours_and_minutes))


def _in_utc(local: datetime, zone: ZoneInfo) -> datetime:
    """A time on the wall in UTC.

    The earlier one of a time that comes twice; one that is skipped is read as if the clocks had
    not moved yet (RFC 5545, 3.3.5).
    """
    return local.replace(tzinfo=zone).astimezone(UTC)


def _one_line(text: str) -> str:
    # Rows that were written before such characters were refused may hold them.
    return _NOT_ON_ONE_LINE.sub(" ", without_bidirectional(text)).strip()
