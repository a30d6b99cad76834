"""Colleagues on leave at the same time: one rule for forms, cards, previews and feeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final

import orjson
from peewee import JOIN, SQL, Join, Select

from storage.base.leave_values import HalfDay, TypeName
from storage.base.values import User
from storage.db import rows
from storage.db.compiled import Expr, Param, compiled, json_table
from storage.db.database import Row, Transaction
from storage.db.tables import DepartmentRow, LeaveRequestRow, LeaveTypeRow, UserRow
from storage.rules import counted_days

# How many are named; of the others, only the number is shown.
MAX_NAMED: Final = 10
# How many are counted.
MAX_COUNTED: Final = 1_000
_SHOWN: Final = (
    LeaveRequestRow.start_date,
    LeaveRequestRow.id,
    UserRow.first_name,
    UserRow.last_name,
    LeaveRequestRow.end_date,
    LeaveRequestRow.start_half_day,
    LeaveRequestRow.end_half_day,
    *rows.TYPE_NAME,
    LeaveTypeRow.is_private,
    LeaveRequestRow.status,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ColleagueOff:
    """Pending or approved leave of a colleague; ``type_name`` is None where the type is private."""

    name: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    type_name: TypeName | None
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
    span: counted_days.Span,
    *,
    includes_pending: bool,
) -> ColleaguesOff:
    """Leave of the people on the team calendar in the same half-days, at most 1,000 requests.

    ``includes_pending``: pending requests are named and in ``count``.
    """
    team_leave = tx.all(
        _team_off,
        organisation_id=organisation_id,
        user_id=user.id,
        department_id=user.department_id,
        first_day=span.start_date.isoformat(),
        last_day=span.end_date.isoformat(),
        limit=MAX_COUNTED,
    )
    return _in_same_halves(team_leave, span, includes_pending=includes_pending)


def off_with_each(
    tx: Transaction,
    organisation_id: str,
    asked: Mapping[str, tuple[User, counted_days.Span]],
    *,
    includes_pending: bool,
) -> dict[str, ColleaguesOff]:
    """As ``off_with`` for a page of requests, by id, in one query.

    ``asked`` has the requester and the span of each. At most 1,000 requests are read for each on
    average.
    """
    if not asked:
        return {}
    teams_leave = tx.all(
        _teams_off,
        organisation_id=organisation_id,
        asked=orjson.dumps([_asked(key, *asked[key]) for key in sorted(asked)]).decode(),
        earliest=min(span.start_date for _, span in asked.values()).isoformat(),
        latest=max(span.end_date for _, span in asked.values()).isoformat(),
        limit=MAX_COUNTED * len(asked),
    )
    by_request: dict[str, list[Row]] = {request_id: [] for request_id in asked}
    for row in teams_leave:
        by_request[row.request_id].append(row)
    return {
        request_id: _in_same_halves(leave, asked[request_id][1], includes_pending=includes_pending)
        for request_id, leave in by_request.items()
    }


def _asked(request_id: str, user: User, span: counted_days.Span) -> dict[str, object]:
    return {
        "request_id": request_id,
        "user_id": user.id,
        "department_id": user.department_id,
        "first_day": span.start_date,
        "last_day": span.end_date,
    }


def _in_same_halves(
    team_leave: Iterable[Row], span: counted_days.Span, *, includes_pending: bool
) -> ColleaguesOff:
    first_day, last_day = span.start_date.isoformat(), span.end_date.isoformat()
    same_halves = [
        row
        for row in team_leave
        # Leave that shares only one day may be in its other half.
        if (row.start_date < last_day and row.end_date > first_day)
        or counted_days.overlaps(span, _span(row))
    ]
    shown = [row for row in same_halves if includes_pending or row.status != "pending"]
    shown.sort(key=lambda row: (row.start_date, row.id))
    return ColleaguesOff(
        named=[_colleague(row) for row in shown[:MAX_NAMED]],
        count=len(shown),
        pending_count=sum([row.status == "pending" for row in same_halves]),
    )


def _span(row: Row) -> counted_days.Span:
    return counted_days.Span(
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
        type_name=None if row.is_private else rows.type_name(row),
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
    is_off = _is_off(organisation_id, user_id, department_id, first_day, last_day)
    return rows.with_names(LeaveRequestRow.select(*_SHOWN)).where(is_off).limit(limit)


@compiled
def _teams_off(
    organisation_id: Param[str],
    asked: Param[str],
    earliest: Param[str],
    latest: Param[str],
    limit: Param[int],
) -> Select:
    ids = dict.fromkeys(("request_id", "user_id", "department_id"), "uuid")
    each = json_table(asked, "asked", ids | {"first_day": "date", "last_day": "date"})
    request_id, user_id, department_id, first_day, last_day = map(each.column, each.columns)
    # A cross join, or SQLite begins with all people of the organisation.
    return (
        rows.with_names(
            LeaveRequestRow.select(*_SHOWN, request_id).from_(
                Join(each, LeaveRequestRow, JOIN.CROSS)
            )
        )
        .where(
            _is_off(organisation_id, user_id, department_id, first_day, last_day),
            # Redundant, but known before the requests are read.
            overlaps(earliest, latest),
        )
        .limit(limit)
    )


def _is_off(
    organisation_id: Expr, user_id: Expr, department_id: Expr, first_day: Expr, last_day: Expr
) -> Expr:
    """Whether the leave is a colleague's absence that overlaps the days, of leave with its type."""
    leave = LeaveRequestRow
    return (
        (leave.organisation_id == organisation_id)
        & leave.user_id.in_(team(organisation_id, user_id, department_id))
        & (leave.user_id != user_id)
        & leave.status.in_(("pending", "approved"))
        & overlaps(first_day, last_day)
        & LeaveTypeRow.is_away
    )


def overlaps(first_day: Expr, last_day: Expr, starts_from: Expr = None) -> Expr:
    """Whether leave has a date between two days, both included.

    ``starts_from`` is ``counted_days.earliest_start`` of the first day, for leave of all people:
    the index by first day is then read from there on.
    """
    leave = LeaveRequestRow
    condition = (leave.start_date <= last_day) & (leave.end_date >= first_day)
    return condition if starts_from is None else condition & (leave.start_date >= starts_from)


def is_absence(leave: Expr) -> Expr:
    """Whether leave is of a type that counts as away, for queries that do not join the types.

    The type is read by its key. PostgreSQL would turn EXISTS into a join, which it plans badly
    before its first ANALYZE.
    """
    of_type = LeaveTypeRow.alias()
    is_away = of_type.select(of_type.is_away).where(
        of_type.organisation_id == leave.organisation_id, of_type.id == leave.leave_type_id
    )
    return SQL("TRUE") == is_away


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
