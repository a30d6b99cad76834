"""Which leave requests a caller may see: one request, or a page of them."""

from __future__ import annotations

from datetime import date, datetime
from typing import TypedDict

from peewee import Select

from storage.base import fields
from storage.base.clock import local_day
from storage.base.errors import NotFound
from storage.base.values import Caller, LeaveRequest, LeaveStatus
from storage.db import rows
from storage.db.compiled import Engine, Expr, Param, compiled_per_engine
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import LeaveRequestRow
from storage.directory import pending_approvals
from storage.events import audit_log, organisation_config
from storage.leave import leave_rows
from storage.leave.leave_lists import KEYS, check_user, sorted_after


class _VisibleFilters(TypedDict):
    status: str | None
    user_id: str | None
    starts_after: str | None
    starts_before: str | None


def get(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """One request, for its requester, its approvers, its decider, admins and owners.

    Raises NotFound for all others, as for a request that does not exist.
    """
    request = (
        leave_rows.find(tx, by.organisation_id, request_id) if fields.is_id(request_id) else None
    )
    if request is None:
        raise NotFound("leave request")
    check_visible(tx, request, by=by, now=now)
    return request


def check_visible(tx: Transaction, request: LeaveRequest, *, by: Caller, now: datetime) -> None:
    """Raises NotFound for a caller to whom ``get`` does not show the request."""
    if by.is_admin or by.user_id in (request.user_id, request.decided_by):
        return
    today = _today(tx, by, now)
    if not pending_approvals.may_decide(
        tx, by.organisation_id, request.id, by.user_id, is_admin=False, today=today
    ):
        raise NotFound("leave request")


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
    """The requests that ``get`` shows to the caller, newest first.

    ``starts_after`` and ``starts_before`` exclude the day itself. Raises NotFound for an unknown
    ``user_id``, UnusableCursor.
    """
    check_user(tx, user_id, by)
    filters = _VisibleFilters(
        status=status,
        user_id=user_id,
        starts_after=None if starts_after is None else starts_after.isoformat(),
        starts_before=None if starts_before is None else starts_before.isoformat(),
    )
    bound_to = ("leave", by.organisation_id, by.user_id, by.is_admin, *filters.values())
    after = position(tx, page, *bound_to)
    request_rows = tx.all(
        _visible,
        organisation_id=by.organisation_id,
        viewer_id=None if by.is_admin else by.user_id,
        today=None if by.is_admin else _today(tx, by, now).isoformat(),
        after_key=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=page.limit + 1,
        **filters,
    )
    return page_of(tx, page, request_rows, rows.leave_request, KEYS["-created_at"], *bound_to)


def cancelled_by(tx: Transaction, organisation_id: str, request: LeaveRequest) -> str | None:
    """The id of the person who cancelled the request; None if not cancelled, or by the system."""
    if request.status != "cancelled":
        return None
    return audit_log.last_actor(tx, organisation_id, "leave_request.cancelled", request.id)


def _today(tx: Transaction, by: Caller, now: datetime) -> date:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    return local_day(now, config.organisation.timezone)


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
        # SQLite is far quicker with the subquery for each person, PostgreSQL plans it badly.
        for_each = engine == "postgresql"
        is_assigned = pending_approvals.is_assigned(
            organisation_id, viewer_id, today, for_each=for_each
        )
        query = query.where(
            # Redundant, but it saves a scan of the organisation's leave.
            leave.id.in_(_ever_visible(organisation_id, viewer_id)),
            (leave.user_id == viewer_id) | (leave.decided_by == viewer_id) | is_assigned,
        )
    few_on = engine if viewer_id is not None else None
    return sorted_after(query, "-created_at", after_key, after_id, few_on=few_on).limit(limit)


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
