"""What is shown of a request to those who decide on it, and to its owner: read in one go."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final, NamedTuple

from peewee import Select

from storage import approvers, balances, days, fields, people_rows, reference, rows, standings
from storage.clock import local_day
from storage.compiled import Place, compiled
from storage.database import Transaction
from storage.reference import Reference
from storage.standings import Deduction
from storage.tables import LeaveRequestRow, LeaveTypeRow, UserRow
from storage.values import HalfDay, LeaveRequest, LeaveType, User

MOST_COLLEAGUES: Final = 10
# No request is longer (contract 4), so leave that began earlier is over.
_LONGEST_DAYS: Final = timedelta(days=366)


class YearBalance(NamedTuple):
    """What is left of a leave year once this request is taken; negative when overdrawn."""

    year_name: str
    remaining_half_days: int


class ColleagueOff(NamedTuple):
    """Approved leave of a colleague; ``type_name`` is None where the type is private."""

    name: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    type_name: str | None


class ApprovalCard(NamedTuple):
    """A request as one person may see it.

    ``awaited_names``: whose decision it awaits, by name; empty unless it is pending.
    ``may_decide``: whether the viewer could approve or decline it now. ``balances``: a line for
    each leave year that it touches, oldest first; none for types that do not deduct and for
    requests that came to nothing. ``colleagues``: at most ten, by first day, with
    ``has_more_colleagues`` where there are others. ``timezone`` is the viewer's.
    """

    request: LeaveRequest
    requester: User
    leave_type: LeaveType
    decided_by_name: str | None
    awaited_names: tuple[str, ...]
    may_decide: bool
    balances: tuple[YearBalance, ...]
    colleagues: tuple[ColleagueOff, ...]
    has_more_colleagues: bool
    timezone: str


def card(
    tx: Transaction, organisation_id: str, request_id: str, *, viewer_id: str, now: datetime
) -> ApprovalCard | None:
    """The request as it is now; None when there is no such request or viewer.

    Whether the viewer may see it at all is for the caller to know.
    """
    row = (
        tx.first(_request, organisation_id=organisation_id, request_id=request_id)
        if fields.is_id(request_id)
        else None
    )
    viewer = people_rows.find(tx, organisation_id, viewer_id)
    if row is None or viewer is None:
        return None
    request = rows.leave_request(row)
    requester = people_rows.find(tx, organisation_id, request.user_id)
    if requester is None:
        return None
    known = reference.of_organisation(tx, organisation_id)
    today = local_day(now, known.organisation.timezone)
    awaited = (
        approvers.of_person(tx, organisation_id, requester.id, today=today)
        if request.status == "pending"
        else []
    )
    colleagues = _colleagues(tx, organisation_id, request, requester)
    return ApprovalCard(
        request,
        requester,
        known.leave_types[request.leave_type_id],
        _name_of(tx, organisation_id, request.decided_by),
        tuple(approver.name for approver in awaited),
        _may_decide(request, viewer, awaited),
        _balances(tx, known, request, requester),
        tuple(colleagues[:MOST_COLLEAGUES]),
        len(colleagues) > MOST_COLLEAGUES,
        viewer.timezone or known.organisation.timezone,
    )


def _may_decide(request: LeaveRequest, viewer: User, awaited: Sequence[User]) -> bool:
    if request.status != "pending" or viewer.status != "active" or viewer.id == request.user_id:
        return False
    return viewer.role in ("admin", "owner") or viewer.id in {one.id for one in awaited}


def _name_of(tx: Transaction, organisation_id: str, user_id: str | None) -> str | None:
    user = None if user_id is None else people_rows.find(tx, organisation_id, user_id)
    return None if user is None else user.name


def _balances(
    tx: Transaction, known: Reference, request: LeaveRequest, requester: User
) -> tuple[YearBalance, ...]:
    deducts = known.leave_types[request.leave_type_id].deducts_allowance
    if not deducts or request.status not in ("pending", "approved"):
        return ()
    books = balances.books(tx, known, requester, request.start_date, request.end_date)
    others = balances.deducting(known, (one for one in books.leave if one.id != request.id))
    asked = Deduction(request.counted_halves, request.start_date, request.end_date)
    return tuple(
        YearBalance(demand.year.name, demand.remaining_half_days - demand.needed_half_days)
        for demand in standings.demands(books.account, others, asked)
    )


def _colleagues(
    tx: Transaction, organisation_id: str, request: LeaveRequest, requester: User
) -> list[ColleagueOff]:
    """Up to one more than is shown."""
    if requester.department_id is None and requester.manager_id is None:
        return []
    found = tx.all(
        _overlapping,
        organisation_id=organisation_id,
        user_id=requester.id,
        department_id=requester.department_id,
        manager_id=requester.manager_id,
        earliest_start=(request.start_date - _LONGEST_DAYS).isoformat(),
        first_day=request.start_date.isoformat(),
        last_day=request.end_date.isoformat(),
        limit=MOST_COLLEAGUES + 1,
    )
    asked = days.Span(
        request.start_date, request.end_date, request.start_half_day, request.end_half_day
    )
    colleagues = [_colleague(row) for row in found]
    return [one for one in colleagues if days.overlaps(asked, days.Span(*one[1:5]))]


def _colleague(row: Sequence[Any]) -> ColleagueOff:
    first_name, last_name, start, end, start_half, end_half, type_name, is_private = row
    return ColleagueOff(
        f"{first_name} {last_name}".strip(),
        rows.day(start),
        rows.day(end),
        start_half,
        end_half,
        None if is_private else type_name,
    )


@compiled
def _request(organisation_id: Place, request_id: Place) -> Select:
    return LeaveRequestRow.select(*rows.LEAVE_REQUEST).where(
        LeaveRequestRow.organisation_id == organisation_id, LeaveRequestRow.id == request_id
    )


@compiled
def _overlapping(
    organisation_id: Place,
    user_id: Place,
    department_id: Place | None,
    manager_id: Place | None,
    earliest_start: Place,
    first_day: Place,
    last_day: Place,
    limit: Place,
) -> Select:
    """Approved leave of those who share the person's department or manager."""
    is_colleague = None
    for column, place in ((UserRow.department_id, department_id), (UserRow.manager_id, manager_id)):
        if place is not None:
            same = column == place
            is_colleague = same if is_colleague is None else is_colleague | same
    return (
        LeaveRequestRow.select(
            UserRow.first_name,
            UserRow.last_name,
            LeaveRequestRow.start_date,
            LeaveRequestRow.end_date,
            LeaveRequestRow.start_half_day,
            LeaveRequestRow.end_half_day,
            LeaveTypeRow.name,
            LeaveTypeRow.is_private,
        )
        .join(
            UserRow,
            on=(UserRow.organisation_id == LeaveRequestRow.organisation_id)
            & (UserRow.id == LeaveRequestRow.user_id),
        )
        .join(
            LeaveTypeRow,
            on=(LeaveTypeRow.organisation_id == LeaveRequestRow.organisation_id)
            & (LeaveTypeRow.id == LeaveRequestRow.leave_type_id),
        )
        .where(
            LeaveRequestRow.organisation_id == organisation_id,
            LeaveRequestRow.user_id != user_id,
            LeaveRequestRow.status == "approved",
            LeaveRequestRow.start_date >= earliest_start,
            LeaveRequestRow.start_date <= last_day,
            LeaveRequestRow.end_date >= first_day,
            is_colleague,
        )
        .order_by(LeaveRequestRow.start_date, LeaveRequestRow.id)
        .limit(limit)
    )
