"""Decisions on amendments, by the leave's approvers, admins and owners. None can be reversed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from storage.base.errors import NotFound
from storage.base.values import Amendment, Caller, LeaveRequest
from storage.db.database import Transaction
from storage.events import organisation_config
from storage.leave import absence_notices, drafts, request_steps
from storage.leave.amendments import amendment_rows
from storage.leave.changes import amendment_steps, cancelling
from storage.leave.drafts import Draft
from storage.leave.interruptions import restoring
from storage.leave.request_steps import AMENDED, Subject
from storage.rules import changed_leave


def approve(
    tx: Transaction,
    subject: Subject,
    before: LeaveRequest,
    *,
    override_reason: str | None = None,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Apply the open amendment, which is checked again as a change that its requester makes now.

    One that cancels the leave cancels it, unless days of it have passed.

    The caller has locked the request and checked who decides. Raises InvalidInput (``past_days``
    for days that have passed meanwhile), OverlappingLeave or InsufficientAllowance; then nothing
    has changed.
    """
    amendment = _open(tx, before, by)
    if amendment.cancels:
        changed_leave.cancel_effect(
            before,
            subject.config.leave_types[before.leave_type_id],
            is_own=True,
            has_approver=True,
            today=subject.today,
        )
        return cancelling.carry_out(tx, subject, before, by=by, now=now, why=AMENDED)
    # The requester is locked, so a change of working days or holidays is either committed, and
    # read here, or recounts this leave afterwards.
    config = organisation_config.of_organisation(tx, by.organisation_id)
    draft = Draft(
        leave_type_id=amendment.leave_type_id,
        start_date=amendment.start_date,
        end_date=amendment.end_date,
        start_half_day=amendment.start_half_day,
        end_half_day=amendment.end_half_day,
        note=amendment.note,
        cover_user_id=before.cover_user_id,
    )
    types = config.leave_types
    assessment, refusals = drafts.examine(
        tx,
        config,
        subject.user,
        draft,
        today=subject.today,
        replaces=before,
        is_override=override_reason is not None,
    )
    if assessment is None:
        raise refusals[0]
    after = drafts.changed_request(before, draft, assessment.counted_halves, assessment.note)
    if override_reason is not None:
        after = replace(after, override_reason=override_reason)
    gives_back = False
    if before.interrupts is not None:
        after = restoring.shortened(before, after)
        gives_back = restoring.check_fit(tx, config, subject.user, before, after)
    # Its effect does not matter any more, but its days may have passed.
    changed_leave.effect_of(
        before,
        after,
        type_before=types[before.leave_type_id],
        type_after=assessment.leave_type,
        is_by_admin=False,
        has_approver=True,
        today=subject.today,
    )
    if refusals:
        raise refusals[0]
    after = request_steps.apply(
        tx,
        "amend",
        before,
        after,
        replace(subject, config=config),
        by=by,
        now=now,
        why=AMENDED,
        tells_cover=not gives_back,
    )
    if gives_back:
        restoring.give_back(tx, subject, before, after, by=by, now=now)
    else:
        absence_notices.enqueue(tx, after, subject, by=by, now=now)
    return after


def decline(
    tx: Transaction,
    subject: Subject,
    before: LeaveRequest,
    reason: str | None,
    *,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Decline the open amendment; the leave keeps its dates."""
    return amendment_steps.end(tx, subject, before, "declined", reason=reason, by=by, now=now)


def _open(tx: Transaction, request: LeaveRequest, by: Caller) -> Amendment:
    amendment = None
    if request.amendment_id is not None:
        amendment = amendment_rows.find(tx, by.organisation_id, request.amendment_id)
    if amendment is None:
        raise NotFound("amendment")
    return amendment
