"""How the rows of a list are found: by a filter that few rows pass, or in the list's order.

No planner knows how many rows of one organisation pass a filter, so they are counted first.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Final, Literal

from peewee import SQL, Field, Select, fn

from storage.db import rows
from storage.db.compiled import (
    Engine,
    Expr,
    Param,
    compiled,
    compiled_per_engine,
    unindexed,
)
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow
from storage.directory import colleagues
from storage.leave.lists import department_leave
from storage.leave.lists.filters import FEW_ROWS, Bounds, PageFilters
from storage.leave.lists.sorting import Sort, is_by_start
from storage.rules import spans

# In an organisation of any size, few requests overlap a range of at most this many days.
_FEW_DAYS: Final = 62

# The index that finds the rows. Rows from the first five are sorted afterwards; "periods" are those
# of creation (periods.py). The last five have the order of the list and are read until the page is
# full.
AccessPath = Literal[
    "user", "days", "status", "leave_type", "department", "periods",
    "created_at", "created_at of status", "created_at of leave_type",
    "start_date", "start_date of status",
]  # fmt: skip
ORDERS: Final = (
    "created_at",
    "created_at of status",
    "created_at of leave_type",
    "start_date",
    "start_date of status",
)


_COLUMNS: Final[dict[AccessPath, tuple[str, ...]]] = {
    "user": ("user_id",),
    "days": ("end_date", "start_date"),
    "status": ("status",),
    "leave_type": ("leave_type_id",),
    "created_at of status": ("status",),
    "created_at of leave_type": ("leave_type_id",),
    "start_date": ("start_date",),
    "start_date of status": ("status", "start_date"),
}
# A column as an expression.
Columns = Callable[[Field], Expr]


def access_path(
    tx: Transaction, organisation_id: str, sort: Sort, filters: PageFilters, bounds: Bounds
) -> AccessPath:
    """The path that reads the fewest rows; "periods" may still find many."""
    if filters["user_id"] is not None:
        return "user"
    if filters["department_id"] is not None and department_leave.is_few(
        tx, organisation_id, filters
    ):
        return "department"
    ordered = in_order(sort, filters)
    first_day, last_day = filters["first_day"], filters["last_day"]
    if first_day and last_day and _days_between(first_day, last_day) <= _FEW_DAYS:
        return ordered if is_by_start(sort) else "days"
    if filters["status"] == "pending":
        # There are never many pending requests, and both orders have an index with the status.
        return ordered
    # Read in order, such a list begins with most of the leave that does not match.
    is_by_periods = bool(
        (sort == "created_at" and first_day) or (sort == "-created_at" and last_day)
    )
    present: dict[AccessPath, bool] = {
        "days": bool(first_day or last_day) and not is_by_start(sort),
        "leave_type": filters["leave_type_id"] is not None,
        "status": filters["status"] is not None,
    }
    names = [name for name, is_present in present.items() if is_present]
    if is_by_periods or names != [ordered.removeprefix("created_at of ")]:
        for name in names:
            if _leaves_few(tx, organisation_id, name, filters, bounds):
                return name
    return "periods" if is_by_periods else ordered


def in_order(sort: Sort, filters: PageFilters) -> AccessPath:
    """The index in the list's order that has the rarest of the filters."""
    status = filters["status"]
    is_type_rarer = filters["leave_type_id"] is not None and status == "approved"
    if is_by_start(sort):
        return "start_date" if status in (None, "approved") else "start_date of status"
    if status is not None and not is_type_rarer:
        return "created_at of status"
    return "created_at" if filters["leave_type_id"] is None else "created_at of leave_type"


def indexed_columns(engine: Engine, sort: Sort, path: AccessPath) -> Columns:
    """Columns as expressions that only the path's own index serves.

    Otherwise the planner might choose another index.
    """
    period_column = "end_date" if sort == "created_at" else "start_date"
    names = _COLUMNS.get(path, (period_column,) if path == "periods" else ())
    return lambda field: field if field.name in names else unindexed(field, engine)


def _leaves_few(
    tx: Transaction, organisation_id: str, path: AccessPath, filters: PageFilters, bounds: Bounds
) -> bool:
    row = tx.first(
        _row_at, organisation_id=organisation_id, path=path, offset=FEW_ROWS, **filters, **bounds
    )
    return row is None


def first_start(tx: Transaction, organisation_id: str, first_day: date) -> str:
    """The earliest first day of leave that ends on the day or later."""
    row = tx.first(
        _first_start_on,
        organisation_id=organisation_id,
        day=first_day.isoformat(),
        short_until=spans.latest_short_end(first_day).isoformat(),
        long_until=spans.latest_end(first_day).isoformat(),
    )
    assert row is not None
    return row.first_start or first_day.isoformat()


def _days_between(first_day: str, last_day: str) -> int:
    return (rows.day(last_day) - rows.day(first_day)).days


@compiled
def _row_at(
    organisation_id: Param[str],
    status: Param[str] | None,
    user_id: Param[str] | None,
    leave_type_id: Param[str] | None,
    department_id: Param[str] | None,
    first_day: Param[str] | None,
    last_day: Param[str] | None,
    short_until: Param[str] | None,
    long_until: Param[str] | None,
    path: AccessPath,
    offset: Param[int],
) -> Select:
    """The row at an offset, unsorted, among those that pass one filter."""
    leave = LeaveRequestRow
    if path == "status":
        condition = leave.status == status
    elif path == "leave_type":
        condition = leave.leave_type_id == leave_type_id
    elif short_until is not None:
        condition = colleagues.is_between(first_day, last_day, short_until, long_until)
    elif first_day is not None:
        condition = leave.end_date >= first_day
    else:
        condition = leave.start_date <= last_day
    return (
        leave.select(SQL("1").alias("found"))
        .where(leave.organisation_id == organisation_id, condition)
        .limit(1)
        .offset(offset)
    )


@compiled_per_engine
def _first_start_on(
    engine: Engine,
    organisation_id: Param[str],
    day: Param[str],
    short_until: Param[str],
    long_until: Param[str],
) -> Select:
    leave = LeaveRequestRow
    start_date = unindexed(leave.start_date, engine)
    return leave.select(fn.MIN(start_date).alias("first_start")).where(
        leave.organisation_id == organisation_id,
        colleagues.is_between(day, day, short_until, long_until),
    )
