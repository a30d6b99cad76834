"""Local dates of instants. The current time is always an argument."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

_FRIDAY: Final = 4
_SUNDAY: Final = 6


def local_day(now: datetime, timezone: str) -> date:
    """The date at ``now`` in an IANA time zone."""
    return now.astimezone(ZoneInfo(timezone)).date()


def end_of_week(today: date) -> date:
    """The Sunday on which "who is out this week" ends.

    At weekends that is the Sunday of the next week.
    """
    sunday = today + timedelta(days=_SUNDAY - today.weekday())
    return sunday + timedelta(weeks=1) if today.weekday() > _FRIDAY else sunday
