"""The working time of a person: working days after a date, and when work begins on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from storage.rules.counted_days import MORNING, NOTHING, Holiday, WorkingWeek

# Searches end after so many days, for people who work on none of them.
MAX_DAYS: Final = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class Hours:
    """When the halves of a day begin and end, as ``HH:MM`` in an IANA time zone."""

    starts_at: str
    midday_at: str
    ends_at: str
    timezone: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Worktime:
    """The working time of one person. ``away`` has the halves of approved leave by date."""

    week: WorkingWeek
    holidays: Mapping[date, Holiday]
    away: Mapping[date, int]
    hours: Hours

    def halves(self, day: date) -> int:
        """The mask of the halves in which the person works that day."""
        holiday = self.holidays.get(day)
        off = (NOTHING if holiday is None else holiday.halves) | self.away.get(day, NOTHING)
        return self.week[day.weekday()] & ~off

    def local_day(self, instant: datetime) -> date:
        return instant.astimezone(ZoneInfo(self.hours.timezone)).date()

    def begins_at(self, day: date) -> datetime:
        """When work begins on a working day, in UTC."""
        is_morning = self.halves(day) & MORNING
        return self._at(day, self.hours.starts_at if is_morning else self.hours.midday_at)

    def is_at_work(self, instant: datetime) -> bool:
        day = self.local_day(instant)
        halves = self.halves(day)
        if halves == NOTHING:
            return False
        ends_at = self.hours.midday_at if halves == MORNING else self.hours.ends_at
        return self.begins_at(day) <= instant < self._at(day, ends_at)

    def _at(self, day: date, clock: str) -> datetime:
        local = datetime.combine(day, time.fromisoformat(clock), ZoneInfo(self.hours.timezone))
        return local.astimezone(UTC)


def nth_working_day_after(halves: Callable[[date], int], day: date, number: int) -> date | None:
    """The nth working day after ``day``; None if there is none in MAX_DAYS."""
    remaining = number
    for ahead in range(1, MAX_DAYS):
        later_day = day + timedelta(days=ahead)
        remaining -= halves(later_day) != NOTHING
        if remaining == 0:
            return later_day
    return None


def next_work_start(worktime: Worktime, instant: datetime) -> datetime | None:
    """When work next begins after that instant; None if it does not in MAX_DAYS."""
    today = worktime.local_day(instant)
    if worktime.halves(today) != NOTHING and worktime.begins_at(today) > instant:
        return worktime.begins_at(today)
    day = nth_working_day_after(worktime.halves, today, 1)
    return None if day is None else worktime.begins_at(day)
