"""Lists of leave requests by filters, in any order, for their requesters and for admins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, Unpack

from peewee import SQL, Select

from storage.base.errors import InsufficientRole, NotFound
from storage.base.records import LeaveRequestRecord
from storage.base.values import Caller, LeaveRequest
from storage.db import rows
from storage.db.compiled import (
    Engine,
    Expr,
    Param,
    any_of,
    any_of_few,
    compiled_per_engine,
    is_true,
    often_true,
)
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import LeaveRequestRow
from storage.directory import colleagues, people_rows
from storage.events import organisation_config
from storage.leave import leave_amendments
from storage.leave.lists import access_paths, department_leave
from storage.leave.lists.access_paths import (
    ORDERS,
    AccessPath,
    Columns,
    indexed_columns,
)
from storage.leave.lists.filters import Filters, PageFilters, bounds_of
from storage.leave.lists.periods import (
    Periods,
    first_period,
    page_rows,
    period_of,
    periods_of,
    until_found,
)
from storage.leave.lists.sorting import KEYS, Sort, is_after, sorted_after

T = TypeVar("T")


def page(
    tx: Transaction, page: PageOf, *, by: Caller, **filters: Unpack[Filters]
) -> Page[LeaveRequest]:
    """The caller's own requests; for admins and owners those of all people.

    Raises InsufficientRole if another caller filters by a person, NotFound for an unknown id in a
    filter, UnusableCursor.
    """
    return _page_as(rows.leave_request, tx, page, by, filters)


def page_of_records(
    tx: Transaction, page: PageOf, *, by: Caller, **filters: Unpack[Filters]
) -> Page[LeaveRequestRecord]:
    """As ``page``, but makes public records directly: this is the most frequent read."""
    amended: list[tuple[LeaveRequest, LeaveRequestRecord]] = []

    def record(row: Row) -> LeaveRequestRecord:
        shown = rows.leave_request_record(row)
        if row.amendment_id is not None:
            amended.append((rows.leave_request(row), shown))
        return shown

    records = _page_as(record, tx, page, by, filters)
    leave_amendments.add_to_records(tx, by.organisation_id, amended)
    return records


def _page_as(
    item: Callable[[Row], T], tx: Transaction, page: PageOf, by: Caller, request_filters: Filters
) -> Page[T]:
    user_id = request_filters.get("user_id")
    if not by.is_admin:
        if user_id not in (None, by.user_id):
            raise InsufficientRole("admin")
        user_id = by.user_id
    check_user(tx, user_id, by)
    _check_filters(tx, request_filters, by)
    first_day, last_day = request_filters.get("first_day"), request_filters.get("last_day")
    sort = request_filters.get("sort", "-created_at")
    filters = PageFilters(
        status=request_filters.get("status"),
        user_id=user_id,
        leave_type_id=request_filters.get("leave_type_id"),
        department_id=request_filters.get("department_id"),
        first_day=None if first_day is None else first_day.isoformat(),
        last_day=None if last_day is None else last_day.isoformat(),
    )
    bound_to = ("leave_requests", by.organisation_id, sort, *filters.values())
    after = position(tx, page, *bound_to)
    bounds = bounds_of(first_day, last_day)
    organisation_id, count = by.organisation_id, page.limit + 1
    path = access_paths.access_path(tx, organisation_id, sort, filters, bounds)

    def read(
        path: AccessPath, periods: list[int] | None, after: list[Any] | None, limit: int
    ) -> list[Row]:
        starts_from = None
        if path in ("start_date", "start_date of status") and first_day is not None:
            starts_from = access_paths.first_start(tx, organisation_id, first_day)
        return tx.all(
            _page,
            organisation_id=organisation_id,
            sort=sort,
            path=path,
            periods=periods,
            starts_from=starts_from,
            after_key=after[0] if after else None,
            after_id=after[1] if after else None,
            limit=limit,
            **filters,
            **bounds,
        )

    if path == "periods":
        request_rows = page_rows(
            _periods(tx, organisation_id, sort, filters, after, count),
            sort,
            after,
            count,
            in_periods=lambda periods: read("periods", periods, after, count),
            in_order=lambda begins_at, limit: read(
                access_paths.in_order(sort, filters), None, begins_at, limit
            ),
        )
    else:
        request_rows = read(path, None, after, count)
    return page_of(tx, page, request_rows, item, KEYS[sort], *bound_to)


def _periods(
    tx: Transaction,
    organisation_id: str,
    sort: Sort,
    filters: PageFilters,
    after: list[Any] | None,
    count: int,
) -> Periods:
    period_rows = tx.all(
        _periods_until,
        organisation_id=organisation_id,
        sort=sort,
        period=first_period(sort, after),
        after_key=after[0] if after else None,
        after_id=after[1] if after else None,
        enough=count,
        **filters,
    )
    return periods_of(period_rows)


def check_user(tx: Transaction, user_id: str | None, by: Caller) -> None:
    if user_id in (None, by.user_id):
        return
    if people_rows.find(tx, by.organisation_id, str(user_id)) is None:
        raise NotFound("user")


def _check_filters(tx: Transaction, filters: Filters, by: Caller) -> None:
    leave_type_id, department_id = filters.get("leave_type_id"), filters.get("department_id")
    if leave_type_id is None and department_id is None:
        return
    config = organisation_config.of_organisation(tx, by.organisation_id)
    if leave_type_id is not None and leave_type_id not in config.leave_types:
        raise NotFound("leave type")
    if department_id is not None and department_id not in config.departments:
        raise NotFound("department")


@compiled_per_engine
def _page(
    engine: Engine,
    organisation_id: Param[str],
    status: Param[str] | None,
    user_id: Param[str] | None,
    leave_type_id: Param[str] | None,
    department_id: Param[str] | None,
    first_day: Param[str] | None,
    last_day: Param[str] | None,
    short_until: Param[str] | None,
    long_until: Param[str] | None,
    sort: Sort,
    path: AccessPath,
    periods: Param[list[int]] | None,
    starts_from: Param[str] | None,
    after_key: Param[str] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    leave = LeaveRequestRow
    query = leave.select(*rows.LEAVE_REQUEST).where(leave.organisation_id == organisation_id)
    if path == "department":
        ids = department_leave.ids_of(
            engine, organisation_id, department_id, status, leave_type_id, first_day, last_day
        )
        query = query.where(any_of_few(leave.id, ids))
        return sorted_after(query, sort, after_key, after_id, few_on=engine).limit(limit)
    column = indexed_columns(engine, sort, path)
    query = query.where(
        *_conditions(column, status, user_id, leave_type_id, is_in_order=path in ORDERS),
        *_is_member(organisation_id, department_id),
    )
    if path == "days" and short_until is not None:
        query = query.where(colleagues.is_between(first_day, last_day, short_until, long_until))
    else:
        query = query.where(*_overlaps(column, first_day, last_day))
    if periods is not None:
        query = query.where(any_of(period_of(leave), periods))
    if starts_from is not None:
        # Redundant, but lets a scan in the order of first days begin here.
        query = query.where(column(leave.start_date) >= starts_from)
    few_on = None if path in ORDERS else engine
    return sorted_after(query, sort, after_key, after_id, few_on=few_on).limit(limit)


@compiled_per_engine
def _periods_until(
    engine: Engine,
    organisation_id: Param[str],
    status: Param[str] | None,
    user_id: Param[str] | None,
    leave_type_id: Param[str] | None,
    department_id: Param[str] | None,
    first_day: Param[str] | None,
    last_day: Param[str] | None,
    sort: Sort,
    period: Param[int],
    after_key: Param[str] | None,
    after_id: Param[str] | None,
    enough: Param[int],
) -> Select:
    leave = LeaveRequestRow
    column = indexed_columns(engine, sort, "periods")
    of_days = leave.select(SQL("1").alias("found")).where(
        leave.organisation_id == organisation_id, *_overlaps(column, first_day, last_day)
    )
    return until_found(
        of_days,
        [
            *_conditions(column, status, user_id, leave_type_id),
            *_is_member(organisation_id, department_id),
        ],
        sort=sort,
        organisation_id=organisation_id,
        period=period,
        is_after=(
            None if after_key is None else is_after(sort, after_key, after_id, few_on=engine)
        ),
        enough=enough,
    )


def _conditions(
    column: Columns,
    status: Expr,
    user_id: Expr,
    leave_type_id: Expr,
    *,
    is_in_order: bool = False,
) -> list[Expr]:
    """``is_in_order``: the rows are read in the list's order."""
    leave = LeaveRequestRow
    pairs = (
        (leave.status, status),
        (leave.user_id, user_id),
        (leave.leave_type_id, leave_type_id),
    )
    return [
        often_true(field == param)
        if is_in_order and column(field) is not field
        else column(field) == param
        for field, param in pairs
        if param is not None
    ]


def _overlaps(column: Columns, first_day: Expr, last_day: Expr) -> list[Expr]:
    conditions: list[Expr] = []
    if first_day is not None:
        conditions.append(column(LeaveRequestRow.end_date) >= first_day)
    if last_day is not None:
        conditions.append(column(LeaveRequestRow.start_date) <= last_day)
    return conditions


def _is_member(organisation_id: Expr, department_id: Expr) -> list[Expr]:
    if department_id is None:
        return []
    members = department_leave.members_of(organisation_id, department_id)
    return [is_true(LeaveRequestRow.user_id.in_(members))]
