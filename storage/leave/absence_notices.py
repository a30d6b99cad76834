"""Leave that is approved at once is told in Slack: to approvers, and to people without their cover.

Each gets one message, which is updated with later changes (``notification_outbox.notify``).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from storage.base.values import Caller, LeaveRequest
from storage.db.database import Transaction
from storage.directory import approvers
from storage.events import notification_outbox
from storage.leave.cover import covered
from storage.leave.request_steps import Subject
from storage.rules import lifecycle

# Leave that ended earlier is no news: records of the past are often added in bulk.
_NEWS_FOR: Final = timedelta(days=31)


def enqueue(
    tx: Transaction, request: LeaveRequest, subject: Subject, *, by: Caller, now: datetime
) -> None:
    """Queue the messages to all who have none yet, after leave was approved at once or changed.

    The person's approvers are told, except the actor and the recorder of the leave; people for whom
    the person was to cover; and the approvers of these.
    """
    config = subject.config
    leave_type = config.leave_types[request.leave_type_id]
    if not (
        config.is_in_slack
        and leave_type.tells_approvers
        and request.status == "approved"
        and request.end_date >= subject.today - _NEWS_FOR
        and lifecycle.is_approved_at_once(request)
    ):
        return
    organisation_id = config.organisation.id
    uncovered = covered.overlapping(tx, organisation_id, request, subject.today)
    uncovered_ids = {leave.user_id for leave in uncovered}
    approvers_of = approvers.of_people(
        tx, organisation_id, {request.user_id, *uncovered_ids}, today=subject.today
    )
    approver_ids = {approver.id for people in approvers_of.values() for approver in people}
    told = (approver_ids - {by.user_id, request.recorded_by}) | uncovered_ids
    notification_outbox.tell_absence(
        tx, request, told - {request.user_id}, organisation_id=organisation_id, now=now
    )
