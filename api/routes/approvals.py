"""`/approvals`: leave requests that await the caller."""

from __future__ import annotations

from typing import Any

from api.http.fields import Paged
from api.http.operations import Call, Operation
from api.schemas.answers import Listing, listing
from api.schemas.bodies import Decline
from storage.base import errors, records
from storage.base.records import LeaveRequestRecord
from storage.db.database import Transaction
from storage.leave import leave_reading, leave_requests


def pending(tx: Transaction, call: Call) -> Any:
    found = leave_reading.awaiting(tx, call.query.page, by=call.caller, now=call.now)
    return listing(found, records.leave_request)


def approve(tx: Transaction, call: Call) -> Any:
    return records.leave_request(leave_requests.approve(tx, call.id, by=call.caller, now=call.now))


def decline(tx: Transaction, call: Call) -> Any:
    request = leave_requests.decline(
        tx, call.id, reason=call.body.reason, by=call.caller, now=call.now
    )
    return records.leave_request(request)


OPERATIONS = (
    Operation(
        method="GET",
        path="/approvals/pending",
        summary="List what awaits the caller's approval",
        description=(
            "Pending leave requests, oldest first. Worked out when asked, so somebody who comes "
            "back from leave or is made a manager sees at once what is theirs to decide."
        ),
        handler=pending,
        tag="Approvals",
        scope="approvals:read",
        query=Paged,
        result=Listing[LeaveRequestRecord],
        refusals=(errors.UnusableCursor,),
    ),
    Operation(
        method="POST",
        path="/approvals/{id}/approve",
        summary="Approve a leave request",
        description=(
            "The id is the leave request's. For whoever it awaits, and for admins and owners; "
            "nobody decides on their own request. Of two decisions at once one is refused."
        ),
        handler=approve,
        tag="Approvals",
        scope="approvals:write",
        kind="leave request",
        result=LeaveRequestRecord,
        refusals=(errors.InvalidTransition, errors.OwnRequest, leave_requests.NotYourApproval),
    ),
    Operation(
        method="POST",
        path="/approvals/{id}/decline",
        summary="Decline a leave request",
        description=(
            "The id is the leave request's. For whoever it awaits, and for admins and owners; "
            "nobody decides on their own request. The requester sees the reason."
        ),
        handler=decline,
        tag="Approvals",
        scope="approvals:write",
        kind="leave request",
        body=Decline,
        needs_body=False,
        result=LeaveRequestRecord,
        refusals=(errors.InvalidTransition, errors.OwnRequest, leave_requests.NotYourApproval),
        rules=("control_character",),
        example={"reason": "Half of the team is away that week."},
    ),
)
