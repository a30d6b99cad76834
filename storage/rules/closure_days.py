"""Which leave a closure books for a person, from the days that they have off already; pure.

Slots are halves, numbered like ``counted_days.Span.first_slot``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from storage.rules import counted_days
from storage.rules.counted_days import AFTERNOON, MORNING, DayCount, Span


@dataclass(frozen=True, kw_only=True, slots=True)
class Booking:
    """Leave of a closure as it should be. ``existing`` is the index of the leave that it changes.

    None for new leave. A booking without a span is cancelled.
    """

    existing: int | None
    span: Span | None


# The first and last half of leave, and the index of the existing leave that it is.
_Leave = tuple[int, int, int | None]


def worked_slots(days: Iterable[DayCount]) -> set[int]:
    """The halves that count."""
    slots = set()
    for day in days:
        morning = 2 * day.date.toordinal()
        if day.counted & MORNING:
            slots.add(morning)
        if day.counted & AFTERNOON:
            slots.add(morning + 1)
    return slots


def free_slots(
    closed: Span, off: Iterable[Span], first_day: date, allowed: Collection[date]
) -> set[int]:
    """The halves of the closure from ``first_day`` on, on ``allowed`` days, without leave."""
    slots = {
        slot
        for slot in range(max(closed.first_slot, 2 * first_day.toordinal()), closed.last_slot + 1)
        if date.fromordinal(slot >> 1) in allowed
    }
    for leave in off:
        slots.difference_update(range(leave.first_slot, leave.last_slot + 1))
    return slots


def plan(
    free: Collection[int],
    worked: Collection[int],
    existing: Sequence[Span],
    first_day: date,
    *,
    extends: bool,
) -> list[Booking]:
    """The leave that books every free and worked half once, with what it does to existing leave.

    Days before ``first_day`` stay as they are. Existing leave keeps what is still free;
    ``extends`` lets it grow into free halves beside it, else these become leave of their own. Each
    span begins and ends with a half that counts, unless it begins in the past.
    """
    today = 2 * first_day.toordinal()
    leave: list[_Leave] = []
    cancelled: list[int] = []
    for index, span in enumerate(existing):
        runs = list(_runs(range(max(span.first_slot, today), span.last_slot + 1), free, worked))
        first_slot = span.first_slot
        if first_slot < today:
            last_slot = min(span.last_slot, today - 1)
            # What follows without a gap stays one leave.
            if runs and _is_free(range(today, runs[0][0]), free):
                last_slot = runs.pop(0)[1]
        elif runs:
            first_slot, last_slot = runs.pop(0)
        else:
            cancelled.append(index)
            continue
        leave.append((first_slot, last_slot, index))
        leave += [(*run, None) for run in runs]
    covered = {slot for first, last, _ in leave for slot in range(first, last + 1)}
    rest = set(free) - covered
    for first, last in _runs(sorted(rest), rest, worked):
        beside = _beside(leave, first, last, rest) if extends else None
        if beside is None:
            leave.append((first, last, None))
        else:
            leave[leave.index(beside)] = (min(beside[0], first), max(beside[1], last), beside[2])
    return [
        *(Booking(existing=index, span=None) for index in cancelled),
        *(
            Booking(existing=index, span=counted_days.span_of_slots(first, last))
            for first, last, index in sorted(leave, key=lambda each: each[0])
        ),
    ]


def _beside(leave: Sequence[_Leave], first: int, last: int, free: Collection[int]) -> _Leave | None:
    """The leave that reaches these halves over free ones only, an earlier one first."""
    for each in leave:
        if each[1] < first and _is_free(range(each[1] + 1, first), free):
            return each if _fits(each[0], last) else None
    for each in leave:
        if last < each[0] and _is_free(range(last + 1, each[0]), free):
            return each if _fits(first, each[1]) else None
    return None


def _fits(first_slot: int, last_slot: int) -> bool:
    return (last_slot >> 1) - (first_slot >> 1) < counted_days.MAX_SPAN_DAYS


def _is_free(slots: Iterable[int], free: Collection[int]) -> bool:
    return all(slot in free for slot in slots)


def _runs(
    slots: Iterable[int], free: Collection[int], worked: Collection[int]
) -> Iterator[tuple[int, int]]:
    """The runs of consecutive free slots, trimmed to those that count."""
    run: list[int] = []
    for slot in [*slots, None]:
        if run and (slot is None or slot not in free or slot != run[-1] + 1):
            counted = [each for each in run if each in worked]
            if counted:
                yield counted[0], counted[-1]
            run = []
        if slot is not None and slot in free:
            run.append(slot)
