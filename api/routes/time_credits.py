"""`/time-credits`: time in lieu, days of an allowance for work outside of working time."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.http.fields import Body, Day, Listing, LongText, Paged, Uuid, listing_of
from api.http.operations import Created, RequestContext, Tag, created, operation
from storage.base import errors
from storage.base.leave_values import LeaveStatus, TimeCreditRecord, time_credit_record
from storage.db.database import Transaction
from storage.leave import time_credit_lists, time_credits
from storage.leave.time_credits import CreditUsed, TimeCreditDecided, TimeCreditExists

TIME_CREDITS = Tag(
    "Time in lieu",
    "Days of an allowance with `earnable` for work outside of working time, such as a Saturday. "
    "The approvers of a person's leave decide on it; approved days count in the balance from the "
    "day of the work until they expire (`credits_expire_after_months` of the allowance).",
    "leave",
)


class NewTimeCredit(Body):
    allowance_id: Annotated[Uuid, Field(description="An allowance with `earnable`.")]
    worked_on: Annotated[
        Day, Field(description="The day of the work: today or at most 366 days ago.")
    ]
    days: Annotated[
        float,
        Field(
            description="Days to add, in half-day steps.",
            json_schema_extra={"minimum": 0.5, "maximum": 2, "multipleOf": 0.5},
        ),
    ]
    reason: Annotated[LongText, Field(description="What the work was; not empty.")]
    user_id: Annotated[
        Uuid | None,
        Field(description="Another person only for admins and owners. Absent: the caller."),
    ] = None


class DeclineTimeCredit(Body):
    reason: LongText | None = None


class ListOfTimeCredits(Paged):
    user_id: Annotated[
        Uuid | None, Field(description="Only of this person, whose balance you may see.")
    ] = None
    status: Annotated[LeaveStatus | None, Field(description="Only items with this status.")] = None
    allowance_id: Annotated[Uuid | None, Field(description="Only of this allowance.")] = None


@operation(
    "GET",
    "/time-credits",
    tag=TIME_CREDITS,
    refusals=(errors.InsufficientRole, errors.NotFound),
)
def page(
    tx: Transaction, context: RequestContext, query: ListOfTimeCredits
) -> Listing[TimeCreditRecord]:
    """List time in lieu.

    Newest first: the caller's own and that of people whose leave they approve; for admins and
    owners, everyone's. With `status=pending`, this is what awaits a decision.
    """
    found = time_credit_lists.page(
        tx,
        query.page,
        user_id=query.user_id,
        status=query.status,
        allowance_id=query.allowance_id,
        by=context.caller,
        now=context.now,
    )
    return listing_of(found, time_credit_record)


@operation("GET", "/time-credits/{id}", tag=TIME_CREDITS, kind="time credit", is_resource=True)
def get(tx: Transaction, context: RequestContext) -> TimeCreditRecord:
    """Read a time credit.

    For the person, the approvers of their leave, admins and owners.
    """
    return time_credit_record(time_credits.get(tx, context.id, by=context.caller, now=context.now))


@operation(
    "POST",
    "/time-credits",
    resource=get,
    refusals=(TimeCreditExists, errors.InsufficientRole),
    rules=(
        "after_end_date",
        "allowance_not_earnable",
        "before_start_date",
        "in_future",
        "not_half_days",
        "out_of_range",
        "person_archived",
        "required",
        "too_long_ago",
        "unknown_allowance",
        "unknown_user",
    ),
    example={
        "allowance_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
        "worked_on": "2026-05-30",
        "days": 1,
        "reason": "Release on Saturday.",
    },
    other_examples={
        "Record it for another person": {
            "user_id": "0197c2a4-9d20-7e66-8a31-50fb7c2d4e12",
            "allowance_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
            "worked_on": "2026-05-30",
            "days": 0.5,
            "reason": "Stood in at the fair.",
        }
    },
)
def create(
    tx: Transaction, context: RequestContext, body: NewTimeCredit
) -> Created[TimeCreditRecord]:
    """Claim time in lieu.

    One claim a person and day. It is pending until an approver of the person's leave decides, and
    approved immediately where no one else could decide. What an admin or owner records for another
    person (`user_id`) is approved immediately.
    """
    credit = time_credits.create(
        tx,
        allowance_id=body.allowance_id,
        worked_on=body.worked_on,
        days=body.days,
        reason=body.reason,
        user_id=body.user_id,
        by=context.caller,
        now=context.now,
    )
    return created(f"/api/v1/time-credits/{credit.id}", time_credit_record(credit))


@operation(
    "POST",
    "/time-credits/{id}/approve",
    resource=get,
    scope="approvals:write",
    refusals=(TimeCreditDecided, errors.OwnRequest),
)
def approve(tx: Transaction, context: RequestContext) -> TimeCreditRecord:
    """Approve a time credit.

    For the approvers of the person's leave, admins and owners; no one can decide on their own.
    """
    return time_credit_record(
        time_credits.approve(tx, context.id, by=context.caller, now=context.now)
    )


@operation(
    "POST",
    "/time-credits/{id}/decline",
    resource=get,
    scope="approvals:write",
    is_body_optional=True,
    refusals=(TimeCreditDecided, errors.OwnRequest),
    example={"reason": "The release was on Friday."},
)
def decline(tx: Transaction, context: RequestContext, body: DeclineTimeCredit) -> TimeCreditRecord:
    """Decline a time credit.

    For the approvers of the person's leave, admins and owners; no one can decide on their own. The
    person sees the reason.
    """
    return time_credit_record(
        time_credits.decline(tx, context.id, reason=body.reason, by=context.caller, now=context.now)
    )


@operation(
    "POST",
    "/time-credits/{id}/cancel",
    resource=get,
    refusals=(TimeCreditDecided, CreditUsed, errors.InsufficientRole),
)
def cancel(tx: Transaction, context: RequestContext) -> TimeCreditRecord:
    """Cancel a time credit.

    The person cancels it while it is pending; admins and owners also cancel an approved one. If
    leave uses its days, so that a balance would become negative, it is refused with `credit_used`.
    """
    return time_credit_record(
        time_credits.cancel(tx, context.id, by=context.caller, now=context.now)
    )


OPERATIONS = (page, create, get, approve, decline, cancel)
