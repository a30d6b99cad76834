"""Absences as iCalendar bytes (RFC 5545, RFC 7986); pure.

An ``Absence`` holds only what its reader may see. Equal values have equal bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from datetime import date, timedelta
from functools import lru_cache
from typing import Final

from icalendar import Calendar, Event, vText

from api.feeds.css_colours import nearest_css_name
from api.feeds.event_times import WorkingHours, event_span
from api.feeds.feed_values import Feed, PublicHoliday
from storage.base.calendar_values import Absence
from storage.base.texts import without_bidirectional
from storage.base.values import HalfDay, LeaveStatus

PRODID: Final = "-//Hiatus//Leave calendar//EN"
AWAY: Final = "Away"

_END_OF_CALENDAR: Final = b"END:VCALENDAR\r\n"
_STATUS: Final[dict[LeaveStatus, str]] = {
    "pending": "TENTATIVE",
    "approved": "CONFIRMED",
    "cancelled": "CANCELLED",
    "declined": "CANCELLED",  # calendars that showed it while pending remove it
}
_HALF_SUFFIX: Final[dict[HalfDay | None, str]] = {
    None: "",
    "am": " (morning)",
    "pm": " (afternoon)",
}
# Control characters are not TEXT (RFC 5545, 3.3.11), lone surrogates are not UTF-8, and for some
# readers U+0085, U+2028 and U+2029 end a line. U+FEFF is lost at the beginning of a text.
_NOT_ON_ONE_LINE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]+")
# RFC 5545, 3.3.11.
_ESCAPED: Final = re.compile(r"[\\;,]")


class _OneLine(vText):
    """A text on one line. The library would turn a backslash and an N into a line break."""

    def to_ical(self) -> bytes:
        return _ESCAPED.sub(r"\\\g<0>", self).encode()


def render_feed(feed: Feed, fragments: Iterable[bytes]) -> bytes:
    """A whole calendar around rendered events, in their order."""
    return b"".join([_head(feed), *fragments, _END_OF_CALENDAR])


def render_event(absence: Absence, hours: WorkingHours) -> bytes:
    """One leave request as a VEVENT, CRLF at its end.

    Whole days are dates. Leave that begins or ends at midday is one event timed in UTC.
    """
    label = _one_line(absence.summary_type or "") or AWAY
    # Cancelled leave blocks no time in calendars that still show it.
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
    """A public holiday as a VEVENT that blocks no time, CRLF at its end; half-days are timed."""
    begins, ends = event_span(holiday.day, holiday.day, holiday.half, None, holiday.timezone, hours)
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
    """A UID that depends on everything that the event shows: a changed holiday is a new event.

    Overrides and new releases of the holidays library raise no SEQUENCE, and calendars ignore a
    different event with the same UID and SEQUENCE.
    """
    contents = f"{label}\n{begins.isoformat()}\n{ends.isoformat()}".encode()
    digest = hashlib.sha256(contents).hexdigest()[:12]
    return f"holiday-{holiday.country_code}-{holiday.day.isoformat()}-{digest}"


# Cached, because a feed's name and address hardly ever change.
@lru_cache(maxsize=2_048)
def _head(feed: Feed) -> bytes:
    calendar = Calendar()
    calendar.add("prodid", PRODID)
    calendar.add("version", "2.0")
    calendar.add("method", "PUBLISH")
    # The library does not know NAME and X-WR-CALNAME, so it does not escape them.
    calendar.add("name", _OneLine(_one_line(feed.name)))
    calendar.add("x-wr-calname", _OneLine(_one_line(feed.name)))
    # These have no default type (RFC 7986, 5.7 and 5.8), and the library adds no VALUE.
    calendar.add("refresh-interval", timedelta(hours=1), parameters={"VALUE": "DURATION"})
    calendar.add("source", feed.source_url, parameters={"VALUE": "URI"})
    calendar.add("x-published-ttl", "PT1H")
    return bytes(calendar.to_ical()).removesuffix(_END_OF_CALENDAR)


def _summary(absence: Absence, label: str) -> str:
    remarks = ["pending"] if absence.status == "pending" else []
    if cover := _one_line(absence.cover_name or ""):
        remarks.append(f"covered by {cover}")
    suffix = f" ({', '.join(remarks)})" if remarks else ""
    name = "" if absence.is_own else _one_line(absence.person_name)
    return f"{name}: {label}{suffix}" if name else f"{label}{suffix}"


def _span(absence: Absence, hours: WorkingHours) -> tuple[date, date]:
    return event_span(
        absence.start_date,
        absence.end_date,
        absence.start_half_day,
        absence.end_half_day,
        absence.timezone,
        hours,
    )


def _one_line(text: str) -> str:
    # Rows written before such characters were refused may have them.
    return _NOT_ON_ONE_LINE.sub(" ", without_bidirectional(text)).strip()
