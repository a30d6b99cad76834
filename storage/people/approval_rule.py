"""The rule of who approves whose leave, as SQL for every query that needs it.

``approvers`` describes the levels of the approval chain.
"""

from __future__ import annotations

from collections.abc import Callable

from peewee import JOIN, SQL, Case, Select, fn

from storage.base.values import User
from storage.db import rows
from storage.db.compiled import Expr, any_of
from storage.db.tables import DepartmentRow, LeaveRequestRow, UserRow
from storage.people import colleagues


def is_reachable_sql(user: Expr) -> Expr:
    """``is_reachable`` as SQL, over an alias of users."""
    is_linked = (user.status == "pending") & user.slack_user_id.is_null(False)
    return (user.status == "active") | is_linked


def is_reachable(user: User) -> bool:
    """Whether the person can decide: active, or pending with a known Slack account."""
    return user.status == "active" or (user.status == "pending" and user.slack_user_id is not None)


def is_assigned_to(
    candidate: Expr,
    requester: Expr,
    department: Expr,
    today: Expr,
    absent_id: Expr = None,
) -> Expr:
    """Whether the requester's leave is assigned to the candidate.

    ``candidate`` and ``requester`` are aliases of users, ``department`` one of the requester's
    department (an outer join). ``absent_id`` is a person who counts as inactive.
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
    # Nested, so that each of the three subqueries runs at most once.
    fourth = is_admin & ~colleague_present
    third = (is_approver | fourth) & ~head_present
    second = (is_head | third) & ~manager_present
    is_assigned = (
        (candidate.organisation_id == requester.organisation_id)
        & is_reachable_sql(candidate)
        & (candidate.id != requester.id)
        & (is_manager | second)
    )
    return is_assigned if absent_id is None else is_assigned & (candidate.id != absent_id)


def assigned_to(organisation_id: Expr, viewer_id: Expr, today: Expr) -> tuple[Select, Expr]:
    """The ids of people whose leave is assigned to the viewer, and the alias they are read from."""
    viewer, requester, department = UserRow.alias(), UserRow.alias(), DepartmentRow.alias()
    query = (
        requester.select(requester.id)
        .join(viewer, on=(viewer.organisation_id == organisation_id) & (viewer.id == viewer_id))
        .join(
            department,
            JOIN.LEFT_OUTER,
            on=(department.organisation_id == organisation_id)
            & (department.id == requester.department_id),
        )
        .where(
            requester.organisation_id == organisation_id,
            is_assigned_to(viewer, requester, department, today),
        )
    )
    return query, requester


def requesters_of(organisation_id: Expr, viewer_id: Expr, today: Expr) -> Select:
    """The ids of people whose leave is assigned to a viewer who is not an admin."""
    query, requester = assigned_to(organisation_id, viewer_id, today)
    return query.where(requester.id.in_(potential_requesters(organisation_id, viewer_id)))


def potential_requesters(organisation_id: Expr, viewer_id: Expr) -> Expr:
    """The ids of people whose leave could be assigned to the viewer, other than as an admin.

    ``is_assigned_to`` decides; with this the planner reads only these people.
    """
    report, member, colleague, viewer = (UserRow.alias() for _ in range(4))
    reports = report.select(report.id).where(
        report.organisation_id == organisation_id, report.manager_id == viewer_id
    )
    # Not a join: SQLite would read all people of the organisation.
    managed = DepartmentRow.select(DepartmentRow.id).where(
        DepartmentRow.organisation_id == organisation_id, DepartmentRow.manager_id == viewer_id
    )
    members = member.select(member.id).where(
        member.organisation_id == organisation_id, member.department_id.in_(managed)
    )
    peers = (
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
    return reports.union_all(members).union_all(peers)


def is_second_approver(candidate: Expr, request: Expr, today: Expr) -> Expr:
    """Whether the candidate gives the second approval of a request that has the first one.

    As `second_approvals.approvers`; the first approver decides if no one else can any more.
    ``candidate`` is an alias of users, ``request`` the table of leave requests or its alias.
    """
    named, other = UserRow.alias(), UserRow.alias()

    def could(user: Expr) -> Expr:
        return (
            (user.organisation_id == request.organisation_id)
            & is_reachable_sql(user)
            & (user.id != request.user_id)
            & (user.id != request.first_approver_id)
        )

    has_present_named = fn.EXISTS(
        named.select(named.id).where(
            named.id == request.second_approver_id, could(named), ~is_away(named, today)
        )
    )
    has_other = fn.EXISTS(
        other.select(other.id).where(
            could(other), (other.id == request.second_approver_id) | _is_admin(other)
        )
    )
    is_named = candidate.id == request.second_approver_id
    is_first = candidate.id == request.first_approver_id
    return (could(candidate) & (is_named | (_is_admin(candidate) & ~has_present_named))) | (
        is_first & is_reachable_sql(candidate) & ~has_other
    )


def second_candidates(organisation_id: Expr, user_ids: Expr, today: Expr) -> Select:
    """These people and all admins and owners who can decide, with ``is_away``; these first."""
    is_among = any_of(UserRow.id, user_ids)
    return (
        UserRow.select(*rows.USER, is_away(UserRow, today).alias("is_away"))
        .where(
            UserRow.organisation_id == organisation_id,
            is_reachable_sql(UserRow),
            _is_admin(UserRow) | is_among,
        )
        .order_by(Case(None, ((is_among, SQL("0")),), SQL("1")), UserRow.id)
    )


def _is_admin(user: Expr) -> Expr:
    return user.role.in_(("admin", "owner"))


def is_away(user: Expr, today: Expr) -> Expr:
    leave = LeaveRequestRow.alias()
    return fn.EXISTS(
        leave.select(leave.id).where(
            leave.organisation_id == user.organisation_id,
            leave.user_id == user.id,
            leave.status == "approved",
            leave.start_date <= today,
            leave.end_date >= today,
            colleagues.is_absence(leave),
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
    requester: Expr, today: Expr, absent_id: Expr, conditions: Callable[[Expr], tuple[Expr, ...]]
) -> Expr:
    """Whether a person who meets ``conditions`` is reachable, not the requester, not on leave."""
    user = UserRow.alias()
    return fn.EXISTS(
        user.select(user.id).where(
            user.organisation_id == requester.organisation_id,
            *conditions(user),
            *(() if absent_id is None else (user.id != absent_id,)),
            user.id != requester.id,
            is_reachable_sql(user),
            ~is_away(user, today),
        )
    )


def level_of(candidate: Expr, requester: Expr, department: Expr) -> Expr:
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


def chains_of(organisation_id: Expr, user_ids: Expr) -> tuple[Expr, Expr, Expr, Expr]:
    """Each of these people joined with all people on the levels of their approval chains."""
    candidate, requester, department = UserRow.alias(), UserRow.alias(), DepartmentRow.alias()
    pairs = _pairs(organisation_id, user_ids).alias("pairs")
    query = (
        candidate.select(
            requester.id.alias("requester_id"),
            *(getattr(candidate, column.name) for column in rows.USER),
        )
        .join(pairs, on=candidate.id == pairs.c.candidate_id)
        .join(
            requester,
            on=(requester.organisation_id == organisation_id)
            & (requester.id == pairs.c.requester_id),
        )
        .join(
            department,
            JOIN.LEFT_OUTER,
            on=(department.organisation_id == organisation_id)
            & (department.id == requester.department_id),
        )
        .where(
            candidate.organisation_id == organisation_id,
            # Follows from the pairs. Without it, PostgreSQL joins everyone with everyone until it
            # has statistics: 7 s for 500 people.
            any_of(requester.id, user_ids),
        )
    )
    return candidate, requester, department, query


def _pairs(organisation_id: Expr, user_ids: Expr) -> Expr:
    """Each of these people with everyone on their approval chain, by id."""
    requester, candidate = UserRow.alias(), UserRow.alias()

    def pairs(candidate_id: Expr, joined: Expr = None, condition: Expr = None) -> Expr:
        query = requester.select(
            requester.id.alias("requester_id"), candidate_id.alias("candidate_id")
        ).where(requester.organisation_id == organisation_id, any_of(requester.id, user_ids))
        if joined is None:
            return query
        return query.join(joined, on=(joined.organisation_id == organisation_id) & condition)

    department = DepartmentRow.alias()
    is_colleague = candidate.department_id == requester.department_id
    return (
        pairs(requester.manager_id)
        .union(pairs(department.manager_id, department, department.id == requester.department_id))
        .union(pairs(candidate.id, candidate, (candidate.role == "approver") & is_colleague))
        .union(pairs(candidate.id, candidate, candidate.role.in_(("admin", "owner"))))
    )
