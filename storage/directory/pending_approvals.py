"""Which undecided requests are assigned to an approver, and who may decide on a request.

Undecided requests are pending ones, and approved ones with an open amendment.

A request is assigned by the approval chain (``approval_rule.is_assigned_to``) and by escalation
(``_escalated``). Decisions, buttons and lists use these two expressions. Admins and owners may
decide on every request, but their lists have only the requests that are assigned to them.
"""

from __future__ import annotations

from datetime import date

from peewee import Select

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
    """Whether the person may decide on the request; the caller excludes own requests."""
    if is_admin or user_id is None:
        return is_admin
    row = tx.first(
        _assigned,
        organisation_id=organisation_id,
        request_id=request_id,
        viewer_id=user_id,
        today=today.isoformat(),
    )
    return row is not None


def may_reverse(
    tx: Transaction,
    organisation_id: str,
    request: LeaveRequest,
    user_id: str | None,
    *,
    is_admin: bool,
    today: date,
) -> bool:
    """Whether the person may reverse the decision, within the reversal window."""
    if not is_admin and request.decided_by != user_id:
        return False
    return may_decide(tx, organisation_id, request.id, user_id, is_admin=is_admin, today=today)


def of_request(
    tx: Transaction, organisation_id: str, request: LeaveRequest, *, today: date
) -> list[User]:
    """The approvers of a pending request, at most 50 of each kind: assigned, then by escalation."""
    assigned = approvers.of_person(tx, organisation_id, request.user_id, today=today)
    approver_ids = {user.id for user in assigned}
    escalated = tx.all(
        _escalated_users,
        organisation_id=organisation_id,
        request_id=request.id,
        limit=MAX_APPROVERS,
    )
    users = map(rows.user, escalated)
    return assigned + [user for user in users if user.id not in approver_ids]


def is_assigned(organisation_id: Expr, viewer_id: Expr, today: Expr, *, for_each: bool) -> Expr:
    """Whether a leave request is assigned to the viewer, as SQL over ``LeaveRequestRow``.

    ``for_each``: the approval chain is checked for each request, which admins need: every chain may
    end at them. Else it is checked once for all people who could have the viewer on theirs.
    """
    is_escalated = LeaveRequestRow.id.in_(_escalated_ids(organisation_id, viewer_id))
    if for_each:
        query, requester = approval_rule.assigned_to(organisation_id, viewer_id, today)
        # Not EXISTS: PostgreSQL could then check the chains of all people of the organisation.
        requester_id = query.where(requester.id == LeaveRequestRow.user_id)
        return (LeaveRequestRow.user_id == requester_id) | is_escalated
    requesters = approval_rule.requesters_of(organisation_id, viewer_id, today)
    return LeaveRequestRow.user_id.in_(requesters) | is_escalated


def assigned_ids(organisation_id: Expr, viewer_id: Expr, today: Expr) -> Expr:
    """The ids of all requests, decided ones too, for which `is_assigned` holds; not for admins."""
    request = LeaveRequestRow.alias()
    requesters = approval_rule.requesters_of(organisation_id, viewer_id, today)
    return (
        request.select(request.id)
        .where(request.organisation_id == organisation_id, request.user_id.in_(requesters))
        .union_all(_escalated_ids(organisation_id, viewer_id))
    )


def _escalated_ids(organisation_id: Expr, viewer_id: Expr) -> Select:
    return _escalated(ReminderRow.leave_request_id).where(
        ReminderRow.organisation_id == organisation_id, ReminderRow.user_id == viewer_id
    )


def _escalated(*columns: Expr) -> Select:
    """Requests and the people to whom they were escalated, as earlier approvers did not answer."""
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
def _assigned(
    organisation_id: Param[str], request_id: Param[str], viewer_id: Param[str], today: Param[str]
) -> Select:
    return LeaveRequestRow.select(LeaveRequestRow.id).where(
        LeaveRequestRow.organisation_id == organisation_id,
        LeaveRequestRow.id == request_id,
        is_assigned(organisation_id, viewer_id, today, for_each=True),
    )


@compiled
def _escalated_users(
    organisation_id: Param[str], request_id: Param[str], limit: Param[int]
) -> Select:
    return (
        _escalated(*rows.USER)
        .where(
            ReminderRow.organisation_id == organisation_id,
            ReminderRow.leave_request_id == request_id,
        )
        .order_by(UserRow.id)
        .limit(limit)
    )
