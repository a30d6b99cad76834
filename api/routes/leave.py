"""`/leave`: leave in variant 2."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Final

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from api.http.fields import (
    Body,
    Day,
    LongText,
    PagedOnRequest,
    PaginationRecord,
    Uuid,
    Word,
    pagination,
)
from api.http.operations import Created, RequestContext, Tag, created, operation
from api.routes.leave_requests import DRAFT_RULES, Cover, lock
from storage.base import errors
from storage.base.leave_values import LeaveRequest, LeaveStatus
from storage.base.values import Days, Id, days_of
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.leave import closure_leave, leave_lists, leave_requests, leave_rows, leave_types
from storage.leave.drafts import Draft
from storage.rules import counted_days

LEAVE = Tag(
    "Leave (second variant)",
    "The same leave in a simpler shape: leave types by code, whole days, an object with "
    "`requests`.",
    "leave",
)

# The maximum length of an unpaged list.
MAX_LIST: Final = 10_000


class NewLeave(Body):
    leave_type: Annotated[Word, Field(description="A leave type's code, name or id.")]
    start_date: Day
    end_date: Annotated[Day, Field(description="The last day of leave, inclusive.")]
    note: LongText | None = None
    cover_user_id: Cover = None


class ListOfLeave(PagedOnRequest):
    user_id: Annotated[Uuid | None, Field(description="Only items of this person.")] = None
    status: Annotated[LeaveStatus | None, Field(description="Only items with this status.")] = None
    start_date: Annotated[Day | None, Field(description="Leave that starts after this day.")] = None
    end_date: Annotated[Day | None, Field(description="Leave that starts before this day.")] = None


class LeaveRecord(TypedDict):
    """A leave request in variant 2."""

    id: Id
    user_id: Id
    leave_type: Annotated[str, Field(description="The leave type's code.", examples=["annual"])]
    start_date: date
    end_date: date
    half_day_start: Annotated[
        bool, Field(description="Leave on the first counted day starts at midday.")
    ]
    half_day_end: Annotated[
        bool, Field(description="Leave on the last counted day ends at midday.")
    ]
    days: Days
    status: LeaveStatus
    note: Annotated[
        str, Field(description="Empty if there is none.", examples=["Hiking in the Cairngorms"])
    ]
    created_at: datetime


# A page has these members, too: the schemas of one response must exclude each other.
@with_config(ConfigDict(json_schema_extra={"not": {"required": ["pagination"]}}))
class LeaveListing(TypedDict):
    """The leave that the caller can see."""

    requests: list[LeaveRecord]


class PagedLeaveListing(TypedDict):
    """One page of leave, if `limit` or `cursor` was sent."""

    requests: list[LeaveRecord]
    pagination: PaginationRecord


def _leave_record(request: LeaveRequest, leave_type_code: str) -> LeaveRecord:
    """The shape whose two flags say whether the leave begins or ends at midday."""
    return {
        "id": request.id,
        "user_id": request.user_id,
        "leave_type": leave_type_code,
        "start_date": request.start_date,
        "end_date": request.end_date,
        "half_day_start": counted_days.begins_at_midday(request.counted_halves),
        "half_day_end": counted_days.ends_at_midday(request.counted_halves),
        "days": days_of(request.total_half_days),
        "status": request.status,
        # The interface calls it a string, and marks what may be null.
        "note": request.note or "",
        "created_at": request.created_at,
    }


@operation("GET", "/leave", tag=LEAVE, refusals=(errors.NotFound,))
def list_visible(
    tx: Transaction, context: RequestContext, query: ListOfLeave
) -> PagedLeaveListing | LeaveListing:
    """List leave (variant 2).

    The leave that the caller can see. `pagination` is present if `limit` or `cursor` was sent.
    """
    page = leave_lists.visible(
        tx,
        query.page if query.is_paged else PageOf(limit=MAX_LIST),
        by=context.caller,
        now=context.now,
        user_id=query.user_id,
        status=query.status,
        starts_after=query.start_date,
        starts_before=query.end_date,
    )
    types = context.config(tx).leave_types
    requests = [_leave_record(request, types[request.leave_type_id].code) for request in page.items]
    if query.is_paged or page.next_cursor is not None:
        return {"requests": requests, "pagination": pagination(page)}
    return {"requests": requests}


@operation("GET", "/leave/{id}", tag=LEAVE, kind="leave request", is_resource=True)
def get(tx: Transaction, context: RequestContext) -> LeaveRecord:
    """Read leave (variant 2).

    For the requester, its current and former approvers, admins and owners.
    """
    return _shown(tx, context, leave_rows.get(tx, context.id, by=context.caller, now=context.now))


@operation(
    "POST",
    "/leave",
    resource=get,
    refusals=(errors.OverlappingLeave, errors.InsufficientAllowance),
    rules=DRAFT_RULES,
    example={"leave_type": "annual", "start_date": "2026-08-03", "end_date": "2026-08-07"},
)
def create(tx: Transaction, context: RequestContext, body: NewLeave) -> Created[LeaveRecord]:
    """Request leave (variant 2).

    For the caller, with the same rules as `POST /leave-requests`.
    """
    leave_type = leave_types.by_word(context.config(tx), body.leave_type)
    draft = Draft(
        leave_type_id=leave_type.id,
        start_date=body.start_date,
        end_date=body.end_date,
        start_half_day=None,
        end_half_day=None,
        note=body.note,
        cover_user_id=body.cover_user_id,
    )
    request = leave_requests.submit(tx, by=context.caller, draft=draft, now=context.now)
    return created(f"/api/v1/leave/{request.id}", _shown(tx, context, request))


@operation(
    "DELETE",
    "/leave/{id}",
    resource=get,
    lock=lock,
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
def cancel(tx: Transaction, context: RequestContext) -> LeaveRecord:
    """Cancel leave.

    While it is pending or approved. For the requester, admins and owners; as `POST
    /leave-requests/{id}/cancel`. Leave that an approver has to cancel stays `approved`.
    """
    return _shown(
        tx, context, leave_requests.cancel(tx, context.id, by=context.caller, now=context.now)
    )


def _shown(tx: Transaction, context: RequestContext, request: LeaveRequest) -> LeaveRecord:
    return _leave_record(request, context.config(tx).leave_types[request.leave_type_id].code)


OPERATIONS = (list_visible, create, get, cancel)
