"""Cancels leave: at once, or by an amendment that an approver decides on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime

from storage.base.errors import InvalidInput
from storage.base.values import Caller, LeaveRequest
from storage.db.database import Transaction
from storage.directory import approvers
from storage.events import organisation_config
from storage.events.organisation_config import OrganisationConfig
from storage.leave import request_steps
from storage.leave.changes import amendment_steps
from storage.leave.interruptions import restoring
from storage.leave.request_steps import Subject
from storage.rules import changed_leave
from storage.rules.changed_leave import CancelEffect


def cancel(
    tx: Transaction, subject: Subject, before: LeaveRequest, *, by: Caller, now: datetime
) -> LeaveRequest:
    """Cancel the leave, or request it as an amendment; the request as it is then.

    The caller has locked the request and checked who cancels it. Raises InvalidInput ``past_days``
    and the errors of ``carry_out``; then nothing has changed.
    """
    deciders = []
    is_own = by.user_id == before.user_id
    if is_own and before.status == "approved":
        deciders = request_steps.approvers_of(tx, subject)
    effect = changed_leave.cancel_effect(
        before,
        subject.config.leave_types[before.leave_type_id],
        is_own=is_own,
        has_approver=bool(deciders),
        today=subject.today,
    )
    if effect == "at_once":
        return carry_out(tx, subject, before, by=by, now=now)
    return amendment_steps.request(
        tx, subject, before, before, deciders, cancels=True, by=by, now=now
    )


def carry_out(
    tx: Transaction,
    subject: Subject,
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
        goes_back = restoring.check_fit(tx, config, subject.user, before)
    after = replace(before, status="cancelled", cancelled_at=now)
    after = request_steps.apply(
        tx, "cancel", before, after, subject, by=by, now=now, why=why, tells_cover=not goes_back
    )
    if goes_back:
        restoring.give_back(tx, subject, before, by=by, now=now)
        return after
    request_steps.notify_approvers(
        tx,
        subject.config,
        subject.user,
        [before],
        "leave_request.cancelled",
        by=by,
        now=now,
    )
    return after


def offered(
    tx: Transaction,
    config: OrganisationConfig,
    requests: Iterable[LeaveRequest],
    user_id: str,
    today: date,
) -> Mapping[str, CancelEffect]:
    """What cancelling does to each of a person's own requests; without those they cannot cancel."""
    booked = [request for request in requests if request.status in ("pending", "approved")]
    # Approvers matter only where the answer depends on them.
    has_approver = any(
        request.status == "approved"
        and (
            changed_leave.has_begun(request, today)
            or config.leave_types[request.leave_type_id].changes_need_approval
        )
        for request in booked
    ) and bool(approvers.of_person(tx, config.organisation.id, user_id, today=today))
    effects: dict[str, CancelEffect] = {}
    for request in booked:
        try:
            effects[request.id] = changed_leave.cancel_effect(
                request,
                config.leave_types[request.leave_type_id],
                is_own=True,
                has_approver=has_approver,
                today=today,
            )
        except InvalidInput:
            continue
    return effects
