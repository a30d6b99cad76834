"""Tells a person's approvers in Slack that leave was interrupted, or is no longer."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from storage.base.values import Caller, LeaveRequest
from storage.db.database import Transaction
from storage.events import notification_outbox
from storage.leave import absence_notices, request_steps
from storage.leave.request_steps import Subject


def notify_approvers(
    tx: Transaction,
    event: Literal["leave_request.interrupted", "leave_request.interruption_ended"],
    interrupted: LeaveRequest,
    interruption: LeaveRequest,
    subject: Subject,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Notify the current approvers, except the actor, unless the leave never needed an approval.

    Then they are told of the interruption as of other leave that is approved at once. A former
    approver is not notified: they may not see the type of the interruption.
    """
    leave_type = subject.config.leave_types[interrupted.leave_type_id]
    if interrupted.decided_by is None and not leave_type.requires_approval:
        absence_notices.enqueue(tx, interruption, subject, by=by, now=now)
        return
    recipients = {user.id for user in request_steps.card_recipients(tx, subject)} - {by.user_id}
    if recipients:
        notification_outbox.notify_approvers(
            tx,
            event,
            {interruption.id: recipients},
            organisation_id=by.organisation_id,
            now=now,
        )
