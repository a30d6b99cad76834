"""`/approvals`: leave requests that the caller can decide on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.http.fields import Body, Listing, LongText, Paged, listing_of
from api.http.operations import RequestContext, Tag, operation
from api.routes import leave_requests
from storage.base import errors, leave_values
from storage.base.leave_values import LeaveRequest, LeaveRequestRecord
from storage.db.database import Transaction
from storage.leave import decisions, leave_amendments, leave_lists

APPROVALS = Tag(
    "Approvals",
    "Requests that the caller may decide. The person's manager decides, else the department's "
    "manager, else the department's approvers, else admins and owners; if everyone on one level is "
    "away, the next level is asked too.",
    "approvals",
)


class Approve(Body):
    override_reason: Annotated[
        LongText | None,
        Field(
            description=(
                "Why the leave is approved although the allowance or a rule of its type forbids it "
                "by now. For admins and owners; kept and audited."
            )
        ),
    ] = None


class Decline(Body):
    reason: LongText | None = None


class PendingApprovalRecord(LeaveRequestRecord):
    """A leave request that awaits a decision."""

    kind: Annotated[
        Literal["request", "amendment"],
        Field(description="What awaits the decision: the request itself or its `amendment`."),
    ]


@operation(
    "GET",
    "/approvals/pending",
    tag=APPROVALS,
    # Of admins: every pending request may be assigned to them.
)
def pending(
    tx: Transaction, context: RequestContext, query: Paged
) -> Listing[PendingApprovalRecord]:
    """List requests awaiting the caller's approval.

    Pending leave requests that the caller can decide on, and approved ones with an `amendment`
    (`kind` is `amendment`), oldest request first. Those with one entry in `approvals` await their
    second approval. Always current: someone who returns from leave or becomes a manager sees their
    requests at once.
    """
    organisation_id = context.caller.organisation_id
    page = leave_lists.assigned(tx, query.page, by=context.caller, now=context.now)
    amendments = leave_amendments.of_requests(tx, organisation_id, page.items)

    def record(request: LeaveRequest) -> PendingApprovalRecord:
        shown = leave_values.leave_request_record(request, amendments.get(request.id))
        return {**shown, "kind": "request" if shown["amendment"] is None else "amendment"}

    return listing_of(page, record)


@operation(
    "POST",
    "/approvals/{id}/approve",
    tag=APPROVALS,
    resource=leave_requests.get,
    is_body_optional=True,
    refusals=(
        errors.InvalidTransition,
        errors.OwnRequest,
        decisions.NotYourApproval,
        decisions.SecondApprovalAwaited,
        errors.OverlappingLeave,
        errors.InsufficientAllowance,
        errors.DaysNoLongerFit,
        errors.OverrideNotAllowed,
    ),
    rules=(
        "interruption_extended",
        "leave_type_archived",
        "no_working_time",
        "not_available_yet",
        "note_required",
        "out_of_reach",
        "override_without_reason",
        "past_days",
        "too_little_notice",
        "too_many_days",
    ),
    example={"override_reason": "Agreed before the allowance was lowered."},
)
def approve(tx: Transaction, context: RequestContext, body: Approve) -> LeaveRequestRecord:
    """Approve a leave request.

    `id` is the leave request's id. Overlap and allowance are checked again. The open `amendment` of
    approved leave is checked again and then applied. For its approvers, admins and owners; no one
    can decide on their own request. Of two simultaneous decisions, one is refused.
    `override_reason` of an admin or owner ignores the allowance.

    If the leave type has a `second_approval` that the leave needs, the first approval leaves the
    request `pending` with one entry in `approvals`, and its second approvers decide from then on:
    any admin or owner, or the person that the type names. It is another person than the first
    approver, unless no one else could. Amendments follow the same rule, except those that cancel
    leave.
    """
    request = decisions.approve(
        tx, context.id, override_reason=body.override_reason, by=context.caller, now=context.now
    )
    # An amendment stays open after the first of two approvals.
    return leave_amendments.record(tx, context.caller.organisation_id, request)


@operation(
    "POST",
    "/approvals/{id}/decline",
    tag=APPROVALS,
    resource=leave_requests.get,
    is_body_optional=True,
    refusals=(errors.InvalidTransition, errors.OwnRequest, decisions.NotYourApproval),
    example={"reason": "Half of the team is away that week."},
)
def decline(tx: Transaction, context: RequestContext, body: Decline) -> LeaveRequestRecord:
    """Decline a leave request.

    `id` is the leave request's id. Leave whose `amendment` is declined keeps its dates. For its
    approvers, admins and owners; no one can decide on their own request. The requester sees the
    reason. Leave that awaits its second approval can be declined by its second approvers and by
    its first approver.
    """
    request = decisions.decline(
        tx, context.id, reason=body.reason, by=context.caller, now=context.now
    )
    return leave_values.leave_request_record(request)


OPERATIONS = (pending, approve, decline)
