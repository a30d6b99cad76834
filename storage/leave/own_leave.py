"""A person's future leave and pending requests."""

from __future__ import annotations

from datetime import date

from peewee import Select, Tuple

from storage.base.values import Caller, LeaveRequest
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import LeaveRequestRow


def page(tx: Transaction, page: PageOf, *, by: Caller, today: date) -> Page[LeaveRequest]:
    """The caller's pending requests and current or future approved ones, by first day.

    Raises UnusableCursor.
    """
    bound_to = ("own", by.organisation_id, by.user_id)
    after = position(tx, page, *bound_to)
    found = tx.all(
        _own,
        organisation_id=by.organisation_id,
        user_id=by.user_id,
        today=today.isoformat(),
        after_key=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=page.limit + 1,
    )
    return page_of(tx, page, found, rows.leave_request, _by_start, *bound_to)


def _by_start(row: Row) -> list[object]:
    return [row.start_date, row.id]


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
    if after_key is not None:
        query = query.where(Tuple(leave.start_date, leave.id) > Tuple(after_key, after_id))
    return query.order_by(leave.start_date, leave.id).limit(limit)
