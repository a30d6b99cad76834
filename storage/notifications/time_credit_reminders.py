"""Reminds approvers of time in lieu, and escalates claims that no one answers.

On the schedule of leave (``reminder_schedule``). Who has several things to decide is reminded of
them in one message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from peewee import Select

from storage.base.leave_values import TimeCredit
from storage.base.values import Caller, User, local_day
from storage.db import rows
from storage.db.compiled import Engine, Expr, Param, any_of, compiled, compiled_per_engine
from storage.db.database import Row, Transaction
from storage.db.tables import TimeCreditCardRow, TimeCreditRow, UserRow
from storage.notifications import reminder_checks, reminder_schedule, reminders
from storage.notifications.reminder_checks import BATCH_SIZE, IDLE_WAIT, next_level
from storage.outbox import (
    audit,
    notification_outbox,
    organisation_config,
    time_credit_outbox,
)
from storage.outbox.leased_queue import skip_locked
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approval_rule, approvers

# The wait before it is checked again whether an approver can decide.
_UNREACHABLE_WAIT: Final = timedelta(days=1)
_CREDIT: Final = "credit_"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Due:
    """A due card with its credit and the approver."""

    credit: TimeCredit
    asked_at: datetime
    sent: int
    is_next_step: bool
    due_at: int
    approver: User


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
    pending = [
        each
        for each in due
        if each.credit.status == "pending" and approval_rule.is_reachable(each.approver)
    ]
    for each in due:
        if each.credit.status != "pending":
            _reschedule(tx, organisation_id, each, each.sent, None)
        elif not config.is_in_slack:
            _reschedule(tx, organisation_id, each, each.sent, now + IDLE_WAIT)
        elif each not in pending:
            # Who was deactivated may be reactivated.
            _reschedule(tx, organisation_id, each, each.sent, now + _UNREACHABLE_WAIT)
    if pending and config.is_in_slack:
        _check(tx, config, pending, now)
    return len(due)


def _check(
    tx: Transaction, config: OrganisationConfig, pending: Sequence[_Due], now: datetime
) -> None:
    organisation_id = config.organisation.id
    today = local_day(now, config.organisation.timezone)
    assigned = approvers.of_people(
        tx, organisation_id, {each.credit.user_id for each in pending}, today=today
    )
    worktimes = reminder_schedule.of_people(
        tx,
        config,
        {each.approver.id: each.approver for each in pending}.values(),
        min(local_day(each.asked_at, "UTC") for each in pending),
        today,
    )
    counts = reminder_checks.waiting_counts(
        tx, organisation_id, {each.approver.id for each in pending}, today
    )
    reminded: list[tuple[TimeCredit, str]] = []
    summary_days: dict[str, date] = {}
    unanswered: dict[str, TimeCredit] = {}
    for each in pending:
        plan = reminder_schedule.plan(
            worktimes[each.approver.id], each.asked_at, each.sent, now=now
        )
        is_rescheduled = _reschedule(
            tx, organisation_id, each, plan.sent, plan.next_at or now + IDLE_WAIT
        )
        is_assigned = each.is_next_step or each.approver.id in {
            user.id for user in assigned.get(each.credit.user_id, ())
        }
        if not is_rescheduled or not is_assigned:
            continue
        if plan.is_escalated:
            unanswered[each.credit.id] = each.credit
        elif plan.is_due and counts.get(each.approver.id, 0) > 1:
            summary_days[each.approver.id] = worktimes[each.approver.id].local_day(now)
        elif plan.is_due:
            reminded.append((each.credit, each.approver.id))
    time_credit_outbox.remind(tx, organisation_id, reminded, now=now)
    summaries = reminder_checks.new_summaries(tx, organisation_id, summary_days)
    notification_outbox.remind(tx, organisation_id, summaries=summaries, now=now)
    if unanswered:
        _escalate(tx, config, unanswered, now)


def _escalate(
    tx: Transaction, config: OrganisationConfig, unanswered: Mapping[str, TimeCredit], now: datetime
) -> None:
    """Assign credits to the next level of the approval chain, too."""
    organisation_id = config.organisation.id
    today = local_day(now, config.organisation.timezone)
    # Locked, so that another escalation, and a decision, come before or after.
    locked = tx.select(
        TimeCreditRow, "FOR UPDATE", organisation_id=organisation_id, id=sorted(unanswered)
    )
    pending_ids = {row.id for row in locked if row.status == "pending"}
    unanswered = {key: credit for key, credit in unanswered.items() if key in pending_ids}
    claimers = {credit.user_id for credit in unanswered.values()}
    chains = approvers.chains(tx, organisation_id, claimers, today=today)
    asked: dict[str, set[str]] = defaultdict(set)
    for credit_id, user_id in tx.all(
        _asked, organisation_id=organisation_id, credit_ids=sorted(unanswered)
    ):
        asked[credit_id].add(user_id)
    added = {
        credit.id: next_level(chains.get(credit.user_id, []), asked[credit.id])
        for credit in unanswered.values()
    }
    for credit_id, user_ids in added.items():
        for user_id in user_ids:
            # Their card may just have been sent.
            tx.insert_new(
                TimeCreditCardRow,
                organisation_id=organisation_id,
                time_credit_id=credit_id,
                user_id=user_id,
                channel=None,
                ts=None,
                asked_at=now,
                sent=0,
                is_next_step=True,
                due_at=now,
            )
    changes = [
        (
            credit_id,
            {"approvers": sorted(asked[credit_id])},
            {"approvers": sorted(asked[credit_id] | {*user_ids})},
        )
        for credit_id, user_ids in added.items()
        if user_ids
    ]
    by = Caller.system(organisation_id, "scheduler")
    audit.record_all(tx, "time_credit.next_step_asked", "time_credit", changes, by=by, now=now)
    time_credit_outbox.escalate(
        tx, [(unanswered[credit_id], added[credit_id]) for credit_id in added], config, now=now
    )


def _reschedule(
    tx: Transaction, organisation_id: str, due: _Due, sent: int, at: datetime | None
) -> bool:
    """Set when the card is due again; False if another process has."""
    key = {
        "organisation_id": organisation_id,
        "time_credit_id": due.credit.id,
        "user_id": due.approver.id,
    }
    changes = {"sent": sent, "due_at": at}
    return tx.update(TimeCreditCardRow, changes, **key, due_at=due.due_at) == 1


_time_credit: Final = rows.mapper(TimeCredit, _CREDIT)


def _due_of(row: Row) -> _Due:
    return _Due(
        credit=_time_credit(row),
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


@compiled
def _asked(organisation_id: Param[str], credit_ids: Param[list[str]]) -> Select:
    return TimeCreditCardRow.select(
        TimeCreditCardRow.time_credit_id, TimeCreditCardRow.user_id
    ).where(
        TimeCreditCardRow.organisation_id == organisation_id,
        any_of(TimeCreditCardRow.time_credit_id, credit_ids),
    )
