"""Books leave in place of approved leave: sick leave for the days on which a person fell ill."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final, Literal

from storage.base import texts
from storage.base.errors import InsufficientRole, InvalidInput, LeaveTypeNotRecordable
from storage.base.ids import new_id
from storage.base.leave_values import LeaveRequest, LeaveType
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.leave import bookings, drafts, leave_balances, limit_checks, request_steps
from storage.leave.bookings import BookedLeave
from storage.leave.drafts import Draft
from storage.leave.request_steps import Requester
from storage.outbox import notification_outbox
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approvers, employment_by_date
from storage.rules import counted_days, leave_parts, lifecycle, request_rules, roles
from storage.rules.counted_days import Span
from storage.rules.leave_parts import Part


def notify_approvers(
    tx: Transaction,
    event: Literal["leave_request.interrupted", "leave_request.interruption_ended"],
    interrupted: LeaveRequest,
    interruption: LeaveRequest,
    requester: Requester,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Notify the current approvers, except the actor, unless the leave never needed an approval.

    Then they are told of the interruption as of other leave that is approved at once. A former
    approver is not notified: they may not see the type of the interruption.
    """
    leave_type = requester.config.leave_types[interrupted.leave_type_id]
    if interrupted.decided_by is None and not leave_type.requires_approval:
        request_steps.tell_of_absence(tx, interruption, requester, by=by, now=now)
        return
    recipients = {user.id for user in request_steps.card_recipients(tx, requester)} - {by.user_id}
    if recipients:
        notification_outbox.notify_approvers(
            tx,
            event,
            {interruption.id: recipients},
            organisation_id=by.organisation_id,
            now=now,
        )


def types_for(config: OrganisationConfig, leave_type_id: str) -> list[LeaveType]:
    """The types that can replace leave of a type, by name."""
    return sorted(
        (
            leave_type
            for leave_type in config.leave_types.values()
            if leave_type.may_interrupt
            and not leave_type.is_archived
            and leave_type.id != leave_type_id
        ),
        key=lambda leave_type: (leave_type.name.casefold(), leave_type.id),
    )


def can_be_interrupted(config: OrganisationConfig, request: LeaveRequest, today: date) -> bool:
    """Whether the request is approved leave, soon begins or has begun, and interrupts none."""
    return (
        request.status == "approved"
        and request.interrupts is None
        and request.start_date <= today + lifecycle.INTERRUPTION_OFFERED_BEFORE
        and bool(types_for(config, request.leave_type_id))
    )


def interrupted_by(
    tx: Transaction, config: OrganisationConfig, span: Span, leave_type_id: str, *, user_id: str
) -> BookedLeave | None:
    """The person's approved leave in which leave of a type would be an interruption."""
    booked = bookings.of_person(tx, config.organisation.id, user_id, span.start_date, span.end_date)
    return next(
        (
            leave
            for leave in booked.leave
            if leave.status == "approved"
            and leave_type_id in {each.id for each in types_for(config, leave.leave_type_id)}
            and counted_days.lies_within(span, leave.span)
        ),
        None,
    )


# How far back people interrupt their own leave.
MAX_AGE: Final = timedelta(days=31)


@dataclass(frozen=True, kw_only=True, slots=True)
class Interrupted:
    """``request`` is what is left of the leave, or cancelled when nothing is.

    ``remainder`` is the part after an interruption in the middle, else None.
    """

    request: LeaveRequest
    interruption: LeaveRequest
    remainder: LeaveRequest | None


def interrupt(
    tx: Transaction, request_id: str, draft: Draft, *, by: Caller, now: datetime
) -> Interrupted:
    """Book the draft for halves of approved leave, which leaves the request; approved at once.

    By the leave's owner; for others by admins and owners, and by the person's approvers if they
    may record the draft's leave type. Raises NotFound, InsufficientRole, LeaveTypeNotRecordable,
    InvalidTransition, InsufficientAllowance (for a type that deducts, in place of one that does
    not) or InvalidInput: ``leave_type_cannot_interrupt``, ``same_leave_type``, ``outside_leave``,
    ``past_days``, ``no_working_time`` and those of the type's rules; then nothing has changed.
    """
    requester, before = request_steps.lock_request(tx, request_id, by=by, now=now, is_counting=True)
    _check_caller(tx, before, by=by, today=requester.today)
    request_steps.check_transition(tx, "interrupt", before, by)
    leave_type = _interrupting_type(requester, before, draft, by=by)
    span = counted_days.requested_span(
        draft.start_date, draft.end_date, draft.start_half_day, draft.end_half_day
    )
    _check_inside(span, before)
    _check_reach(tx, requester, before, span, by=by)
    earlier, taken, later = leave_parts.cut(leave_parts.of_request(before), span)
    if taken is None:
        raise request_rules.no_working_time()
    note = texts.optional_text(draft.note, "note", drafts.MAX_NOTE_LENGTH)
    day_counts = employment_by_date.count(requester.config, requester.user, span)
    request_rules.check_type_rules(leave_type, span, day_counts, note, requester.today)
    drawn_on = requester.config.allowance_of(leave_type.id, taken.span.start_date)
    if drawn_on is not None and drawn_on != leave_balances.allowance_of(requester.config, before):
        drafts.check_other_leave(
            tx,
            requester.config,
            requester.user,
            leave_type,
            taken.span,
            taken.counted_halves,
            before.id,
        )
    halves = limit_checks.added(
        requester.config, leave_type, taken.span.start_date, taken.counted_halves, before
    )
    limit_checks.check(
        limit_checks.exceeded(tx, requester.config, requester.user, halves, "locked")
    )
    request = _left_of(tx, before, earlier or later, requester, by=by, now=now)
    remainder = None
    if earlier is not None and later is not None:
        remainder = book_part(tx, before, later, requester, "split", by=by, now=now)
    interruption = _book(tx, before, leave_type, taken, note, requester, by=by, now=now)
    notify_approvers(
        tx, "leave_request.interrupted", before, interruption, requester, by=by, now=now
    )
    return Interrupted(request=request, interruption=interruption, remainder=remainder)


def book_part(
    tx: Transaction,
    leave: LeaveRequest,
    part: Part,
    requester: Requester,
    why: str,
    *,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Book a part of approved leave as a request of its own, approved as the leave was."""
    request = replace(
        leave_parts.with_part(leave, part),
        id=new_id(now),
        status="pending",
        split_from=leave.id,
        cancelled_at=None,
        created_at=now,
        updated_at=now,
        version=1,
    )
    request_steps.add(tx, request, requester, by=by, now=now)
    return request_steps.apply(
        tx,
        "approve",
        request,
        replace(request, status="approved"),
        requester,
        by=by,
        now=now,
        why=why,
        is_new=True,
        notification="own_message.refresh",
        tells_cover=False,
    )


def _left_of(
    tx: Transaction,
    before: LeaveRequest,
    part: Part | None,
    requester: Requester,
    *,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Shorten the request to the part; cancel it if there is none."""
    if part is None:
        after = replace(before, status="cancelled", cancelled_at=now)
    else:
        after = leave_parts.with_part(before, part)
    return request_steps.apply(
        tx,
        "cancel" if part is None else "interrupt",
        before,
        after,
        requester,
        by=by,
        now=now,
        why="interrupted",
        notification="own_message.refresh",
        tells_cover=False,
        # The interruption takes them.
        fills_closures=False,
    )


def _book(
    tx: Transaction,
    interrupted: LeaveRequest,
    leave_type: LeaveType,
    taken: Part,
    note: str | None,
    requester: Requester,
    *,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    recorder_id = None if by.user_id == interrupted.user_id else by.user_id
    request = LeaveRequest(
        id=new_id(now),
        user_id=interrupted.user_id,
        leave_type_id=leave_type.id,
        status="pending",
        start_date=taken.span.start_date,
        end_date=taken.span.end_date,
        start_half_day=taken.span.start_half_day,
        end_half_day=taken.span.end_half_day,
        total_half_days=taken.half_days,
        counted_halves=taken.counted_halves,
        note=note,
        created_at=now,
        updated_at=now,
        version=1,
        recorded_by=recorder_id,
        interrupts=interrupted.id,
        # They cover the same days as before, so they are not told.
        cover_user_id=interrupted.cover_user_id,
    )
    request_steps.add(tx, request, requester, by=by, now=now)
    approved = replace(request, status="approved", decided_by=recorder_id, decided_at=now)
    return request_steps.apply(
        tx,
        "approve",
        request,
        approved,
        requester,
        by=by,
        now=now,
        why="interruption",
        is_new=True,
        tells_cover=False,
    )


def _check_caller(tx: Transaction, request: LeaveRequest, *, by: Caller, today: date) -> None:
    """Raises InsufficientRole for callers who can only see the request."""
    if by.user_id is None:
        raise InsufficientRole("member")
    if by.user_id == request.user_id or by.is_admin:
        return
    if not approvers.is_approver_of(
        tx, by.organisation_id, request.user_id, approver_id=by.user_id, today=today
    ):
        raise InsufficientRole("admin")


def _interrupting_type(
    requester: Requester, before: LeaveRequest, draft: Draft, *, by: Caller
) -> LeaveType:
    leave_type = drafts.leave_type_of(requester.config, draft)
    if by.user_id != before.user_id and not roles.may_record_type(leave_type, by=by):
        raise LeaveTypeNotRecordable(leave_type.type_name)
    if not leave_type.may_interrupt:
        raise InvalidInput.of(
            "leave_type_id",
            "leave_type_cannot_interrupt",
            "{leave_type} cannot replace leave that is already booked.",
            leave_type=leave_type.type_name,
        )
    if leave_type.id == before.leave_type_id:
        raise InvalidInput.of(
            "leave_type_id",
            "same_leave_type",
            "This leave is already {leave_type}.",
            leave_type=leave_type.type_name,
        )
    return leave_type


def _check_reach(
    tx: Transaction, requester: Requester, leave: LeaveRequest, span: Span, *, by: Caller
) -> None:
    """Raises InvalidInput ``past_days`` for one's own leave of more than 31 days ago.

    Unless no other person could book it.
    """
    earliest = requester.today - MAX_AGE
    if by.user_id != leave.user_id or span.start_date >= earliest:
        return
    if request_steps.approvers_of(tx, requester):
        raise InvalidInput.of(
            "start_date",
            "past_days",
            "You can book this from {earliest} on. Ask an admin to book earlier days.",
            earliest=earliest,
        )


def _check_inside(span: Span, leave: LeaveRequest) -> None:
    """Raises InvalidInput ``outside_leave`` at the first date or half outside."""
    within = counted_days.span_of(leave)
    if not within.first_slot <= span.first_slot <= within.last_slot:
        edge = leave.start_date if span.first_slot < within.first_slot else leave.end_date
        field = "start_half_day" if span.start_date == edge else "start_date"
    elif span.last_slot > within.last_slot:
        field = "end_half_day" if span.end_date == leave.end_date else "end_date"
    else:
        return
    raise InvalidInput.of(
        field,
        "outside_leave",
        "Choose days of the leave: {first_day} to {last_day}.",
        first_day=leave.start_date,
        last_day=leave.end_date,
    )
