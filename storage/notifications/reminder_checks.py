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
from storage.db.compiled import (
    Engine,
    Expr,
    Param,
    any_of,
    compiled,
    compiled_per_engine,
    json_table,
    milliseconds,
)
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import LeaveRequestRow, ReminderRow, ReminderSummaryRow, UserRow
from storage.directory import approval_rule, approvers
from storage.events import notification_outbox, organisation_config
from storage.events.leased_queue import skip_locked
from storage.events.organisation_config import OrganisationConfig
from storage.notifications import escalations, reminder_schedule, worktimes
from storage.notifications.reminder_schedule import Plan
from storage.rules import lifecycle
from storage.rules.worktime import next_work_start

# An approver of more requests than this gets one summary a working day instead.
MAX_SINGLE: Final = 5
# Rows of one organisation that one transaction checks: a few milliseconds.
BATCH_SIZE: Final = 25
# The wait where no next check is planned.
IDLE_WAIT: Final = timedelta(days=7)


@dataclass(frozen=True, kw_only=True, slots=True)
class _DueReminder:
    """A due row with the state of its request and the approver."""

    request_id: str
    asked_at: datetime
    sent: int
    due_at: int
    is_undecided: bool
    decided_at: datetime | None
    is_next_step: bool
    requester_id: str
    approver: User

    @property
    def key(self) -> tuple[str, str]:
        return self.request_id, self.approver.id


@dataclass(frozen=True, kw_only=True, slots=True)
class _Next:
    """When a reminder is checked next, and how many were sent by then."""

    reminder: _DueReminder
    sent: int
    at: datetime


def run(tx: Transaction, organisation_id: str, *, now: datetime, limit: int = BATCH_SIZE) -> int:
    """Check a batch of an organisation's due rows and queue the reminders; the number of rows.

    A conditional UPDATE reschedules the rows in the transaction that queues its notification, so
    two processes or a restart never remind twice.
    """
    due = [
        _due_reminder(row)
        for row in tx.all(_due, organisation_id=organisation_id, now=now, limit=limit)
    ]
    ended = [
        reminder
        for reminder in due
        if not reminder.is_undecided or not approval_rule.is_reachable(reminder.approver)
    ]
    reversible: list[_Next] = []
    for reminder in ended:
        # An escalated request's row lets its approver reverse the decision, while that is possible.
        until = reminder.decided_at and reminder.decided_at + lifecycle.REVERSAL_WINDOW
        if reminder.is_next_step and until and now < until:
            reversible.append(_Next(reminder=reminder, sent=reminder.sent, at=until))
        else:
            _delete(tx, organisation_id, reminder)
    _reschedule(tx, organisation_id, reversible)
    pending = [reminder for reminder in due if reminder not in ended]
    config = organisation_config.of_organisation(tx, organisation_id)
    if pending and config.is_in_slack:
        _check(tx, config, pending, now)
    elif pending:
        # Reminders need Slack; `reminders.restart` is called when the app is installed again.
        later = now + IDLE_WAIT
        _reschedule(
            tx,
            organisation_id,
            [_Next(reminder=reminder, sent=reminder.sent, at=later) for reminder in pending],
        )
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
    planned: list[tuple[_Next, Plan]] = []
    for reminder in pending:
        approver_id = reminder.approver.id
        is_assigned = reminder.is_next_step or approver_id in {
            user.id for user in assigned.get(reminder.requester_id, ())
        }
        worktime = worktimes_of[approver_id]
        if is_assigned:
            plan = reminder_schedule.plan(
                worktime,
                reminder.asked_at,
                reminder.sent,
                now=now,
                is_daily=counts.get(approver_id, 0) > MAX_SINGLE,
            )
        else:
            next_at = next_work_start(worktime, now)
            plan = Plan(is_due=False, sent=reminder.sent, next_at=next_at)
        next_at = plan.next_at or now + IDLE_WAIT
        planned.append((_Next(reminder=reminder, sent=plan.sent, at=next_at), plan))
    rescheduled = _reschedule(tx, organisation_id, [following for following, _ in planned])
    unanswered: dict[str, str] = {}
    for following, plan in planned:
        reminder = following.reminder
        if reminder.key not in rescheduled:
            continue
        if plan.is_escalated:
            unanswered[reminder.request_id] = reminder.requester_id
        if plan.is_due:
            approver_id = reminder.approver.id
            today_there = worktimes_of[approver_id].local_day(now)
            is_daily = counts.get(approver_id, 0) > MAX_SINGLE
            _remind(tx, organisation_id, reminder, today_there, now, is_daily=is_daily)
    if unanswered:
        escalations.escalate(tx, config, unanswered, today, now)


def _reschedule(
    tx: Transaction, organisation_id: str, following: Sequence[_Next]
) -> set[tuple[str, str]]:
    """Set when the rows are due again; returns the keys of those that no other process has set."""
    if not following:
        return set()
    changes = [
        {
            "request_id": one.reminder.request_id,
            "user_id": one.reminder.approver.id,
            "due_at": one.reminder.due_at,
            "sent": one.sent,
            "next_at": milliseconds(one.at),
        }
        for one in following
    ]
    changed = tx.all(_set_next, organisation_id=organisation_id, changes=rows.json_text(changes))
    return {(request_id, user_id) for request_id, user_id in changed}


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
        is_undecided=bool(row.is_undecided),
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
            rows.is_undecided(LeaveRequestRow).alias("is_undecided"),
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
def _set_next(organisation_id: Param[str], changes: Param[str]) -> Update:
    columns = {
        "request_id": "uuid",
        "user_id": "uuid",
        "due_at": "bigint",
        "sent": "integer",
        "next_at": "bigint",
    }
    new = json_table(changes, "new", columns)
    return (
        ReminderRow.update(sent=new.column("sent"), due_at=new.column("next_at"))
        .from_(new)
        .where(
            ReminderRow.organisation_id == organisation_id,
            ReminderRow.leave_request_id == new.column("request_id"),
            ReminderRow.user_id == new.column("user_id"),
            ReminderRow.due_at == new.column("due_at"),
        )
        .returning(ReminderRow.leave_request_id, ReminderRow.user_id)
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
    """How many pending requests are assigned to each of these people, counted to one too many."""
    # No join: SQLite may begin it with all leave of the organisation.
    is_undecided = fn.EXISTS(
        LeaveRequestRow.select(LeaveRequestRow.id).where(
            LeaveRequestRow.organisation_id == ReminderRow.organisation_id,
            LeaveRequestRow.id == ReminderRow.leave_request_id,
            rows.is_undecided(LeaveRequestRow),
        )
    )
    assigned = (
        ReminderRow.select(ReminderRow.leave_request_id)
        .where(
            ReminderRow.organisation_id == organisation_id,
            ReminderRow.user_id == UserRow.id,
            is_undecided,
        )
        .limit(MAX_SINGLE + 1)
        .alias("assigned")
    )
    count = Select([assigned], [fn.COUNT(assigned.c.leave_request_id)])
    return UserRow.select(UserRow.id, count.alias("count")).where(
        UserRow.organisation_id == organisation_id, any_of(UserRow.id, user_ids)
    )
