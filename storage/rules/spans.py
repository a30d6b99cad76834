"""The requested time of leave: its dates and halves, and whether two overlap."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

from storage.base.errors import InvalidInput
from storage.base.leave_values import HalfDay, LeaveRequest

MAX_SPAN_DAYS: Final = 366


def earliest_start(day: date) -> date:
    """No leave that ends on ``day`` or later begins earlier: it bounds an index scan."""
    return date.fromordinal(max(day.toordinal() - MAX_SPAN_DAYS, 1))


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """The requested time: consecutive half-days. Both dates are included.

    `requested_span` makes one from input and refuses impossible ones.
    """

    start_date: date
    end_date: date
    start_half_day: HalfDay | None = None
    end_half_day: HalfDay | None = None

    @property
    def first_slot(self) -> int:
        """The first requested half as ``2 * ordinal``, plus 1 for an afternoon."""
        begins_at_midday = self.start_half_day == "pm" or (
            self.start_half_day is None
            and self.end_half_day == "pm"
            and self.start_date == self.end_date
        )
        return 2 * self.start_date.toordinal() + begins_at_midday

    @property
    def last_slot(self) -> int:
        """The last requested half, included, numbered like `first_slot`."""
        ends_at_midday = self.end_half_day == "am" or (
            self.end_half_day is None
            and self.start_half_day == "am"
            and self.start_date == self.end_date
        )
        return 2 * self.end_date.toordinal() + (not ends_at_midday)


def requested_span(
    start_date: date,
    end_date: date,
    start_half_day: HalfDay | None = None,
    end_half_day: HalfDay | None = None,
) -> Span:
    """The requested span; its half-days stay as given.

    Raises InvalidInput: ``end_before_start``, ``too_long`` (over 366 days, both ends included),
    ``impossible_half_days`` (one day from midday until midday).
    """
    if end_date < start_date:
        raise InvalidInput.of(
            "end_date",
            "end_before_start",
            "The last day ({end_date}) is before the first day ({start_date}).",
            end_date=end_date,
            start_date=start_date,
        )
    length_days = end_date.toordinal() - start_date.toordinal() + 1
    if length_days > MAX_SPAN_DAYS:
        raise InvalidInput.of(
            "end_date",
            "too_long",
            "A request can cover at most {most} days. This one covers {length}.",
            length=length_days,
            most=MAX_SPAN_DAYS,
        )
    if start_date == end_date and start_half_day == "pm" and end_half_day == "am":
        raise InvalidInput.of(
            "end_half_day",
            "impossible_half_days",
            "Leave on a single day cannot start in the afternoon and end in the morning.",
        )
    return Span(
        start_date=start_date,
        end_date=end_date,
        start_half_day=start_half_day,
        end_half_day=end_half_day,
    )


def of_slots(first_slot: int, last_slot: int) -> Span:
    """The span of these halves, both included, numbered like `Span.first_slot`."""
    return Span(
        start_date=date.fromordinal(first_slot >> 1),
        end_date=date.fromordinal(last_slot >> 1),
        start_half_day="pm" if first_slot % 2 else None,
        end_half_day=None if last_slot % 2 else "am",
    )


def of_request(request: LeaveRequest) -> Span:
    return Span(
        start_date=request.start_date,
        end_date=request.end_date,
        start_half_day=request.start_half_day,
        end_half_day=request.end_half_day,
    )


def overlaps(first: Span, second: Span) -> bool:
    return first.first_slot <= second.last_slot and second.first_slot <= first.last_slot


def lies_within(inner: Span, outer: Span) -> bool:
    return outer.first_slot <= inner.first_slot and inner.last_slot <= outer.last_slot
