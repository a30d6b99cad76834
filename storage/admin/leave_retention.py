"""Removes texts of leave that is older than an organisation keeps them.

Each organisation remembers until which day it has been done, so that a run reads only what has
become old since the last one. The first run goes through the past week by week.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final

from peewee import Select, fn

from storage.admin import leave_texts
from storage.base.values import local_day
from storage.db import locks
from storage.db.compiled import NOT_NULL, Param, compiled
from storage.db.database import Row, Transaction
from storage.db.tables import LeaveRequestRow, OrganisationRow, TimeCreditRow
from storage.rules.leave_years import months_after

# How many days of the past one transaction takes.
_STEP: Final = timedelta(days=7)
# Leave is no longer than a leap year.
_LONGEST: Final = timedelta(days=366)
# Texts that were added to old leave since, which one transaction removes.
_MAX_LATE: Final = 500


def due(tx: Transaction, *, now: datetime) -> list[str]:
    """The ids of the organisations that have texts to look for."""
    rows = tx.select(OrganisationRow, retention_months=NOT_NULL)
    return [row.id for row in rows if _since(row) < _first_kept_day(row, now)]


def remove_next(tx: Transaction, organisation_id: str, *, now: datetime) -> bool:
    """Remove the texts of the next days that are old enough; whether there are more days."""
    row = tx.find(OrganisationRow, locks.ROW, id=organisation_id)
    if row is None or row.retention_months is None:
        return False
    last = _first_kept_day(row, now)
    since = max(_since(row), _earliest(tx, organisation_id, last))
    until = min(since + _STEP, last)
    if since >= until:
        until = since = last
    days = {"first_day": since.isoformat(), "until": until.isoformat()}
    began_after = (since - _LONGEST).isoformat()
    leave_ids = [
        id_
        for (id_,) in tx.all(
            _ended, organisation_id=organisation_id, began_after=began_after, **days
        )
    ]
    credit_ids = [id_ for (id_,) in tx.all(_worked, organisation_id=organisation_id, **days)]
    if until == last:
        late = tx.all(
            _late, organisation_id=organisation_id, until=since.isoformat(), limit=_MAX_LATE
        )
        leave_ids += [id_ for (id_,) in late]
    own = {"leave_ids": leave_ids, "credit_ids": credit_ids}
    leave_texts.remove(tx, organisation_id, **own, now=now)
    leave_texts.rewrite_events(tx, organisation_id, [*leave_ids, *credit_ids])
    leave_texts.rewrite_audit(tx, organisation_id, [*leave_ids, *credit_ids])
    tx.update(OrganisationRow, {"texts_removed_until": until.isoformat()}, id=organisation_id)
    return until < last


def _first_kept_day(row: Row, now: datetime) -> date:
    return months_after(local_day(now, row.timezone), -row.retention_months)


def _since(row: Row) -> date:
    text = row.texts_removed_until
    return date.min if text is None else date.fromisoformat(text)


def _earliest(tx: Transaction, organisation_id: str, default: date) -> date:
    """The first day of any leave or time credit, where nothing was removed yet."""
    firsts = [
        row.first_day
        for query in (_first_leave, _first_credit)
        if (row := tx.first(query, organisation_id=organisation_id)) is not None
    ]
    return min((date.fromisoformat(day) for day in firsts if day is not None), default=default)


@compiled
def _first_leave(organisation_id: Param[str]) -> Select:
    row = LeaveRequestRow
    return row.select(fn.MIN(row.start_date).alias("first_day")).where(
        row.organisation_id == organisation_id
    )


@compiled
def _first_credit(organisation_id: Param[str]) -> Select:
    row = TimeCreditRow
    return row.select(fn.MIN(row.worked_on).alias("first_day")).where(
        row.organisation_id == organisation_id
    )


@compiled
def _ended(
    organisation_id: Param[str],
    began_after: Param[str],
    first_day: Param[str],
    until: Param[str],
) -> Select:
    """Leave that ended in these days; an index has its first days."""
    row = LeaveRequestRow
    return row.select(row.id).where(
        row.organisation_id == organisation_id,
        row.start_date >= began_after,
        row.start_date < until,
        row.end_date >= first_day,
        row.end_date < until,
    )


@compiled
def _worked(organisation_id: Param[str], first_day: Param[str], until: Param[str]) -> Select:
    row = TimeCreditRow
    return row.select(row.id).where(
        row.organisation_id == organisation_id, row.worked_on >= first_day, row.worked_on < until
    )


@compiled
def _late(organisation_id: Param[str], until: Param[str], limit: Param[int]) -> Select:
    """Old leave to which someone has added a text since."""
    row = LeaveRequestRow
    texts = leave_texts.has_text(row.note) | leave_texts.has_text(row.decision_reason)
    query: Select = row.select(row.id).where(
        row.organisation_id == organisation_id, row.end_date < until, texts
    )
    return query.limit(limit)
