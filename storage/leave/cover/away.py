"""The days on which a cover is off although the person needs them."""

from __future__ import annotations

from datetime import date, timedelta

from storage.base.errors import Days, FieldError, Sentence
from storage.base.values import User
from storage.db.database import Transaction
from storage.directory import approval_rule
from storage.leave import bookings
from storage.rules.counted_days import NOTHING


def days_off(
    tx: Transaction,
    organisation_id: str,
    cover: User,
    *,
    start_date: date,
    counted_halves: str,
    worked_halves: str,
    includes_pending: bool = False,
) -> list[date]:
    """The dates of leave with a half that the cover does not work or is on approved leave.

    ``counted_halves`` are those of the leave, ``worked_halves`` those that the cover works on the
    same dates by their working days and public holidays. A deactivated cover is off on all of them.
    ``includes_pending``: pending leave counts, too.
    """
    end_date = start_date + timedelta(days=len(counted_halves) - 1)
    free = [int(halves) for halves in worked_halves]
    if not approval_rule.is_reachable(cover):
        free = [NOTHING] * len(free)
    booked = bookings.of_person(tx, organisation_id, cover.id, start_date, end_date)
    for leave in booked.leave:
        if leave.status == "pending" and not includes_pending:
            continue
        first = (leave.start_date - start_date).days
        for index, halves in enumerate(leave.counted_halves, first):
            if 0 <= index < len(free):
                free[index] &= ~int(halves)
    return [
        start_date + timedelta(days=index)
        for index, needed in enumerate(counted_halves)
        if int(needed) & ~free[index]
    ]


def warning(cover: User, days: list[date]) -> FieldError:
    """The warning of a preview."""
    return FieldError(
        pointer="/cover_user_id",
        code="cover_away",
        detail=Sentence("{name} is off on {days}.", name=cover.name, days=Days(dates=tuple(days))),
    )
