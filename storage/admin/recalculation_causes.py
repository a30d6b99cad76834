"""Causes of recalculations and changed totals, for the messages to the leave's owner."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from storage.db import rows
from storage.db.database import Transaction
from storage.events import audit_log

CauseCode = Literal[
    "working_days_changed",
    "public_holidays_changed",
    "working_days_and_public_holidays_changed",
    "public_holiday_added",
    "public_holiday_removed",
    "public_holiday_changed",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """Why leave was recalculated. The last three codes have the date, and the name if known."""

    code: CauseCode
    holiday_date: date | None = None
    holiday_name: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TotalChange:
    """The total of a request before and after it was recalculated."""

    before_half_days: int
    after_half_days: int
    cause: Cause


def cause_of(*, other_week: bool, other_country: bool) -> Cause | None:
    """Why a change of working days or country recalculates leave; None if it does not."""
    if other_week and other_country:
        return Cause(code="working_days_and_public_holidays_changed")
    if other_week:
        return Cause(code="working_days_changed")
    return Cause(code="public_holidays_changed") if other_country else None


def total_change_at(
    tx: Transaction, organisation_id: str, request_id: str, at: datetime
) -> TotalChange | None:
    """How the recalculation at that instant changed a request, from the audit trail."""
    changes = audit_log.changes_at(tx, organisation_id, "leave_request.recounted", request_id, at)
    if changes is None or "total_days" not in changes:
        return None
    after = {name: change["after"] for name, change in changes.items()}
    day = after.get("holiday_date")
    return TotalChange(
        before_half_days=round(2 * changes["total_days"]["before"]),
        after_half_days=round(2 * after["total_days"]),
        cause=Cause(
            code=after["why"],
            holiday_date=None if day is None else rows.day(day),
            holiday_name=after.get("holiday_name"),
        ),
    )
