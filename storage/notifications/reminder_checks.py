"""Checks due reminders and queues the notifications.

Whether to remind is computed from the current data, so decisions, absences and changes of approvers
or working days need no events.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from peewee import Delete, Insert, Select, Update, fn

from storage.base.clock import local_day
from storage.base.values import User
from storage.db import rows
from storage.db.compiled import Engine, Expr, Param, any_of, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import LeaveRequestRow, ReminderRow, ReminderSummaryRow, UserRow
from storage.directory import approval_rule, approvers
from storage.events import notification_outbox, organisation_config
from storage.events.leased_queue import skip_locked
from storage.events.organisation_config import OrganisationConfig
from storage.notifications import escalations, worktimes
from storage.rules import lifecycle, reminder_schedule
from storage.rules.reminder_schedule import Plan
from storage.rules.worktime import next_work_start

# An approver of more requests than this gets one summary a working day instead.
MAX_SINGLE: Final = 5
# Rows of one organisation that one transaction checks.
BATCH_SIZE: Final = 100
# The wait where no next check is planned.
IDLE_WAIT: Final = timedelta(days=7)


@dataclass(frozen=True, kw_only=True, slots=True)
class _DueReminder:
    """A due row with the state of its request and the approver."""

    request_id: str
    asked_at: datetime
    sent: int
    due_at: int
    status: str
    decided_at: datetime | None
    is_next_step: bool
    requester_id: str
    approver: User


def run(tx: Transaction, organisation_id: str, *, now: datetime, limit: int = BATCH_SIZE) -> int:
    """Check a batch of an organisation's due rows and queue the reminders; the number of rows.

    A conditional UPDATE reschedules each row in the transaction that queues its notification, so
    two processes or a restart never remind twice.
    """
    due = [
        _due_reminder(row)
        for row in tx.all(_due, organisation_id=organisation_id, now=now, limit=limit)
    ]
    ended = [
        reminder
        for reminder in due
        if reminder.status != "pending" or not approval_rule.is_reachable(reminder.approver)
    ]
    for reminder in ended:
        # An escalated request's row lets its approver reverse the decision, while that is possible.
        until = reminder.decided_at and reminder.decided_at + lifecycle.REVERSAL_WINDOW
        if reminder.is_next_step and until and now < until:
            _reschedule(tx, organisation_id, reminder, reminder.sent, until)
        else:
            _delete(tx, organisation_id, reminder)
    pending = [reminder for reminder in due if reminder not in ended]
    config = organisation_config.of_organisation(tx, organisation_id)
    if pending and config.is_in_slack:
        _check(tx, config, pending, now)
    elif pending:
        # Reminders need Slack; `reminders.restart` is called when the app is installed again.
        for reminder in pending:
            _reschedule(tx, organisation_id, reminder, reminder.sent, now + IDLE_WAIT)
    return len(due)


def _check(
    tx: Transaction, config: OrganisationConfig, pending: Sequence[_DueReminder], now: datetime
) -> None:
    organisation_id = config.organisation.id
    today = local_day(now, config.organisation.timezone)
    approvers_by_id = {reminder.approver.id: reminder.approver for reminder in pending}
    assigned = approvers.of_people(
        tx, organisation_id, {reminder.requester_id for reminder in pending}, today=today
    )
    counts: dict[str, int] = dict(
        tx.all(_counts, organisation_id=organisation_id, user_ids=sorted(approvers_by_id))
    )
    first_day = min(local_day(reminder.asked_at, "UTC") for reminder in pending)
    worktimes_of = worktimes.of_people(tx, config, approvers_by_id.values(), first_day, today)
    unanswered: dict[str, str] = {}
    for reminder in pending:
        approver_id = reminder.approver.id
        is_assigned = reminder.is_next_step or approver_id in {
            user.id for user in assigned.get(reminder.requester_id, ())
        }
        is_daily = counts.get(approver_id, 0) > MAX_SINGLE
        worktime = worktimes_of[approver_id]
        if is_assigned:
            plan = reminder_schedule.plan(
                worktime, reminder.asked_at, reminder.sent, now=now, is_daily=is_daily
            )
        else:
            next_at = next_work_start(worktime, now)
            plan = Plan(is_due=False, sent=reminder.sent, next_at=next_at)
        next_at = plan.next_at or now + IDLE_WAIT
        if not _reschedule(tx, organisation_id, reminder, plan.sent, next_at):
            continue
        if plan.is_escalated:
            unanswered[reminder.request_id] = reminder.requester_id
        if plan.is_due:
            _remind(tx, organisation_id, reminder, worktime.local_day(now), now, is_daily=is_daily)
    if unanswered:
        escalations.escalate(tx, config, unanswered, today, now)


def _reschedule(
    tx: Transaction, organisation_id: str, reminder: _DueReminder, sent: int, next_at: datetime
) -> bool:
    """Set when the row is due again; False when another process has done so."""
    changed = tx.change(
        _set_next,
        organisation_id=organisation_id,
        request_id=reminder.request_id,
        user_id=reminder.approver.id,
        due_at=reminder.due_at,
        sent=sent,
        next_at=next_at,
    )
    return changed == 1


def _remind(
    tx: Transaction,
    organisation_id: str,
    reminder: _DueReminder,
    today: date,
    now: datetime,
    *,
    is_daily: bool,
) -> None:
    user_id = reminder.approver.id
    if not is_daily:
        notification_outbox.remind(tx, organisation_id, user_id, reminder.request_id, now=now)
        return
    inserted = tx.change(
        _insert_summary, organisation_id=organisation_id, user_id=user_id, day=today.isoformat()
    )
    # At most one summary a day, however many requests are due.
    if inserted == 1:
        notification_outbox.remind(tx, organisation_id, user_id, None, now=now)


def _delete(tx: Transaction, organisation_id: str, reminder: _DueReminder) -> None:
    tx.change(
        _delete_row,
        organisation_id=organisation_id,
        request_id=reminder.request_id,
        user_id=reminder.approver.id,
    )


def _due_reminder(row: Row) -> _DueReminder:
    return _DueReminder(
        request_id=row.leave_request_id,
        asked_at=rows.instant(row.asked_at),
        sent=row.sent,
        due_at=row.due_at,
        status=row.request_status,
        decided_at=rows.instant_or_none(row.decided_at),
        is_next_step=bool(row.is_next_step),
        requester_id=row.requester_id,
        approver=rows.user(row),
    )


@compiled_per_engine
def _due(
    engine: Engine, organisation_id: Param[str], now: Param[datetime], limit: Param[int]
) -> Select:
    query: Expr = (
        ReminderRow.select(
            ReminderRow.leave_request_id,
            ReminderRow.asked_at,
            ReminderRow.sent,
            ReminderRow.due_at,
            LeaveRequestRow.status.alias("request_status"),
            LeaveRequestRow.decided_at,
            ReminderRow.is_next_step,
            LeaveRequestRow.user_id.alias("requester_id"),
            *rows.USER,
        )
        .join(
            LeaveRequestRow,
            on=(LeaveRequestRow.organisation_id == ReminderRow.organisation_id)
            & (LeaveRequestRow.id == ReminderRow.leave_request_id),
        )
        .join(
            UserRow,
            on=(UserRow.organisation_id == ReminderRow.organisation_id)
            & (UserRow.id == ReminderRow.user_id),
        )
        .where(ReminderRow.organisation_id == organisation_id, ReminderRow.due_at <= now)
        .order_by(ReminderRow.due_at)
        .limit(limit)
    )
    # No lease: the transaction that locks the rows reschedules them and queues the reminders.
    return skip_locked(query, engine, ReminderRow)


@compiled
def _set_next(
    organisation_id: Param[str],
    request_id: Param[str],
    user_id: Param[str],
    due_at: Param[int],
    sent: Param[int],
    next_at: Param[datetime],
) -> Update:
    return ReminderRow.update(sent=sent, due_at=next_at).where(
        ReminderRow.organisation_id == organisation_id,
        ReminderRow.leave_request_id == request_id,
        ReminderRow.user_id == user_id,
        ReminderRow.due_at == due_at,
    )


@compiled
def _delete_row(organisation_id: Param[str], request_id: Param[str], user_id: Param[str]) -> Delete:
    return ReminderRow.delete().where(
        ReminderRow.organisation_id == organisation_id,
        ReminderRow.leave_request_id == request_id,
        ReminderRow.user_id == user_id,
    )


@compiled
def _insert_summary(organisation_id: Param[str], user_id: Param[str], day: Param[str]) -> Insert:
    """Record that the person gets a summary that day; changes no row if it is recorded already."""
    return ReminderSummaryRow.insert(
        organisation_id=organisation_id, user_id=user_id, day=day
    ).on_conflict(
        conflict_target=(ReminderSummaryRow.organisation_id, ReminderSummaryRow.user_id),
        update={"day": day},
        where=(ReminderSummaryRow.day < day),
    )


@compiled
def _counts(organisation_id: Param[str], user_ids: Param[list[str]]) -> Select:
    """How many pending requests are assigned to each of these people."""
    return (
        ReminderRow.select(ReminderRow.user_id, fn.COUNT(ReminderRow.leave_request_id))
        .join(
            LeaveRequestRow,
            on=(LeaveRequestRow.organisation_id == ReminderRow.organisation_id)
            & (LeaveRequestRow.id == ReminderRow.leave_request_id),
        )
        .where(
            ReminderRow.organisation_id == organisation_id,
            any_of(ReminderRow.user_id, user_ids),
            LeaveRequestRow.status == "pending",
        )
        .group_by(ReminderRow.user_id)
    )
