"""The leave that a person covers, as they see it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from peewee import Select

from storage.base.values import HalfDay
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, UserRow


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
