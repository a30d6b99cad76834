"""Absences and public holidays as iCalendar bytes (RFC 5545, RFC 7986); pure.

An ``Absence`` holds only what its reader may see. Equal values have equal bytes.
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

from storage.base.calendar_values import Absence
from storage.base.leave_values import HalfDay, LeaveStatus
from storage.base.texts import without_bidirectional

# The events of the feeds that were read last; 5 MB at most.
_MAX_RENDERED: Final = 4_096
_MAX_LINES: Final = 4_096

PRODID: Final = "-//Hiatus//Leave calendar//EN"
AWAY: Final = "Away"
ELSEWHERE: Final = "Working elsewhere"

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

# The colour names of CSS, the only ones of COLOR (RFC 7986, 5.9); of aqua/cyan and grey/gray, only
# one is here.
_CSS_COLOURS: Final = """
aliceblue f0f8ff antiquewhite faebd7 aquamarine 7fffd4 azure f0ffff beige f5f5dc bisque ffe4c4
black 000000 blanchedalmond ffebcd blue 0000ff blueviolet 8a2be2 brown a52a2a burlywood deb887
cadetblue 5f9ea0 chartreuse 7fff00 chocolate d2691e coral ff7f50 cornflowerblue 6495ed
cornsilk fff8dc crimson dc143c cyan 00ffff darkblue 00008b darkcyan 008b8b darkgoldenrod b8860b
darkgray a9a9a9 darkgreen 006400 darkkhaki bdb76b darkmagenta 8b008b darkolivegreen 556b2f
darkorange ff8c00 darkorchid 9932cc darkred 8b0000 darksalmon e9967a darkseagreen 8fbc8f
darkslateblue 483d8b darkslategray 2f4f4f darkturquoise 00ced1 darkviolet 9400d3 deeppink ff1493
deepskyblue 00bfff dimgray 696969 dodgerblue 1e90ff firebrick b22222 floralwhite fffaf0
forestgreen 228b22 gainsboro dcdcdc ghostwhite f8f8ff gold ffd700 goldenrod daa520 gray 808080
green 008000 greenyellow adff2f honeydew f0fff0 hotpink ff69b4 indianred cd5c5c indigo 4b0082
ivory fffff0 khaki f0e68c lavender e6e6fa lavenderblush fff0f5 lawngreen 7cfc00
lemonchiffon fffacd lightblue add8e6 lightcoral f08080 lightcyan e0ffff
lightgoldenrodyellow fafad2 lightgray d3d3d3 lightgreen 90ee90 lightpink ffb6c1
lightsalmon ffa07a lightseagreen 20b2aa lightskyblue 87cefa lightslategray 778899
lightsteelblue b0c4de lightyellow ffffe0 lime 00ff00 limegreen 32cd32 linen faf0e6
magenta ff00ff maroon 800000 mediumaquamarine 66cdaa mediumblue 0000cd mediumorchid ba55d3
mediumpurple 9370db mediumseagreen 3cb371 mediumslateblue 7b68ee mediumspringgreen 00fa9a
mediumturquoise 48d1cc mediumvioletred c71585 midnightblue 191970 mintcream f5fffa
mistyrose ffe4e1 moccasin ffe4b5 navajowhite ffdead navy 000080 oldlace fdf5e6 olive 808000
olivedrab 6b8e23 orange ffa500 orangered ff4500 orchid da70d6 palegoldenrod eee8aa
palegreen 98fb98 paleturquoise afeeee palevioletred db7093 papayawhip ffefd5 peachpuff ffdab9
peru cd853f pink ffc0cb plum dda0dd powderblue b0e0e6 purple 800080 red ff0000 rosybrown bc8f8f
royalblue 4169e1 saddlebrown 8b4513 salmon fa8072 sandybrown f4a460 seagreen 2e8b57
seashell fff5ee sienna a0522d silver c0c0c0 skyblue 87ceeb slateblue 6a5acd slategray 708090
snow fffafa springgreen 00ff7f steelblue 4682b4 tan d2b48c teal 008080 thistle d8bfd8
tomato ff6347 turquoise 40e0d0 violet ee82ee wheat f5deb3 white ffffff whitesmoke f5f5f5
yellow ffff00 yellowgreen 9acd32
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Feed:
    """``source_url`` is the calendar's address without the token, since files are forwarded."""

    name: str
    source_url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkingHours:
    """The organisation's working day, each as ``HH:MM`` in the absent person's time zone."""

    day_starts_at: str
    midday_at: str
    day_ends_at: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PublicHoliday:
    """A holiday; half-days begin and end in ``timezone``, the feed owner's.

    ``updated_at`` is when its set was created or ``sequence`` was last raised.
    """

    country_code: str
    day: date
    name: str
    updated_at: datetime
    half: HalfDay | None = None
    timezone: str = "UTC"
    sequence: int = 0


class _OneLine(vText):
    """A text on one line. The library would turn a backslash and an N into a line break."""

    def to_ical(self) -> bytes:
        return _ESCAPED.sub(r"\\\g<0>", self).encode()


def render_feed(feed: Feed, fragments: Iterable[bytes]) -> bytes:
    """A whole calendar around rendered events, in their order."""
    return b"".join([_head(feed), *fragments, _END_OF_CALENDAR])


@lru_cache(_MAX_RENDERED)
def render_event(absence: Absence, hours: WorkingHours) -> bytes:
    """One leave request as a VEVENT, CRLF at its end.

    Whole days are dates. Leave that begins or ends at midday is one event timed in UTC. Takes
    0.1 ms unless it is cached.
    """
    label = _one_line(absence.summary_type or "") or (AWAY if absence.is_away else ELSEWHERE)
    # Cancelled leave blocks no time in calendars that still show it, and neither does work
    # elsewhere: X-MICROSOFT-CDO-BUSYSTATUS has no value for it (MS-OXCICAL, 2.1.3.1.1.20.31).
    is_busy = absence.is_own and absence.is_away and _STATUS[absence.status] != "CANCELLED"
    begins, ends = event_span(
        absence.start_date,
        absence.end_date,
        absence.start_half_day,
        absence.end_half_day,
        absence.timezone,
        hours,
    )

    return _event(
        ("summary", _OneLine(_summary(absence, label))),
        ("dtstart", begins),
        ("dtend", ends),
        ("dtstamp", absence.updated_at),
        ("uid", absence.request_id),
        ("sequence", absence.sequence),
        ("categories", _OneLine(label)),
        ("color", absence.colour and nearest_css_name(absence.colour)),
        ("last-modified", absence.updated_at),
        ("status", _STATUS[absence.status]),
        ("transp", "OPAQUE" if is_busy else "TRANSPARENT"),
        ("x-microsoft-cdo-busystatus", "OOF" if is_busy else "FREE"),
    )


@lru_cache(_MAX_RENDERED)
def render_holiday(holiday: PublicHoliday, hours: WorkingHours) -> bytes:
    """A public holiday as a VEVENT that blocks no time, CRLF at its end; half-days are timed."""
    begins, ends = event_span(holiday.day, holiday.day, holiday.half, None, holiday.timezone, hours)
    label = _one_line(holiday.name) + _HALF_SUFFIX[holiday.half]

    return _event(
        ("summary", _OneLine(label)),
        ("dtstart", begins),
        ("dtend", ends),
        ("dtstamp", holiday.updated_at),
        ("uid", _holiday_uid(holiday, label, begins, ends)),
        ("sequence", holiday.sequence),
        ("categories", "Public holiday"),
        ("last-modified", holiday.updated_at),
        ("status", "CONFIRMED"),
        ("transp", "TRANSPARENT"),
        ("x-microsoft-cdo-busystatus", "FREE"),
    )


def _event(*properties: tuple[str, str | int | date | None]) -> bytes:
    """A VEVENT of the properties that are not None, CRLF at its end."""
    lines = [_line(name, value) for name, value in properties if value is not None]
    return b"".join([b"BEGIN:VEVENT\r\n", *lines, b"END:VEVENT\r\n"])


# Most lines of a feed repeat, as days, states and names do; rendering a new one takes 20 µs.
@lru_cache(_MAX_LINES, typed=True)
def _line(name: str, value: str | int | date) -> bytes:
    event = Event()
    event.add(name, value)
    [(name, encoded)] = event.items()
    return bytes(event.content_line(name, encoded).to_ical()) + b"\r\n"


def _holiday_uid(holiday: PublicHoliday, label: str, begins: date, ends: date) -> str:
    """A UID that depends on everything that the event shows: a changed holiday is a new event.

    Overrides and new releases of the holidays library raise no SEQUENCE, and calendars ignore a
    different event with the same UID and SEQUENCE.
    """
    contents = f"{label}\n{begins.isoformat()}\n{ends.isoformat()}".encode()
    digest = hashlib.sha256(contents).hexdigest()[:12]
    return f"holiday-{holiday.country_code}-{holiday.day.isoformat()}-{digest}"


# Cached, because a feed's name and address hardly ever change.
@lru_cache(2_048)
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


def _one_line(text: str) -> str:
    # Rows written before such characters were refused may have them.
    return _NOT_ON_ONE_LINE.sub(" ", without_bidirectional(text)).strip()


def event_span(
    first_day: date,
    last_day: date,
    start: HalfDay | None,
    end: HalfDay | None,
    timezone: str,
    hours: WorkingHours,
) -> tuple[date, date]:
    """Start and exclusive end: two dates for whole days, else two datetimes in UTC."""
    if first_day == last_day:
        # On a single day, either field may hold the half.
        first_half, last_half = start or end or "am", end or start or "pm"
    else:
        first_half, last_half = start or "am", end or "pm"
    if first_half == "am" and last_half == "pm":
        # The end is exclusive: an event on the 24th alone ends on the 25th (RFC 5545, 3.6.1).
        return first_day, last_day + timedelta(days=1)
    begins_at = hours.day_starts_at if first_half == "am" else hours.midday_at
    ends_at = hours.midday_at if last_half == "am" else hours.day_ends_at
    local_begin, local_end = _local(first_day, begins_at), _local(last_day, ends_at)
    zone = ZoneInfo(timezone)
    begins, ends = _in_utc(local_begin, zone), _in_utc(local_end, zone)
    # If clocks skip one of the two, the end may come out before the start.
    return begins, ends if begins < ends else begins + (local_end - local_begin)


def _local(day: date, hours_and_minutes: str) -> datetime:
    return datetime.combine(day, time.fromisoformat(hours_and_minutes))


def _in_utc(local: datetime, zone: ZoneInfo) -> datetime:
    """A local time in UTC.

    A time that occurs twice is the first; a skipped time is read as if the clocks had not moved
    yet (RFC 5545, 3.3.5).
    """
    return local.replace(tzinfo=zone).astimezone(UTC)


@lru_cache(1_024)
def nearest_css_name(colour: str) -> str:
    """The CSS name nearest to ``#rrggbb`` by distance in RGB; of equals, the alphabetically first.

    >>> nearest_css_name("#fe0102")
    'red'
    """
    words = iter(_CSS_COLOURS.split())
    red, green, blue = bytes.fromhex(colour[1:])

    def distance(name_and_code: tuple[str, str]) -> int:
        other = bytes.fromhex(name_and_code[1])
        return (other[0] - red) ** 2 + (other[1] - green) ** 2 + (other[2] - blue) ** 2

    return min(zip(words, words, strict=True), key=distance)[0]
