"""Due reminders of what approvers decide on: who is reminded, and of what the next level is asked.

Of leave (``reminder_checks``) and of time in lieu (``time_credit_reminders``). A person
who has several things to decide on is reminded of them in one message.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from peewee import Select, fn

from storage.base.event_values import AuditAction
from storage.base.values import Caller, User, local_day
from storage.db import rows
from storage.db.compiled import Param, Table, any_of, compiled
from storage.db.database import Transaction
from storage.db.tables import (
    LeaveRequestRow,
    ReminderRow,
    ReminderSummaryRow,
    TimeCreditCardRow,
    TimeCreditRow,
    UserRow,
)
from storage.notifications import reminder_schedule
from storage.notifications.reminder_schedule import Plan
from storage.outbox import audit, notification_outbox
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approval_rule
from storage.people.approvers import MAX_APPROVERS
from storage.rules.worktime import next_work_start

# An approver of more requests than this gets a summary on every working day.
MAX_SCHEDULED: Final = 5
# Rows of one organisation that one transaction checks: a few milliseconds.
BATCH_SIZE: Final = 25
# The wait where no next check is planned.
IDLE_WAIT: Final = timedelta(days=7)


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """What is decided on: the table of its reminders, the column there with its id, its name in
    the audit trail, and the action that says that the next level was asked."""

    table: Table
    column: str
    name: str
    action: AuditAction


LEAVE: Final = Kind(
    table=ReminderRow,
    column="leave_request_id",
    name="leave_request",
    action="leave_request.next_step_asked",
)
TIME_IN_LIEU: Final = Kind(
    table=TimeCreditCardRow,
    column="time_credit_id",
    name="time_credit",
    action="time_credit.next_step_asked",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class DueReminder:
    """A due row. ``subject_id`` is what the approver decides on, ``requester_id`` whose it is."""

    subject_id: str
    requester_id: str
    asked_at: datetime
    sent: int
    is_next_step: bool
    due_at: int
    approver: User


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """``reminded``: approver and subject of reminders of one thing; ``unanswered``: the subjects
    for which the next level is asked."""

    reminded: Sequence[tuple[str, str]]
    unanswered: Sequence[str]


def check(
    tx: Transaction,
    kind: Kind,
    config: OrganisationConfig,
    pending: Sequence[DueReminder],
    assigned: Mapping[str, Iterable[User]],
    *,
    now: datetime,
) -> Checked:
    """Reschedule reminders of what is pending, and queue those of several things.

    ``assigned`` has the approvers of each subject, besides those to whom it was escalated.
    """
    organisation_id = config.organisation.id
    today = local_day(now, config.organisation.timezone)
    approvers = {reminder.approver.id: reminder.approver for reminder in pending}
    counts = _waiting_counts(tx, organisation_id, approvers, today)
    first_day = min(local_day(reminder.asked_at, "UTC") for reminder in pending)
    worktimes = reminder_schedule.of_people(tx, config, approvers.values(), first_day, today)
    reminded: list[tuple[str, str]] = []
    summary_days: dict[str, date] = {}
    unanswered: dict[str, None] = {}
    for reminder in pending:
        approver_id, worktime = reminder.approver.id, worktimes[reminder.approver.id]
        count = counts.get(approver_id, 0)
        approver_ids = {user.id for user in assigned.get(reminder.subject_id, ())}
        plan = Plan(is_due=False, sent=reminder.sent, next_at=next_work_start(worktime, now))
        if reminder.is_next_step or approver_id in approver_ids:
            plan = reminder_schedule.plan(
                worktime,
                reminder.asked_at,
                reminder.sent,
                now=now,
                is_daily=count > MAX_SCHEDULED,
            )
        next_at = plan.next_at or now + IDLE_WAIT
        if not reschedule(tx, kind, organisation_id, reminder, next_at, sent=plan.sent):
            continue
        if plan.is_escalated:
            unanswered[reminder.subject_id] = None
        if plan.is_due and count > 1:
            summary_days[approver_id] = worktime.local_day(now)
        elif plan.is_due:
            reminded.append((approver_id, reminder.subject_id))
    summaries = [
        user_id
        for user_id, day in sorted(summary_days.items())
        if _is_first_of_day(tx, organisation_id, user_id, day.isoformat())
    ]
    notification_outbox.remind(tx, organisation_id, summaries=summaries, now=now)
    return Checked(reminded=reminded, unanswered=[*unanswered])


def reschedule(
    tx: Transaction,
    kind: Kind,
    organisation_id: str,
    reminder: DueReminder,
    at: datetime | None,
    *,
    sent: int | None = None,
) -> bool:
    """Set when the row is due again; False if another process has."""
    changes = {"sent": reminder.sent if sent is None else sent, "due_at": at}
    key = key_of(kind, organisation_id, reminder)
    return tx.update(kind.table, changes, **key, due_at=reminder.due_at) == 1


def key_of(kind: Kind, organisation_id: str, reminder: DueReminder) -> dict[str, str]:
    return {
        "organisation_id": organisation_id,
        kind.column: reminder.subject_id,
        "user_id": reminder.approver.id,
    }


def ask_next(
    tx: Transaction,
    kind: Kind,
    organisation_id: str,
    chains: Mapping[str, Sequence[tuple[int, User]]],
    *,
    now: datetime,
) -> dict[str, list[str]]:
    """Assign subjects to the next level of their approval chains, too, with audit entries.

    The subjects are locked. Returns the new approvers; nothing for a subject at the top.
    """
    subject_ids = sorted(chains)
    asked: dict[str, set[str]] = {subject_id: set() for subject_id in subject_ids}
    own = {"organisation_id": organisation_id}
    for row in tx.select(kind.table, **own, **{kind.column: subject_ids}):
        asked[getattr(row, kind.column)].add(row.user_id)
    added = {key: next_level(chain, asked[key]) for key, chain in chains.items()}
    added = {subject_id: user_ids for subject_id, user_ids in added.items() if user_ids}
    schedule = {"asked_at": now, "sent": 0, "is_next_step": True, "due_at": now}
    for subject_id, user_ids in added.items():
        for user_id in user_ids:
            # They may just have got a card.
            tx.insert_new(
                kind.table, **own, **{kind.column: subject_id}, user_id=user_id, **schedule
            )
    changes = [
        (
            subject_id,
            {"approvers": sorted(asked[subject_id])},
            {"approvers": sorted(asked[subject_id] | {*user_ids})},
        )
        for subject_id, user_ids in added.items()
    ]
    by = Caller.system(organisation_id, "scheduler")
    audit.record_all(tx, kind.action, kind.name, changes, by=by, now=now)
    return added


def next_level(chain: Sequence[tuple[int, User]], assigned: Collection[str]) -> list[str]:
    """The ids of the first level above everyone who is assigned; empty at the top."""
    highest = max((level for level, user in chain if user.id in assigned), default=0)
    above = [(level, user.id) for level, user in chain if level > highest]
    lowest = min((level for level, _ in above), default=0)
    return [user_id for level, user_id in above if level == lowest][:MAX_APPROVERS]


def _waiting_counts(
    tx: Transaction, organisation_id: str, user_ids: Iterable[str], today: date
) -> dict[str, int]:
    """How much waits for each of these people, up to a limit: requests and time in lieu."""
    counted = tx.all(
        _counts,
        organisation_id=organisation_id,
        user_ids=sorted(user_ids),
        today=today.isoformat(),
    )
    return {row.id: row.requests + row.claims for row in counted}


def _is_first_of_day(tx: Transaction, organisation_id: str, user_id: str, day: str) -> bool:
    """Record that the person gets a summary on that day; False if it is recorded already."""
    key = {"organisation_id": organisation_id, "user_id": user_id}
    if tx.insert_new(ReminderSummaryRow, **key, day=day):
        return True
    row = tx.find(ReminderSummaryRow, **key)
    if row is None or row.day >= day:
        return False
    return tx.update(ReminderSummaryRow, {"day": day}, **key, day=row.day) == 1


@compiled
def _counts(organisation_id: Param[str], user_ids: Param[list[str]], today: Param[str]) -> Select:
    """How many pending requests are assigned to each of these people, counted up to a limit.

    Who has the card of leave that others approve second is not asked.
    """
    awaits_them = LeaveRequestRow.first_approver_id.is_null() | approval_rule.is_second_approver(
        UserRow, LeaveRequestRow, today
    )
    # Not a join, which SQLite may begin with all leave of the organisation.
    is_undecided = fn.EXISTS(
        LeaveRequestRow.select(LeaveRequestRow.id).where(
            LeaveRequestRow.organisation_id == ReminderRow.organisation_id,
            LeaveRequestRow.id == ReminderRow.leave_request_id,
            rows.is_undecided(LeaveRequestRow),
            ReminderRow.is_next_step | awaits_them,
        )
    )
    assigned = (
        ReminderRow.select(ReminderRow.leave_request_id)
        .where(
            ReminderRow.organisation_id == organisation_id,
            ReminderRow.user_id == UserRow.id,
            is_undecided,
        )
        .limit(MAX_SCHEDULED + 1)
        .alias("assigned")
    )
    requests = Select([assigned], [fn.COUNT(assigned.c.leave_request_id)])
    card = TimeCreditCardRow
    claims = (
        card.select(card.time_credit_id)
        .join(
            TimeCreditRow,
            on=(TimeCreditRow.organisation_id == card.organisation_id)
            & (TimeCreditRow.id == card.time_credit_id),
        )
        .where(
            card.organisation_id == organisation_id,
            card.user_id == UserRow.id,
            card.due_at.is_null(False),
            TimeCreditRow.status == "pending",
        )
        .limit(2)
        .alias("claims")
    )
    claimed = Select([claims], [fn.COUNT(claims.c.time_credit_id)])
    return UserRow.select(UserRow.id, requests.alias("requests"), claimed.alias("claims")).where(
        UserRow.organisation_id == organisation_id, any_of(UserRow.id, user_ids)
    )
