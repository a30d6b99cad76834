"""The start and end of a calendar event, also of leave that begins or ends at midday."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from storage.base.values import HalfDay


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkingHours:
    """The organisation's working day, each as ``HH:MM`` in the absent person's time zone."""

    day_starts_at: str
    midday_at: str
    day_ends_at: str


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
