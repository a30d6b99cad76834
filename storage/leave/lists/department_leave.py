"""The leave of a department's people, filtered without reading its rows."""

from __future__ import annotations

from typing import Final

from peewee import Select

from storage.db.compiled import (
    Engine,
    Expr,
    Param,
    any_of_few,
    compiled,
    compiled_per_engine,
    unindexed,
)
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, UserRow
from storage.leave.lists.filters import FEW_ROWS, PageFilters

# The leave of so many people can be filtered in an index within a few milliseconds.
_FEW_PEOPLE: Final = 80


def is_few(tx: Transaction, organisation_id: str, filters: PageFilters) -> bool:
    """Whether few rows pass all filters together."""
    beyond_few_people = tx.first(
        _member_at,
        organisation_id=organisation_id,
        department_id=filters["department_id"],
        offset=_FEW_PEOPLE,
    )
    if beyond_few_people is not None:
        return False
    if filters["status"] not in (None, "approved"):
        # Most leave is approved, so few rows have another status; counting them would take as long
        # as reading them.
        return True
    row = tx.first(_row_at, organisation_id=organisation_id, offset=FEW_ROWS, **filters)
    return row is None


def members_of(organisation_id: Expr, department_id: Expr) -> Select:
    return UserRow.select(UserRow.id).where(
        UserRow.organisation_id == organisation_id, UserRow.department_id == department_id
    )


@compiled
def _member_at(
    organisation_id: Param[str], department_id: Param[str | None], offset: Param[int]
) -> Select:
    """The member of a department at an offset, unsorted."""
    return members_of(organisation_id, department_id).limit(1).offset(offset)


@compiled_per_engine
def _row_at(
    engine: Engine,
    organisation_id: Param[str],
    status: Param[str] | None,
    user_id: Param[str] | None,
    leave_type_id: Param[str] | None,
    department_id: Param[str] | None,
    first_day: Param[str] | None,
    last_day: Param[str] | None,
    offset: Param[int],
) -> Select:
    """The row at an offset, unsorted, among those that pass all filters."""
    ids = ids_of(engine, organisation_id, department_id, status, leave_type_id, first_day, last_day)
    return ids.limit(1).offset(offset)


def ids_of(
    engine: Engine,
    organisation_id: Expr,
    department_id: Expr,
    status: Expr,
    leave_type_id: Expr,
    first_day: Expr,
    last_day: Expr,
) -> Select:
    """The ids of a department's leave, filtered in an index that begins with the person."""
    leave = LeaveRequestRow.alias()
    members = members_of(organisation_id, department_id)
    query = leave.select(leave.id).where(
        leave.organisation_id == organisation_id, any_of_few(leave.user_id, members)
    )
    if status is not None:
        query = query.where(unindexed(leave.status, engine) == status)
    if leave_type_id is not None:
        query = query.where(unindexed(leave.leave_type_id, engine) == leave_type_id)
    if first_day is not None:
        query = query.where(leave.end_date >= first_day)
    if last_day is not None:
        query = query.where(unindexed(leave.start_date, engine) <= last_day)
    return query
