"""When somebody is at work: the nth working day after a day, and when work begins on it.

Pure: what a person works, which public holidays hold and when they are away come in as halves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from storage.rules.days import MORNING, NOTHING, Holiday, WorkingWeek

# Who works on none of so many days is not waited for.
FURTHEST_DAYS: Final = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class Hours:
    """When a day's halves begin and end on the clock, as ``HH:MM``, and in which IANA zone."""

    starts_at: str
    midday_at: str
    ends_at: str
    timezone: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Worktime:
    """What one person works. ``away`` are dates with the halves of approved leave."""

    week: WorkingWeek
    holidays: Mapping[date, Holiday]
    away: Mapping[date, int]
    hours: Hours

    def halves(self, day: date) -> int:
        """The mask of the halves that the person works that day."""
        holiday = self.holidays.get(day)
        off = (NOTHING if holiday is None else holiday.halves) | self.away.get(day, NOTHING)
        return self.week[day.weekday()] & ~off

    def local_day(self, instant: datetime) -> date:
        """The date at that instant where the person is."""
        return instant.astimezone(ZoneInfo(self.hours.timezone)).date()

    def begins_at(self, day: date) -> datetime:
        """When work begins on a day that has some, in UTC."""
        is_morning = self.halves(day) & MORNING
        return self._at(day, self.hours.starts_at if is_morning else self.hours.midday_at)

    def is_at_work(self, instant: datetime) -> bool:
        """Whether the person works at that instant."""
        day = self.local_day(instant)
        halves = self.halves(day)
        if halves == NOTHING:
            return False
        ends_at = self.hours.midday_at if halves == MORNING else self.hours.ends_at
        return self.begins_at(day) <= instant < self._at(day, ends_at)

    def _at(self, day: date, clock: str) -> datetime:
        local = datetime.combine(day, time.fromisoformat(clock), ZoneInfo(self.hours.timezone))
        return local.astimezone(UTC)


def nth_after(halves: Callable[[date], int], day: date, number: int) -> date | None:
    """The nth day after ``day`` with any working half; None where there is none in sight."""
    left = number
    for ahead in range(1, FURTHEST_DAYS):
        found = day + timedelta(days=ahead)
        left -= halves(found) != NOTHING
        if left == 0:
            return found
    return None


def next_start(worktime: Worktime, instant: datetime) -> datetime | None:
    """The next time after that instant at which work begins; None where none is in sight."""
    today = worktime.local_day(instant)
    if worktime.halves(today) != NOTHING and worktime.begins_at(today) > instant:
        return worktime.begins_at(today)
    day = nth_after(worktime.halves, today, 1)
    return None if day is None else worktime.begins_at(day)
