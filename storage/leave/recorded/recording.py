"""Creates leave: the caller's own request, or leave that they record for another person."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from storage.base import fields
from storage.base.errors import InsufficientRole, NotFound
from storage.base.values import Caller, LeaveRequest
from storage.db.database import Transaction
from storage.leave import absence_notices, drafts, leave_requests, request_steps
from storage.leave.drafts import Draft
from storage.leave.recorded import permissions
from storage.leave.request_steps import Subject
from storage.rules import roles


def create(
    tx: Transaction,
    *,
    by: Caller,
    draft: Draft,
    user_id: str | None = None,
    override_reason: str | None = None,
    now: datetime,
) -> LeaveRequest:
    """Request leave for the caller, or record it for the person ``user_id``.

    Recorded leave is approved at once, by the caller. With ``override_reason`` it may exceed the
    allowance and break the type's notice, length and note rules; it never overlaps. Raises the
    errors of ``leave_requests.submit`` and ``permissions``; then nothing has changed.
    """
    override_reason = roles.checked_override(override_reason, user_id=user_id, by=by)
    if user_id is None or user_id == by.user_id:
        return leave_requests.submit(tx, by=by, draft=draft, now=now)
    if by.user_id is None:
        raise InsufficientRole("member")
    subject = _locked_subject(tx, user_id, by=by, now=now)
    permissions.check_person(tx, subject.user, by=by, today=subject.today)
    leave_type = subject.config.leave_types.get(draft.leave_type_id)
    if leave_type is not None:
        permissions.check_type(leave_type, by=by)
    assessment = drafts.assess(
        tx,
        subject.config,
        subject.user,
        draft,
        today=subject.today,
        is_override=override_reason is not None,
    )
    request = leave_requests.new_request(draft, assessment, user_id, now=now)
    request = replace(request, recorded_by=by.user_id, override_reason=override_reason)
    request_steps.add(tx, request, subject, by=by, now=now)
    approved = replace(request, status="approved", decided_by=by.user_id, decided_at=now)
    recorded = request_steps.apply(
        tx, "approve", request, approved, subject, by=by, now=now, why="recorded", is_new=True
    )
    absence_notices.enqueue(tx, recorded, subject, by=by, now=now)
    return recorded


def _locked_subject(tx: Transaction, user_id: str, *, by: Caller, now: datetime) -> Subject:
    if not fields.is_id(user_id):
        raise permissions.unknown_user()
    try:
        subject, _ = request_steps.lock_person(tx, by.organisation_id, user_id, now)
    except NotFound as error:
        raise permissions.unknown_user() from error
    return subject
