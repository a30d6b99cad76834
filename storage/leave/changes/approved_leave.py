"""Changes of approved leave, by its owner or by admins and owners of the organisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from storage.base.errors import DomainError
from storage.base.values import Caller, LeaveRequest, User
from storage.db.database import Transaction
from storage.events.organisation_config import OrganisationConfig
from storage.leave import absence_notices, drafts, request_steps
from storage.leave.changes import amendment_steps
from storage.leave.drafts import Assessment, Draft
from storage.leave.interruptions import restoring
from storage.leave.request_steps import Subject
from storage.rules import changed_leave
from storage.rules.changed_leave import Effect


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
    subject: Subject,
    before: LeaveRequest,
    draft: Draft,
    *,
    override_reason: str | None,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Apply the change at once, or request it as an amendment; the request as it is then.

    The caller has locked the request, and checked who may send an ``override_reason``. Raises the
    first of the plan's refusals; then nothing has changed.
    """
    approvers = request_steps.approvers_of(tx, subject)
    planned = plan(
        tx,
        subject.config,
        subject.user,
        before,
        draft,
        by=by,
        has_approver=bool(approvers),
        today=subject.today,
        is_override=override_reason is not None,
    )
    if planned.refusals:
        raise planned.refusals[0]
    if planned.after is None or planned.effect == "nothing":
        return before
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
                subject,
                by=by,
                now=now,
                notification="own_message.refresh",
                assigns_cover=True,
            )
        return amendment_steps.request(
            tx,
            subject,
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
        and restoring.check_fit(tx, subject.config, subject.user, before, after)
    )
    after = request_steps.apply(
        tx,
        "change",
        before,
        after,
        subject,
        by=by,
        now=now,
        tells_cover=not gives_back or after.cover_user_id != before.cover_user_id,
    )
    if gives_back:
        restoring.give_back(tx, subject, before, after, by=by, now=now)
        return after
    request_steps.notify_approvers(
        tx, subject.config, subject.user, [before], "leave_request.updated", by=by, now=now
    )
    absence_notices.enqueue(tx, after, subject, by=by, now=now)
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
) -> Plan:
    """Count and check the change, without storing anything; previews show the same."""
    is_by_admin = by.user_id != before.user_id
    assessment, refusals = drafts.examine(
        tx,
        config,
        user,
        draft,
        today=today,
        replaces=before,
        is_by_admin=is_by_admin,
        is_override=is_override,
    )
    if assessment is None:
        return Plan(assessment=None, after=None, effect=None, refusals=refusals)
    after = drafts.changed_request(before, draft, assessment.counted_halves, assessment.note)
    effect: Effect | None = None
    try:
        if before.interrupts is not None:
            after = restoring.shortened(before, after)
            restoring.check_fit(tx, config, user, before, after)
        effect = changed_leave.effect_of(
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
    if effect == "nothing":
        # Rules that changed since the approval do not matter.
        refusals = []
    return Plan(assessment=assessment, after=after, effect=effect, refusals=refusals)
