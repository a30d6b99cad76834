"""Which leave requests a caller may see, one by one; ``leave_lists.visible`` lists them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal, get_args

from storage.base.errors import NotFound
from storage.base.ids import is_id
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, local_day
from storage.db.database import Transaction
from storage.leave import leave_rows
from storage.outbox import audit, organisation_config
from storage.people import approvers

# Sick leave took its last day, employment was changed to end before or start after it, it was not
# decided, or the requester had asked an approver for it.
CancellationCause = Literal[
    "interrupted", "employment_ends", "employment_starts", "lapsed", "amendment_approved"
]


def get(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """One request, for its requester, its approvers, its decider, admins and owners.

    Raises NotFound for all others, as for a request that does not exist.
    """
    request = leave_rows.find(tx, by.organisation_id, request_id) if is_id(request_id) else None
    if request is None:
        raise NotFound("leave request")
    if not is_always_visible(request, by):
        config = organisation_config.of_organisation(tx, by.organisation_id)
        today = local_day(now, config.organisation.timezone)
        check_visible(tx, request, by=by, today=today)
    return request


def is_always_visible(request: LeaveRequest, by: Caller) -> bool:
    """Whether the caller sees the request without being one of its approvers."""
    return by.is_admin or by.user_id in (request.user_id, request.decided_by)


def check_visible(tx: Transaction, request: LeaveRequest, *, by: Caller, today: date) -> None:
    """Raises NotFound for a caller to whom ``get`` does not show the request."""
    if not is_always_visible(request, by) and not approvers.may_decide(
        tx, by.organisation_id, request.id, by.user_id, is_admin=False, today=today
    ):
        raise NotFound("leave request")


def cancelled_by(tx: Transaction, organisation_id: str, request: LeaveRequest) -> str | None:
    """The id of the person who cancelled the request; None if not cancelled, or by the system."""
    if request.status != "cancelled":
        return None
    return audit.last_actor(tx, organisation_id, "leave_request.cancelled", request.id)


def cancelled_because(
    tx: Transaction, organisation_id: str, request: LeaveRequest
) -> CancellationCause | None:
    """What cancelled the request; None if not cancelled, or by a person who meant to."""
    if request.status != "cancelled" or request.cancelled_at is None:
        return None
    changes = audit.changes_at(
        tx, organisation_id, "leave_request.cancelled", request.id, request.cancelled_at
    )
    why = (changes or {}).get("why", {}).get("after")
    return next((cause for cause in get_args(CancellationCause) if cause == why), None)
