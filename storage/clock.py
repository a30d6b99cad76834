"""Which day it is where: instants in, local dates out. The instant itself is always an argument."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo


def local_day(now: datetime, timezone: str) -> date:
    """The date at ``now`` in an IANA time zone."""
    return now.astimezone(ZoneInfo(timezone)).date()
