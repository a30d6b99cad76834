"""Who may decide on whose leave: worked out when asked, never frozen (contract 4).

The ladder has four rungs: the person's manager, the department's manager, the department's
approvers, admins and owners. A rung is asked when nobody on the rungs below it is present, that is
active or pending with a known Slack account, not the requester, and not on approved leave today.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import date
from typing import Final

from peewee import JOIN, SQL, Case, Select, fn

from storage.base.values import User
from storage.db import rows
from storage.db.compiled import Expr, Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.tables import DepartmentRow, LeaveRequestRow, UserRow

# Nobody needs more deciders than this; it bounds the messages that one request causes.
MOST_APPROVERS = 50
# How many people a preview names who could not be asked.
MOST_NAMED: Final = 5
_ABOVE_ALL: Final = 5


def of_person(tx: Transaction, organisation_id: str, user_id: str, *, today: date) -> list[User]:
    """Whose decision that person's leave awaits, by id; empty when nobody else could decide."""
    found = tx.all(
        _approvers, organisation_id=organisation_id, user_id=user_id, today=today.isoformat()
    )
    return [rows.user(row) for row in found]


def of_people(
    tx: Transaction,
    organisation_id: str,
    user_ids: Collection[str],
    *,
    today: date,
    absent_id: str | None = None,
) -> dict[str, list[User]]:
    """As ``of_person`` for many people, by their ids; people without approvers are left out.

    ``absent_id`` counts as no longer active.
    """
    if not user_ids:
        return {}
    found = tx.all(
        _approvers_of_many,
        organisation_id=organisation_id,
        user_ids=sorted(user_ids),
        today=today.isoformat(),
        absent_id=absent_id,
    )
    asked: dict[str, list[User]] = {}
    for row in found:
        of_user = asked.setdefault(row.requester_id, [])
        if len(of_user) < MOST_APPROVERS:
            of_user.append(rows.user(row))
    return asked


def is_asked_about(
    tx: Transaction, organisation_id: str, user_id: str, *, approver_id: str, today: date
) -> bool:
    """Whether a person's leave awaits this approver; for one request see pending_approvals.py."""
    found = tx.first(
        _asked_about,
        organisation_id=organisation_id,
        user_id=user_id,
        approver_id=approver_id,
        today=today.isoformat(),
    )
    return found is not None


def rungs(
    tx: Transaction, organisation_id: str, user_ids: Collection[str], *, today: date
) -> dict[str, list[tuple[int, User]]]:
    """Everybody present on the ladder of each person, with the rung, 1 to 4; lowest first."""
    found = tx.all(
        _rungs,
        organisation_id=organisation_id,
        user_ids=sorted(user_ids),
        today=today.isoformat(),
    )
    ladders: dict[str, list[tuple[int, User]]] = {}
    for row in found:
        ladders.setdefault(row.requester_id, []).append((row.rung, rows.user(row)))
    return ladders


def is_reachable(user: Expr) -> Expr:
    """Whether a person can be asked at all, as SQL over an alias of users: ``may_be_asked``."""
    is_linked = (user.status == "pending") & user.slack_user_id.is_null(False)
    return (user.status == "active") | is_linked


def may_be_asked(user: User) -> bool:
    """Whether a person can be asked at all: active, or pending with a known Slack account."""
    return user.status == "active" or (user.status == "pending" and user.slack_user_id is not None)


def unreachable(
    tx: Transaction,
    organisation_id: str,
    user_id: str,
    *,
    asked: Collection[User],
    today: date,
) -> list[User]:
    """Skipped approvers: pending, without a known Slack account; the lowest level first.

    ``asked`` are the person's approvers; if there are none, all such people are named.
    """
    found = tx.all(_unreachable, organisation_id=organisation_id, user_id=user_id, limit=MOST_NAMED)
    if not found:
        return []
    asked_ids = {user.id for user in asked}
    present = rungs(tx, organisation_id, [user_id], today=today).get(user_id, [])
    highest = max((rung for rung, user in present if user.id in asked_ids), default=_ABOVE_ALL)
    return [rows.user(row) for row in found if row.rung < highest]


def awaits(
    candidate: Expr,
    requester: Expr,
    department: Expr,
    today: Expr,
    absent_id: Expr = None,
) -> Expr:
    """The rule as SQL, over aliases of users twice and of departments (an outer join).

    ``today`` is a parameter; ``absent_id`` is one too, for somebody to be left out. The one place
    where the ladder stands: lists filter by it, too.
    """
    manager_present = _is_present(requester.manager_id, requester, today, absent_id)
    head_present = _is_present(department.manager_id, requester, today, absent_id)
    colleague_present = _has_present_approver(requester, today, absent_id)
    is_manager = candidate.id == requester.manager_id
    is_head = candidate.id == department.manager_id
    is_approver = (candidate.role == "approver") & (
        candidate.department_id == requester.department_id
    )
    is_admin = candidate.role.in_(("admin", "owner"))
    # Nested, so that the database looks for each of the three at most once.
    fourth = is_admin & ~colleague_present
    third = (is_approver | fourth) & ~head_present
    second = (is_head | third) & ~manager_present
    is_asked = (
        (candidate.organisation_id == requester.organisation_id)
        & is_reachable(candidate)
        & (candidate.id != requester.id)
        & (is_manager | second)
    )
    return is_asked if absent_id is None else is_asked & (candidate.id != absent_id)


def awaiting(organisation_id: Expr, viewer_id: Expr, today: Expr) -> tuple[Select, Expr]:
    """The ids of those whose leave awaits that person, and the table that they are in."""
    viewer, requester, department = UserRow.alias(), UserRow.alias(), DepartmentRow.alias()
    query = _beside(
        requester.select(requester.id), organisation_id, viewer, viewer_id, requester, department
    ).where(
        requester.organisation_id == organisation_id,
        awaits(viewer, requester, department, today),
    )
    return query, requester


def _beside(
    query: Select,
    organisation_id: Expr,
    other: Expr,
    other_id: Expr,
    requester: Expr,
    department: Expr,
) -> Select:
    """The query with one other person beside those it selects, and the requester's department."""
    return query.join(
        other, on=(other.organisation_id == organisation_id) & (other.id == other_id)
    ).join(
        department,
        JOIN.LEFT_OUTER,
        on=(department.organisation_id == organisation_id)
        & (department.id == requester.department_id),
    )


def ever_asked_about(organisation_id: Expr, viewer_id: Expr) -> Expr:
    """The ids of all whose leave could await that person, admins and owners aside.

    ``awaits`` decides; this spares looking at everybody in the organisation.
    """
    report, member, colleague, viewer = (UserRow.alias() for _ in range(4))
    reports = report.select(report.id).where(
        report.organisation_id == organisation_id, report.manager_id == viewer_id
    )
    members = (
        member.select(member.id)
        .join(
            DepartmentRow,
            on=(DepartmentRow.organisation_id == organisation_id)
            & (DepartmentRow.id == member.department_id),
        )
        .where(member.organisation_id == organisation_id, DepartmentRow.manager_id == viewer_id)
    )
    colleagues = (
        colleague.select(colleague.id)
        .join(
            viewer,
            on=(viewer.organisation_id == organisation_id)
            & (viewer.department_id == colleague.department_id),
        )
        .where(
            colleague.organisation_id == organisation_id,
            viewer.id == viewer_id,
            viewer.role == "approver",
        )
    )
    return reports.union_all(members).union_all(colleagues)


def _is_away(user: Expr, today: Expr) -> Expr:
    leave = LeaveRequestRow.alias()
    return fn.EXISTS(
        leave.select(leave.id).where(
            leave.organisation_id == user.organisation_id,
            leave.user_id == user.id,
            leave.status == "approved",
            leave.start_date <= today,
            leave.end_date >= today,
        )
    )


def _is_present(user_id: Expr, requester: Expr, today: Expr, absent_id: Expr) -> Expr:
    return _is_any_present(requester, today, absent_id, lambda user: (user.id == user_id,))


def _has_present_approver(requester: Expr, today: Expr, absent_id: Expr) -> Expr:
    return _is_any_present(
        requester,
        today,
        absent_id,
        lambda user: (user.department_id == requester.department_id, user.role == "approver"),
    )


def _is_any_present(
    requester: Expr,
    today: Expr,
    absent_id: Expr,
    meant: Callable[[Expr], tuple[Expr, ...]],
) -> Expr:
    """Whether somebody who is meant is active, not the requester, and not on leave."""
    user = UserRow.alias()
    return fn.EXISTS(
        user.select(user.id).where(
            user.organisation_id == requester.organisation_id,
            *meant(user),
            *(() if absent_id is None else (user.id != absent_id,)),
            user.id != requester.id,
            is_reachable(user),
            ~_is_away(user, today),
        )
    )


@compiled
def _approvers(organisation_id: Param[str], user_id: Param[str], today: Param[str]) -> Select:
    candidate, requester, department = UserRow.alias(), UserRow.alias(), DepartmentRow.alias()
    columns = [getattr(candidate, column.name) for column in rows.USER]
    return (
        _beside(
            candidate.select(*columns), organisation_id, requester, user_id, requester, department
        )
        .where(
            candidate.organisation_id == organisation_id,
            # Says nothing new, and spares looking at everybody in the organisation.
            candidate.id.in_(_ever_asked(organisation_id, user_id)),
            awaits(candidate, requester, department, today),
        )
        .order_by(candidate.id)
        .limit(MOST_APPROVERS)
    )


def _ever_asked(organisation_id: Expr, user_id: Expr) -> Expr:
    """The ids of everybody who can be on any rung for that person."""
    requester, member, senior = UserRow.alias(), UserRow.alias(), UserRow.alias()
    managers = requester.select(requester.manager_id).where(
        requester.organisation_id == organisation_id, requester.id == user_id
    )
    heads = (
        member.select(DepartmentRow.manager_id)
        .join(
            DepartmentRow,
            on=(DepartmentRow.organisation_id == organisation_id)
            & (DepartmentRow.id == member.department_id),
        )
        .where(member.organisation_id == organisation_id, member.id == user_id)
    )
    seniors = senior.select(senior.id).where(
        senior.organisation_id == organisation_id,
        senior.role.in_(("approver", "admin", "owner")),
    )
    return managers.union_all(heads).union_all(seniors)


@compiled
def _approvers_of_many(
    organisation_id: Param[str],
    user_ids: Param[list[str]],
    today: Param[str],
    absent_id: Param[str] | None,
) -> Select:
    candidate, requester, department, query = _ladders(organisation_id, user_ids)
    return query.where(awaits(candidate, requester, department, today, absent_id)).order_by(
        requester.id, candidate.id
    )


def _rung(candidate: Expr, requester: Expr, department: Expr) -> Expr:
    """The candidate's level in the requester's approval chain, 1 to 4; 0 for none."""
    is_approver = (candidate.role == "approver") & (
        candidate.department_id == requester.department_id
    )
    return Case(
        None,
        (
            (candidate.id == requester.manager_id, SQL("1")),
            (candidate.id == department.manager_id, SQL("2")),
            (is_approver, SQL("3")),
            (candidate.role.in_(("admin", "owner")), SQL("4")),
        ),
        SQL("0"),
    )


@compiled
def _unreachable(organisation_id: Param[str], user_id: Param[str], limit: Param[int]) -> Select:
    candidate, requester, department = UserRow.alias(), UserRow.alias(), DepartmentRow.alias()
    columns = [getattr(candidate, column.name) for column in rows.USER]
    rung = _rung(candidate, requester, department)
    return (
        _beside(
            candidate.select(rung.alias("rung"), *columns),
            organisation_id,
            requester,
            user_id,
            requester,
            department,
        )
        .where(
            candidate.organisation_id == organisation_id,
            candidate.id.in_(_ever_asked(organisation_id, user_id)),
            candidate.status == "pending",
            candidate.slack_user_id.is_null(),
            candidate.id != requester.id,
            rung > 0,
        )
        .order_by(SQL("rung"), candidate.id)
        .limit(limit)
    )


@compiled
def _rungs(organisation_id: Param[str], user_ids: Param[list[str]], today: Param[str]) -> Select:
    candidate, requester, department, query = _ladders(organisation_id, user_ids)
    rung = _rung(candidate, requester, department)
    return (
        query.select(
            requester.id.alias("requester_id"),
            rung.alias("rung"),
            *(getattr(candidate, column.name) for column in rows.USER),
        )
        .where(
            is_reachable(candidate),
            candidate.id != requester.id,
            rung > 0,
            ~_is_away(candidate, today),
        )
        .order_by(requester.id, rung, candidate.id)
    )


def _ladders(organisation_id: Expr, user_ids: Expr) -> tuple[Expr, Expr, Expr, Expr]:
    """Each of the people beside everybody who can be on any rung for one of them."""
    candidate, requester, department = UserRow.alias(), UserRow.alias(), DepartmentRow.alias()
    managed, member, senior = UserRow.alias(), UserRow.alias(), UserRow.alias()
    # As `_ever_asked`: everybody who can be on any rung for one of them.
    managers = managed.select(managed.manager_id).where(
        managed.organisation_id == organisation_id, any_of(managed.id, user_ids)
    )
    heads = (
        member.select(DepartmentRow.manager_id)
        .join(
            DepartmentRow,
            on=(DepartmentRow.organisation_id == organisation_id)
            & (DepartmentRow.id == member.department_id),
        )
        .where(member.organisation_id == organisation_id, any_of(member.id, user_ids))
    )
    seniors = senior.select(senior.id).where(
        senior.organisation_id == organisation_id,
        senior.role.in_(("approver", "admin", "owner")),
    )
    anybody = managers.union_all(heads).union_all(seniors)
    query = (
        candidate.select(
            requester.id.alias("requester_id"),
            *(getattr(candidate, column.name) for column in rows.USER),
        )
        .join(
            requester,
            on=(requester.organisation_id == organisation_id) & any_of(requester.id, user_ids),
        )
        .join(
            department,
            JOIN.LEFT_OUTER,
            on=(department.organisation_id == organisation_id)
            & (department.id == requester.department_id),
        )
        .where(candidate.organisation_id == organisation_id, candidate.id.in_(anybody))
    )
    return candidate, requester, department, query


@compiled
def _asked_about(
    organisation_id: Param[str], user_id: Param[str], approver_id: Param[str], today: Param[str]
) -> Select:
    query, requester = awaiting(organisation_id, approver_id, today)
    return query.where(requester.id == user_id)
