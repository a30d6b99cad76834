"""Reads leave requests: one, or lists that the caller may see or has to decide on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Final, Literal, TypedDict, TypeVar, Unpack

from peewee import SQL, NodeList, Select, Tuple

from storage.base import fields
from storage.base.clock import local_day
from storage.base.errors import InsufficientRole, NotFound
from storage.base.records import LeaveRequestRecord
from storage.base.values import Caller, LeaveRequest, LeaveStatus
from storage.db import rows
from storage.db.compiled import Engine, Expr, Param, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import LeaveRequestRow, UserRow
from storage.directory import pending_approvals, people_rows
from storage.events import audit_log, organisation_config
from storage.leave import leave_rows
from storage.rules.spans import MAX_SPAN_DAYS

Sort = Literal["start_date", "-start_date", "created_at", "-created_at"]

T = TypeVar("T")


class Filters(TypedDict, total=False):
    """``first_day`` and ``last_day``: leave that shares a date with the time between, inclusive."""

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


class _VisibleFilters(TypedDict):
    status: str | None
    user_id: str | None
    starts_after: str | None
    starts_before: str | None


def get(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """One request, for its requester, its approvers, who decided on it, admins and owners.

    Raises NotFound for all others, as for a request that does not exist.
    """
    found = (
        leave_rows.find(tx, by.organisation_id, request_id) if fields.is_id(request_id) else None
    )
    if found is None:
        raise NotFound("leave request")
    if by.is_admin or by.user_id in (found.user_id, found.decided_by):
        return found
    today = _today(tx, by, now)
    if not pending_approvals.may_decide(
        tx, by.organisation_id, found.id, by.user_id, is_admin=False, today=today
    ):
        raise NotFound("leave request")
    return found


def page(
    tx: Transaction, page: PageOf, *, by: Caller, **filters: Unpack[Filters]
) -> Page[LeaveRequest]:
    """The caller's own requests; for admins and owners those of all people.

    Raises InsufficientRole when another caller filters by a person, NotFound for a filter's
    unknown id, UnusableCursor.
    """
    return _page_as(rows.leave_request, tx, page, by, filters)


def page_of_records(
    tx: Transaction, page: PageOf, *, by: Caller, **filters: Unpack[Filters]
) -> Page[LeaveRequestRecord]:
    """As ``page``, in the public shape; the most frequent read, so no value stands between."""
    return _page_as(rows.leave_request_record, tx, page, by, filters)


def _page_as(
    item: Callable[[Row], T], tx: Transaction, page: PageOf, by: Caller, asked: Filters
) -> Page[T]:
    user_id = asked.get("user_id")
    if not by.is_admin:
        if user_id not in (None, by.user_id):
            raise InsufficientRole("admin")
        user_id = by.user_id
    _check_user(tx, user_id, by)
    _check_known(tx, asked, by)
    first_day, last_day = asked.get("first_day"), asked.get("last_day")
    sort = asked.get("sort", "-created_at")
    filters = _PageFilters(
        status=asked.get("status"),
        user_id=user_id,
        leave_type_id=asked.get("leave_type_id"),
        department_id=asked.get("department_id"),
        first_day=None if first_day is None else first_day.isoformat(),
        last_day=None if last_day is None else last_day.isoformat(),
    )
    bound_to = ("leave_requests", by.organisation_id, sort, *filters.values())
    after = position(tx, page, *bound_to)
    by_start = sort in ("start_date", "-start_date")
    found = tx.all(
        _page,
        organisation_id=by.organisation_id,
        sort=sort,
        # One person's leave and what is pending are few, whatever the organisation has.
        are_few=by_start and (user_id is not None or asked.get("status") == "pending"),
        ends_until=None if None in (first_day, last_day) else _longest_after(last_day),
        after_key=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=page.limit + 1,
        **filters,
    )
    return page_of(tx, page, found, item, _keys[sort], *bound_to)


def visible(
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
    """The requests that the caller may see, newest first: own, to decide, decided; admins: all.

    ``starts_after`` and ``starts_before`` leave out the day itself. Raises NotFound for a
    unknown ``user_id``, UnusableCursor.
    """
    _check_user(tx, user_id, by)
    filters = _VisibleFilters(
        status=status,
        user_id=user_id,
        starts_after=None if starts_after is None else starts_after.isoformat(),
        starts_before=None if starts_before is None else starts_before.isoformat(),
    )
    bound_to = ("leave", by.organisation_id, by.user_id, by.is_admin, *filters.values())
    after = position(tx, page, *bound_to)
    found = tx.all(
        _visible,
        organisation_id=by.organisation_id,
        viewer_id=None if by.is_admin else by.user_id,
        today=None if by.is_admin else _today(tx, by, now).isoformat(),
        after_key=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=page.limit + 1,
        **filters,
    )
    return page_of(tx, page, found, rows.leave_request, _keys["-created_at"], *bound_to)


def cancelled_by(tx: Transaction, organisation_id: str, request: LeaveRequest) -> str | None:
    """The id of the person who cancelled the request; None where it is not, or the system did."""
    if request.status != "cancelled":
        return None
    return audit_log.last_actor(tx, organisation_id, "leave_request.cancelled", request.id)


def awaiting(tx: Transaction, page: PageOf, *, by: Caller, now: datetime) -> Page[LeaveRequest]:
    """Pending requests that await the caller's decision, oldest first. Raises UnusableCursor."""
    bound_to = ("awaiting", by.organisation_id, by.user_id)
    after = position(tx, page, *bound_to)
    found = tx.all(
        _awaiting,
        organisation_id=by.organisation_id,
        is_admin=by.is_admin,
        viewer_id=by.user_id,
        today=_today(tx, by, now).isoformat(),
        after_key=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=page.limit + 1,
    )
    return page_of(tx, page, found, rows.leave_request, _keys["created_at"], *bound_to)


def _longest_after(day: date | None) -> str:
    """No leave that begins by that day ends later, so an index need not be read further."""
    last = date.max.toordinal() if day is None else day.toordinal() + MAX_SPAN_DAYS
    return date.fromordinal(min(last, date.max.toordinal())).isoformat()


def awaiting_all(
    tx: Transaction,
    organisation_id: str,
    viewer_id: str,
    *,
    is_admin: bool,
    today: date,
    limit: int,
) -> list[LeaveRequest]:
    """All pending requests that are assigned to approvers, oldest first, up to a limit."""
    found = tx.all(
        _awaiting,
        organisation_id=organisation_id,
        is_admin=is_admin,
        viewer_id=viewer_id,
        today=today.isoformat(),
        after_key=None,
        after_id=None,
        limit=limit,
    )
    return [rows.leave_request(row) for row in found]


def _check_user(tx: Transaction, user_id: str | None, by: Caller) -> None:
    if user_id in (None, by.user_id):
        return
    if people_rows.find(tx, by.organisation_id, str(user_id)) is None:
        raise NotFound("user")


def _check_known(tx: Transaction, filters: Filters, by: Caller) -> None:
    leave_type_id, department_id = filters.get("leave_type_id"), filters.get("department_id")
    if leave_type_id is None and department_id is None:
        return
    reference = organisation_config.of_organisation(tx, by.organisation_id)
    if leave_type_id is not None and leave_type_id not in reference.leave_types:
        raise NotFound("leave type")
    if department_id is not None and department_id not in reference.departments:
        raise NotFound("department")


def _today(tx: Transaction, by: Caller, now: datetime) -> date:
    reference = organisation_config.of_organisation(tx, by.organisation_id)
    return local_day(now, reference.organisation.timezone)


def _by_start(row: Row) -> list[object]:
    return [row.start_date, row.id]


def _by_creation(row: Row) -> list[object]:
    return [row.created_at, row.id]


_keys: Final = {
    "start_date": _by_start,
    "-start_date": _by_start,
    "created_at": _by_creation,
    "-created_at": _by_creation,
}


def _sorted(
    query: Select,
    sort: Sort,
    after_key: Expr,
    after_id: Expr,
    *,
    few_on: str | None = None,
) -> Select:
    """Order by the sort's column and id, from after a position; an index serves each.

    ``few_on`` names the engine where the filters leave little: that is found by them and then
    sorted. Neither engine could know it; both would rather walk through everything in order.
    """
    column = getattr(LeaveRequestRow, sort.removeprefix("-"))
    if few_on is not None:
        # The same value, in words that no index can serve.
        parts = (SQL("+"), column) if few_on == "sqlite" else (column, SQL("+ 0"))
        column = NodeList(parts, parens=True)
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
    after_key: Param[str] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    leave = LeaveRequestRow
    query = leave.select(*rows.LEAVE_REQUEST).where(leave.organisation_id == organisation_id)
    for column, param in (
        (leave.status, status),
        (leave.user_id, user_id),
        (leave.leave_type_id, leave_type_id),
    ):
        if param is not None:
            query = query.where(column == param)
    if first_day is not None:
        query = query.where(leave.end_date >= first_day)
    if ends_until is not None:
        query = query.where(leave.end_date <= ends_until)
    if last_day is not None:
        query = query.where(leave.start_date <= last_day)
    if department_id is not None:
        members = UserRow.select(UserRow.id).where(
            UserRow.organisation_id == organisation_id, UserRow.department_id == department_id
        )
        query = query.where(leave.user_id.in_(members))
    few_on = engine if are_few else None
    return _sorted(query, sort, after_key, after_id, few_on=few_on).limit(limit)


@compiled_per_engine
def _visible(
    engine: Engine,
    organisation_id: Param[str],
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
    query = leave.select(*rows.LEAVE_REQUEST).where(leave.organisation_id == organisation_id)
    for column, param in ((leave.status, status), (leave.user_id, user_id)):
        if param is not None:
            query = query.where(column == param)
    if starts_after is not None:
        query = query.where(leave.start_date > starts_after)
    if starts_before is not None:
        query = query.where(leave.start_date < starts_before)
    if viewer_id is not None:
        # PostgreSQL plans the one for each person badly, SQLite is far quicker with it.
        for_each = engine == "postgresql"
        awaits = pending_approvals.is_assigned(organisation_id, viewer_id, today, for_each=for_each)
        query = query.where(
            # Says nothing new, and spares walking through the organisation's leave.
            leave.id.in_(_ever_visible(organisation_id, viewer_id)),
            (leave.user_id == viewer_id) | (leave.decided_by == viewer_id) | awaits,
        )
    few_on = engine if viewer_id is not None else None
    return _sorted(query, "-created_at", after_key, after_id, few_on=few_on).limit(limit)


@compiled
def _awaiting(
    organisation_id: Param[str],
    viewer_id: Param[str | None],
    today: Param[str],
    is_admin: bool,
    after_key: Param[str] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    query = LeaveRequestRow.select(*rows.LEAVE_REQUEST).where(
        LeaveRequestRow.organisation_id == organisation_id,
        LeaveRequestRow.status == "pending",
        pending_approvals.is_assigned(organisation_id, viewer_id, today, for_each=is_admin),
    )
    return _sorted(query, "created_at", after_key, after_id).limit(limit)


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
