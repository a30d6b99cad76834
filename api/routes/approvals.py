"""`/approvals`: leave requests that the caller can decide on."""

from __future__ import annotations

from api.http.fields import Paged
from api.http.handlers import RequestContext
from api.http.operations import Operation
from api.schemas.leave_bodies import Decline
from api.schemas.lists import Listing, listing
from storage.base import errors, records
from storage.base.records import LeaveRequestRecord
from storage.db.database import Transaction
from storage.leave import caller_leave, decisions


def pending(tx: Transaction, context: RequestContext, query: Paged) -> Listing[LeaveRequestRecord]:
    page = caller_leave.assigned(tx, query.page, by=context.caller, now=context.now)
    return listing(page, records.leave_request)


def approve(tx: Transaction, context: RequestContext) -> LeaveRequestRecord:
    return records.leave_request(
        decisions.approve(tx, context.id, by=context.caller, now=context.now)
    )


def decline(tx: Transaction, context: RequestContext, body: Decline) -> LeaveRequestRecord:
    request = decisions.decline(
        tx, context.id, reason=body.reason, by=context.caller, now=context.now
    )
    return records.leave_request(request)


OPERATIONS = (
    Operation(
        method="GET",
        path="/approvals/pending",
        summary="List requests awaiting the caller's approval",
        description=(
            "Pending leave requests that the caller can decide on, oldest first. Always "
            "current: someone who returns from leave or becomes a manager sees their requests "
            "at once."
        ),
        handler=pending,
        tag="Approvals",
        scope="approvals:read",
        refusals=(errors.UnusableCursor,),
    ),
    Operation(
        method="POST",
        path="/approvals/{id}/approve",
        summary="Approve a leave request",
        description=(
            "`id` is the leave request's id. For its approvers, admins and owners; no one can "
            "decide on their own request. Of two simultaneous decisions, one is refused."
        ),
        handler=approve,
        tag="Approvals",
        scope="approvals:write",
        kind="leave request",
        refusals=(errors.InvalidTransition, errors.OwnRequest, decisions.NotYourApproval),
    ),
    Operation(
        method="POST",
        path="/approvals/{id}/decline",
        summary="Decline a leave request",
        description=(
            "`id` is the leave request's id. For its approvers, admins and owners; no one can "
            "decide on their own request. The requester sees the reason."
        ),
        handler=decline,
        tag="Approvals",
        scope="approvals:write",
        kind="leave request",
        needs_body=False,
        refusals=(errors.InvalidTransition, errors.OwnRequest, decisions.NotYourApproval),
        rules=("control_character",),
        example={"reason": "Half of the team is away that week."},
    ),
)
