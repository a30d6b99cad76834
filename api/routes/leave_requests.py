"""`/leave-requests`: leave requests."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from api.http.fields import (
    ABSENT,
    OF_SEVERAL,
    Body,
    Day,
    LastDay,
    Listing,
    LongText,
    Paged,
    Query,
    UpdatedSince,
    Uuid,
    pagination,
)
from api.http.operations import Created, RequestContext, Tag, created, operation
from api.routes import expansions, preview_records
from api.routes.expansions import Expand, ExpandedLeaveRequestRecord
from api.routes.preview_records import DaysRecord, PreviewRecord, SavedLeaveRequestRecord
from storage.base import errors, leave_values
from storage.base.errors import FieldError
from storage.base.leave_values import HalfDay, LeaveRequestRecord, LeaveStatus
from storage.db.database import Transaction
from storage.leave import (
    closure_leave,
    leave_amendments,
    leave_changes,
    leave_lists,
    leave_requests,
    leave_rows,
    previews,
)
from storage.leave.drafts import Draft

LEAVE_REQUESTS = Tag(
    "Leave requests",
    "Leave requests and their status: pending, approved, declined or cancelled. Every request is "
    "counted over the person's working days and public holidays, and checked for overlap, "
    "allowance and the rules of its leave type.",
    "leave",
)

# Field codes of the rules for every draft.
DRAFT_RULES: Final = (
    "after_end_date",
    "before_start_date",
    "cover_archived",
    "cover_inactive",
    "cover_is_requester",
    "cover_required",
    "end_before_start",
    "leave_type_archived",
    "no_working_time",
    "not_available_yet",
    "not_found",
    "note_required",
    "out_of_reach",
    "too_little_notice",
    "too_long",
    "too_many_days",
    "unknown_leave_type",
)

_RECORDING_RULES = (
    "override_of_own_leave",
    "override_without_reason",
    "person_archived",
    "unknown_user",
)


Cover = Annotated[
    Uuid | None,
    Field(description="The active colleague who covers for the person. They see the dates only."),
]


class LeaveRequestChanges(Body):
    leave_type_id: Annotated[Uuid, Field(description="Only of approved leave.")] = ABSENT
    start_date: Day = ABSENT
    end_date: Day = ABSENT
    start_half_day: HalfDay | None = ABSENT
    end_half_day: HalfDay | None = ABSENT
    note: LongText | None = ABSENT
    cover_user_id: Cover = ABSENT
    override_reason: Annotated[
        LongText | None,
        Field(
            description=(
                "Why the leave is changed although the allowance or a rule of its type forbids it. "
                "For admins and owners, of other people's leave; kept and audited."
            )
        ),
    ] = None


class NewLeaveRequest(Body):
    leave_type_id: Uuid
    start_date: Day
    end_date: Annotated[Day, Field(description="The last day of leave, inclusive.")]
    start_half_day: Annotated[
        HalfDay | None, Field(description="The half of the first day in which leave starts.")
    ] = None
    end_half_day: Annotated[
        HalfDay | None, Field(description="The half of the last day in which leave ends.")
    ] = None
    note: LongText | None = None
    user_id: Annotated[
        Uuid | None,
        Field(description="The person to record leave for. Absent: the caller."),
    ] = None
    override_reason: Annotated[
        LongText | None,
        Field(
            description=(
                "Why the leave is recorded although the allowance or a rule of its type forbids "
                "it. For admins and owners, with another person's `user_id`; kept and audited."
            )
        ),
    ] = None
    cover_user_id: Cover = None


class LeaveRequestPreview(NewLeaveRequest):
    replaces: Annotated[
        Uuid | None,
        Field(description="The pending or approved leave request to change to these dates."),
    ] = None


class OneLeaveRequest(Query):
    expand: Expand = ()

    @property
    def changes_representation(self) -> bool:
        return bool(self.expand)


class ListOfLeaveRequests(Paged):
    status: Annotated[
        tuple[LeaveStatus, ...],
        OF_SEVERAL,
        Field(
            description="Only items with one of these statuses.",
            examples=[["pending", "approved"]],
        ),
    ] = ()
    user_id: Annotated[
        Uuid | None, Field(description="Another person's id only for admins and owners.")
    ] = None
    leave_type_id: Annotated[Uuid | None, Field(description="Only leave of this type.")] = None
    department_id: Annotated[Uuid | None, Field(description="The requester's department.")] = None
    closure_id: Annotated[
        Uuid | None,
        Field(description="Only leave that this closure booked; it may be deleted meanwhile."),
    ] = None
    first_day: Annotated[
        Day | None, Field(alias="from", description="Leave that ends on this day or later.")
    ] = None
    last_day: Annotated[
        LastDay, Field(alias="to", description="Leave that starts on this day or earlier.")
    ] = None
    updated_since: UpdatedSince = None
    expand: Expand = ()
    sort: Annotated[
        Literal["start_date", "-start_date", "created_at", "-created_at", "updated_at"],
        Field(
            description="The sort order; a minus sorts in descending order. With `updated_since` "
            "it is `updated_at` unless you send another one."
        ),
    ] = "-created_at"

    @property
    def order(self) -> leave_lists.Sort:
        is_chosen = "sort" in self.model_fields_set or self.updated_since is None
        return self.sort if is_chosen else "updated_at"


def lock(tx: Transaction, context: RequestContext) -> None:
    leave_requests.lock(tx, context.id, by=context.caller, now=context.now)


@operation(
    "GET",
    "/leave-requests",
    tag=LEAVE_REQUESTS,
    refusals=(errors.InsufficientRole, errors.NotFound),
    rules=("to_before_from",),
)
def page(
    tx: Transaction, context: RequestContext, query: ListOfLeaveRequests
) -> Listing[ExpandedLeaveRequestRecord]:
    """List leave requests.

    The caller's own requests; for admins and owners, everyone's. Leave requests are never deleted,
    so `updated_since` finds every change, cancellations included, unless `status` leaves them out.
    """
    expansions.check(query.expand, context.caller)
    page = leave_lists.filtered(
        tx,
        query.page,
        by=context.caller,
        statuses=query.status,
        user_id=query.user_id,
        leave_type_id=query.leave_type_id,
        department_id=query.department_id,
        closure_id=query.closure_id,
        first_day=query.first_day,
        last_day=query.last_day,
        updated_since=query.updated_since,
        sort=query.order,
    )
    records = leave_amendments.record_all(tx, context.caller.organisation_id, page.items)
    data = expansions.expanded(tx, context, records, query.expand)
    return {"data": data, "pagination": pagination(page)}


@operation(
    "GET", "/leave-requests/{id}", tag=LEAVE_REQUESTS, kind="leave request", is_resource=True
)
def get(
    tx: Transaction, context: RequestContext, query: OneLeaveRequest
) -> ExpandedLeaveRequestRecord:
    """Read a leave request.

    For the requester, its current and former approvers, admins and owners. An expanded response has
    no `ETag`.
    """
    expansions.check(query.expand, context.caller)
    request = leave_rows.get(tx, context.id, by=context.caller, now=context.now)
    record = leave_amendments.record(tx, context.caller.organisation_id, request)
    (expanded,) = expansions.expanded(tx, context, [record], query.expand)
    return expanded


@operation(
    "POST",
    "/leave-requests",
    resource=get,
    refusals=(
        errors.OverlappingLeave,
        errors.InsufficientAllowance,
        errors.AbsenceLimitExceeded,
        errors.RecordingNotAllowed,
        errors.LeaveTypeNotRecordable,
        errors.OverrideNotAllowed,
    ),
    rules=(*DRAFT_RULES, *_RECORDING_RULES, "impossible_half_days"),
    example={
        "leave_type_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
        "start_date": "2026-08-03",
        "end_date": "2026-08-07",
        "end_half_day": "am",
    },
    other_examples={
        "Record leave for another person": {
            "user_id": "0197c2a4-9d20-7e66-8a31-50fb7c2d4e12",
            "leave_type_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
            "start_date": "2026-08-03",
            "end_date": "2026-08-07",
            "override_reason": "Agreed before the allowance was lowered.",
        }
    },
)
def create(
    tx: Transaction, context: RequestContext, body: NewLeaveRequest
) -> Created[SavedLeaveRequestRecord]:
    """Request leave.

    Creates a request for the caller. It is approved immediately if the leave type needs no approval
    or the person has no approver; otherwise it is pending. Days are counted in half-days over the
    person's working days and public holidays; `start_half_day` and `end_half_day` shorten the first
    and the last day to one half. Approvers are notified in Slack.

    With another person's `user_id`, it records leave for them, also in the past. Admins and owners
    record any leave for anyone; approvers record leave types with `approvers_may_record` for the
    people whose leave they decide. It is approved immediately, with the caller as `recorded_by` and
    `decided_by`, and the person is notified in Slack. `override_reason` of an admin or owner
    ignores the allowance, absence limits and the leave type's notice, length and note, never an
    overlap. The caller's own id is the same as none.

    Leave of a type that needs approval is refused with 422 `absence_limit` where a limit that
    blocks would be exceeded. `warnings` names the limits that only warn.
    """
    warnings: list[FieldError] = []
    request = leave_requests.create(
        tx,
        by=context.caller,
        draft=_draft(body),
        user_id=body.user_id,
        override_reason=body.override_reason,
        warnings=warnings,
        now=context.now,
    )
    record = preview_records.saved(leave_values.leave_request_record(request), warnings)
    return created(f"/api/v1/leave-requests/{request.id}", record)


@operation(
    "POST",
    "/leave-requests/preview",
    tag=LEAVE_REQUESTS,
    kind="leave request",
    only_reads=True,
    refusals=(
        errors.NotFound,
        errors.InsufficientRole,
        errors.RecordingNotAllowed,
        errors.OverrideNotAllowed,
    ),
    rules=(*_RECORDING_RULES, "not_with_replaces"),
    example={
        "leave_type_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
        "start_date": "2026-08-28",
        "end_date": "2026-09-01",
        "end_half_day": "am",
    },
)
def preview(tx: Transaction, context: RequestContext, body: LeaveRequestPreview) -> PreviewRecord:
    """Preview a leave request.

    Takes the same body as `POST /leave-requests` and stores nothing. It responds with 200 even if
    the request would be refused: `refusals` lists the reasons. Every date has a line that says how
    much it counts and why; every leave year involved has its balance before and after. With
    `replaces`, it previews a change of that pending or approved request: one of the caller's own,
    or any for admins and owners; `effect` says whether a change of approved leave needs approval.
    With another person's `user_id`, it previews leave recorded for them. If the dates or the leave
    type cannot be used, nothing is counted. Colleagues are those of the team calendar; private
    leave is shown as "Away". `warnings` prevent nothing: `absence_limit` if a limit that only warns
    is exceeded; `cover_away` if the colleague who covers
    is on approved leave, or does not work, on one of the days; `unusually_far_ahead` if leave of a
    type that needs no approval starts more than seven days from today.
    """
    draft = _draft(body)
    return preview_records.preview(
        previews.preview(
            tx,
            by=context.caller,
            draft=draft,
            now=context.now,
            replaces=body.replaces,
            user_id=body.user_id,
            override_reason=body.override_reason,
            reference_version=context.reference_version,
        )
    )


def _draft(body: NewLeaveRequest) -> Draft:
    return Draft(
        leave_type_id=body.leave_type_id,
        start_date=body.start_date,
        end_date=body.end_date,
        start_half_day=body.start_half_day,
        end_half_day=body.end_half_day,
        note=body.note,
        cover_user_id=body.cover_user_id,
    )


@operation(
    "GET",
    "/leave-requests/{id}/days",
    tag=LEAVE_REQUESTS,
    kind="leave request",
    # Loading a country's holidays takes some 300 ms, once per process.
)
def explain(tx: Transaction, context: RequestContext) -> DaysRecord:
    """Explain a leave request's days.

    One line for every date, for everyone who can see the request. The request keeps the days that
    were counted; a line says so if working days or public holidays have changed since.
    """
    return preview_records.explained(
        previews.explain(tx, context.id, by=context.caller, now=context.now)
    )


@operation(
    "PATCH",
    "/leave-requests/{id}",
    resource=get,
    lock=lock,
    refusals=(
        errors.InsufficientRole,
        errors.InvalidTransition,
        errors.ClosureLeave,
        errors.OverlappingLeave,
        errors.InsufficientAllowance,
        errors.AbsenceLimitExceeded,
        errors.DaysNoLongerFit,
        errors.OverrideNotAllowed,
    ),
    rules=(
        *DRAFT_RULES,
        "impossible_half_days",
        "interruption_extended",
        "override_of_own_leave",
        "override_without_reason",
        "past_days",
    ),
    example={"end_date": "2026-08-06", "end_half_day": None},
)
def edit(
    tx: Transaction, context: RequestContext, body: LeaveRequestChanges
) -> SavedLeaveRequestRecord:
    """Change a leave request.

    For the requester, admins and owners, while it is pending or approved. Omitted fields stay
    unchanged. What the change adds is checked, so shorter leave, or another note or cover, is never
    refused for allowance; the approvers are notified. A first of two approvals is void if the
    change adds leave. Approved leave stays approved. A change of it that only gives days back, or
    that needs no approval, applies at once; any other becomes an `amendment`, which awaits a
    decision like a request and replaces an earlier one. Admins and owners change other people's
    approved leave at once, and with `override_reason` past the allowance and the leave type's
    notice, length and note. The leave type of a pending request cannot be changed.

    The days that the change adds are refused with 422 `absence_limit` where a limit that blocks
    would be exceeded. `warnings` names the limits that only warn.
    """
    changes = body.sent()
    warnings: list[FieldError] = []
    request = leave_requests.edit(
        tx,
        context.id,
        changes,
        override_reason=changes.pop("override_reason", None),
        warnings=warnings,
        by=context.caller,
        now=context.now,
    )
    record = leave_amendments.record(tx, context.caller.organisation_id, request)
    return preview_records.saved(record, warnings)


@operation(
    "DELETE",
    "/leave-requests/{id}/amendment",
    tag=LEAVE_REQUESTS,
    kind="leave request",
    refusals=(errors.InsufficientRole, errors.InvalidTransition),
)
def withdraw_amendment(tx: Transaction, context: RequestContext) -> None:
    """Withdraw a change of approved leave.

    Withdraws the `amendment` that awaits a decision; the leave stays as it is. For the requester,
    admins and owners. 404 if there is no open amendment.
    """
    leave_changes.withdraw(tx, context.id, by=context.caller, now=context.now)


@operation(
    "POST",
    "/leave-requests/{id}/cancel",
    resource=get,
    refusals=(
        errors.InvalidTransition,
        errors.ClosureLeave,
        closure_leave.TooManyExcluded,
        errors.InsufficientRole,
        errors.DaysNoLongerFit,
        errors.OverlappingLeave,
    ),
    rules=("past_days",),
)
def cancel(tx: Transaction, context: RequestContext) -> LeaveRequestRecord:
    """Cancel a leave request.

    While it is pending or approved. For the requester, the person who recorded it for them, admins
    and owners. Requesters cannot cancel their leave once days of it have passed (`past_days`),
    which ends by a change of `end_date`. If the leave type has `changes_need_approval`, cancelling
    one's own approved leave is an `amendment` with `cancels`: the response is the request, still
    `approved`, and an approver decides. The days of an interruption go back to the leave that it
    interrupted: to a part of it that adjoins them, else as a new request with `split_from`.
    """
    request = leave_requests.cancel(tx, context.id, by=context.caller, now=context.now)
    return leave_amendments.record(tx, context.caller.organisation_id, request)


OPERATIONS = (page, create, preview, get, explain, edit, withdraw_amendment, cancel)
