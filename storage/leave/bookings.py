"""What is booked of people's allowances: leave, adjustments and credits, read in one query."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, TypedDict

from peewee import SQL, Select

from storage.base.leave_values import HalfDay, LeaveStatus
from storage.db import rows
from storage.db.compiled import Expr, Param, any_of, compiled
from storage.db.database import Row, Transaction
from storage.db.tables import AllowanceAdjustmentRow, LeaveRequestRow, TimeCreditRow
from storage.rules import counted_days


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
    def span(self) -> counted_days.Span:
        return counted_days.Span(
            start_date=self.start_date,
            end_date=self.end_date,
            start_half_day=self.start_half_day,
            end_half_day=self.end_half_day,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class BookedAdjustment:
    """``leave_year`` as in `values.Adjustment`; ``allowance_id`` None: the default allowance."""

    id: str
    leave_year: int
    half_days: int
    created_at: datetime
    allowance_id: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class BookedCredit:
    """An approved time credit."""

    id: str
    allowance_id: str
    worked_on: date
    half_days: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Bookings:
    """A person's leave, earliest first and of any type, adjustments and credits."""

    leave: list[BookedLeave]
    adjustments: list[BookedAdjustment]
    credits: list[BookedCredit]


NO_BOOKINGS: Final = Bookings(leave=[], adjustments=[], credits=[])


def of_person(
    tx: Transaction, organisation_id: str, user_id: str, first_day: date, last_day: date
) -> Bookings:
    """The bookings between two days, both included."""
    booking_rows = tx.all(
        _of_person,
        organisation_id=organisation_id,
        user_id=user_id,
        **_bounds(first_day, last_day),
    )
    return _bookings_of(booking_rows)


def of_people(
    tx: Transaction, organisation_id: str, user_ids: Collection[str], first_day: date
) -> dict[str, Bookings]:
    """By person, from a day on; people without leave and adjustments are absent."""
    booking_rows = tx.all(
        _of_people,
        organisation_id=organisation_id,
        user_ids=sorted(user_ids),
        **_bounds(first_day, date.max),
    )
    rows_by_user: dict[str, list[Row]] = {}
    for row in booking_rows:
        rows_by_user.setdefault(row.user_id, []).append(row)
    return {user_id: _bookings_of(user_rows) for user_id, user_rows in rows_by_user.items()}


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
    credits: list[BookedCredit] = []
    leave: list[BookedLeave] = []
    # The query does not sort: SQLite would scan all leave of the organisation in this order.
    for row in sorted(booking_rows, key=lambda row: row.start_date):
        if row.leave_type_id is not None:
            leave.append(_booked_leave(row))
        elif row.status == "approved":
            credits.append(
                BookedCredit(
                    id=row.id,
                    allowance_id=row.allowance_id,
                    worked_on=rows.day(row.start_date),
                    half_days=int(row.counted_halves),
                )
            )
        else:
            adjustments.append(
                BookedAdjustment(
                    id=row.id,
                    leave_year=int(row.start_date[:4]),
                    half_days=int(row.counted_halves),
                    created_at=rows.instant(int(row.status)),
                    allowance_id=row.allowance_id,
                )
            )
    return Bookings(leave=leave, adjustments=adjustments, credits=credits)


@compiled
def _of_person(
    organisation_id: Param[str],
    user_id: Param[str],
    first_day: Param[str],
    last_day: Param[str],
    first_adjusted: Param[str],
    last_adjusted: Param[str],
) -> Select:
    leave, adjustments, credits = _leave_adjustments_and_credits(
        organisation_id, (first_day, last_day), (first_adjusted, last_adjusted)
    )
    return (
        leave.where(LeaveRequestRow.user_id == user_id)
        .union_all(adjustments.where(AllowanceAdjustmentRow.user_id == user_id))
        .union_all(credits.where(TimeCreditRow.user_id == user_id))
    )


@compiled
def _of_people(
    organisation_id: Param[str],
    user_ids: Param[list[str]],
    first_day: Param[str],
    last_day: Param[str],
    first_adjusted: Param[str],
    last_adjusted: Param[str],
) -> Select:
    leave, adjustments, credits = _leave_adjustments_and_credits(
        organisation_id, (first_day, last_day), (first_adjusted, last_adjusted)
    )
    requester_id, adjusted_id = LeaveRequestRow.user_id, AllowanceAdjustmentRow.user_id
    credited_id = TimeCreditRow.user_id
    return (
        leave.select_extend(requester_id)
        .where(any_of(requester_id, user_ids))
        .union_all(adjustments.select_extend(adjusted_id).where(any_of(adjusted_id, user_ids)))
        .union_all(credits.select_extend(credited_id).where(any_of(credited_id, user_ids)))
    )


def _leave_adjustments_and_credits(
    organisation_id: Param[str],
    leave_days: tuple[Param[str], Param[str]],
    adjusted_days: tuple[Param[str], Param[str]],
) -> tuple[Select, Select, Select]:
    """Three queries with the same columns, for one statement.

    An adjustment has the first day of its calendar year as ``start_date``, the time at which it was
    made as ``status``, its half-days as ``counted_halves`` and no leave type. A credit has the day
    of the work, the status ``approved``, its half-days, and no leave type either.
    """
    columns: tuple[Expr, ...] = rows.columns_of(LeaveRequestRow, BookedLeave)
    leave = LeaveRequestRow.select(*columns, SQL("NULL").alias("allowance_id")).where(
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
        adjustment.created_at.cast("TEXT"),
        adjustment.half_days.cast("TEXT"),
        adjustment.allowance_id,
    ).where(
        adjustment.organisation_id == organisation_id,
        adjustment.leave_year_start >= adjusted_days[0],
        adjustment.leave_year_start <= adjusted_days[1],
    )
    credit = TimeCreditRow
    credits = credit.select(
        credit.id,
        null,
        credit.worked_on,
        null,
        null,
        null,
        credit.status,
        credit.half_days.cast("TEXT"),
        credit.allowance_id,
    ).where(
        credit.organisation_id == organisation_id,
        credit.worked_on >= leave_days[0],
        credit.worked_on <= leave_days[1],
        credit.status == "approved",
    )
    return leave, adjustments, credits
