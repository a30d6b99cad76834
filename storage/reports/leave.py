"""The leave report: days of approved leave in a period, a row for each person and leave type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import Annotated

from peewee import Select
from pydantic import ConfigDict, Field

from storage.base.values import IN_DAYS, About, Caller, Id, User
from storage.db import rows
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow
from storage.outbox.organisation_config import OrganisationConfig
from storage.reports import reports
from storage.reports.reports import Period, Run
from storage.rules.year_balances import Deduction


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaveReportRow:
    """A person's days of one leave type in the period."""

    __pydantic_config__ = ConfigDict(title="LeaveReportRow")

    employee_number: Annotated[str | None, About(example="10042")]
    last_name: Annotated[str, About(example="Lovelace")]
    first_name: Annotated[str, About(example="Ada")]
    department: Annotated[
        str | None, About(description="Its name on the last day of the period.", example="Sales")
    ]
    leave_type: Annotated[str, About(description="Its name.", example="Annual leave")]
    leave_type_code: Annotated[str, About(example="annual")]
    is_paid: bool
    is_away: Annotated[
        bool, About(description="False for work elsewhere, such as home office: no absence.")
    ]
    half_days: Annotated[
        int,
        Field(serialization_alias="days"),
        IN_DAYS,
        About(description="Days of approved leave within the period.", example=2.5),
    ]
    user_id: Id


def start(
    tx: Transaction,
    first_day: date | None,
    last_day: date | None,
    *,
    by: Caller,
    now: datetime,
) -> Run[LeaveReportRow]:
    """The report of a period, last month by default (`reports.period`).

    People who have left are in it. Raises InsufficientRole or InvalidInput.
    """
    period = reports.period(tx, first_day, last_day, by=by, now=now)
    about = {"from": period.first_day, "to": period.last_day}
    return reports.start(
        tx, "leave", LeaveReportRow, partial(_rows, period=period), about, by=by, now=now
    )


def _rows(
    tx: Transaction, config: OrganisationConfig, users: Sequence[User], *, period: Period
) -> list[LeaveReportRow]:
    half_days: Counter[tuple[str, str]] = Counter()
    for row in tx.all(
        _approved,
        organisation_id=config.organisation.id,
        user_ids=[user.id for user in users],
        first_day=period.first_day.isoformat(),
        last_day=period.last_day.isoformat(),
    ):
        leave = Deduction(
            counted_halves=row.counted_halves,
            start_date=rows.day(row.start_date),
            end_date=rows.day(row.end_date),
        )
        half_days[row.user_id, row.leave_type_id] += leave.half_days_in(
            period.first_day, period.last_day
        )
    types = sorted(config.leave_types.values(), key=lambda each: each.code)
    return [
        LeaveReportRow(
            employee_number=user.employee_number,
            last_name=user.last_name,
            first_name=user.first_name,
            department=reports.department_name(config, user, period.last_day),
            leave_type=leave_type.name,
            leave_type_code=leave_type.code,
            is_paid=leave_type.is_paid,
            is_away=leave_type.is_away,
            half_days=half_days[user.id, leave_type.id],
            user_id=user.id,
        )
        for user in users
        for leave_type in types
        if half_days[user.id, leave_type.id]
    ]


@compiled
def _approved(
    organisation_id: Param[str],
    user_ids: Param[list[str]],
    first_day: Param[str],
    last_day: Param[str],
) -> Select:
    leave = LeaveRequestRow
    return leave.select(
        leave.user_id, leave.leave_type_id, leave.start_date, leave.end_date, leave.counted_halves
    ).where(
        leave.organisation_id == organisation_id,
        any_of(leave.user_id, user_ids),
        leave.end_date >= first_day,
        leave.start_date <= last_day,
        leave.status == "approved",
    )
