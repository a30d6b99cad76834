"""Lists of leave requests: filtered, visible to a caller, their own, and assigned to them.

Each is one query with optional filters, whose pages continue after a position.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, Final, Literal, TypedDict, Unpack

from peewee import Select, Tuple

from storage.base.errors import InsufficientRole, NotFound
from storage.base.leave_values import LEAVE_STATUSES, LeaveRequest, LeaveStatus
from storage.base.values import Caller
from storage.db import rows
from storage.db.compiled import Expr, Param, compiled
from storage.db.database import Row, Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import LeaveRequestRow, UserRow
from storage.outbox import organisation_config
from storage.people import approvers, people_rows
from storage.rules import counted_days

Sort = Literal["start_date", "-start_date", "created_at", "-created_at", "updated_at"]


class Filters(TypedDict, total=False):
    """``first_day`` and ``last_day``: leave with a date between them, both included.

    ``statuses``: any of them; of every status if there are none. ``updated_since`` is inclusive.
    """

    statuses: Sequence[LeaveStatus]
    updated_since: datetime | None
    user_id: str | None
    leave_type_id: str | None
    department_id: str | None
    closure_id: str | None
    first_day: date | None
    last_day: date | None
    sort: Sort


class _Position(TypedDict):
    after_key: Any
    after_id: str | None
    limit: int


def filtered(
    tx: Transaction, page: PageOf, *, by: Caller, **filters: Unpack[Filters]
) -> Page[LeaveRequest]:
    """The caller's own requests; for admins and owners those of all people.

    Raises InsufficientRole if another caller filters by a person, NotFound for an unknown id in a
    filter, UnusableCursor.
    """
    user_id = filters.get("user_id")
    if not by.is_admin:
        if user_id not in (None, by.user_id):
            raise InsufficientRole("admin")
        user_id = by.user_id
    _check_user(tx, user_id, by)
    leave_type_id, department_id = filters.get("leave_type_id"), filters.get("department_id")
    _check_filters(tx, leave_type_id, department_id, by)
    # A closure may be deleted, and its past leave still be listed.
    closure_id = filters.get("closure_id")
    chosen = filters.get("statuses", ())
    # In one order, as each set of statuses has a statement of its own.
    statuses = tuple(status for status in LEAVE_STATUSES if status in chosen)
    updated_since, sort = filters.get("updated_since"), filters.get("sort", "-created_at")
    first_day, last_day = filters.get("first_day"), filters.get("last_day")
    from_, to = _text(first_day), _text(last_day)
    bound_to = (
        *("leave_requests", by.organisation_id, sort),
        *(statuses, user_id, leave_type_id, department_id, closure_id, from_, to, updated_since),
    )
    request_rows = tx.all(
        _filtered,
        organisation_id=by.organisation_id,
        statuses=statuses,
        updated_since=updated_since,
        user_id=user_id,
        leave_type_id=leave_type_id,
        department_id=department_id,
        closure_id=closure_id,
        first_day=from_,
        last_day=to,
        starts_from=_text(first_day and counted_days.earliest_start(first_day)),
        sort=sort,
        **_after(tx, page, bound_to),
    )
    return page_of(tx, page, request_rows, rows.leave_request, _KEYS[sort], *bound_to)


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
    """The requests that ``leave_rows.get`` shows to the caller, newest first.

    ``starts_after`` and ``starts_before`` exclude the day itself. Raises NotFound for an unknown
    ``user_id``, UnusableCursor.
    """
    _check_user(tx, user_id, by)
    after, before = _text(starts_after), _text(starts_before)
    bound_to = (
        *("leave", by.organisation_id, by.user_id, by.is_admin),
        *(user_id, status, after, before),
    )
    request_rows = tx.all(
        _visible,
        organisation_id=by.organisation_id,
        viewer_id=None if by.is_admin else by.user_id,
        today=None if by.is_admin else _today(tx, by, now),
        user_id=user_id,
        status=status,
        starts_after=after,
        starts_before=before,
        **_after(tx, page, bound_to),
    )
    return page_of(tx, page, request_rows, rows.leave_request, _by_creation, *bound_to)


def own(tx: Transaction, page: PageOf, *, by: Caller, today: date) -> Page[LeaveRequest]:
    """The caller's pending requests and current or future approved ones, by first day.

    Raises UnusableCursor.
    """
    bound_to = ("own", by.organisation_id, by.user_id)
    request_rows = tx.all(
        _own,
        organisation_id=by.organisation_id,
        user_id=by.user_id,
        today=today.isoformat(),
        **_after(tx, page, bound_to),
    )
    return page_of(tx, page, request_rows, rows.leave_request, _by_start, *bound_to)


def assigned(tx: Transaction, page: PageOf, *, by: Caller, now: datetime) -> Page[LeaveRequest]:
    """Undecided requests that are assigned to the caller, oldest first. Raises UnusableCursor."""
    bound_to = ("awaiting", by.organisation_id, by.user_id)
    request_rows = tx.all(
        _assigned,
        organisation_id=by.organisation_id,
        is_admin=by.is_admin,
        viewer_id=by.user_id,
        today=_today(tx, by, now),
        **_after(tx, page, bound_to),
    )
    return page_of(tx, page, request_rows, rows.leave_request, _by_creation, *bound_to)


def all_assigned(
    tx: Transaction,
    organisation_id: str,
    viewer_id: str,
    *,
    is_admin: bool,
    today: date,
    limit: int,
) -> list[LeaveRequest]:
    """Undecided requests that are assigned to a person, oldest first, up to a limit."""
    request_rows = tx.all(
        _assigned,
        organisation_id=organisation_id,
        is_admin=is_admin,
        viewer_id=viewer_id,
        today=today.isoformat(),
        after_key=None,
        after_id=None,
        limit=limit,
    )
    return [rows.leave_request(row) for row in request_rows]


def _check_user(tx: Transaction, user_id: str | None, by: Caller) -> None:
    if user_id in (None, by.user_id):
        return
    if people_rows.find(tx, by.organisation_id, str(user_id)) is None:
        raise NotFound("user")


def _check_filters(
    tx: Transaction, leave_type_id: str | None, department_id: str | None, by: Caller
) -> None:
    if leave_type_id is None and department_id is None:
        return
    config = organisation_config.of_organisation(tx, by.organisation_id)
    if leave_type_id is not None and leave_type_id not in config.leave_types:
        raise NotFound("leave type")
    if department_id is not None and department_id not in config.departments:
        raise NotFound("department")


def _today(tx: Transaction, by: Caller, now: datetime) -> str:
    return organisation_config.today(tx, by.organisation_id, now).isoformat()


def _text(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _after(tx: Transaction, page: PageOf, bound_to: tuple[object, ...]) -> _Position:
    key, request_id = position(tx, page, *bound_to) or (None, None)
    return {"after_key": key, "after_id": request_id, "limit": page.limit + 1}


def _by_start(row: Row) -> list[object]:
    return [row.start_date, row.id]


def _by_creation(row: Row) -> list[object]:
    return [row.created_at, row.id]


def _by_change(row: Row) -> list[object]:
    return [row.updated_at, row.id]


_KEYS: Final = {
    "start_date": _by_start,
    "-start_date": _by_start,
    "created_at": _by_creation,
    "-created_at": _by_creation,
    "updated_at": _by_change,
}


@compiled
def _filtered(
    organisation_id: Param[str],
    statuses: tuple[LeaveStatus, ...],
    updated_since: Param[datetime] | None,
    user_id: Param[str] | None,
    leave_type_id: Param[str] | None,
    department_id: Param[str] | None,
    closure_id: Param[str] | None,
    first_day: Param[str] | None,
    last_day: Param[str] | None,
    starts_from: Param[str] | None,
    sort: Sort,
    after_key: Param[str] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    leave = LeaveRequestRow
    members = UserRow.select(UserRow.id).where(
        UserRow.organisation_id == organisation_id, UserRow.department_id == department_id
    )
    query = _where(
        leave.select(*rows.LEAVE_REQUEST).where(leave.organisation_id == organisation_id),
        (statuses or None, _is_one_of(leave.status, statuses)),
        (updated_since, leave.updated_at >= updated_since),
        (user_id, leave.user_id == user_id),
        (leave_type_id, leave.leave_type_id == leave_type_id),
        (department_id, leave.user_id.in_(members)),
        (closure_id, leave.closure_id == closure_id),
        (first_day, leave.end_date >= first_day),
        (starts_from, leave.start_date >= starts_from),
        (last_day, leave.start_date <= last_day),
    )
    return _in_order(query, sort, after_key, after_id, limit)


@compiled
def _visible(
    organisation_id: Param[str],
    viewer_id: Param[str] | None,
    today: Param[str] | None,
    user_id: Param[str] | None,
    status: LeaveStatus | None,
    starts_after: Param[str] | None,
    starts_before: Param[str] | None,
    after_key: Param[str] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    leave = LeaveRequestRow
    query = _where(
        leave.select(*rows.LEAVE_REQUEST).where(leave.organisation_id == organisation_id),
        (user_id, leave.user_id == user_id),
        (status, leave.status == status),
        (starts_after, leave.start_date > starts_after),
        (starts_before, leave.start_date < starts_before),
    )
    if viewer_id is not None:
        query = query.where(leave.id.in_(_visible_ids(organisation_id, viewer_id, today)))
    return _in_order(query, "-created_at", after_key, after_id, limit)


def _visible_ids(organisation_id: Expr, viewer_id: Expr, today: Expr) -> Expr:
    """The ids of a person's own requests, those they decided, and those assigned to them."""
    own, decided = LeaveRequestRow.alias(), LeaveRequestRow.alias()
    return (
        own.select(own.id)
        .where(own.organisation_id == organisation_id, own.user_id == viewer_id)
        .union_all(
            decided.select(decided.id).where(
                decided.organisation_id == organisation_id, decided.decided_by == viewer_id
            )
        )
        .union_all(approvers.assigned_ids(organisation_id, viewer_id, today))
    )


@compiled
def _own(
    organisation_id: Param[str],
    user_id: Param[str | None],
    today: Param[str],
    after_key: Param[str] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    leave = LeaveRequestRow
    query = leave.select(*rows.LEAVE_REQUEST).where(
        leave.organisation_id == organisation_id,
        leave.user_id == user_id,
        (leave.status == "pending") | ((leave.status == "approved") & (leave.end_date >= today)),
    )
    return _in_order(query, "start_date", after_key, after_id, limit)


@compiled
def _assigned(
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
        rows.is_undecided(LeaveRequestRow),
        approvers.is_assigned(organisation_id, viewer_id, today, for_each=is_admin),
    )
    return _in_order(query, "created_at", after_key, after_id, limit)


def _where(query: Select, *filters: tuple[object, Expr]) -> Select:
    """The query with the conditions whose parameters are present."""
    return query.where(*[condition for param, condition in filters if param is not None])


def _is_one_of(column: Expr, values: tuple[str, ...]) -> Expr:
    # Indexes with a condition serve "=" alone.
    return column == values[0] if len(values) == 1 else column.in_(values)


def _in_order(query: Select, sort: Sort, after_key: Expr, after_id: Expr, limit: Expr) -> Select:
    order = (getattr(LeaveRequestRow, sort.removeprefix("-")), LeaveRequestRow.id)
    descends = sort.startswith("-")
    if after_key is not None:
        at, after = Tuple(*order), Tuple(after_key, after_id)
        query = query.where(at < after if descends else at > after)
    return query.order_by(*(column.desc() for column in order) if descends else order).limit(limit)
