"""Pending requests whose last day is two weeks ago are cancelled, in a periodic job.

So they reserve no allowance for ever. Both sides are told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final

import structlog
from peewee import Select

from storage.base.clock import local_day
from storage.base.errors import DatabaseUnavailable
from storage.base.values import Caller
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Database, Transaction
from storage.db.tables import LeaveRequestRow, OrganisationRow
from storage.events import notification_outbox
from storage.leave import request_steps

# How long after its last day a request may still be decided.
DAYS_TO_DECIDE: Final = 14
# Requests that one run looks at; the next follows within a minute.
MAX_REQUESTS: Final = 500

_log = structlog.stdlib.get_logger("hiatus.lapsing")


@dataclass(frozen=True, kw_only=True, slots=True)
class DueRequest:
    organisation_id: str
    request_id: str


async def run(database: Database, *, now: datetime) -> None:
    """Cancel what is due, each request in a transaction of its own."""
    for due in await database.read(due_requests, now=now):
        try:
            await database.write(lapse, due, now=now)
        except DatabaseUnavailable:
            raise
        except Exception:  # noqa: BLE001  # one request must not stop the others
            _log.exception("lapsing.failed", request_id=due.request_id)


def due_requests(tx: Transaction, *, now: datetime) -> list[DueRequest]:
    """Pending requests that lapse today in their organisation, due longest first."""
    # No time zone is more than a day ahead of UTC.
    latest = (now + timedelta(days=1)).date() - timedelta(days=DAYS_TO_DECIDE)
    return [
        DueRequest(organisation_id=row.organisation_id, request_id=row.id)
        for row in tx.all(_due, latest=latest.isoformat(), limit=MAX_REQUESTS)
        if _is_due(rows.day(row.end_date), local_day(now, row.timezone))
    ]


def lapse(tx: Transaction, due: DueRequest, *, now: datetime) -> None:
    """Cancel the request; its requester and approvers are told in Slack.

    Does nothing if it was decided, edited or cancelled meanwhile.
    """
    by = Caller.system(due.organisation_id, "scheduler")
    subject, before = request_steps.lock_request(tx, due.request_id, by=by, now=now)
    if before.status != "pending" or not _is_due(before.end_date, subject.today):
        return
    approvers = request_steps.card_recipients(tx, subject)
    request_steps.apply(
        tx,
        "cancel",
        before,
        replace(before, status="cancelled", cancelled_at=now),
        subject,
        by=by,
        now=now,
        why="lapsed",
    )
    if approvers:
        notification_outbox.notify_approvers(
            tx,
            "leave_request.cancelled",
            {before.id: {approver.id for approver in approvers}},
            organisation_id=due.organisation_id,
            now=now,
        )


def _is_due(last_day: date, today: date) -> bool:
    return last_day + timedelta(days=DAYS_TO_DECIDE) <= today


@compiled
def _due(latest: Param[str], limit: Param[int]) -> Select:
    leave = LeaveRequestRow
    return (
        leave.select(leave.organisation_id, leave.id, leave.end_date, OrganisationRow.timezone)
        .join(OrganisationRow, on=(OrganisationRow.id == leave.organisation_id))
        .where(rows.is_undecided(leave), leave.status == "pending", leave.end_date <= latest)
        .order_by(leave.end_date)
        .limit(limit)
    )
