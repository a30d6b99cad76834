"""Leave cut into parts and joined again; pure. No counted half is lost or doubled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from storage.base.leave_values import LeaveRequest
from storage.rules import counted_days
from storage.rules.counted_days import Span

_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Consecutive half-days of leave; ``counted_halves`` as in `LeaveRequest`."""

    span: Span
    counted_halves: str

    @property
    def half_days(self) -> int:
        return counted_days.total_half_days(self.counted_halves)


def of_request(request: LeaveRequest) -> Part:
    return Part(span=counted_days.span_of(request), counted_halves=request.counted_halves)


def with_part(request: LeaveRequest, part: Part) -> LeaveRequest:
    return replace(
        request,
        start_date=part.span.start_date,
        end_date=part.span.end_date,
        start_half_day=part.span.start_half_day,
        end_half_day=part.span.end_half_day,
        counted_halves=part.counted_halves,
        total_half_days=part.half_days,
    )


def cut(leave: Part, span: Span) -> tuple[Part | None, Part | None, Part | None]:
    """The leave before, within and after a span; None where no half counts."""
    first_slot, last_slot = leave.span.first_slot, leave.span.last_slot
    return (
        _between(leave, first_slot, min(span.first_slot - 1, last_slot)),
        _between(leave, max(span.first_slot, first_slot), min(span.last_slot, last_slot)),
        _between(leave, max(span.last_slot + 1, first_slot), last_slot),
    )


def without(leave: Part, spans: Iterable[Span]) -> list[Part]:
    """What is left of the leave outside of the spans, by first day.

    Days that count nothing stay neither by themselves nor beside a cut.
    """
    parts = [leave]
    for span in spans:
        cuts = [cut(part, span) for part in parts]
        parts = [part for before, _, after in cuts for part in (before, after) if part is not None]
    return parts if parts == [leave] else list(map(_trimmed, parts))


def _trimmed(part: Part) -> Part:
    """Without days at its ends that count nothing; some day counts."""
    halves = part.counted_halves
    first, last = len(halves) - len(halves.lstrip("0")), len(halves.rstrip("0")) - 1
    if last - first + 1 == len(halves):
        return part
    start, end = part.span.start_date + first * _DAY, part.span.start_date + last * _DAY
    span = Span(
        start_date=start,
        end_date=end,
        start_half_day=part.span.start_half_day if first == 0 else None,
        end_half_day=part.span.end_half_day if last == len(halves) - 1 else None,
    )
    return Part(span=span, counted_halves=halves[first : last + 1])


def _between(leave: Part, first_slot: int, last_slot: int) -> Part | None:
    if first_slot > last_slot:
        return None
    span = counted_days.span_of_slots(first_slot, last_slot)
    start_ordinal = leave.span.start_date.toordinal()
    counted_halves = "".join(
        str(
            int(leave.counted_halves[ordinal - start_ordinal])
            & counted_days.requested_halves(span, date.fromordinal(ordinal))
        )
        for ordinal in range(span.start_date.toordinal(), span.end_date.toordinal() + 1)
    )
    part = Part(span=span, counted_halves=counted_halves)
    return part if part.half_days else None


def adjoin(first: Span, second: Span) -> bool:
    """Whether one begins with the half after the other, in either order."""
    return first.last_slot + 1 == second.first_slot or second.last_slot + 1 == first.first_slot


def join(first: Part, second: Part) -> Part:
    """Two adjoining parts as one, in either order."""
    if second.span.first_slot < first.span.first_slot:
        first, second = second, first
    before, after = first.counted_halves, second.counted_halves
    if first.span.end_date == second.span.start_date:
        # They share a date: the morning of one and the afternoon of the other.
        counted_halves = before[:-1] + str(int(before[-1]) | int(after[0])) + after[1:]
    else:
        counted_halves = before + after
    return Part(
        span=counted_days.span_of_slots(first.span.first_slot, second.span.last_slot),
        counted_halves=counted_halves,
    )
