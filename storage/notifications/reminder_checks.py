"""Checks due reminders of leave, queues the notifications and escalates unanswered requests.

Whether to remind is computed from the current data, so decisions, absences and changes of approvers
or working days need no events. What is the same for time in lieu is in ``due_reminders``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from peewee import Select

from storage.base.leave_values import LeaveRequest
from storage.base.values import field_names, local_day
from storage.db import rows
from storage.db.compiled import Engine, Expr, Param, compiled_per_engine
from storage.db.database import Row, Transaction
from storage.db.tables import LeaveRequestRow, ReminderRow, UserRow
from storage.notifications import due_reminders
from storage.notifications.due_reminders import BATCH_SIZE, IDLE_WAIT, LEAVE, DueReminder
from storage.outbox import notification_outbox, organisation_config
from storage.outbox.leased_queue import skip_locked
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approval_rule, approvers
from storage.rules import lifecycle


@dataclass(frozen=True, kw_only=True, slots=True)
class _DueReminder(DueReminder):
    """A due row with the state of its request."""

    is_undecided: bool
    decided_at: datetime | None
    request: LeaveRequest


def run(tx: Transaction, organisation_id: str, *, now: datetime, limit: int = BATCH_SIZE) -> int:
    """Check a batch of an organisation's due rows and queue the reminders; the number of rows.

    A conditional UPDATE reschedules the rows in the transaction that queues its notification, so
    two processes or a restart never remind twice.
    """
    due = [
        _due_reminder(row)
        for row in tx.all(_due, organisation_id=organisation_id, now=now, limit=limit)
    ]
    config = organisation_config.of_organisation(tx, organisation_id)
    pending: list[_DueReminder] = []
    for reminder in due:
        is_ended = not reminder.is_undecided or not approval_rule.is_reachable(reminder.approver)
        # An escalated request's row lets its approver reverse the decision, while that is possible.
        until = reminder.decided_at and reminder.decided_at + lifecycle.REVERSAL_WINDOW
        if is_ended and reminder.is_next_step and until and now < until:
            due_reminders.reschedule(tx, LEAVE, organisation_id, reminder, until)
        elif is_ended:
            tx.delete(ReminderRow, **due_reminders.key_of(LEAVE, organisation_id, reminder))
        elif config.is_in_slack:
            pending.append(reminder)
        else:
            # Reminders need Slack; `reminders.restart` is called when the app is installed again.
            due_reminders.reschedule(tx, LEAVE, organisation_id, reminder, now + IDLE_WAIT)
    if pending:
        _check(tx, config, pending, now)
    return len(due)


def _check(
    tx: Transaction, config: OrganisationConfig, pending: Sequence[_DueReminder], now: datetime
) -> None:
    organisation_id = config.organisation.id
    today = local_day(now, config.organisation.timezone)
    requests = {reminder.subject_id: reminder.request for reminder in pending}
    assigned = approvers.of_requests(tx, organisation_id, requests.values(), today=today)
    checked = due_reminders.check(tx, LEAVE, config, pending, assigned, now=now)
    notification_outbox.remind(tx, organisation_id, checked.reminded, now=now)
    if checked.unanswered:
        _escalate(tx, config, checked.unanswered, now)


def _escalate(
    tx: Transaction, config: OrganisationConfig, unanswered: Sequence[str], now: datetime
) -> None:
    """Assign requests to the next level, too."""
    organisation_id = config.organisation.id
    today = local_day(now, config.organisation.timezone)
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
    chain_of = {
        each.id: seconds[each.id] if each.id in seconds else chains.get(each.user_id, [])
        for each in requests
    }
    added = due_reminders.ask_next(tx, LEAVE, organisation_id, chain_of, now=now)
    notification_outbox.notify_all(
        tx,
        "leave_request.rerouted",
        [request for request in requests if request.id in added],
        approvers=added,
        config=config,
        now=now,
    )


# Requests and people share names of columns.
_PREFIX: Final = "request_"
_REQUEST_FIELDS: Final = field_names(LeaveRequest)
_request: Final = rows.mapper(LeaveRequest, prefix=_PREFIX)


def _due_reminder(row: Row) -> _DueReminder:
    return _DueReminder(
        subject_id=row.leave_request_id,
        requester_id=row.request_user_id,
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
