"""Reads in one query what a person's balances depend on; year_balances.py computes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, TypedDict

from peewee import SQL, Select

from storage.base.clock import local_day
from storage.base.values import HalfDay, LeaveRequest, LeaveStatus, Organisation, User
from storage.db import rows
from storage.db.compiled import Expr, Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import AllowanceAdjustmentRow, LeaveRequestRow
from storage.events.organisation_config import Reference
from storage.rules import leave_years, spans, year_balances
from storage.rules.leave_years import LeaveYearRule
from storage.rules.year_balances import Account, CarryOver, Deduction

AllowanceSource = Literal["user", "department", "organisation"]


@dataclass(frozen=True, kw_only=True, slots=True)
class BookedLeave:
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
    def span(self) -> spans.Span:
        return spans.Span(
            start_date=self.start_date,
            end_date=self.end_date,
            start_half_day=self.start_half_day,
            end_half_day=self.end_half_day,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class BookedAdjustment:
    """``leave_year`` as in `values.Adjustment`."""

    id: str
    leave_year: int
    half_days: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Bookings:
    """A person's leave, earliest first and of any type, and adjustments."""

    leave: list[BookedLeave]
    adjustments: list[BookedAdjustment]


@dataclass(frozen=True, kw_only=True, slots=True)
class BalanceInputs:
    """All that a person's balances depend on. ``leave``: earliest first, of any type."""

    account: Account
    source: AllowanceSource
    leave: list[BookedLeave]
    adjustments: list[BookedAdjustment]


def leave_year_rule(reference: Reference, user: User) -> LeaveYearRule:
    """When this person's leave years begin."""
    organisation = reference.organisation
    return LeaveYearRule(
        type=organisation.leave_year_type,
        month=organisation.leave_year_start_month,
        day=organisation.leave_year_start_day,
        start_date=user.start_date,
    )


def granted_half_days(reference: Reference, user: User) -> tuple[int, AllowanceSource]:
    """The allowance of a whole leave year: the person's, the department's or the organisation's."""
    if user.leave_allowance_half_days is not None:
        return user.leave_allowance_half_days, "user"
    department = reference.departments.get(user.department_id or "")
    if department is not None and department.default_leave_allowance_half_days is not None:
        return department.default_leave_allowance_half_days, "department"
    return reference.organisation.default_leave_allowance_half_days, "organisation"


def read_inputs(
    tx: Transaction, reference: Reference, user: User, first_day: date, last_day: date
) -> BalanceInputs:
    """What the balances of the leave years between two days depend on, both days included.

    Reads the leave of those years; where the organisation carries days over, of all years since
    the person was created, and of later ones.
    """
    organisation = reference.organisation
    last_read = date.max
    if organisation.carry_over_half_days == 0:
        rule = leave_year_rule(reference, user)
        last_read = leave_years.leave_year_containing(rule, last_day).last_day
    booking_rows = tx.all(
        _bookings,
        organisation_id=organisation.id,
        user_id=user.id,
        **_bounds(accrual_start(reference, user, first_day), last_read),
    )
    bookings = _bookings_of(booking_rows)
    _, source = granted_half_days(reference, user)
    return BalanceInputs(
        account=account(reference, user, bookings.adjustments),
        source=source,
        leave=bookings.leave,
        adjustments=bookings.adjustments,
    )


def bookings_of_many(
    tx: Transaction, organisation_id: str, user_ids: Collection[str], first_day: date
) -> dict[str, Bookings]:
    """By person, from a day on; people without leave and adjustments are absent."""
    booking_rows = tx.all(
        _bookings_of_many,
        organisation_id=organisation_id,
        user_ids=sorted(user_ids),
        **_bounds(first_day, date.max),
    )
    of_person: dict[str, list[Row]] = {}
    for row in booking_rows:
        of_person.setdefault(row.user_id, []).append(row)
    return {user_id: _bookings_of(rows) for user_id, rows in of_person.items()}


def account(reference: Reference, user: User, adjustments: Iterable[BookedAdjustment]) -> Account:
    """What the person's balances depend on besides leave."""
    granted, _ = granted_half_days(reference, user)
    sums: dict[int, int] = {}
    for adjustment in adjustments:
        year = adjustment.leave_year
        sums[year] = sums.get(year, 0) + adjustment.half_days
    rule = leave_year_rule(reference, user)
    return Account(
        rule=rule,
        granted_half_days=granted,
        adjusted_half_days=sums,
        carry_over=_carry_over(reference.organisation, user),
    )


def accrual_start(reference: Reference, user: User, first_day: date) -> date:
    """The first day whose leave affects the leave year of ``first_day``."""
    carry_over = _carry_over(reference.organisation, user)
    return year_balances.accrual_start(leave_year_rule(reference, user), carry_over, first_day)


class _Bounds(TypedDict):
    first_day: str
    last_day: str
    first_adjusted: str
    last_adjusted: str


def _bounds(first_day: date, last_day: date) -> _Bounds:
    return {
        "first_day": first_day.isoformat(),
        "last_day": last_day.isoformat(),
        # An adjustment belongs to the leave year that begins in the calendar year of its date.
        "first_adjusted": date(first_day.year, 1, 1).isoformat(),
        "last_adjusted": date(last_day.year, 12, 31).isoformat(),
    }


_booked_leave: Final = rows.mapper(BookedLeave)


def _bookings_of(booking_rows: Iterable[Row]) -> Bookings:
    adjustments: list[BookedAdjustment] = []
    leave: list[BookedLeave] = []
    # The query does not sort: SQLite would scan all leave of the organisation in this order.
    for row in sorted(booking_rows, key=lambda row: row.start_date):
        if row.leave_type_id is None:
            leave_year, half_days = int(row.start_date[:4]), int(row.counted_halves)
            adjustments.append(
                BookedAdjustment(id=row.id, leave_year=leave_year, half_days=half_days)
            )
        else:
            leave.append(_booked_leave(row))
    return Bookings(leave=leave, adjustments=adjustments)


def _carry_over(organisation: Organisation, user: User) -> CarryOver | None:
    if organisation.carry_over_half_days == 0:
        return None
    recorded_from = local_day(user.created_at, organisation.timezone)
    if user.start_date is not None:
        recorded_from = max(recorded_from, user.start_date)
    return CarryOver(
        max_half_days=organisation.carry_over_half_days,
        expiry_month=organisation.carry_over_expiry_month,
        recorded_from=recorded_from,
    )


def deducting(reference: Reference, leave: Iterable[BookedLeave]) -> list[Deduction]:
    """The leave whose type uses the allowance."""
    types = reference.leave_types
    return [deduction(booked) for booked in leave if types[booked.leave_type_id].deducts_allowance]


def deduction(leave: BookedLeave | LeaveRequest) -> Deduction:
    return Deduction(
        counted_halves=leave.counted_halves,
        start_date=leave.start_date,
        end_date=leave.end_date,
    )


@compiled
def _bookings(
    organisation_id: Param[str],
    user_id: Param[str],
    first_day: Param[str],
    last_day: Param[str],
    first_adjusted: Param[str],
    last_adjusted: Param[str],
) -> Select:
    leave, adjustments = _leave_and_adjustments(
        organisation_id, (first_day, last_day), (first_adjusted, last_adjusted)
    )
    return leave.where(LeaveRequestRow.user_id == user_id).union_all(
        adjustments.where(AllowanceAdjustmentRow.user_id == user_id)
    )


@compiled
def _bookings_of_many(
    organisation_id: Param[str],
    user_ids: Param[list[str]],
    first_day: Param[str],
    last_day: Param[str],
    first_adjusted: Param[str],
    last_adjusted: Param[str],
) -> Select:
    leave, adjustments = _leave_and_adjustments(
        organisation_id, (first_day, last_day), (first_adjusted, last_adjusted)
    )
    requester_id, adjusted_id = LeaveRequestRow.user_id, AllowanceAdjustmentRow.user_id
    return (
        leave.select_extend(requester_id)
        .where(any_of(requester_id, user_ids))
        .union_all(adjustments.select_extend(adjusted_id).where(any_of(adjusted_id, user_ids)))
    )


def _leave_and_adjustments(
    organisation_id: Param[str],
    leave_days: tuple[Param[str], Param[str]],
    adjusted_days: tuple[Param[str], Param[str]],
) -> tuple[Select, Select]:
    """Two queries with the same columns, for one statement.

    An adjustment has the first day of its calendar year as ``start_date``, its half-days as
    ``counted_halves`` and no leave type.
    """
    columns: tuple[Expr, ...] = rows.columns_of(LeaveRequestRow, BookedLeave)
    leave = LeaveRequestRow.select(*columns).where(
        LeaveRequestRow.organisation_id == organisation_id,
        LeaveRequestRow.end_date >= leave_days[0],
        LeaveRequestRow.start_date <= leave_days[1],
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
        adjustment.leave_year_start >= adjusted_days[0],
        adjustment.leave_year_start <= adjusted_days[1],
    )
    return leave, adjustments
