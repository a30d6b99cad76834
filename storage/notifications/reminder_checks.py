"""Checks due reminders, queues the notifications and escalates unanswered requests.

Whether to remind is computed from the current data, so decisions, absences and changes of approvers
or working days need no events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from peewee import Select, fn

from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, User, field_names, local_day
from storage.db import rows
from storage.db.compiled import (
    Engine,
    Expr,
    Param,
    any_of,
    compiled,
    compiled_per_engine,
)
from storage.db.database import Row, Transaction
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
from storage.outbox import audit, notification_outbox, organisation_config
from storage.outbox.leased_queue import skip_locked
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approval_rule, approvers
from storage.people.approvers import MAX_APPROVERS
from storage.rules import lifecycle
from storage.rules.worktime import next_work_start


def escalate(
    tx: Transaction,
    config: OrganisationConfig,
    unanswered: Mapping[str, str],
    today: date,
    now: datetime,
) -> None:
    """Assign requests to the next level too; ``unanswered`` maps them to their requesters."""
    organisation_id = config.organisation.id
    # Locked, so that concurrent assignments come before or after; with the strongest lock, foreign
    # keys of new rows wait as well.
    request_rows = tx.select(
        LeaveRequestRow, "FOR UPDATE", organisation_id=organisation_id, id=sorted(unanswered)
    )
    requests = [
        request
        for request in map(rows.leave_request, request_rows)
        if lifecycle.is_undecided(request)
    ]
    seconds = approvers.second_chains(tx, organisation_id, requests, today=today)
    firsts = {each.user_id for each in requests if each.id not in seconds}
    chains = approvers.chains(tx, organisation_id, firsts, today=today) if firsts else {}
    assigned: dict[str, set[str]] = defaultdict(set)
    for row in tx.select(
        ReminderRow, organisation_id=organisation_id, leave_request_id=sorted(unanswered)
    ):
        assigned[row.leave_request_id].add(row.user_id)
    added = {
        request.id: next_level(
            seconds[request.id] if request.id in seconds else chains.get(request.user_id, []),
            assigned[request.id],
        )
        for request in requests
    }
    added = {request_id: user_ids for request_id, user_ids in added.items() if user_ids}
    if not added:
        return
    reminder_rows = [
        {
            "organisation_id": organisation_id,
            "leave_request_id": request_id,
            "user_id": user_id,
            "asked_at": now,
            "sent": 0,
            "is_next_step": True,
            "due_at": now,
        }
        for request_id, user_ids in added.items()
        for user_id in user_ids
    ]
    tx.insert_all(ReminderRow, reminder_rows)
    changes = [
        (
            request_id,
            {"approvers": sorted(assigned[request_id])},
            {"approvers": sorted(assigned[request_id] | set(user_ids))},
        )
        for request_id, user_ids in added.items()
    ]
    by = Caller.system(organisation_id, "scheduler")
    audit.record_all(tx, "leave_request.next_step_asked", "leave_request", changes, by=by, now=now)
    notification_outbox.notify_all(
        tx,
        "leave_request.rerouted",
        [request for request in requests if request.id in added],
        approvers=added,
        config=config,
        now=now,
    )


def next_level(chain: Sequence[tuple[int, User]], assigned: Collection[str]) -> list[str]:
    """The ids of the first level above everyone who is assigned; empty at the top."""
    highest = max((level for level, user in chain if user.id in assigned), default=0)
    above = [(level, user.id) for level, user in chain if level > highest]
    lowest = min((level for level, _ in above), default=0)
    return [user_id for level, user_id in above if level == lowest][:MAX_APPROVERS]


# An approver of more requests than this gets a summary on every working day.
MAX_SCHEDULED: Final = 5
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
    request: LeaveRequest
    approver: User

    @property
    def requester_id(self) -> str:
        return self.request.user_id

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
    finished: list[_DueReminder] = []
    for reminder in ended:
        # An escalated request's row lets its approver reverse the decision, while that is possible.
        until = reminder.decided_at and reminder.decided_at + lifecycle.REVERSAL_WINDOW
        if reminder.is_next_step and until and now < until:
            reversible.append(_Next(reminder=reminder, sent=reminder.sent, at=until))
        else:
            finished.append(reminder)
    _delete(tx, organisation_id, finished)
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
    requests = {reminder.request_id: reminder.request for reminder in pending}
    assigned = approvers.of_requests(tx, organisation_id, requests.values(), today=today)
    counts = waiting_counts(tx, organisation_id, approvers_by_id, today)
    busy = {approver_id for approver_id, count in counts.items() if count > MAX_SCHEDULED}
    several = {approver_id for approver_id, count in counts.items() if count > 1}
    first_day = min(local_day(reminder.asked_at, "UTC") for reminder in pending)
    worktimes_of = reminder_schedule.of_people(
        tx, config, approvers_by_id.values(), first_day, today
    )
    planned: list[tuple[_Next, Plan]] = []
    for reminder in pending:
        approver_id = reminder.approver.id
        is_assigned = reminder.is_next_step or approver_id in {
            user.id for user in assigned[reminder.request_id]
        }
        worktime = worktimes_of[approver_id]
        if is_assigned:
            plan = reminder_schedule.plan(
                worktime,
                reminder.asked_at,
                reminder.sent,
                now=now,
                is_daily=approver_id in busy,
            )
        else:
            next_at = next_work_start(worktime, now)
            plan = Plan(is_due=False, sent=reminder.sent, next_at=next_at)
        next_at = plan.next_at or now + IDLE_WAIT
        planned.append((_Next(reminder=reminder, sent=plan.sent, at=next_at), plan))
    rescheduled = _reschedule(tx, organisation_id, [following for following, _ in planned])
    unanswered: dict[str, str] = {}
    single: list[tuple[str, str]] = []
    summary_days: dict[str, date] = {}
    for following, plan in planned:
        reminder, approver_id = following.reminder, following.reminder.approver.id
        if reminder.key not in rescheduled:
            continue
        if plan.is_escalated:
            unanswered[reminder.request_id] = reminder.requester_id
        if plan.is_due and approver_id in several:
            summary_days[approver_id] = worktimes_of[approver_id].local_day(now)
        elif plan.is_due:
            single.append((approver_id, reminder.request_id))
    summaries = new_summaries(tx, organisation_id, summary_days)
    notification_outbox.remind(tx, organisation_id, single, summaries, now=now)
    if unanswered:
        escalate(tx, config, unanswered, today, now)


def waiting_counts(
    tx: Transaction, organisation_id: str, user_ids: Iterable[str], today: date
) -> dict[str, int]:
    """How much waits for each of these people, up to a limit: requests and time in lieu.

    Several are reminded of in one message.
    """
    counted = tx.all(
        _counts,
        organisation_id=organisation_id,
        user_ids=sorted(user_ids),
        today=today.isoformat(),
    )
    return {row.id: row.requests + row.claims for row in counted}


def _reschedule(
    tx: Transaction, organisation_id: str, following: Sequence[_Next]
) -> set[tuple[str, str]]:
    """Set when the rows are due again; returns the keys of those that no other process has set."""
    rescheduled = set()
    for one in following:
        changes = {"sent": one.sent, "due_at": one.at}
        key = _key(organisation_id, one.reminder)
        if tx.update(ReminderRow, changes, **key, due_at=one.reminder.due_at):
            rescheduled.add(one.reminder.key)
    return rescheduled


def new_summaries(tx: Transaction, organisation_id: str, days: Mapping[str, date]) -> list[str]:
    """The people who get a summary, by their local days: at most one a day, for all requests."""
    return [
        user_id
        for user_id, day in sorted(days.items())
        if _is_first_of_day(tx, organisation_id, user_id, day.isoformat())
    ]


def _is_first_of_day(tx: Transaction, organisation_id: str, user_id: str, day: str) -> bool:
    """Record that the person gets a summary on that day; False if it is recorded already."""
    key = {"organisation_id": organisation_id, "user_id": user_id}
    if tx.insert_new(ReminderSummaryRow, **key, day=day):
        return True
    row = tx.find(ReminderSummaryRow, **key)
    if row is None or row.day >= day:
        return False
    return tx.update(ReminderSummaryRow, {"day": day}, **key, day=row.day) == 1


def _delete(tx: Transaction, organisation_id: str, reminders: Sequence[_DueReminder]) -> None:
    for reminder in reminders:
        tx.delete(ReminderRow, **_key(organisation_id, reminder))


def _key(organisation_id: str, reminder: _DueReminder) -> dict[str, str]:
    request_id, user_id = reminder.key
    return {
        "organisation_id": organisation_id,
        "leave_request_id": request_id,
        "user_id": user_id,
    }


# Requests and people share names of columns.
_PREFIX: Final = "request_"
_REQUEST_FIELDS: Final = field_names(LeaveRequest)
_request: Final = rows.mapper(LeaveRequest, prefix=_PREFIX)


def _due_reminder(row: Row) -> _DueReminder:
    return _DueReminder(
        request_id=row.leave_request_id,
        asked_at=rows.instant(row.asked_at),
        sent=row.sent,
        due_at=row.due_at,
        is_undecided=bool(row.is_undecided),
        decided_at=rows.instant_or_none(row.decided_at),
        is_next_step=bool(row.is_next_step),
        request=_request(row),
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
            *(getattr(LeaveRequestRow, name).alias(_PREFIX + name) for name in _REQUEST_FIELDS),
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
