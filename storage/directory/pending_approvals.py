"""Which pending requests are assigned to an approver, and who may decide on a request.

A request is assigned by the approval chain (``approval_rule.is_assigned_to``) and by escalation
(``_escalated``). Decisions, buttons and lists use these two expressions. Admins and owners may
decide on every request, but their lists have only the requests that are assigned to them.
"""

from __future__ import annotations

from datetime import date

from peewee import Select, fn

from storage.base.values import LeaveRequest, User
from storage.db import rows
from storage.db.compiled import Expr, Param, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, ReminderRow, UserRow
from storage.directory import approval_rule, approvers
from storage.directory.approvers import MAX_APPROVERS


def may_decide(
    tx: Transaction,
    organisation_id: str,
    request_id: str,
    user_id: str | None,
    *,
    is_admin: bool,
    today: date,
) -> bool:
    """Whether the decision on the request is this person's, own requests aside."""
    if is_admin or user_id is None:
        return is_admin
    found = tx.first(
        _awaited,
        organisation_id=organisation_id,
        request_id=request_id,
        viewer_id=user_id,
        today=today.isoformat(),
    )
    return found is not None


def may_reverse(
    tx: Transaction,
    organisation_id: str,
    request: LeaveRequest,
    user_id: str | None,
    *,
    is_admin: bool,
    today: date,
) -> bool:
    """Whether a decision is this person's to change, as long as it can be changed at all."""
    if not is_admin and request.decided_by != user_id:
        return False
    return may_decide(tx, organisation_id, request.id, user_id, is_admin=is_admin, today=today)


def of_request(
    tx: Transaction, organisation_id: str, request: LeaveRequest, *, today: date
) -> list[User]:
    """The approvers of a pending request, at most 50 of each kind: assigned, then by escalation."""
    asked = approvers.of_person(tx, organisation_id, request.user_id, today=today)
    approver_ids = {user.id for user in asked}
    later = tx.all(
        _next_steps,
        organisation_id=organisation_id,
        request_id=request.id,
        limit=MAX_APPROVERS,
    )
    return asked + [user for row in later if (user := rows.user(row)).id not in approver_ids]


def is_assigned(organisation_id: Expr, viewer_id: Expr, today: Expr, *, for_each: bool) -> Expr:
    """Whether a leave request awaits the viewer, as SQL over ``LeaveRequestRow``; all are params.

    ``for_each``: the approval chain is checked for each request, which admins need: every chain may
    end at them. Else it is checked once for all people who could have the viewer on theirs.
    """
    query, requester = approval_rule.assigned_to(organisation_id, viewer_id, today)
    next_step = LeaveRequestRow.id.in_(
        _escalated(ReminderRow.leave_request_id).where(
            ReminderRow.organisation_id == organisation_id, ReminderRow.user_id == viewer_id
        )
    )
    if for_each:
        return fn.EXISTS(query.where(requester.id == LeaveRequestRow.user_id)) | next_step
    asked_about = approval_rule.potential_requesters(organisation_id, viewer_id)
    return LeaveRequestRow.user_id.in_(query.where(requester.id.in_(asked_about))) | next_step


def potential_requests(organisation_id: Expr, viewer_id: Expr) -> Expr:
    """The ids of all requests that could await that person, admins and owners aside.

    ``is_assigned`` decides; this spares looking at all of the organisation's leave.
    """
    theirs = LeaveRequestRow.alias()
    of_others = theirs.select(theirs.id).where(
        theirs.organisation_id == organisation_id,
        theirs.user_id.in_(approval_rule.potential_requesters(organisation_id, viewer_id)),
    )
    next_steps = _escalated(ReminderRow.leave_request_id).where(
        ReminderRow.organisation_id == organisation_id, ReminderRow.user_id == viewer_id
    )
    return of_others.union_all(next_steps)


def _escalated(*columns: Expr) -> Select:
    """People who are asked because earlier approvers did not answer, request by request."""
    return (
        ReminderRow.select(*columns)
        .join(
            UserRow,
            on=(UserRow.organisation_id == ReminderRow.organisation_id)
            & (UserRow.id == ReminderRow.user_id),
        )
        .where(ReminderRow.is_next_step, approval_rule.is_reachable_sql(UserRow))
    )


@compiled
def _awaited(
    organisation_id: Param[str], request_id: Param[str], viewer_id: Param[str], today: Param[str]
) -> Select:
    return LeaveRequestRow.select(LeaveRequestRow.id).where(
        LeaveRequestRow.organisation_id == organisation_id,
        LeaveRequestRow.id == request_id,
        is_assigned(organisation_id, viewer_id, today, for_each=True),
    )


@compiled
def _next_steps(organisation_id: Param[str], request_id: Param[str], limit: Param[int]) -> Select:
    return (
        _escalated(*rows.USER)
        .where(
            ReminderRow.organisation_id == organisation_id,
            ReminderRow.leave_request_id == request_id,
        )
        .order_by(UserRow.id)
        .limit(limit)
    )
