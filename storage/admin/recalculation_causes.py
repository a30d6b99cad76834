"""Causes of recalculations and changed totals, for the messages to the leave's owner."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from storage.base.values import User
from storage.db import rows
from storage.db.database import Transaction
from storage.directory import public_holidays
from storage.directory.employment import by_date
from storage.events import audit_log
from storage.events.organisation_config import OrganisationConfig

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
    """Why leave was recalculated. The last three codes have the date, and the name if known.

    ``holiday_country`` is the country or region whose public holidays the owner has on that date.
    """

    code: CauseCode
    holiday_date: date | None = None
    holiday_name: str | None = None
    holiday_country: str | None = None


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
    tx: Transaction, config: OrganisationConfig, owner: User, request_id: str, at: datetime
) -> TotalChange | None:
    """How the recalculation at that instant changed a request, from the audit trail."""
    changes = audit_log.changes_at(
        tx, config.organisation.id, "leave_request.recounted", request_id, at
    )
    if changes is None or "total_days" not in changes:
        return None
    after = {name: change["after"] for name, change in changes.items()}
    cause = Cause(code=after["why"])
    if "holiday_date" in after:
        day = rows.day(after["holiday_date"])
        cause = Cause(
            code=cause.code,
            holiday_date=day,
            holiday_name=after.get("holiday_name"),
            holiday_country=public_holidays.country_code_of(config, by_date.of_day(owner, day)),
        )
    return TotalChange(
        before_half_days=round(2 * changes["total_days"]["before"]),
        after_half_days=round(2 * after["total_days"]),
        cause=cause,
    )
