"""Gives the days of an interruption back to the leave that it interrupted."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from peewee import Select

from storage.base.errors import DaysNoLongerFit, InsufficientAllowance, InvalidInput
from storage.base.values import Caller, LeaveRequest, User
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow
from storage.events.organisation_config import OrganisationConfig
from storage.leave import drafts, leave_rows, request_steps
from storage.leave.interruptions import interrupting, notifying, parts
from storage.leave.interruptions.parts import Part
from storage.leave.request_steps import Subject
from storage.rules import request_rules, spans

_DAY: Final = timedelta(days=1)


def shortened(before: LeaveRequest, after: LeaveRequest) -> LeaveRequest:
    """A changed interruption, whose halves count as they did.

    Raises InvalidInput ``interruption_extended`` for another type and for halves that it did not
    have, or ``no_working_time``.
    """
    span_before, span = spans.of_request(before), spans.of_request(after)
    if after.leave_type_id != before.leave_type_id:
        raise _extended("leave_type_id")
    if span.first_slot < span_before.first_slot:
        raise _extended("start_date")
    if span.last_slot > span_before.last_slot:
        raise _extended("end_date")
    _, kept, _ = parts.cut(parts.of_request(before), span)
    if kept is None:
        raise request_rules.no_working_time()
    return parts.with_part(after, replace(kept, span=span))


def check_fit(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    before: LeaveRequest,
    after: LeaveRequest | None = None,
) -> bool:
    """Check that the halves which an interruption gives up fit where they came from.

    ``after`` is the shortened interruption; None if it is cancelled. False if leave that was
    declined since gets nothing back. Raises OverlappingLeave or DaysNoLongerFit.
    """
    interrupted = _interrupted_by(tx, config.organisation.id, before)
    if interrupted.status == "declined":
        return False
    if config.leave_types[before.leave_type_id].deducts_allowance:
        return True  # These halves are already deducted from the allowance.
    try:
        drafts.check_other_leave(
            tx,
            config,
            user,
            config.leave_types[interrupted.leave_type_id],
            spans.of_request(before),
            _given_up(before, after),
            before.id,
            is_override=interrupted.override_reason is not None,
        )
    except InsufficientAllowance as refusal:
        raise DaysNoLongerFit(refusal) from refusal
    return True


def give_back(
    tx: Transaction,
    subject: Subject,
    before: LeaveRequest,
    after: LeaveRequest | None = None,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Give back the halves that an interruption gave up.

    They join an adjoining part of the leave, else they become a new request. The caller has locked
    the requester, found with ``check_fit`` that they go back, and saved ``after``; None for a
    cancelled interruption.
    """
    freed = _freed(before, after)
    if not freed:
        return
    interrupted = _interrupted_by(tx, by.organisation_id, before)
    why = "interruption_cancelled" if after is None else "interruption_shortened"
    near = _near_parts(tx, interrupted, before, by)
    for part in freed:
        adjoining = next(
            (
                request
                for request in near
                if parts.adjoin(parts.of_request(request).span, part.span)
            ),
            None,
        )
        if adjoining is None:
            interrupting.book_part(tx, interrupted, part, subject, why, by=by, now=now)
            continue
        joined = parts.join(parts.of_request(adjoining), part)
        request_steps.apply(
            tx,
            "interrupt",
            adjoining,
            parts.with_part(adjoining, joined),
            subject,
            by=by,
            now=now,
            why=why,
            notification="own_message.refresh",
            tells_cover=False,
        )
    notifying.notify_approvers(
        tx, "leave_request.interruption_ended", interrupted, before, subject, by=by, now=now
    )


def _extended(field: str) -> InvalidInput:
    return InvalidInput.of(
        field,
        "interruption_extended",
        "Leave that replaces other leave can only be shortened.",
    )


def _given_up(before: LeaveRequest, after: LeaveRequest | None) -> str:
    """The counted halves of the interruption's dates that it gives up."""
    if after is None:
        return before.counted_halves
    days_before_after = (after.start_date - before.start_date).days
    kept = ("0" * days_before_after + after.counted_halves).ljust(len(before.counted_halves), "0")
    return "".join(
        str(int(mask) & ~int(kept_mask))
        for mask, kept_mask in zip(before.counted_halves, kept, strict=True)
    )


def _freed(before: LeaveRequest, after: LeaveRequest | None) -> list[Part]:
    whole = parts.of_request(before)
    if after is None:
        return [whole]
    head, _, tail = parts.cut(whole, spans.of_request(after))
    return [part for part in (head, tail) if part is not None]


def _interrupted_by(
    tx: Transaction, organisation_id: str, interruption: LeaveRequest
) -> LeaveRequest:
    interrupted = leave_rows.find(tx, organisation_id, str(interruption.interrupts))
    if interrupted is None:
        raise RuntimeError(f"The leave that {interruption.id} interrupts is missing.")
    return interrupted


def _near_parts(
    tx: Transaction, interrupted: LeaveRequest, interruption: LeaveRequest, by: Caller
) -> list[LeaveRequest]:
    """The approved parts of the interrupted leave next to the interruption: itself first."""
    near = tx.all(
        _near,
        organisation_id=by.organisation_id,
        user_id=interrupted.user_id,
        leave_type_id=interrupted.leave_type_id,
        first_day=(interruption.start_date - _DAY).isoformat(),
        last_day=(interruption.end_date + _DAY).isoformat(),
    )
    if not near:
        return []
    splits = tx.all(_split, organisation_id=by.organisation_id, user_id=interrupted.user_id)
    parents: dict[str, str] = {split.id: split.split_from for split in splits}

    def whole(request_id: str) -> str:
        """The request from which all parts were split."""
        while request_id in parents:
            request_id = parents[request_id]
        return request_id

    own = [
        request
        for request in map(rows.leave_request, near)
        if whole(request.id) == whole(interrupted.id)
    ]
    return sorted(own, key=lambda request: (request.id != interrupted.id, request.start_date))


@compiled
def _near(
    organisation_id: Param[str],
    user_id: Param[str],
    leave_type_id: Param[str],
    first_day: Param[str],
    last_day: Param[str],
) -> Select:
    leave = LeaveRequestRow
    return leave.select(*rows.LEAVE_REQUEST).where(
        leave.organisation_id == organisation_id,
        leave.user_id == user_id,
        leave.leave_type_id == leave_type_id,
        leave.status == "approved",
        leave.end_date >= first_day,
        leave.start_date <= last_day,
    )


@compiled
def _split(organisation_id: Param[str], user_id: Param[str]) -> Select:
    """A person's parts of leave and what they were split from."""
    leave = LeaveRequestRow
    return leave.select(leave.id, leave.split_from).where(
        leave.organisation_id == organisation_id,
        leave.user_id == user_id,
        leave.split_from.is_null(False),
    )
