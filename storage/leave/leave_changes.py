"""Changes and cancellations of approved leave: at once, or by an amendment.

Amendments are requested, replaced, withdrawn and declined; none of it changes the leave. Each step
is one conditional UPDATE of the request, whose version rises, with the amendment, the audit entry,
the event and the notifications in the same transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final, Literal

from storage.base.errors import (
    AmendmentEnded,
    ClosureLeave,
    DomainError,
    FieldError,
    InvalidTransition,
    NotFound,
)
from storage.base.event_values import LeaveEventType
from storage.base.ids import is_id, new_id
from storage.base.leave_values import Amendment, LeaveRequest
from storage.base.values import Caller, User
from storage.db.database import Transaction
from storage.db.tables import ReminderRow
from storage.leave import (
    cover_notices,
    drafts,
    ended_interruptions,
    leave_amendments,
    leave_rows,
    limit_checks,
    request_steps,
)
from storage.leave.drafts import Assessment, Draft
from storage.leave.limit_checks import LimitUse
from storage.leave.request_steps import Requester
from storage.outbox import notification_outbox, organisation_config, webhook_outbox
from storage.outbox.organisation_config import OrganisationConfig
from storage.rules import lifecycle, second_approvals
from storage.rules.lifecycle import Effect

_Event = Literal[
    "leave_request.amendment_requested",
    "leave_request.amendment_declined",
    "leave_request.amendment_withdrawn",
    "leave_request.approval_given",
]
_PROPOSED: Final = (
    "leave_type_id",
    "start_date",
    "end_date",
    "start_half_day",
    "end_half_day",
    "note",
)


def request_amendment(
    tx: Transaction,
    requester: Requester,
    before: LeaveRequest,
    proposed: LeaveRequest,
    approvers: Iterable[User],
    *,
    assigns_cover: bool = False,
    cancels: bool = False,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Propose a change to the approvers; it replaces an open amendment.

    ``proposed`` is the request as it would be. The same proposal as the open one changes nothing.
    ``assigns_cover`` and ``cancels`` as in `Amendment`.
    """
    values = {name: getattr(proposed, name) for name in _PROPOSED}
    open_one = None
    if before.amendment_id is not None:
        open_one = leave_amendments.find(tx, by.organisation_id, before.amendment_id)
        if open_one is not None and _is_same(open_one, values, cancels=cancels):
            return before
    amendment = Amendment(
        id=new_id(now),
        leave_request_id=before.id,
        status="open",
        requested_by=str(by.user_id),
        requested_at=now,
        cancels=cancels,
        assigns_cover=assigns_cover or (open_one is not None and open_one.assigns_cover),
        **values,
    )
    # Before the new one: the database allows one open amendment.
    if open_one is not None:
        leave_amendments.end(
            tx, by.organisation_id, open_one.id, "replaced", by_id=by.user_id, now=now
        )
    leave_amendments.add(tx, by.organisation_id, amendment)
    return _save(
        tx,
        "leave_request.amendment_requested",
        before,
        requester,
        (open_one, amendment),
        approvers=approvers,
        by=by,
        now=now,
    )


def approve_first(
    tx: Transaction,
    requester: Requester,
    waiting: LeaveRequest,
    amendment: Amendment,
    approvers: Iterable[User],
    *,
    override_reason: str | None,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Record the first approval of the open amendment, and ask its second approvers.

    ``waiting`` is the request with the first approver, and who gives the second approval.
    """
    approvals = second_approvals.with_approval(
        amendment.approvals, by.user_id, now, override_reason
    )
    approved = replace(amendment, approvals=approvals)
    leave_amendments.approve_first(tx, by.organisation_id, amendment.id, approved.approvals)
    tx.delete(ReminderRow, organisation_id=by.organisation_id, leave_request_id=waiting.id)
    return _save(
        tx,
        "leave_request.approval_given",
        waiting,
        requester,
        (amendment, approved),
        approvers=approvers,
        by=by,
        now=now,
    )


def _is_same(amendment: Amendment, values: Mapping[str, object], *, cancels: bool) -> bool:
    proposed = {name: getattr(amendment, name) for name in _PROPOSED}
    return proposed == values and amendment.cancels == cancels


def withdraw(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """Withdraw the open amendment, as the leave's owner, an admin or an owner.

    Raises NotFound (also without an open amendment) or InsufficientRole; then nothing has changed.
    """
    requester, before = request_steps.lock_request(tx, request_id, by=by, now=now)
    request_steps.check_own_or_managed(before, by)
    return end_amendment(tx, requester, before, "withdrawn", by=by, now=now)


def withdraw_one(tx: Transaction, amendment_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """As ``withdraw``, for this amendment only. Raises AmendmentEnded if it is no longer open."""
    amendment = None
    if is_id(amendment_id):
        amendment = leave_amendments.find(tx, by.organisation_id, amendment_id)
    if amendment is None:
        raise NotFound("leave request")
    requester, before = request_steps.lock_request(tx, amendment.leave_request_id, by=by, now=now)
    request_steps.check_own_or_managed(before, by)
    if before.amendment_id != amendment.id:
        ended = leave_amendments.find(tx, by.organisation_id, amendment.id)
        raise AmendmentEnded("ended" if ended is None else ended.status)
    return end_amendment(tx, requester, before, "withdrawn", by=by, now=now)


def end_amendment(
    tx: Transaction,
    requester: Requester,
    before: LeaveRequest,
    status: Literal["declined", "withdrawn"],
    *,
    reason: str | None = None,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """End the open amendment; the leave stays as it is. Raises NotFound without one."""
    amendment = None
    if before.amendment_id is not None and before.status == "approved":
        amendment = leave_amendments.find(tx, by.organisation_id, before.amendment_id)
    if amendment is None:
        raise NotFound("amendment")
    leave_amendments.end(
        tx, by.organisation_id, amendment.id, status, by_id=by.user_id, reason=reason, now=now
    )
    event: _Event = (
        "leave_request.amendment_declined"
        if status == "declined"
        else "leave_request.amendment_withdrawn"
    )
    after = _save(tx, event, before, requester, (amendment, None), reason=reason, by=by, now=now)
    known = request_steps.known_to_cover(before, amendment)
    cover_notices.enqueue(
        tx, [(known, after)], config=requester.config, today=requester.today, now=now
    )
    return after


def audited(amendment: Amendment | None, reason: str | None = None) -> dict[str, object]:
    """The fields of an amendment in the audit trail; none without one."""
    if amendment is None:
        return {} if reason is None else {"decision_reason": reason}
    shown: dict[str, object] = {name: getattr(amendment, name) for name in _PROPOSED}
    if amendment.cancels:
        shown["cancels"] = True
    if amendment.approvals:
        shown["approvals"] = amendment.approvals
    return {"amendment_id": amendment.id, **shown}


def _save(
    tx: Transaction,
    event: _Event,
    before: LeaveRequest,
    requester: Requester,
    amendments: tuple[Amendment | None, Amendment | None],
    *,
    reason: str | None = None,
    approvers: Iterable[User] = (),
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Write a step with its audit entry, event and notifications.

    ``amendments`` are the open ones before and after it.
    """
    config = requester.config
    amendment = amendments[1]
    after = replace(
        before,
        amendment_id=None if amendment is None else amendment.id,
        updated_at=now,
        version=before.version + 1,
    )
    if amendment is None or not amendment.approvals:
        after = replace(after, first_approver_id=None, second_approver_id=None)
    changes = audited(amendments[0]), audited(amendment, reason)
    if not leave_rows.save_amendment_only(tx, event, before, after, changes, by=by, now=now):
        raise InvalidTransition("changed", before.status)
    counted = None
    if amendment is not None:
        counted = leave_amendments.counted(config, requester.user, after, amendment)
    # Receivers read of a first approval that the amendment has changed.
    webhook_event: LeaveEventType = (
        "leave_request.updated" if event == "leave_request.approval_given" else event
    )
    webhook_outbox.enqueue(
        tx, webhook_event, after, counted, requester=requester.user, config=config, now=now
    )
    notification_outbox.notify(tx, event, after, by=by, approvers=approvers, config=config, now=now)
    return after


def cancel(
    tx: Transaction, requester: Requester, before: LeaveRequest, *, by: Caller, now: datetime
) -> LeaveRequest:
    """Cancel the leave, or request it as an amendment; the request as it is then.

    The caller has locked the request and checked who cancels it. Raises InvalidInput ``past_days``
    and the errors of ``carry_out``; then nothing has changed.
    """
    deciders = []
    is_own = by.user_id == before.user_id
    if is_own and before.status == "approved":
        deciders = request_steps.approvers_of(tx, requester)
    effect = lifecycle.cancel_effect(
        before,
        requester.config.leave_types[before.leave_type_id],
        is_own=is_own,
        has_approver=bool(deciders),
        today=requester.today,
    )
    if effect == "at_once":
        return cancel_at_once(tx, requester, before, by=by, now=now)
    return request_amendment(tx, requester, before, before, deciders, cancels=True, by=by, now=now)


def cancel_at_once(
    tx: Transaction,
    requester: Requester,
    before: LeaveRequest,
    *,
    by: Caller,
    now: datetime,
    why: str | None = None,
) -> LeaveRequest:
    """Cancel the leave at once. The days of an interruption go back to the leave it interrupted.

    Raises OverlappingLeave or DaysNoLongerFit if they cannot; then nothing has changed.
    """
    goes_back = False
    if before.interrupts is not None:
        # The requester is locked: a change of settings is either committed, and read here, or
        # recounts this leave afterwards.
        config = organisation_config.of_organisation(tx, by.organisation_id)
        goes_back = ended_interruptions.check_fit(tx, config, requester.user, before)
    after = replace(before, status="cancelled", cancelled_at=now)
    after = request_steps.apply(
        tx,
        "cancel",
        before,
        after,
        requester,
        by=by,
        now=now,
        why=why,
        tells_cover=not goes_back,
        fills_closures=not goes_back,
    )
    if goes_back:
        ended_interruptions.give_back(tx, requester, before, by=by, now=now)
        return after
    request_steps.notify_approvers(
        tx,
        requester.config,
        requester.user,
        [before],
        "leave_request.cancelled",
        by=by,
        now=now,
    )
    return after


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What a change would do.

    ``assessment`` and ``after``, the request with the change, are None if the dates or the type are
    invalid. ``effect`` is None then, and for days that the caller cannot change. ``refusals`` are
    the errors of all broken rules; the change raises the first.
    """

    assessment: Assessment | None
    after: LeaveRequest | None
    effect: Effect | None
    refusals: Sequence[DomainError]


def change(
    tx: Transaction,
    requester: Requester,
    before: LeaveRequest,
    draft: Draft,
    *,
    override_reason: str | None,
    warnings: list[FieldError] | None,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Apply the change at once, or request it as an amendment; the request as it is then.

    The caller has locked the request, and checked who may send an ``override_reason``. To
    ``warnings`` it adds the absence limits that are exceeded and do not refuse the change. Raises
    the first of the plan's refusals; then nothing has changed.
    """
    approvers = request_steps.approvers_of(tx, requester)
    planned = plan(
        tx,
        requester.config,
        requester.user,
        before,
        draft,
        by=by,
        has_approver=bool(approvers),
        today=requester.today,
        is_override=override_reason is not None,
        limits="locked",
    )
    if planned.refusals:
        raise planned.refusals[0]
    if planned.assessment is None or planned.after is None or planned.effect == "nothing":
        return before
    limit_checks.warn(planned.assessment.over_limits, warnings)
    after = planned.after
    if override_reason is not None:
        after = replace(after, override_reason=override_reason)
    if planned.effect == "amendment":
        assigns_cover = after.cover_user_id != before.cover_user_id
        if assigns_cover:
            # No approver has to agree with the cover. People are told with the amendment.
            with_cover = replace(before, cover_user_id=after.cover_user_id)
            before = request_steps.apply(
                tx,
                "change",
                before,
                with_cover,
                requester,
                by=by,
                now=now,
                notification="own_message.refresh",
                assigns_cover=True,
            )
        return request_amendment(
            tx,
            requester,
            before,
            after,
            approvers,
            assigns_cover=assigns_cover,
            by=by,
            now=now,
        )
    gives_back = (
        before.interrupts is not None
        and after.total_half_days < before.total_half_days
        and ended_interruptions.check_fit(tx, requester.config, requester.user, before, after)
    )
    after = request_steps.apply(
        tx,
        "change",
        before,
        after,
        requester,
        by=by,
        now=now,
        tells_cover=not gives_back or after.cover_user_id != before.cover_user_id,
        fills_closures=not gives_back,
    )
    if gives_back:
        ended_interruptions.give_back(tx, requester, before, after, by=by, now=now)
        return after
    request_steps.notify_approvers(
        tx, requester.config, requester.user, [before], "leave_request.updated", by=by, now=now
    )
    request_steps.tell_of_absence(tx, after, requester, by=by, now=now)
    return after


def plan(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    before: LeaveRequest,
    draft: Draft,
    *,
    by: Caller,
    has_approver: bool,
    today: date,
    is_override: bool = False,
    limits: LimitUse = "read",
) -> Plan:
    """Count and check the change, without storing anything; previews show the same."""
    is_by_admin = by.user_id != before.user_id
    assessment, refusals = drafts.check_all(
        tx,
        config,
        user,
        draft,
        today=today,
        replaces=before,
        is_by_admin=is_by_admin,
        is_override=is_override,
        limits=limits,
    )
    if assessment is None:
        return Plan(assessment=None, after=None, effect=None, refusals=refusals)
    after = drafts.changed_request(before, draft, assessment.counted_halves, assessment.note)
    effect: Effect | None = None
    try:
        if before.interrupts is not None:
            after = ended_interruptions.shortened(before, after)
            ended_interruptions.check_fit(tx, config, user, before, after)
        effect = lifecycle.effect_of(
            before,
            after,
            type_before=config.leave_types[before.leave_type_id],
            type_after=assessment.leave_type,
            is_by_admin=is_by_admin,
            has_approver=has_approver,
            today=today,
        )
    except DomainError as error:
        refusals = [error, *refusals]
    if before.closure_id is not None:
        return Plan(assessment=assessment, after=after, effect=None, refusals=[ClosureLeave()])
    if effect == "nothing":
        # Rules that changed since the approval do not matter.
        refusals = []
    return Plan(assessment=assessment, after=after, effect=effect, refusals=refusals)
