"""`/leave-requests/{id}/interruptions`: falling ill on leave."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from api.http.fields import Body, Day, LongText, Uuid
from api.http.operations import Created, RequestContext, created, operation
from api.routes.leave_requests import LEAVE_REQUESTS
from storage.base import errors, leave_values
from storage.base.leave_values import HalfDay, LeaveRequestRecord
from storage.db.database import Transaction
from storage.leave import interruptions
from storage.leave.drafts import Draft


class NewInterruption(Body):
    leave_type_id: Annotated[Uuid, Field(description="A leave type with `may_interrupt`.")]
    start_date: Day
    end_date: Annotated[Day, Field(description="The last day of the interruption, inclusive.")]
    start_half_day: Annotated[
        HalfDay | None, Field(description="The half of the first day in which it starts.")
    ] = None
    end_half_day: Annotated[
        HalfDay | None, Field(description="The half of the last day in which it ends.")
    ] = None
    note: LongText | None = None


class InterruptedRecord(TypedDict):
    """Leave after an interruption."""

    request: Annotated[
        LeaveRequestRecord,
        Field(description="What is left of the leave, or the whole of it, cancelled."),
    ]
    interruption: LeaveRequestRecord
    remainder: Annotated[
        LeaveRequestRecord | None,
        Field(description="The leave after an interruption in the middle; null if not split."),
    ]


@operation(
    "POST",
    "/leave-requests/{id}/interruptions",
    tag=LEAVE_REQUESTS,
    kind="leave request",
    refusals=(
        errors.InvalidTransition,
        errors.InsufficientRole,
        errors.LeaveTypeNotRecordable,
        errors.OverlappingLeave,
        errors.InsufficientAllowance,
        errors.AbsenceLimitExceeded,
    ),
    rules=(
        "end_before_start",
        "impossible_half_days",
        "leave_type_archived",
        "leave_type_cannot_interrupt",
        "no_working_time",
        "not_available_yet",
        "note_required",
        "outside_leave",
        "past_days",
        "same_leave_type",
        "too_little_notice",
        "too_long",
        "too_many_days",
        "unknown_leave_type",
    ),
    example={
        "leave_type_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
        "start_date": "2026-08-05",
        "end_date": "2026-08-06",
    },
)
def interrupt(
    tx: Transaction, context: RequestContext, body: NewInterruption
) -> Created[InterruptedRecord]:
    """Interrupt approved leave.

    For a person who fell ill on leave, also afterwards. The halves between the two dates leave the
    request and are booked at once as `leave_type_id`, a leave type with `may_interrupt`. If they
    are in the middle, the leave is split: `remainder` is its second part. `request` is cancelled
    when nothing is left of it. Cancelling the `interruption` gives its days back.

    For the owner of the leave, admins and owners, and for the person's approvers if the leave type
    has `approvers_may_record`. The approvers are notified in Slack.
    """
    draft = Draft(
        leave_type_id=body.leave_type_id,
        start_date=body.start_date,
        end_date=body.end_date,
        start_half_day=body.start_half_day,
        end_half_day=body.end_half_day,
        note=body.note,
    )
    interrupted = interruptions.interrupt(tx, context.id, draft, by=context.caller, now=context.now)
    remainder = interrupted.remainder
    record = InterruptedRecord(
        request=leave_values.leave_request_record(interrupted.request),
        interruption=leave_values.leave_request_record(interrupted.interruption),
        remainder=None if remainder is None else leave_values.leave_request_record(remainder),
    )
    return created(f"/api/v1/leave-requests/{interrupted.interruption.id}", record)


OPERATIONS = (interrupt,)
