"""Reminds approvers of time in lieu, and escalates claims that no one answers.

On the schedule of leave, by ``due_reminders``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from peewee import Select

from storage.base.leave_values import TimeCredit
from storage.base.values import local_day
from storage.db import rows
from storage.db.compiled import Engine, Expr, Param, compiled_per_engine
from storage.db.database import Row, Transaction
from storage.db.tables import TimeCreditCardRow, TimeCreditRow, UserRow
from storage.leave import time_credit_lists
from storage.notifications import due_reminders, reminders
from storage.notifications.due_reminders import BATCH_SIZE, IDLE_WAIT, TIME_IN_LIEU, DueReminder
from storage.outbox import organisation_config, time_credit_outbox
from storage.outbox.leased_queue import skip_locked
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approval_rule, approvers

# The wait before it is checked again whether an approver can decide.
_UNREACHABLE_WAIT: Final = timedelta(days=1)
_CREDIT: Final = "credit_"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Due(DueReminder):
    """A due card with its credit."""

    credit: TimeCredit


def due_organisations(tx: Transaction, *, now: datetime) -> list[str]:
    """The organisations in which reminders are due, those due longest first."""
    return reminders.due_in(tx, TimeCreditCardRow, now=now)


def back_off(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Check the organisation's due reminders later, after an error."""
    reminders.back_off_in(tx, TimeCreditCardRow, organisation_id, now=now)


def run(tx: Transaction, organisation_id: str, *, now: datetime, limit: int = BATCH_SIZE) -> int:
    """Check a batch of an organisation's due rows and queue the reminders; the number of rows."""
    due = [
        _due_of(row) for row in tx.all(_due, organisation_id=organisation_id, now=now, limit=limit)
    ]
    config = organisation_config.of_organisation(tx, organisation_id)
    pending: list[_Due] = []
    for each in due:
        if each.credit.status != "pending":
            due_reminders.reschedule(tx, TIME_IN_LIEU, organisation_id, each, None)
        elif not config.is_in_slack:
            due_reminders.reschedule(tx, TIME_IN_LIEU, organisation_id, each, now + IDLE_WAIT)
        elif not approval_rule.is_reachable(each.approver):
            # Who was deactivated may be reactivated.
            at = now + _UNREACHABLE_WAIT
            due_reminders.reschedule(tx, TIME_IN_LIEU, organisation_id, each, at)
        else:
            pending.append(each)
    if pending:
        _check(tx, config, pending, now)
    return len(due)


def _check(
    tx: Transaction, config: OrganisationConfig, pending: Sequence[_Due], now: datetime
) -> None:
    organisation_id = config.organisation.id
    today = local_day(now, config.organisation.timezone)
    credits = {each.subject_id: each.credit for each in pending}
    claimers = {credit.user_id for credit in credits.values()}
    deciders = approvers.of_people(tx, organisation_id, claimers, today=today)
    assigned = {key: deciders.get(credit.user_id, []) for key, credit in credits.items()}
    checked = due_reminders.check(tx, TIME_IN_LIEU, config, pending, assigned, now=now)
    reminded = [(credits[key], approver_id) for approver_id, key in checked.reminded]
    time_credit_outbox.remind(tx, organisation_id, reminded, now=now)
    if checked.unanswered:
        _escalate(tx, config, checked.unanswered, now)


def _escalate(
    tx: Transaction, config: OrganisationConfig, unanswered: Sequence[str], now: datetime
) -> None:
    """Assign credits to the next level of the approval chain, too."""
    organisation_id = config.organisation.id
    today = local_day(now, config.organisation.timezone)
    # Locked, so that another escalation, and a decision, come before or after.
    locked = tx.select(
        TimeCreditRow, "FOR UPDATE", organisation_id=organisation_id, id=sorted(unanswered)
    )
    credits = {row.id: time_credit_lists.time_credit(row) for row in locked}
    credits = {key: credit for key, credit in credits.items() if credit.status == "pending"}
    claimers = {credit.user_id for credit in credits.values()}
    chains = approvers.chains(tx, organisation_id, claimers, today=today)
    chain_of = {key: chains.get(credit.user_id, []) for key, credit in credits.items()}
    added = due_reminders.ask_next(tx, TIME_IN_LIEU, organisation_id, chain_of, now=now)
    asked = [(credits[key], user_ids) for key, user_ids in added.items()]
    time_credit_outbox.escalate(tx, asked, config, now=now)


_time_credit: Final = rows.mapper(TimeCredit, _CREDIT)


def _due_of(row: Row) -> _Due:
    credit = _time_credit(row)
    return _Due(
        subject_id=credit.id,
        requester_id=credit.user_id,
        credit=credit,
        asked_at=rows.instant(row.asked_at),
        sent=row.sent,
        is_next_step=bool(row.is_next_step),
        due_at=row.due_at,
        approver=rows.user(row),
    )


@compiled_per_engine
def _due(
    engine: Engine, organisation_id: Param[str], now: Param[datetime], limit: Param[int]
) -> Select:
    card = TimeCreditCardRow
    columns = rows.columns_of(TimeCreditRow, TimeCredit)
    query: Expr = (
        card.select(
            card.asked_at,
            card.sent,
            card.is_next_step,
            card.due_at,
            *(column.alias(_CREDIT + column.name) for column in columns),
            *rows.USER,
        )
        .join(
            TimeCreditRow,
            on=(TimeCreditRow.organisation_id == card.organisation_id)
            & (TimeCreditRow.id == card.time_credit_id),
        )
        .join(
            UserRow,
            on=(UserRow.organisation_id == card.organisation_id) & (UserRow.id == card.user_id),
        )
        .where(card.organisation_id == organisation_id, card.due_at <= now)
        .order_by(card.due_at)
        .limit(limit)
    )
    # No lease, as in reminder_checks.py.
    return skip_locked(query, engine, card)
