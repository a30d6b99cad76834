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
