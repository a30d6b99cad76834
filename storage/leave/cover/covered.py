"""The leave that a person covers, as they see it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

from peewee import Select

from storage.base.values import HalfDay, LeaveRequest
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, UserRow
from storage.rules import spans

# Bounds the messages that one absence causes.
MAX_OVERLAPPING: Final = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Covered:
    """Approved leave as its cover sees it: whose and when."""

    person_name: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None


def upcoming(
    tx: Transaction, organisation_id: str, cover_user_id: str, today: date, *, limit: int
) -> list[Covered]:
    """The approved leave from today on that the person covers, by last day."""
    leave = tx.all(
        _upcoming,
        organisation_id=organisation_id,
        cover_user_id=cover_user_id,
        today=today.isoformat(),
        limit=limit,
    )
    return [
        Covered(
            person_name=f"{row.first_name} {row.last_name}".strip(),
            start_date=rows.day(row.start_date),
            end_date=rows.day(row.end_date),
            start_half_day=row.start_half_day,
            end_half_day=row.end_half_day,
        )
        for row in leave
    ]


def overlapping(
    tx: Transaction, organisation_id: str, leave: LeaveRequest, today: date
) -> list[LeaveRequest]:
    """Others' approved leave that the person on leave was to cover from today on, earliest first.

    At most ``MAX_OVERLAPPING``.
    """
    found = tx.all(
        _overlapping,
        organisation_id=organisation_id,
        cover_user_id=leave.user_id,
        first_day=max(leave.start_date, today).isoformat(),
        last_day=leave.end_date.isoformat(),
    )
    span = spans.of_request(leave)
    requests = [rows.leave_request(row) for row in found]
    return [each for each in requests if spans.overlaps(spans.of_request(each), span)]


@compiled
def _overlapping(
    organisation_id: Param[str],
    cover_user_id: Param[str],
    first_day: Param[str],
    last_day: Param[str],
) -> Select:
    return (
        LeaveRequestRow.select(*rows.LEAVE_REQUEST)
        .where(
            LeaveRequestRow.organisation_id == organisation_id,
            LeaveRequestRow.cover_user_id == cover_user_id,
            LeaveRequestRow.status == "approved",
            LeaveRequestRow.end_date >= first_day,
            LeaveRequestRow.start_date <= last_day,
        )
        .order_by(LeaveRequestRow.end_date, LeaveRequestRow.id)
        .limit(MAX_OVERLAPPING)
    )


@compiled
def _upcoming(
    organisation_id: Param[str], cover_user_id: Param[str], today: Param[str], limit: Param[int]
) -> Select:
    return (
        rows.with_names(
            LeaveRequestRow.select(
                UserRow.first_name,
                UserRow.last_name,
                LeaveRequestRow.start_date,
                LeaveRequestRow.end_date,
                LeaveRequestRow.start_half_day,
                LeaveRequestRow.end_half_day,
            )
        )
        .where(
            LeaveRequestRow.organisation_id == organisation_id,
            LeaveRequestRow.cover_user_id == cover_user_id,
            LeaveRequestRow.status == "approved",
            LeaveRequestRow.end_date >= today,
        )
        .order_by(LeaveRequestRow.end_date, LeaveRequestRow.id)
        .limit(limit)
    )
