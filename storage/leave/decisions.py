"""Decisions on leave requests: approve, decline, and reverse within ten minutes.

Leave that needs a second approval stays undecided after the first one.

``request_steps.apply`` writes what a decision sends: an event for webhooks and notifications.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from storage.base import texts
from storage.base.errors import (
    AmendmentEnded,
    Conflict,
    Forbidden,
    InvalidTransition,
    NotFound,
    OwnRequest,
    Sentence,
)
from storage.base.ids import is_id
from storage.base.leave_values import Amendment, Approval, LeaveRequest, LeaveType
from storage.base.values import Caller, User
from storage.db.database import Transaction
from storage.leave import (
    drafts,
    ended_interruptions,
    leave_amendments,
    leave_changes,
    leave_rows,
    request_steps,
)
from storage.leave.drafts import Draft
from storage.leave.request_steps import AMENDED, Requester
from storage.outbox import organisation_config
from storage.people import approvers
from storage.rules import counted_days, lifecycle, request_rules, second_approvals

Decision = Literal["approved", "declined"]

MAX_REASON_LENGTH = 1_000


class NotYourApproval(Forbidden):
    """You can see the request, but other people are its approvers."""

    code = "not_your_approval"
    title = "Others decide on this request."
    cure = "`GET /api/v1/approvals/pending` lists the requests that you may decide."
    sentence = Sentence("The request does not await your approval.")


class SecondApprovalAwaited(Conflict):
    """You gave this leave its first approval; it awaits the second one, by another person."""

    code = "second_approval_awaited"
    title = "You approved this already."
    cure = "Wait for the second approval, or decline the leave."
    sentence = Sentence("You approved this already. It awaits the approval of another person.")


def approve(
    tx: Transaction,
    request_id: str,
    *,
    by: Caller,
    now: datetime,
    override_reason: str | None = None,
    is_pending_only: bool = False,
) -> LeaveRequest:
    """Approve a pending request, or the open amendment of approved leave.

    ``is_pending_only``: no amendment, which the caller has not seen. ``override_reason``, of admins
    and owners, approves it although the allowance or a rule of its type forbids it by now.

    By its approvers, admins and owners; never by its requester. Raises NotFound, OwnRequest,
    NotYourApproval, InvalidTransition, OverlappingLeave, InsufficientAllowance,
    SecondApprovalAwaited or the errors of ``checked_override``, and for an amendment the errors of
    a change; then nothing has changed.
    """
    return _decide(
        tx,
        request_id,
        "approve",
        override_reason=override_reason,
        by=by,
        now=now,
        is_pending_only=is_pending_only,
    )


def decline(
    tx: Transaction,
    request_id: str,
    *,
    reason: str | None,
    by: Caller,
    now: datetime,
    is_pending_only: bool = False,
) -> LeaveRequest:
    """Decline a pending request or an amendment, with or without a reason. As ``approve``."""
    reason = texts.optional_text(reason, "reason", MAX_REASON_LENGTH)
    return _decide(
        tx,
        request_id,
        "decline",
        reason=reason,
        by=by,
        now=now,
        is_pending_only=is_pending_only,
    )


def approve_amendment(
    tx: Transaction,
    amendment_id: str,
    *,
    by: Caller,
    now: datetime,
    override_reason: str | None = None,
) -> LeaveRequest:
    """As ``approve``, for this amendment only. Raises AmendmentEnded if it is no longer open."""
    amendment = find_amendment(tx, amendment_id, by=by)
    return _decide(
        tx,
        amendment.leave_request_id,
        "approve",
        amendment,
        override_reason=override_reason,
        by=by,
        now=now,
    )


def decline_amendment(
    tx: Transaction, amendment_id: str, *, reason: str | None, by: Caller, now: datetime
) -> LeaveRequest:
    """As ``decline``, for this amendment only. Raises AmendmentEnded if it is no longer open."""
    reason = texts.optional_text(reason, "reason", MAX_REASON_LENGTH)
    amendment = find_amendment(tx, amendment_id, by=by)
    return _decide(
        tx, amendment.leave_request_id, "decline", amendment, reason=reason, by=by, now=now
    )


def find_amendment(tx: Transaction, amendment_id: str, *, by: Caller) -> Amendment:
    """An amendment, open or ended. Raises NotFound. Who may see its leave is not checked."""
    amendment = None
    if is_id(amendment_id):
        amendment = leave_amendments.find(tx, by.organisation_id, amendment_id)
    if amendment is None:
        raise NotFound("leave request")
    return amendment


def change_decision(
    tx: Transaction,
    request_id: str,
    to_status: Decision,
    *,
    reason: str | None = None,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Reverse a decision: decline approved leave, or approve declined leave.

    For ten minutes, by the approver who decided, if the request is still assigned to them, admins
    and owners. Leave that is approved is checked again for overlap and allowance. Raises NotFound,
    OwnRequest, NotYourApproval, InvalidTransition (also after the ten minutes), OverlappingLeave
    or InsufficientAllowance; then nothing has changed.
    """
    reason = texts.optional_text(reason, "reason", MAX_REASON_LENGTH)
    requester, before = request_steps.lock_request(
        tx, request_id, by=by, now=now, is_counting=to_status == "approved"
    )
    if before.user_id == by.user_id:
        raise OwnRequest
    action: lifecycle.Action = (
        "reverse_to_approved" if to_status == "approved" else "reverse_to_declined"
    )
    request_steps.check_transition(tx, action, before, by)
    if not approvers.may_reverse(
        tx, by.organisation_id, before, by.user_id, is_admin=by.is_admin, today=requester.today
    ):
        raise NotYourApproval
    is_amended = leave_amendments.is_decided(tx, by.organisation_id, before)
    if is_amended or not lifecycle.is_reversible(before, now):
        name = request_steps.decider_name(tx, before, by)
        raise InvalidTransition(lifecycle.LIFECYCLE[action].done, before.status, name)
    after = replace(
        before,
        status=to_status,
        decided_by=by.user_id,
        decided_at=now,
        decision_reason=reason,
        approvals=second_approvals.without_approval(before.approvals, by.user_id),
    )
    if to_status == "approved":
        counted_halves = drafts.recheck(tx, requester.config, requester.user, before)
        after = replace(
            after,
            counted_halves=counted_halves,
            total_half_days=counted_days.total_half_days(counted_halves),
        )
        leave_type = requester.config.leave_types[after.leave_type_id]
        waiting, seconds = _first_approval(tx, requester, after, leave_type, after.approvals, by=by)
        after = _approved(after, leave_type, by=by, now=now)
        if seconds:
            action = "reverse_to_first_approval"
            after = replace(
                waiting,
                status="pending",
                decided_by=None,
                decided_at=None,
                approvals=after.approvals,
            )
    if to_status == "declined":
        leave_rows.note_reversed_approval(tx, before.id, by=by, now=now)
    return request_steps.apply(
        tx, action, before, after, requester, by=by, now=now, why="decision_changed"
    )


def _decide(
    tx: Transaction,
    request_id: str,
    action: Literal["approve", "decline"],
    amendment: Amendment | None = None,
    *,
    reason: str | None = None,
    override_reason: str | None = None,
    by: Caller,
    now: datetime,
    is_pending_only: bool = False,
) -> LeaveRequest:
    """Decide on the request, or on its open amendment. ``amendment``: only on this one."""
    requester, before = request_steps.lock_unchecked(
        tx, request_id, by=by, now=now, is_counting=action == "approve"
    )
    check_decider(tx, requester, before, action, by=by)
    override_reason = request_rules.checked_override(override_reason, user_id=before.user_id, by=by)
    if amendment is not None and before.amendment_id != amendment.id:
        ended = find_amendment(tx, amendment.id, by=by)
        raise AmendmentEnded(ended.status)
    if lifecycle.is_undecided(before) and before.status == "approved" and not is_pending_only:
        if action == "approve":
            return apply_amendment(
                tx, requester, before, override_reason=override_reason, by=by, now=now
            )
        return decline_open(tx, requester, before, reason, by=by, now=now)
    request_steps.check_transition(tx, action, before, by)
    after = replace(
        before,
        status=lifecycle.LIFECYCLE[action].to_status,
        decided_by=by.user_id,
        decided_at=now,
        decision_reason=reason,
        approvals=second_approvals.without_approval(before.approvals, by.user_id),
    )
    if override_reason is not None:
        after = replace(after, override_reason=override_reason)
    if action == "approve":
        leave_type = requester.config.leave_types[before.leave_type_id]
        # With the halves that were counted: of days that have passed, they no longer change.
        drafts.check_other_leave(
            tx,
            requester.config,
            requester.user,
            leave_type,
            counted_days.span_of(before),
            before.counted_halves,
            before.id,
            is_override=after.override_reason is not None,
            is_booked=True,
        )
        after = _approved(after, leave_type, by=by, now=now)
        waiting, seconds = _first_approval(
            tx, requester, before, leave_type, before.approvals, by=by
        )
        if seconds:
            waiting = replace(
                waiting, approvals=after.approvals, override_reason=after.override_reason
            )
            return request_steps.apply(
                tx, "approve_first", before, waiting, requester, by=by, now=now
            )
    return request_steps.apply(tx, action, before, after, requester, by=by, now=now)


def check_decider(
    tx: Transaction,
    requester: Requester,
    request: LeaveRequest,
    action: Literal["approve", "decline"],
    *,
    by: Caller,
) -> None:
    """Raises OwnRequest, NotYourApproval, NotFound or SecondApprovalAwaited."""
    if request.user_id == by.user_id:
        raise OwnRequest
    if not approvers.may_decide(
        tx,
        by.organisation_id,
        request.id,
        by.user_id,
        is_admin=by.is_admin,
        today=requester.today,
    ):
        if leave_rows.is_always_visible(request, by):
            raise NotYourApproval
        raise NotFound("leave request")
    if second_approvals.is_awaited(request):
        _check_second(tx, requester, request, action, by=by)


def _check_second(
    tx: Transaction,
    requester: Requester,
    request: LeaveRequest,
    action: Literal["approve", "decline"],
    *,
    by: Caller,
) -> None:
    """Check who decides on leave that has its first approval. The first approver may decline.

    Raises NotYourApproval or SecondApprovalAwaited.
    """
    if action == "decline" and second_approvals.may_decline(request, by.user_id):
        return
    is_first = request.first_approver_id == by.user_id
    if by.is_admin and not is_first:
        return
    seconds = approvers.second_of(tx, by.organisation_id, [request], today=requester.today)
    if by.user_id in {user.id for user in seconds[request.id]}:
        return
    if is_first:
        raise SecondApprovalAwaited
    raise NotYourApproval


def _first_approval(
    tx: Transaction,
    requester: Requester,
    request: LeaveRequest,
    leave_type: LeaveType,
    approvals: Sequence[Approval],
    *,
    by: Caller,
) -> tuple[LeaveRequest, list[User]]:
    """The request with the caller as its first approver, and those who give the second approval.

    None give it if it needs no other approval than the caller's, or if no one else could. The
    approvals are those so far of the request or of its amendment, which has that leave type.
    """
    needed = leave_type.second_approval
    if second_approvals.is_awaited(request):
        return request, []
    if needed is None or not second_approvals.needs_another(
        leave_type, request.total_half_days, approvals, by.user_id
    ):
        return request, []
    waiting = replace(request, first_approver_id=by.user_id, second_approver_id=needed.user_id)
    seconds = approvers.second_after(tx, by.organisation_id, waiting, today=requester.today)
    return waiting, seconds


def _approved(
    request: LeaveRequest, leave_type: LeaveType, *, by: Caller, now: datetime
) -> LeaveRequest:
    """The request with the caller's approval, which only leave that needs two keeps."""
    if not request.approvals and not second_approvals.is_needed(
        leave_type, request.total_half_days
    ):
        return request
    approvals = second_approvals.with_approval(request.approvals, by.user_id, now)
    return replace(request, approvals=approvals)


def take_back_approval(
    tx: Transaction, request_id: str, *, by: Caller, now: datetime
) -> LeaveRequest:
    """Take back the caller's first approval of a request that awaits the second one.

    For ten minutes; the request awaits its first approval again. Raises NotFound, NotYourApproval
    or InvalidTransition; then nothing has changed.
    """
    requester, before = request_steps.lock_request(tx, request_id, by=by, now=now)
    request_steps.check_transition(tx, "take_back", before, by)
    if not second_approvals.may_decline(before, by.user_id):
        raise NotYourApproval
    if not second_approvals.may_take_back(before, by.user_id, now):
        raise InvalidTransition(lifecycle.LIFECYCLE["take_back"].done, before.status)
    after = second_approvals.voided(before)
    return request_steps.apply(tx, "take_back", before, after, requester, by=by, now=now)


def apply_amendment(
    tx: Transaction,
    requester: Requester,
    before: LeaveRequest,
    *,
    override_reason: str | None = None,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Apply the open amendment, which is checked again as a change that its requester makes now.

    One that cancels the leave cancels it, unless days of it have passed. Leave that needs a second
    approval as it would be stays as it is after the first one; cancelling needs no second one.
    An ``override_reason`` of the first approval counts for the second one.

    The caller has locked the request and checked who decides. Raises InvalidInput (``past_days``
    for days that have passed meanwhile), OverlappingLeave or InsufficientAllowance; then nothing
    has changed.
    """
    amendment = _open(tx, before, by)
    if override_reason is None:
        override_reason = second_approvals.override_of(amendment.approvals)
    if amendment.cancels:
        lifecycle.cancel_effect(
            before,
            requester.config.leave_types[before.leave_type_id],
            is_own=True,
            has_approver=True,
            today=requester.today,
        )
        return leave_changes.cancel_at_once(tx, requester, before, by=by, now=now, why=AMENDED)
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
    assessment, refusals = drafts.check_all(
        tx,
        config,
        requester.user,
        draft,
        today=requester.today,
        replaces=before,
        is_override=override_reason is not None,
        # An approver has seen which limits it exceeds, and may approve.
        limits="ignored",
    )
    if assessment is None:
        raise refusals[0]
    after = drafts.changed_request(before, draft, assessment.counted_halves, assessment.note)
    if override_reason is not None:
        after = replace(after, override_reason=override_reason)
    gives_back = False
    if before.interrupts is not None:
        after = ended_interruptions.shortened(before, after)
        gives_back = ended_interruptions.check_fit(tx, config, requester.user, before, after)
    # Its effect does not matter any more, but its days may have passed.
    lifecycle.effect_of(
        before,
        after,
        type_before=types[before.leave_type_id],
        type_after=assessment.leave_type,
        is_by_admin=False,
        has_approver=True,
        today=requester.today,
    )
    if refusals:
        raise refusals[0]
    waiting, seconds = _first_approval(
        tx, requester, after, assessment.leave_type, amendment.approvals, by=by
    )
    if seconds:
        waiting = replace(
            before,
            first_approver_id=waiting.first_approver_id,
            second_approver_id=waiting.second_approver_id,
        )
        return leave_changes.approve_first(
            tx,
            requester,
            waiting,
            amendment,
            seconds,
            override_reason=override_reason,
            by=by,
            now=now,
        )
    after = request_steps.apply(
        tx,
        "amend",
        before,
        after,
        replace(requester, config=config),
        by=by,
        now=now,
        why=AMENDED,
        tells_cover=not gives_back,
        fills_closures=not gives_back,
    )
    if gives_back:
        ended_interruptions.give_back(tx, requester, before, after, by=by, now=now)
    else:
        request_steps.tell_of_absence(tx, after, requester, by=by, now=now)
    return after


def decline_open(
    tx: Transaction,
    requester: Requester,
    before: LeaveRequest,
    reason: str | None,
    *,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Decline the open amendment; the leave keeps its dates."""
    return leave_changes.end_amendment(
        tx, requester, before, "declined", reason=reason, by=by, now=now
    )


def _open(tx: Transaction, request: LeaveRequest, by: Caller) -> Amendment:
    amendment = None
    if request.amendment_id is not None:
        amendment = leave_amendments.find(tx, by.organisation_id, request.amendment_id)
    if amendment is None:
        raise NotFound("amendment")
    return amendment
