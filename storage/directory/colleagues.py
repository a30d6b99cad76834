"""Colleagues on leave at the same time: one rule for forms, cards, previews and feeds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

from peewee import SQL, Select, fn

from storage.base.values import HalfDay, User
from storage.db import rows
from storage.db.compiled import Expr, Param, any_of_few, compiled
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import DepartmentRow, LeaveRequestRow, LeaveTypeRow, UserRow
from storage.rules import spans

# How many are named; of the others, only the number is shown.
MAX_NAMED: Final = 10
# How many are counted.
MAX_COUNTED: Final = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ColleagueOff:
    """Pending or approved leave of a colleague; ``type_name`` is None where the type is private."""

    name: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    type_name: str | None
    is_pending: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ColleaguesOff:
    """``named``: the first ten of ``count``, by first day."""

    named: list[ColleagueOff]
    count: int
    pending_count: int


def off_with(
    tx: Transaction,
    organisation_id: str,
    user: User,
    span: spans.Span,
    *,
    includes_pending: bool,
) -> ColleaguesOff:
    """Leave of the people on the team calendar in the same half-days, at most 1,000 requests.

    ``includes_pending``: pending requests are named and in ``count``.
    """
    first_day, last_day = span.start_date.isoformat(), span.end_date.isoformat()
    team_leave = tx.all(
        _team_off,
        organisation_id=organisation_id,
        user_id=user.id,
        department_id=user.department_id,
        first_day=first_day,
        last_day=last_day,
        limit=MAX_COUNTED,
    )
    same_halves = [
        row
        for row in team_leave
        # Leave that shares only one day may be in its other half.
        if (row.start_date < last_day and row.end_date > first_day)
        or spans.overlaps(span, _span(row))
    ]
    shown = [row for row in same_halves if includes_pending or row.status != "pending"]
    shown.sort(key=lambda row: (row.start_date, row.id))
    return ColleaguesOff(
        named=[_colleague(row) for row in shown[:MAX_NAMED]],
        count=len(shown),
        pending_count=sum([row.status == "pending" for row in same_halves]),
    )


def _span(row: Row) -> spans.Span:
    return spans.Span(
        start_date=rows.day(row.start_date),
        end_date=rows.day(row.end_date),
        start_half_day=row.start_half_day,
        end_half_day=row.end_half_day,
    )


def _colleague(row: Row) -> ColleagueOff:
    return ColleagueOff(
        name=f"{row.first_name} {row.last_name}".strip(),
        start_date=rows.day(row.start_date),
        end_date=rows.day(row.end_date),
        start_half_day=row.start_half_day,
        end_half_day=row.end_half_day,
        type_name=None if row.is_private else row.type_name,
        is_pending=row.status == "pending",
    )


@compiled
def _team_off(
    organisation_id: Param[str],
    user_id: Param[str],
    department_id: Param[str] | None,
    first_day: Param[str],
    last_day: Param[str],
    limit: Param[int],
) -> Select:
    return (
        rows.with_names(
            LeaveRequestRow.select(
                LeaveRequestRow.start_date,
                LeaveRequestRow.id,
                UserRow.first_name,
                UserRow.last_name,
                LeaveRequestRow.end_date,
                LeaveRequestRow.start_half_day,
                LeaveRequestRow.end_half_day,
                LeaveTypeRow.name.alias("type_name"),
                LeaveTypeRow.is_private,
                LeaveRequestRow.status,
            )
        )
        .where(
            LeaveRequestRow.organisation_id == organisation_id,
            any_of_few(LeaveRequestRow.user_id, team(organisation_id, user_id, department_id)),
            LeaveRequestRow.user_id != user_id,
            LeaveRequestRow.status.in_(("pending", "approved")),
            LeaveRequestRow.start_date <= last_day,
            LeaveRequestRow.end_date >= first_day,
        )
        # No order and no earliest start: for either, SQLite would read all leave.
        .limit(limit)
    )


def is_between(first_day: Expr, last_day: Expr, short_until: Expr, long_until: Expr) -> Expr:
    """Whether leave overlaps the days, so that SQLite reads little of the index by last days.

    The latter two are ``spans.latest_short_end`` and ``latest_end`` of the last day.
    """
    leave = LeaveRequestRow
    begins = leave.start_date <= last_day
    ends_soon = (leave.end_date >= first_day) & (leave.end_date <= short_until) & begins
    # The number is not a parameter: only then the index of long leave serves the condition.
    is_long = fn.LENGTH(leave.counted_halves) > SQL(str(spans.LONG_SPAN_DAYS))
    ends_later = (leave.end_date > short_until) & (leave.end_date <= long_until) & begins
    return ends_soon | (ends_later & is_long)


def team(
    organisation_id: Param[str], owner_id: Param[str], department_id: Param[str] | None
) -> Select:
    """The ids of the people on a person's team calendar, the person included."""
    person, report, member = UserRow.alias(), UserRow.alias(), UserRow.alias()
    managed = DepartmentRow.select(DepartmentRow.id).where(
        DepartmentRow.organisation_id == organisation_id, DepartmentRow.manager_id == owner_id
    )
    # Not one query with OR: both engines would read all people of the organisation.
    ids = (
        person.select(person.id)
        .where(person.organisation_id == organisation_id, person.id == owner_id)
        .union_all(
            report.select(report.id).where(
                report.organisation_id == organisation_id, report.manager_id == owner_id
            )
        )
        .union_all(
            member.select(member.id).where(
                member.organisation_id == organisation_id, member.department_id.in_(managed)
            )
        )
    )
    if department_id is None:
        return ids
    colleague = UserRow.alias()
    head = DepartmentRow.select(DepartmentRow.manager_id).where(
        DepartmentRow.organisation_id == organisation_id, DepartmentRow.id == department_id
    )
    return ids.union_all(
        colleague.select(colleague.id).where(
            colleague.organisation_id == organisation_id, colleague.department_id == department_id
        )
    ).union_all(head)
