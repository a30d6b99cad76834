"""Lists for one caller: their own leave, and the requests that are assigned to them."""

from __future__ import annotations

from datetime import date, datetime

from peewee import Select

from storage.base.clock import local_day
from storage.base.values import Caller, LeaveRequest
from storage.db import rows
from storage.db.compiled import Engine, Param, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import LeaveRequestRow
from storage.directory import pending_approvals
from storage.events import organisation_config
from storage.leave.lists.sorting import KEYS, sorted_after


def own(tx: Transaction, page: PageOf, *, by: Caller, today: date) -> Page[LeaveRequest]:
    """The caller's pending requests and current or future approved ones, by first day.

    Raises UnusableCursor.
    """
    bound_to = ("own", by.organisation_id, by.user_id)
    after = position(tx, page, *bound_to)
    request_rows = tx.all(
        _own,
        organisation_id=by.organisation_id,
        user_id=by.user_id,
        today=today.isoformat(),
        after_key=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=page.limit + 1,
    )
    return page_of(tx, page, request_rows, rows.leave_request, KEYS["start_date"], *bound_to)


def assigned(tx: Transaction, page: PageOf, *, by: Caller, now: datetime) -> Page[LeaveRequest]:
    """Undecided requests that are assigned to the caller, oldest first. Raises UnusableCursor."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    bound_to = ("awaiting", by.organisation_id, by.user_id)
    after = position(tx, page, *bound_to)
    request_rows = tx.all(
        _assigned,
        organisation_id=by.organisation_id,
        is_admin=by.is_admin,
        viewer_id=by.user_id,
        today=local_day(now, config.organisation.timezone).isoformat(),
        after_key=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=page.limit + 1,
    )
    return page_of(tx, page, request_rows, rows.leave_request, KEYS["created_at"], *bound_to)


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


@compiled_per_engine
def _own(
    engine: Engine,
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
    # SQLite would look for the person in all leave, in the order of first days.
    return sorted_after(query, "start_date", after_key, after_id, few_on=engine).limit(limit)


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
        pending_approvals.is_assigned(organisation_id, viewer_id, today, for_each=is_admin),
    )
    return sorted_after(query, "created_at", after_key, after_id).limit(limit)
