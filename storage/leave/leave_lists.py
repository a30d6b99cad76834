"""Lists of leave requests by filters, in any order, for their requesters and for admins."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Final, Literal, TypedDict, TypeVar, Unpack

from peewee import Select, Tuple

from storage.base.errors import InsufficientRole, NotFound
from storage.base.records import LeaveRequestRecord
from storage.base.values import Caller, LeaveRequest, LeaveStatus
from storage.db import rows
from storage.db.compiled import Engine, Expr, Param, compiled_per_engine, unindexed
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import LeaveRequestRow, UserRow
from storage.directory import people_rows
from storage.events import organisation_config
from storage.rules import spans

Sort = Literal["start_date", "-start_date", "created_at", "-created_at"]

T = TypeVar("T")

# Leave of more days than these is read in the order of the list until the page is full.
_MAX_SORTED_DAYS: Final = 62


class Filters(TypedDict, total=False):
    """``first_day`` and ``last_day``: leave with a date between them, both included."""

    status: LeaveStatus | None
    user_id: str | None
    leave_type_id: str | None
    department_id: str | None
    first_day: date | None
    last_day: date | None
    sort: Sort


class _PageFilters(TypedDict):
    status: str | None
    user_id: str | None
    leave_type_id: str | None
    department_id: str | None
    first_day: str | None
    last_day: str | None


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
    """As ``page``, as public records: the most frequent read skips the values between."""
    return _page_as(rows.leave_request_record, tx, page, by, filters)


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
    filters = _PageFilters(
        status=request_filters.get("status"),
        user_id=user_id,
        leave_type_id=request_filters.get("leave_type_id"),
        department_id=request_filters.get("department_id"),
        first_day=None if first_day is None else first_day.isoformat(),
        last_day=None if last_day is None else last_day.isoformat(),
    )
    bound_to = ("leave_requests", by.organisation_id, sort, *filters.values())
    after = position(tx, page, *bound_to)
    by_start = sort in ("start_date", "-start_date")
    ends_until: str | None = None
    if first_day and last_day and (last_day - first_day).days <= _MAX_SORTED_DAYS:
        ends_until = spans.latest_end(last_day).isoformat()
    # A person's leave, pending requests and a month's leave are few in an organisation of any size.
    is_pending = filters["status"] == "pending"
    are_few = ends_until is not None or (by_start and (is_pending or user_id is not None))
    request_rows = tx.all(
        _page,
        organisation_id=by.organisation_id,
        sort=sort,
        are_few=are_few,
        is_pending=is_pending,
        starts_from=spans.earliest_start(first_day).isoformat() if by_start and first_day else None,
        ends_until=ends_until,
        after_key=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=page.limit + 1,
        **filters,
    )
    return page_of(tx, page, request_rows, item, KEYS[sort], *bound_to)


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


def _by_start(row: Row) -> list[object]:
    return [row.start_date, row.id]


def _by_creation(row: Row) -> list[object]:
    return [row.created_at, row.id]


KEYS: Final = {
    "start_date": _by_start,
    "-start_date": _by_start,
    "created_at": _by_creation,
    "-created_at": _by_creation,
}


def sorted_after(
    query: Select,
    sort: Sort,
    after_key: Expr,
    after_id: Expr,
    *,
    few_on: Engine | None = None,
) -> Select:
    """Order by the sort's column and id, from after a position; an index serves each.

    ``few_on`` names the engine if the filters leave few rows: these are filtered and then sorted.
    Neither engine can know that; both would scan the whole index in order.
    """
    column = getattr(LeaveRequestRow, sort.removeprefix("-"))
    if few_on is not None:
        column = unindexed(column, few_on)
    key = Tuple(column, LeaveRequestRow.id)
    descends = sort.startswith("-")
    if after_key is not None:
        after = Tuple(after_key, after_id)
        query = query.where(key < after if descends else key > after)
    order = (column, LeaveRequestRow.id)
    return query.order_by(*(part.desc() for part in order) if descends else order)


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
    ends_until: Param[str] | None,
    sort: Sort,
    are_few: bool,
    is_pending: bool,
    starts_from: Param[str] | None,
    after_key: Param[str] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    leave = LeaveRequestRow
    query = leave.select(*rows.LEAVE_REQUEST).where(leave.organisation_id == organisation_id)
    # The one index that finds the rows, or has them in order: SQLite takes any of the others, too.
    indexed = _indexed(sort, user_id, leave_type_id, ends_until, is_pending)
    for column, param in (
        (leave.status, status),
        (leave.user_id, user_id),
        (leave.leave_type_id, leave_type_id),
    ):
        if param is not None:
            is_indexed = engine == "postgresql" or column.name in indexed
            query = query.where((column if is_indexed else unindexed(column, engine)) == param)
    start_date, end_date = (
        column if column.name in indexed else unindexed(column, engine)
        for column in (leave.start_date, leave.end_date)
    )
    if first_day is not None:
        query = query.where(end_date >= first_day)
    if starts_from is not None:
        # Redundant, but an index in the order of first days is read from here on.
        query = query.where(start_date >= starts_from)
    if ends_until is not None:
        query = query.where(end_date <= ends_until)
    if last_day is not None:
        query = query.where(start_date <= last_day)
    if department_id is not None:
        members = UserRow.select(UserRow.id).where(
            UserRow.organisation_id == organisation_id, UserRow.department_id == department_id
        )
        query = query.where(leave.user_id.in_(members))
    few_on = engine if are_few else None
    return sorted_after(query, sort, after_key, after_id, few_on=few_on).limit(limit)


def _indexed(
    sort: Sort, user_id: Expr, leave_type_id: Expr, ends_until: Expr, is_pending: bool
) -> set[str]:
    """The filters that an index may serve."""
    if user_id is not None:
        return {"user_id"}
    if ends_until is not None:
        return {"start_date", "end_date"}
    if is_pending:
        return {"status"}
    if "created_at" in sort:
        return {"status"} if leave_type_id is None else {"leave_type_id"}
    return {"start_date"}
