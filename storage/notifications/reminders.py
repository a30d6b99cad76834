"""Reminders: every approver who got a request's card is reminded of it on a schedule.

Each approver of a request has a row, which ``reminder_checks`` checks when it is due.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from peewee import Select, Update, fn

from storage.db.compiled import Param, Table, compiled
from storage.db.database import Transaction
from storage.db.tables import ReminderRow

# Organisations that a periodic run checks; the next run follows within a minute.
MAX_ORGANISATIONS: Final = 1_000
# The wait after an error in an organisation's data.
BACK_OFF: Final = timedelta(minutes=15)


def start(
    tx: Transaction, organisation_id: str, request_id: str, user_id: str, *, now: datetime
) -> None:
    """Remind the person of the request from now on, unless they are reminded already."""
    tx.insert_new(
        ReminderRow,
        organisation_id=organisation_id,
        leave_request_id=request_id,
        user_id=user_id,
        is_next_step=False,
        **_from(now),
    )


def start_again(
    tx: Transaction, organisation_id: str, request_id: str, user_id: str, *, now: datetime
) -> None:
    """Remind the person of the request's new amendment; their row may be of an earlier decision."""
    start(tx, organisation_id, request_id, user_id, now=now)
    tx.update(
        ReminderRow,
        _from(now),
        organisation_id=organisation_id,
        leave_request_id=request_id,
        user_id=user_id,
    )


def due_organisations(tx: Transaction, *, now: datetime) -> list[str]:
    """The organisations in which reminders are due, those due longest first."""
    return due_in(tx, ReminderRow, now=now)


def due_in(tx: Transaction, table: Table, *, now: datetime) -> list[str]:
    """As ``due_organisations``, of another table of reminders."""
    return [row.organisation_id for row in tx.all(_due_organisations, table=table, now=now)]


def back_off(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Check the organisation's due reminders later, after an error in ``reminder_checks``."""
    back_off_in(tx, ReminderRow, organisation_id, now=now)


def back_off_in(tx: Transaction, table: Table, organisation_id: str, *, now: datetime) -> None:
    """As ``back_off``, of another table of reminders."""
    until = now + BACK_OFF
    tx.change(_back_off, table=table, organisation_id=organisation_id, now=now, until=until)


def restart(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Restart the schedules of all reminders, since none could be sent until now."""
    tx.update(ReminderRow, _from(now), organisation_id=organisation_id)


def _from(now: datetime) -> dict[str, object]:
    # The first check computes the schedule, outside the user's request.
    return {"asked_at": now, "sent": 0, "due_at": now}


@compiled
def _due_organisations(table: Table, now: Param[datetime]) -> Select:
    return (
        table.select(table.organisation_id)
        .where(table.due_at <= now)
        .group_by(table.organisation_id)
        .order_by(fn.MIN(table.due_at))
        .limit(MAX_ORGANISATIONS)
    )


@compiled
def _back_off(
    table: Table, organisation_id: Param[str], now: Param[datetime], until: Param[datetime]
) -> Update:
    return table.update(due_at=until).where(
        table.organisation_id == organisation_id, table.due_at <= now
    )
