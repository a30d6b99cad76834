"""Who may decide on whose leave: worked out when asked, never frozen (contract 4).

The ladder has four rungs: the person's manager, the department's manager, the department's
approvers, admins and owners. A rung is asked when nobody on the rungs below it is present, that is
active, somebody else than the requester, and not on approved leave today.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

from peewee import JOIN, Select, fn

from storage import rows
from storage.compiled import Place, compiled
from storage.database import Transaction
from storage.tables import DepartmentRow, LeaveRequestRow, UserRow
from storage.values import User

# Nobody needs more deciders than this; it bounds the messages that one request causes.
MOST_APPROVERS = 50


def of_person(tx: Transaction, organisation_id: str, user_id: str, *, today: date) -> list[User]:
    """Whose decision that person's leave awaits, by id; empty when nobody else could decide."""
    found = tx.all(
        _approvers, organisation_id=organisation_id, user_id=user_id, today=today.isoformat()
    )
    return [rows.user(row) for row in found]


def may_decide(
    tx: Transaction, organisation_id: str, user_id: str, *, approver_id: str, today: date
) -> bool:
    """Whether that person's leave awaits this approver."""
    found = tx.first(
        _approver,
        organisation_id=organisation_id,
        user_id=user_id,
        approver_id=approver_id,
        today=today.isoformat(),
    )
    return found is not None


def awaits(candidate: Any, requester: Any, department: Any, today: Any) -> Any:
    """The rule as SQL, over aliases of users twice and of departments (an outer join).

    ``today`` is a place. The one place where the ladder stands: lists filter by it, too.
    """
    manager_present = _is_present(requester.manager_id, requester, today)
    head_present = _is_present(department.manager_id, requester, today)
    colleague_present = _has_present_approver(requester, today)
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
    return (
        (candidate.organisation_id == requester.organisation_id)
        & (candidate.status == "active")
        & (candidate.id != requester.id)
        & (is_manager | second)
    )


def ever_asked_about(organisation_id: Any, viewer_id: Any) -> Any:
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


def _is_away(user: Any, today: Any) -> Any:
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


def _is_present(user_id: Any, requester: Any, today: Any) -> Any:
    return _is_any_present(requester, today, lambda user: (user.id == user_id,))


def _has_present_approver(requester: Any, today: Any) -> Any:
    return _is_any_present(
        requester,
        today,
        lambda user: (user.department_id == requester.department_id, user.role == "approver"),
    )


def _is_any_present(requester: Any, today: Any, meant: Callable[[Any], tuple[Any, ...]]) -> Any:
    """Whether somebody who is meant is active, not the requester, and not on leave."""
    user = UserRow.alias()
    return fn.EXISTS(
        user.select(user.id).where(
            user.organisation_id == requester.organisation_id,
            *meant(user),
            user.id != requester.id,
            user.status == "active",
            ~_is_away(user, today),
        )
    )


def _candidates(organisation_id: Any, user_id: Any, today: Any) -> tuple[Any, Select]:
    candidate, requester, department = UserRow.alias(), UserRow.alias(), DepartmentRow.alias()
    query = (
        candidate.select(*(getattr(candidate, column.name) for column in rows.USER))
        .join(
            requester,
            on=(requester.organisation_id == organisation_id) & (requester.id == user_id),
        )
        .join(
            department,
            JOIN.LEFT_OUTER,
            on=(department.organisation_id == organisation_id)
            & (department.id == requester.department_id),
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
    return candidate, query


def _ever_asked(organisation_id: Any, user_id: Any) -> Any:
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
def _approvers(organisation_id: Place, user_id: Place, today: Place) -> Select:
    return _candidates(organisation_id, user_id, today)[1]


@compiled
def _approver(organisation_id: Place, user_id: Place, approver_id: Place, today: Place) -> Select:
    candidate, query = _candidates(organisation_id, user_id, today)
    return query.where(candidate.id == approver_id)
