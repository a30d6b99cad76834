"""When a person is back at work after leave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from peewee import Select

from storage.base.leave_values import LeaveRequest
from storage.base.values import User
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import colleagues, employment_by_date
from storage.rules import counted_days
from storage.rules.counted_days import AFTERNOON, MORNING, DayCount, Span

# A return later than this is not shown.
_LOOKED_AHEAD: Final = timedelta(days=62)
# Rows of one person that end in these days.
_MAX_ROWS: Final = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Return:
    """The day on which a person works again; ``is_at_midday``: they are off that morning."""

    day: date
    is_at_midday: bool


def after(
    tx: Transaction, config: OrganisationConfig, user: User, request: LeaveRequest
) -> Return | None:
    """The person's first working time after the leave and the approved leave that follows it.

    None for leave that ended otherwise, for work elsewhere, and if no such day is near.
    """
    leave_type = config.leave_types[request.leave_type_id]
    if request.status not in ("pending", "approved") or not leave_type.is_away:
        return None
    next_slot = counted_days.span_of(request).last_slot + 1
    first_day = date.fromordinal(next_slot >> 1)
    span = Span(
        start_date=first_day,
        end_date=first_day + _LOOKED_AHEAD,
        start_half_day="pm" if next_slot % 2 else None,
    )
    found = tx.all(
        _leave,
        organisation_id=config.organisation.id,
        user_id=user.id,
        excluded_id=request.id,
        earliest_start=counted_days.earliest_start(first_day).isoformat(),
        first_day=first_day.isoformat(),
        last_day=span.end_date.isoformat(),
        limit=_MAX_ROWS,
    )
    taken: dict[date, int] = defaultdict(int)
    for start_date, counted_halves in found:
        for offset, halves in enumerate(counted_halves):
            taken[rows.day(start_date) + timedelta(days=offset)] |= int(halves)
    if next_slot % 2:
        taken[first_day] |= MORNING
    worked = employment_by_date.count(config, user, span)
    back = first_free(worked, taken)
    is_employed = back is not None and (user.end_date is None or back.day <= user.end_date)
    return back if is_employed else None


def first_free(worked: Iterable[DayCount], taken: Mapping[date, int]) -> Return | None:
    """The first worked half of a day that leave does not take."""
    for day in worked:
        off = taken.get(day.date, 0)
        if free := day.counted & ~off:
            is_at_midday = free == AFTERNOON and bool(off & MORNING)
            return Return(day=day.date, is_at_midday=is_at_midday)
    return None


@compiled
def _leave(
    organisation_id: Param[str],
    user_id: Param[str],
    excluded_id: Param[str],
    earliest_start: Param[str],
    first_day: Param[str],
    last_day: Param[str],
    limit: Param[int],
) -> Select:
    return (
        LeaveRequestRow.select(LeaveRequestRow.start_date, LeaveRequestRow.counted_halves)
        .where(
            LeaveRequestRow.organisation_id == organisation_id,
            LeaveRequestRow.user_id == user_id,
            LeaveRequestRow.status == "approved",
            LeaveRequestRow.id != excluded_id,
            LeaveRequestRow.start_date >= earliest_start,
            LeaveRequestRow.start_date <= last_day,
            LeaveRequestRow.end_date >= first_day,
            colleagues.is_absence(LeaveRequestRow),
        )
        .limit(limit)
    )
