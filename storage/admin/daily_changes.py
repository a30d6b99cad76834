"""What takes effect on a day, in periodic jobs: employment that changes, and requests that lapse.

Leave and balances count by date and need no job. A job brings a person's own fields in step, which
approvals and lists use, and archives people on the day after their last. Pending requests whose
last day is two weeks ago are cancelled, so that they reserve no allowance for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final

import structlog
from peewee import Select

from storage.admin import people_status, person_changes
from storage.base.errors import DatabaseUnavailable, DomainError
from storage.base.values import Caller, local_day
from storage.db import locks, rows
from storage.db.compiled import Param, compiled
from storage.db.database import Database, Transaction
from storage.db.tables import LeaveRequestRow, OrganisationRow, UserRow
from storage.leave import request_steps
from storage.outbox import notification_outbox, organisation_config
from storage.people import people_rows
from storage.rules import employment_terms

# People and requests that one run looks at; the next follows within a minute.
MAX_PEOPLE: Final = 1_000
MAX_REQUESTS: Final = 500
# How long after its last day a request may still be decided.
DAYS_TO_DECIDE: Final = 14

_log = structlog.stdlib.get_logger("hiatus.daily_changes")


@dataclass(frozen=True, kw_only=True, slots=True)
class Due:
    """A person or a leave request for whom something is due."""

    organisation_id: str
    id: str


async def change_employment(database: Database, *, now: datetime) -> None:
    """Let changes of employment take effect that are due."""
    await _each(database, "employment", due_people, take_effect, now=now)


async def lapse_requests(database: Database, *, now: datetime) -> None:
    """Cancel the pending requests that lapse."""
    await _each(database, "lapsing", due_requests, lapse, now=now)


async def _each(
    database: Database,
    job: str,
    find: Callable[..., list[Due]],
    change: Callable[..., None],
    *,
    now: datetime,
) -> None:
    """Each in a transaction of its own, so that one person's data does not stop the others."""
    for due in await database.read(find, now=now):
        try:
            await database.write(change, due, now=now)
        except DatabaseUnavailable:
            raise
        except DomainError as refusal:
            _log.warning(
                f"{job}.refused",
                organisation_id=due.organisation_id,
                id=due.id,
                reason=refusal.code,
            )
        except Exception:  # noqa: BLE001  # the others are still changed
            _log.exception(f"{job}.failed", organisation_id=due.organisation_id, id=due.id)


def due_people(tx: Transaction, *, now: datetime) -> list[Due]:
    """The people for whom something is due today in their organisation, due longest first."""
    # No time zone is more than a day ahead of UTC.
    tomorrow = (now + timedelta(days=1)).date()
    return [
        Due(organisation_id=row.organisation_id, id=row.id)
        for row in tx.all(_due_people, day=tomorrow.isoformat(), limit=MAX_PEOPLE)
        if rows.day(row.employment_due_on) <= local_day(now, row.timezone)
    ]


def take_effect(tx: Transaction, due: Due, *, now: datetime) -> None:
    """Bring the person in step with today's record, or archive them after their last day.

    Does nothing if another process has done it. Raises LastOwner.
    """
    by = Caller.system(due.organisation_id, "scheduler")
    locks.organisation(tx, due.organisation_id)
    user = people_rows.get(tx, due.id, by=by, for_update=True)
    if user.status == "archived":
        return
    config = organisation_config.of_organisation(tx, due.organisation_id)
    today = local_day(now, config.organisation.timezone)
    if user.end_date is not None and user.end_date < today:
        people_status.archive(tx, user.id, by=by, now=now)
        return
    after = employment_terms.with_records(user, employment_terms.records_of(user), today)
    if after != user:
        person_changes.write(tx, config, user, after, "user.updated", by=by, now=now)


@compiled
def _due_people(day: Param[str], limit: Param[int]) -> Select:
    return (
        UserRow.select(
            UserRow.organisation_id,
            UserRow.id,
            UserRow.employment_due_on,
            OrganisationRow.timezone,
        )
        .join(OrganisationRow, on=(OrganisationRow.id == UserRow.organisation_id))
        .where(UserRow.employment_due_on <= day, UserRow.status != "archived")
        .order_by(UserRow.employment_due_on)
        .limit(limit)
    )


def due_requests(tx: Transaction, *, now: datetime) -> list[Due]:
    """Pending requests that lapse today in their organisation, due longest first."""
    # No time zone is more than a day ahead of UTC.
    latest = (now + timedelta(days=1)).date() - timedelta(days=DAYS_TO_DECIDE)
    return [
        Due(organisation_id=row.organisation_id, id=row.id)
        for row in tx.all(_due_requests, latest=latest.isoformat(), limit=MAX_REQUESTS)
        if _is_lapsed(rows.day(row.end_date), local_day(now, row.timezone))
    ]


def lapse(tx: Transaction, due: Due, *, now: datetime) -> None:
    """Cancel the request; its requester and approvers are told in Slack.

    Does nothing if it was decided, edited or cancelled meanwhile.
    """
    by = Caller.system(due.organisation_id, "scheduler")
    subject, before = request_steps.lock_request(tx, due.id, by=by, now=now)
    if before.status != "pending" or not _is_lapsed(before.end_date, subject.today):
        return
    approvers = request_steps.card_recipients(tx, subject, before)
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


def _is_lapsed(last_day: date, today: date) -> bool:
    return last_day + timedelta(days=DAYS_TO_DECIDE) <= today


@compiled
def _due_requests(latest: Param[str], limit: Param[int]) -> Select:
    leave = LeaveRequestRow
    return (
        leave.select(leave.organisation_id, leave.id, leave.end_date, OrganisationRow.timezone)
        .join(OrganisationRow, on=(OrganisationRow.id == leave.organisation_id))
        .where(rows.is_undecided(leave), leave.status == "pending", leave.end_date <= latest)
        .order_by(leave.end_date)
        .limit(limit)
    )
