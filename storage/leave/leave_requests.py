"""Leave requests: submitted, edited and cancelled. REST and Slack call these functions.

Each step is one conditional UPDATE with its audit entry, event and notifications in the same
transaction (request_steps.py). Decisions are in decisions.py, reads in leave_reading.py, and the
checks of a new request in drafts.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from storage.base.clock import local_day
from storage.base.errors import (
    InsufficientRole,
    InvalidInput,
    Unauthenticated,
)
from storage.base.event_values import NotificationEvent
from storage.base.ids import new_id
from storage.base.values import Caller, LeaveRequest, User, field_names
from storage.db.database import Transaction
from storage.directory import approvers, slack_syncs
from storage.events import notification_outbox, webhook_outbox
from storage.events.organisation_config import OrganisationConfig
from storage.leave import drafts, leave_reading, leave_rows, request_steps
from storage.leave.drafts import Draft
from storage.rules import halves


def submit(tx: Transaction, *, by: Caller, draft: Draft, now: datetime) -> LeaveRequest:
    """Request leave for the caller: pending, or approved if no approver has to or can decide.

    Raises InvalidInput, OverlappingLeave or InsufficientAllowance, or Unauthenticated for a person
    who was deactivated since they were authenticated; then nothing has changed.
    """
    if by.user_id is None:
        raise InsufficientRole("member")
    subject, has_admin = request_steps.lock_person(tx, by.organisation_id, by.user_id, now)
    if subject.user.status in ("deactivated", "archived"):
        raise Unauthenticated
    assessment = drafts.assess(tx, subject.config, subject.user, draft, today=subject.today)
    leave_type = assessment.leave_type
    recipients = request_steps.card_recipients(tx, subject) if leave_type.requires_approval else []
    request = LeaveRequest(
        id=new_id(now),
        user_id=by.user_id,
        leave_type_id=leave_type.id,
        status="pending",
        start_date=draft.start_date,
        end_date=draft.end_date,
        start_half_day=draft.start_half_day,
        end_half_day=draft.end_half_day,
        total_half_days=halves.total_half_days(assessment.counted_halves),
        counted_halves=assessment.counted_halves,
        note=assessment.note,
        decided_by=None,
        decided_at=None,
        decision_reason=None,
        cancelled_at=None,
        created_at=now,
        updated_at=now,
        version=1,
    )
    leave_rows.add(tx, request, by=by, now=now)
    webhook_outbox.enqueue(
        tx,
        "leave_request.created",
        request,
        requester=subject.user,
        config=subject.config,
        now=now,
    )
    needs_decision = leave_type.requires_approval and (
        has_admin or bool(recipients or request_steps.approvers_of(tx, subject))
    )
    if not needs_decision:
        return request_steps.approve_at_once(tx, request, subject, leave_type, by=by, now=now)
    _look_for_approvers(tx, subject, recipients, now)
    notification_outbox.notify(
        tx,
        "leave_request.created",
        request,
        by=by,
        approvers=recipients,
        config=subject.config,
        now=now,
    )
    request_steps.refresh_cards(tx, None, request, subject, now)
    return request


def editable(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """The request, if the caller could edit it now.

    Raises NotFound, InsufficientRole or InvalidTransition.
    """
    request = leave_reading.get(tx, request_id, by=by, now=now)
    request_steps.check_own_or_managed(request, by)
    request_steps.check_transition(tx, "edit", request, by)
    return request


def edit(
    tx: Transaction, request_id: str, changes: Mapping[str, object], *, by: Caller, now: datetime
) -> LeaveRequest:
    """Change a pending request's dates, halves or note; its days are counted and checked again.

    ``changes`` has only the fields that were sent; without a difference nothing is written. By
    its requester, admins and owners. Raises NotFound, InvalidTransition and the errors of
    ``submit``; then nothing has changed.
    """
    unknown = changes.keys() - {"start_date", "end_date", "start_half_day", "end_half_day", "note"}
    if unknown:
        raise InvalidInput.of(min(unknown), "unknown_field", "This cannot be changed.")
    subject, before = request_steps.lock_request(tx, request_id, by=by, now=now, is_counting=True)
    request_steps.check_own_or_managed(before, by)
    request_steps.check_transition(tx, "edit", before, by)
    draft = Draft(**{name: getattr(before, name) for name in field_names(Draft)} | dict(changes))
    if draft.start_date is None or draft.end_date is None:
        field = "start_date" if draft.start_date is None else "end_date"
        raise InvalidInput.of(field, "required", "{field} cannot be null.", field=field)
    assessment = drafts.assess(
        tx, subject.config, subject.user, draft, today=subject.today, replaces=before.id
    )
    after = replace(
        before,
        start_date=draft.start_date,
        end_date=draft.end_date,
        start_half_day=draft.start_half_day,
        end_half_day=draft.end_half_day,
        total_half_days=halves.total_half_days(assessment.counted_halves),
        counted_halves=assessment.counted_halves,
        note=assessment.note,
    )
    if after == before:
        return before
    return request_steps.apply(tx, "edit", before, after, subject, by=by, now=now)


def lock(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> None:
    """Lock the request until this transaction ends. Raises NotFound if it is not visible."""
    request_steps.lock_request(tx, request_id, by=by, now=now, is_counting=True)


def cancel(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """Cancel a pending or approved request, as its requester, an admin or an owner.

    Raises NotFound, InsufficientRole or InvalidTransition; then nothing has changed.
    """
    subject, before = request_steps.lock_request(tx, request_id, by=by, now=now)
    request_steps.check_own_or_managed(before, by)
    request_steps.check_transition(tx, "cancel", before, by)
    after = replace(before, status="cancelled", cancelled_at=now)
    after = request_steps.apply(tx, "cancel", before, after, subject, by=by, now=now)
    notify_approvers(
        tx,
        subject.config,
        subject.user,
        [before],
        "leave_request.cancelled",
        by=by,
        now=now,
    )
    return after


def notify_approvers(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    leave_before: Sequence[LeaveRequest],
    event: NotificationEvent,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Notify approvers in Slack that a person's approved leave was cancelled or shortened.

    ``leave_before`` is the leave before the change. The person who approved it and the current
    approvers are notified, except the actor. Leave that never needed an approval is left out.
    """
    approved = [
        request
        for request in leave_before
        if request.status == "approved"
        and (
            request.decided_by is not None
            or config.leave_types[request.leave_type_id].requires_approval
        )
    ]
    if not approved or not config.is_in_slack:
        return
    today = local_day(now, config.organisation.timezone)
    current = approvers.of_person(tx, config.organisation.id, user.id, today=today)
    notified: dict[str, set[str]] = {}
    for request in approved:
        recipients = {approver.id for approver in current} | {request.decided_by or ""}
        notified[request.id] = recipients - {by.user_id, user.id, ""}
    notification_outbox.notify_approvers(
        tx, event, notified, organisation_id=config.organisation.id, now=now
    )


def _look_for_approvers(
    tx: Transaction, subject: request_steps.Subject, recipients: Sequence[User], now: datetime
) -> None:
    """Request a look-up in Slack if the approval chain skipped pending people."""
    if not subject.config.is_in_slack or subject.user.manager_id in {
        recipient.id for recipient in recipients
    }:
        return
    organisation_id = subject.config.organisation.id
    _, unreachable = approvers.with_unreachable(
        tx, organisation_id, subject.user.id, today=subject.today
    )
    if unreachable:
        slack_syncs.request_soon(tx, organisation_id, now=now)
