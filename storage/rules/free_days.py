"""Working days on which a person has no leave yet, and bridges: those between days off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Final

from pydantic import ConfigDict, Field

from storage.base.values import About
from storage.rules import counted_days
from storage.rules.counted_days import NOTHING, DayCount, Span


def first_free(counts: Iterable[DayCount], booked: Sequence[Span]) -> date | None:
    """The first day that counts and on which no half is booked."""
    return next(
        (
            count.date
            for count in counts
            if count.counted != NOTHING and booked_halves(count.date, booked) == NOTHING
        ),
        None,
    )


def booked_halves(day: date, booked: Iterable[Span]) -> int:
    """The mask of the halves of a day that booked leave covers."""
    mask = NOTHING
    for span in booked:
        if span.start_date <= day <= span.end_date:
            mask |= counted_days.requested_halves(span, day)
    return mask


# The dates that are read on each side of the leave: longer runs of days off have no bridge.
REACH_DAYS: Final = 14
# Fewer days off in a row are no reason to take one more.
_MIN_DAYS_OFF: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Bridge:
    """A working day that makes a row of days off longer if it is taken as well."""

    __pydantic_config__ = ConfigDict(title="BridgeDay")

    day: Annotated[date, Field(serialization_alias="date")]
    holiday: Annotated[
        date,
        Field(serialization_alias="public_holiday"),
        About(description="The public holiday in that row."),
    ]
    days_off: Annotated[
        int, About(description="The days off in a row with it, weekends included: at least 4.")
    ]


def window(span: Span) -> Span:
    """The dates that ``bridge_of`` needs for leave, as whole days."""
    reach = timedelta(days=REACH_DAYS)
    return Span(start_date=span.start_date - reach, end_date=span.end_date + reach)


def bridge_of(
    counts: Sequence[DayCount], span: Span, booked: Sequence[Span], *, not_before: date
) -> Bridge | None:
    """The best bridge beside the leave ``span``: the one with the most days off, the earlier first.

    ``counts`` are of the dates of ``window(span)``, ``booked`` is the person's other leave. None if
    the leave begins or ends at midday, or if no public holiday is beside a bridge.
    """
    if span.first_slot % 2 == 1 or span.last_slot % 2 == 0:
        return None
    run = _Days(counts=counts, span=span, booked=booked)
    first, last = REACH_DAYS, len(counts) - 1 - REACH_DAYS
    while run.is_off(first - 1):
        first -= 1
    while run.is_off(last + 1):
        last += 1
    found = [
        bridge
        for at, step in ((first - 1, -1), (last + 1, 1))
        if (bridge := run.bridge_at(at, step, last - first + 1))
        and bridge.day >= not_before
        and bridge.days_off >= _MIN_DAYS_OFF
    ]
    return max(found, key=lambda bridge: bridge.days_off, default=None)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Days:
    counts: Sequence[DayCount]
    span: Span
    booked: Sequence[Span]

    def is_off(self, at: int) -> bool:
        """Whether the person is off all day without further leave; False outside the window."""
        if not 0 <= at < len(self.counts):
            return False
        count = self.counts[at]
        return not count.counted & ~booked_halves(count.date, self.booked)

    def bridge_at(self, at: int, step: int, run_length: int) -> Bridge | None:
        """The bridge at a working day beside a run of days off; ``step`` leads away from it."""
        beyond = at + step
        while self.is_off(beyond):
            beyond += step
        further = abs(beyond - at) - 1
        is_at_edge = not 0 <= beyond < len(self.counts)
        if further == 0 or is_at_edge:
            return None
        holiday = self._holiday_beside(at, step)
        if holiday is None:
            return None
        return Bridge(day=self.counts[at].date, holiday=holiday, days_off=run_length + 1 + further)

    def _holiday_beside(self, at: int, step: int) -> date | None:
        """The nearest public holiday in the days off on either side of the bridge."""
        holidays: list[tuple[int, date]] = []
        for direction in (-step, step):
            beside = at + direction
            while self.is_off(beside):
                count = self.counts[beside]
                if count.worked & count.holiday and count.counted == NOTHING:
                    holidays.append((abs(beside - at), count.date))
                beside += direction
        return min(holidays, default=(0, None))[1]
