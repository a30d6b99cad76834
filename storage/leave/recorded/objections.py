"""The person's objection to leave recorded for them: it tells others and changes nothing."""

from __future__ import annotations

from datetime import datetime

from storage.base.errors import AlreadyObjected, InvalidTransition, NotFound
from storage.base.values import Caller, LeaveRequest
from storage.db.database import Transaction
from storage.events import audit, notification_outbox
from storage.leave import request_steps


def send(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> None:
    """Tell the recorder and the admins in Slack that the caller objects, once for each request.

    Raises NotFound unless it was recorded for the caller, InvalidTransition unless it is approved,
    or AlreadyObjected.
    """
    # The lock makes the second of two concurrent objections see the first.
    subject, request = request_steps.lock_request(tx, request_id, by=by, now=now)
    if request.user_id != by.user_id or request.recorded_by is None:
        raise NotFound("leave request")
    if request.status != "approved":
        name = request_steps.decider_name(tx, request, by)
        raise InvalidTransition("objected to", request.status, name)
    if is_sent(tx, by.organisation_id, request):
        raise AlreadyObjected
    audit.record(tx, "leave_request.objected", "leave_request", request.id, by=by, now=now)
    if not subject.config.is_in_slack:
        return
    recipients = {request.recorded_by, *notification_outbox.admin_ids(tx, by.organisation_id)}
    notification_outbox.notify_approvers(
        tx,
        "leave_request.objected",
        {request.id: recipients - {by.user_id}},
        organisation_id=by.organisation_id,
        now=now,
    )


def is_sent(tx: Transaction, organisation_id: str, request: LeaveRequest) -> bool:
    """Whether the person has objected to leave that was recorded for them."""
    if request.recorded_by is None:
        return False
    actor_id = audit.last_actor(tx, organisation_id, "leave_request.objected", request.id)
    return actor_id is not None
