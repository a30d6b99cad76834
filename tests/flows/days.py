"""Days for tests of processes, which live by the real clock: none is a weekend or holiday."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import holidays


def free_monday(weeks_ahead: int = 4) -> date:
    """A Monday so many weeks ahead or later; England has no holiday from it to the Friday."""
    today = datetime.now(UTC).date()
    monday = today + timedelta(weeks=weeks_ahead, days=-today.weekday())
    closed = holidays.country_holidays("GB", subdiv="ENG")
    while any(monday + timedelta(days=number) in closed for number in range(5)):
        monday += timedelta(weeks=1)
    return monday


def working_days(count: int) -> list[date]:
    """So many working days in England, the first of them a free Monday."""
    day = free_monday()
    closed = holidays.country_holidays("GB", subdiv="ENG")
    days: list[date] = []
    while len(days) < count:
        if day.weekday() < 5 and day not in closed:
            days.append(day)
        day += timedelta(days=1)
    return days
