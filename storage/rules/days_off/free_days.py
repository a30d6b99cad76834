"""Working days on which a person has no leave yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from storage.rules import days
from storage.rules.days import DayCount
from storage.rules.halves import NOTHING
from storage.rules.spans import Span


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
            mask |= days.requested_halves(span, day)
    return mask
