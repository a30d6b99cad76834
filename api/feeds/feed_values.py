"""What a calendar shows besides absences."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from storage.base.values import HalfDay


@dataclass(frozen=True, kw_only=True, slots=True)
class Feed:
    """``source_url`` is the calendar's address without the token, since files are forwarded."""

    name: str
    source_url: str


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
