"""What a person's leave years follow from, read in one go (contract 5).

What follows is worked out in standings.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple

from peewee import SQL, Select

from storage import days, leave_years, rows, standings
from storage.clock import local_day
from storage.compiled import Place, compiled
from storage.database import Transaction
from storage.leave_years import LeaveYearRule
from storage.reference import Reference
from storage.standings import Account, CarryOver, Deduction
from storage.tables import AllowanceAdjustmentRow, LeaveRequestRow
from storage.values import HalfDay, LeaveStatus, Organisation, User

_START_DATE: Final = itemgetter(2)

AllowanceSource = Literal["user", "department", "organisation"]


class BookedLeave(NamedTuple):
    """Pending or approved leave of one person."""

    id: str
    leave_type_id: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    status: LeaveStatus
    counted_halves: str

    @property
    def span(self) -> days.Span:
        return days.Span(self.start_date, self.end_date, self.start_half_day, self.end_half_day)


class Adjusted(NamedTuple):
    """An adjustment's part in it; ``leave_year`` as in `values.Adjustment`."""

    id: str
    leave_year: int
    half_days: int


class Books(NamedTuple):
    """All that a person's leave years follow from. ``leave``: earliest first, of any type."""

    account: Account
    source: AllowanceSource
    leave: list[BookedLeave]
    adjustments: list[Adjusted]


def leave_year_rule(reference: Reference, user: User) -> LeaveYearRule:
    """When this person's leave years begin."""
    organisation = reference.organisation
    return LeaveYearRule(
        organisation.leave_year_type,
        organisation.leave_year_start_month,
        organisation.leave_year_start_day,
        user.start_date,
    )


def granted_half_days(reference: Reference, user: User) -> tuple[int, AllowanceSource]:
    """What the person is granted for a whole leave year, and whose figure it is.

    The person's own, else the department's, else the organisation's.
    """
    if user.leave_allowance_half_days is not None:
        return user.leave_allowance_half_days, "user"
    department = reference.departments.get(user.department_id or "")
    if department is not None and department.default_leave_allowance_half_days is not None:
        return department.default_leave_allowance_half_days, "department"
    return reference.organisation.default_leave_allowance_half_days, "organisation"


def books(
    tx: Transaction, reference: Reference, user: User, first_day: date, last_day: date
) -> Books:
    """What decides about the leave years between two days, both included.

    Reads the person's leave of those years; where the organisation carries days over, of all years
    since Hiatus knows the person, and of those ahead.
    """
    organisation = reference.organisation
    rule = leave_year_rule(reference, user)
    carry_over = _carry_over(organisation, user)
    first_year = leave_years.leave_year_containing(
        rule, standings.reckoned_from(rule, carry_over, first_day)
    )
    last_read = date.max
    if carry_over is None:
        last_read = leave_years.leave_year_containing(rule, last_day).last_day
    found = tx.all(
        _booked,
        organisation_id=organisation.id,
        user_id=user.id,
        first_day=first_year.first_day.isoformat(),
        last_day=last_read.isoformat(),
        # An adjustment belongs to the leave year that begins in the calendar year of its date.
        first_adjusted=date(first_year.first_day.year, 1, 1).isoformat(),
        last_adjusted=date(last_read.year, 12, 31).isoformat(),
    )
    adjustments: list[Adjusted] = []
    leave: list[BookedLeave] = []
    # Not by the query: SQLite would walk through all leave of the organisation in this order.
    for row in sorted(found, key=_START_DATE):
        leave_id, leave_type_id, start, end, start_half, end_half, status, halves = row
        if leave_type_id is None:
            adjustments.append(Adjusted(leave_id, int(start[:4]), int(halves)))
            continue
        first, last = rows.day(start), rows.day(end)
        leave.append(
            BookedLeave(leave_id, leave_type_id, first, last, start_half, end_half, status, halves)
        )
    granted, source = granted_half_days(reference, user)
    sums: dict[int, int] = {}
    for one in adjustments:
        sums[one.leave_year] = sums.get(one.leave_year, 0) + one.half_days
    return Books(Account(rule, granted, sums, carry_over), source, leave, adjustments)


def _carry_over(organisation: Organisation, user: User) -> CarryOver | None:
    if organisation.carry_over_half_days == 0:
        return None
    known_from = local_day(user.created_at, organisation.timezone)
    if user.start_date is not None:
        known_from = max(known_from, user.start_date)
    return CarryOver(
        organisation.carry_over_half_days, organisation.carry_over_expiry_month, known_from
    )


def deducting(reference: Reference, leave: Iterable[BookedLeave]) -> list[Deduction]:
    """Those of a type that is taken off the allowance."""
    types = reference.leave_types
    return [
        Deduction(one.counted_halves, one.start_date, one.end_date)
        for one in leave
        if types[one.leave_type_id].deducts_allowance
    ]


@compiled
def _booked(
    organisation_id: Place,
    user_id: Place,
    first_day: Place,
    last_day: Place,
    first_adjusted: Place,
    last_adjusted: Place,
) -> Select:
    """Leave, and adjustments beside it: one visit to the database for both."""
    columns: tuple[Any, ...] = tuple(getattr(LeaveRequestRow, name) for name in BookedLeave._fields)
    leave = LeaveRequestRow.select(*columns).where(
        LeaveRequestRow.organisation_id == organisation_id,
        LeaveRequestRow.user_id == user_id,
        LeaveRequestRow.end_date >= first_day,
        LeaveRequestRow.start_date <= last_day,
        LeaveRequestRow.status.in_(("pending", "approved")),
    )
    null = SQL("NULL")
    adjustment = AllowanceAdjustmentRow
    adjustments = adjustment.select(
        adjustment.id,
        null,
        adjustment.leave_year_start,
        null,
        null,
        null,
        null,
        adjustment.half_days.cast("TEXT"),
    ).where(
        adjustment.organisation_id == organisation_id,
        adjustment.user_id == user_id,
        adjustment.leave_year_start >= first_adjusted,
        adjustment.leave_year_start <= last_adjusted,
    )
    return leave.union_all(adjustments)
