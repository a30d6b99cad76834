"""The leave requests that a caller may see, newest first."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Final, Literal, TypedDict

from peewee import SQL, Select

from storage.base.clock import local_day
from storage.base.values import Caller, LeaveRequest, LeaveStatus
from storage.db import rows
from storage.db.compiled import (
    Engine,
    Expr,
    Param,
    any_of,
    any_of_few,
    compiled,
    compiled_per_engine,
    unindexed,
)
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import LeaveRequestRow
from storage.directory import pending_approvals
from storage.events import organisation_config
from storage.leave.lists.filtered_leave import check_user
from storage.leave.lists.filters import FEW_ROWS
from storage.leave.lists.periods import first_period, page_rows, period_of, periods_of, until_found
from storage.leave.lists.sorting import KEYS, is_after, sorted_after

_SORT: Final = "-created_at"
# The index that finds the rows: by person, by first day or by period of creation. "order" reads
# them in the list's order until the page is full.
_Path = Literal["people", "days", "periods", "order"]


class _VisibleFilters(TypedDict):
    """``viewer_id`` is None for those who see all leave."""

    organisation_id: str
    viewer_id: str | None
    today: str | None
    status: str | None
    user_id: str | None
    starts_after: str | None
    starts_before: str | None


def page(
    tx: Transaction,
    page: PageOf,
    *,
    by: Caller,
    now: datetime,
    user_id: str | None = None,
    status: LeaveStatus | None = None,
    starts_after: date | None = None,
    starts_before: date | None = None,
) -> Page[LeaveRequest]:
    """The requests that ``leave_reading.get`` shows to the caller, newest first.

    ``starts_after`` and ``starts_before`` exclude the day itself. Raises NotFound for an unknown
    ``user_id``, UnusableCursor.
    """
    check_user(tx, user_id, by)
    words = (
        user_id,
        status,
        None if starts_after is None else starts_after.isoformat(),
        None if starts_before is None else starts_before.isoformat(),
    )
    bound_to = ("leave", by.organisation_id, by.user_id, by.is_admin, *words)
    after = position(tx, page, *bound_to)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone).isoformat()
    filters = _VisibleFilters(
        organisation_id=by.organisation_id,
        viewer_id=None if by.is_admin else by.user_id,
        today=None if by.is_admin else today,
        user_id=words[0],
        status=words[1],
        starts_after=words[2],
        starts_before=words[3],
    )
    path, count = _path(tx, filters), page.limit + 1
    if path == "periods":
        request_rows = _rows_by_periods(tx, filters, after, count)
    else:
        request_rows = _rows(tx, filters, path, after, count)
    return page_of(tx, page, request_rows, rows.leave_request, KEYS[_SORT], *bound_to)


def _path(tx: Transaction, filters: _VisibleFilters) -> _Path:
    if filters["user_id"] is not None or _are_few_visible(tx, filters):
        return "people"
    if filters["starts_after"] is None and filters["starts_before"] is None:
        return "order"
    beyond_few = tx.first(
        _start_at,
        organisation_id=filters["organisation_id"],
        starts_after=filters["starts_after"],
        starts_before=filters["starts_before"],
        offset=FEW_ROWS,
    )
    if beyond_few is None:
        return "days"
    # Read in order, such a list begins with leave of later days. There are few pending requests.
    has_others_first = filters["starts_before"] is not None and filters["status"] != "pending"
    return "periods" if has_others_first else "order"


def _are_few_visible(tx: Transaction, filters: _VisibleFilters) -> bool:
    if filters["viewer_id"] is None:
        return False
    beyond_few = tx.first(
        _ever_visible_at,
        organisation_id=filters["organisation_id"],
        viewer_id=filters["viewer_id"],
        offset=FEW_ROWS,
    )
    return beyond_few is None


def _rows(
    tx: Transaction,
    filters: _VisibleFilters,
    path: _Path,
    after: list[Any] | None,
    count: int,
    periods: list[int] | None = None,
) -> list[Row]:
    return tx.all(
        _visible,
        path=path,
        periods=periods,
        after_key=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=count,
        **filters,
    )


def _rows_by_periods(
    tx: Transaction, filters: _VisibleFilters, after: list[Any] | None, count: int
) -> list[Row]:
    period_rows = tx.all(
        _periods_until,
        period=first_period(_SORT, after),
        after_key=after[0] if after else None,
        after_id=after[1] if after else None,
        enough=count,
        **filters,
    )
    return page_rows(
        periods_of(period_rows),
        _SORT,
        after,
        count,
        in_periods=lambda periods: _rows(tx, filters, "periods", after, count, periods),
        in_order=lambda begins_at, limit: _rows(tx, filters, "order", begins_at, limit),
    )


@compiled_per_engine
def _visible(
    engine: Engine,
    organisation_id: Param[str],
    path: _Path,
    periods: Param[list[int]] | None,
    viewer_id: Param[str] | None,
    today: Param[str] | None,
    status: Param[str] | None,
    user_id: Param[str] | None,
    starts_after: Param[str] | None,
    starts_before: Param[str] | None,
    after_key: Param[str] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    leave = LeaveRequestRow
    query = leave.select(*rows.LEAVE_REQUEST).where(
        leave.organisation_id == organisation_id,
        *_starts(engine, path, starts_after, starts_before),
        *_conditions(engine, path, organisation_id, viewer_id, today, status, user_id),
    )
    if periods is not None:
        query = query.where(any_of(period_of(leave), periods))
    few_on = None if path == "order" else engine
    return sorted_after(query, _SORT, after_key, after_id, few_on=few_on).limit(limit)


@compiled_per_engine
def _periods_until(
    engine: Engine,
    organisation_id: Param[str],
    viewer_id: Param[str] | None,
    today: Param[str] | None,
    status: Param[str] | None,
    user_id: Param[str] | None,
    starts_after: Param[str] | None,
    starts_before: Param[str] | None,
    period: Param[int],
    after_key: Param[str] | None,
    after_id: Param[str] | None,
    enough: Param[int],
) -> Select:
    of_days = LeaveRequestRow.select(SQL("1").alias("found")).where(
        LeaveRequestRow.organisation_id == organisation_id,
        *_starts(engine, "periods", starts_after, starts_before),
    )
    return until_found(
        of_days,
        _conditions(engine, "periods", organisation_id, viewer_id, today, status, user_id),
        sort=_SORT,
        organisation_id=organisation_id,
        period=period,
        is_after=(
            None if after_key is None else is_after(_SORT, after_key, after_id, few_on=engine)
        ),
        enough=enough,
    )


def _starts(engine: Engine, path: _Path, starts_after: Expr, starts_before: Expr) -> list[Expr]:
    # Otherwise the planner might use the index of first days instead of the path's own.
    is_indexed = path in ("days", "periods")
    column = LeaveRequestRow.start_date
    start_date = column if is_indexed else unindexed(column, engine)
    conditions: list[Expr] = []
    if starts_after is not None:
        conditions.append(start_date > starts_after)
    if starts_before is not None:
        conditions.append(start_date < starts_before)
    return conditions


def _conditions(
    engine: Engine,
    path: _Path,
    organisation_id: Expr,
    viewer_id: Expr,
    today: Expr,
    status: Expr,
    user_id: Expr,
) -> list[Expr]:
    leave = LeaveRequestRow
    conditions: list[Expr] = []
    if status is not None:
        column = leave.status if path == "order" else unindexed(leave.status, engine)
        conditions.append(column == status)
    if user_id is not None:
        conditions.append(leave.user_id == user_id)
    if viewer_id is None:
        return conditions
    is_assigned = pending_approvals.is_assigned(organisation_id, viewer_id, today, for_each=False)
    if path == "people" and user_id is None:
        # Redundant, but it saves a scan of the organisation's leave.
        conditions.append(any_of_few(leave.id, _ever_visible(organisation_id, viewer_id)))
    is_own = leave.user_id == viewer_id
    return [*conditions, is_own | (leave.decided_by == viewer_id) | is_assigned]


@compiled
def _start_at(
    organisation_id: Param[str],
    starts_after: Param[str] | None,
    starts_before: Param[str] | None,
    offset: Param[int],
) -> Select:
    """The first day at an offset, unsorted, of leave that starts between two days."""
    start_date = LeaveRequestRow.start_date
    query = LeaveRequestRow.select(start_date).where(
        LeaveRequestRow.organisation_id == organisation_id
    )
    if starts_after is not None:
        query = query.where(start_date > starts_after)
    if starts_before is not None:
        query = query.where(start_date < starts_before)
    return query.limit(1).offset(offset)


@compiled
def _ever_visible_at(
    organisation_id: Param[str], viewer_id: Param[str | None], offset: Param[int]
) -> Select:
    """The id at an offset, unsorted."""
    ids = _ever_visible(organisation_id, viewer_id).alias("ids")
    return Select([ids], [SQL("1").alias("found")]).limit(1).offset(offset)


def _ever_visible(organisation_id: Expr, viewer_id: Expr) -> Expr:
    """The ids of all requests that can be visible to a caller who is not an admin."""
    own, decided = LeaveRequestRow.alias(), LeaveRequestRow.alias()
    return (
        own.select(own.id)
        .where(own.organisation_id == organisation_id, own.user_id == viewer_id)
        .union_all(pending_approvals.potential_requests(organisation_id, viewer_id))
        .union_all(
            decided.select(decided.id).where(
                decided.organisation_id == organisation_id, decided.decided_by == viewer_id
            )
        )
    )
