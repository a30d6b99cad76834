"""`/leave`: leave in its second shape."""

from __future__ import annotations

from typing import Any, Final

from api.http.operations import Answer, Call, Operation, created
from api.schemas import answers
from api.schemas.answers import LeaveListing, LeaveRecord, PagedLeaveListing, pagination
from api.schemas.bodies import NewLeave
from api.schemas.queries import ListOfLeave
from storage.base import errors
from storage.base.values import LeaveRequest
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.events import organisation_config
from storage.events.organisation_config import Reference
from storage.leave import leave_reading, leave_requests, leave_types
from storage.leave.drafts import Draft

# The most that the list holds where no page was asked for.
LONGEST_LIST: Final = 10_000


def list_visible(tx: Transaction, call: Call) -> Any:
    query: ListOfLeave = call.query
    found = leave_reading.visible(
        tx,
        query.page if query.is_paged else PageOf(limit=LONGEST_LIST),
        by=call.caller,
        now=call.now,
        user_id=query.user_id,
        status=query.status,
        starts_after=query.start_date,
        starts_before=query.end_date,
    )
    types = _known(tx, call).leave_types
    requests = [
        answers.leave(request, types[request.leave_type_id].code) for request in found.items
    ]
    if query.is_paged or found.next_cursor is not None:
        return {"requests": requests, "pagination": pagination(found)}
    return {"requests": requests}


def create(tx: Transaction, call: Call) -> Answer:
    body: NewLeave = call.body
    leave_type = leave_types.by_word(_known(tx, call), body.leave_type)
    draft = Draft(
        leave_type_id=leave_type.id,
        start_date=body.start_date,
        end_date=body.end_date,
        start_half_day=None,
        end_half_day=None,
        note=body.note,
    )
    request = leave_requests.submit(tx, by=call.caller, draft=draft, now=call.now)
    return created(f"/api/v1/leave/{request.id}", _shown(tx, call, request))


def get(tx: Transaction, call: Call) -> LeaveRecord:
    return _shown(tx, call, leave_reading.get(tx, call.id, by=call.caller, now=call.now))


def hold(tx: Transaction, call: Call) -> None:
    leave_requests.hold(tx, call.id, by=call.caller, now=call.now)


def cancel(tx: Transaction, call: Call) -> Any:
    return _shown(tx, call, leave_requests.cancel(tx, call.id, by=call.caller, now=call.now))


def _shown(tx: Transaction, call: Call, request: LeaveRequest) -> LeaveRecord:
    return answers.leave(request, _known(tx, call).leave_types[request.leave_type_id].code)


def _known(tx: Transaction, call: Call) -> Reference:
    return organisation_config.of_organisation(
        tx, call.caller.organisation_id, call.reference_version
    )


OPERATIONS = (
    Operation(
        method="GET",
        path="/leave",
        summary="List leave in the second shape",
        description="What the caller may see. `pagination` is there when `limit` or `cursor` was.",
        handler=list_visible,
        tag="Leave (second variant)",
        scope="leave:read",
        query=ListOfLeave,
        result=PagedLeaveListing | LeaveListing,
        is_long=True,
        refusals=(errors.UnusableCursor, errors.NotFound),
    ),
    Operation(
        method="POST",
        path="/leave",
        summary="Ask for leave in the second shape",
        description="For the caller, with the same rules as `POST /leave-requests`.",
        handler=create,
        tag="Leave (second variant)",
        scope="leave:write",
        body=NewLeave,
        result=LeaveRecord,
        status=201,
        refusals=(errors.OverlappingLeave, errors.InsufficientAllowance),
        rules=(
            "control_character",
            "end_before_start",
            "leave_type_archived",
            "no_working_time",
            "note_required",
            "out_of_reach",
            "too_little_notice",
            "too_long",
            "too_many_days",
            "unknown_leave_type",
        ),
        example={"leave_type": "annual", "start_date": "2026-08-03", "end_date": "2026-08-07"},
    ),
    Operation(
        method="GET",
        path="/leave/{id}",
        summary="Read leave in the second shape",
        description="For its owner, whoever may decide on it or did, admins and owners.",
        handler=get,
        tag="Leave (second variant)",
        scope="leave:read",
        kind="leave request",
        result=LeaveRecord,
    ),
    Operation(
        method="DELETE",
        path="/leave/{id}",
        summary="Cancel leave",
        description="While it is pending or approved; by its owner, admins and owners.",
        handler=cancel,
        hold=hold,
        tag="Leave (second variant)",
        scope="leave:write",
        kind="leave request",
        result=LeaveRecord,
        refusals=(errors.InvalidTransition, errors.InsufficientRole),
    ),
)
