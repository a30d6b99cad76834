"""Gives the days of an interruption back to the leave that it interrupted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Final

from peewee import Select

from storage.base.errors import DaysNoLongerFit, InsufficientAllowance, InvalidInput
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, User
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.db.tables import LeaveRequestRow
from storage.leave import drafts, interruptions, leave_balances, leave_rows, request_steps
from storage.leave.request_steps import Requester
from storage.outbox import audit
from storage.outbox.organisation_config import OrganisationConfig
from storage.rules import counted_days, leave_parts, request_rules
from storage.rules.leave_parts import Part

_DAY: Final = timedelta(days=1)


def shortened(before: LeaveRequest, after: LeaveRequest) -> LeaveRequest:
    """A changed interruption, whose halves count as they did.

    Raises InvalidInput ``interruption_extended`` for another type and for halves that it did not
    have, or ``no_working_time``.
    """
    span_before, span = counted_days.span_of(before), counted_days.span_of(after)
    if after.leave_type_id != before.leave_type_id:
        raise _extended("leave_type_id")
    if span.first_slot < span_before.first_slot:
        raise _extended("start_date")
    if span.last_slot > span_before.last_slot:
        raise _extended("end_date")
    _, kept, _ = leave_parts.cut(leave_parts.of_request(before), span)
    if kept is None:
        raise request_rules.no_working_time()
    return leave_parts.with_part(after, replace(kept, span=span))


def check_fit(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    before: LeaveRequest,
    after: LeaveRequest | None = None,
) -> bool:
    """Check that the halves which an interruption gives up fit where they came from.

    ``after`` is the shortened interruption; None if it is cancelled. False if nothing goes back:
    the leave was declined since, or every part of it was cancelled or moved. Raises
    OverlappingLeave or DaysNoLongerFit.
    """
    interrupted = _interrupted_by(tx, config.organisation.id, before)
    if interrupted.status == "declined" or not _is_in_place(tx, config, interrupted, before):
        return False
    drawn_on = leave_balances.allowance_of(config, before)
    if drawn_on is not None and drawn_on == leave_balances.allowance_of(config, interrupted):
        return True  # These halves are already deducted from the allowance.
    try:
        drafts.check_other_leave(
            tx,
            config,
            user,
            config.leave_types[interrupted.leave_type_id],
            counted_days.span_of(before),
            _given_up(before, after),
            before.id,
            is_override=interrupted.override_reason is not None,
        )
    except InsufficientAllowance as refusal:
        raise DaysNoLongerFit(refusal) from refusal
    return True


def give_back(
    tx: Transaction,
    requester: Requester,
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
                if leave_parts.adjoin(leave_parts.of_request(request).span, part.span)
            ),
            None,
        )
        if adjoining is None:
            interruptions.book_part(tx, interrupted, part, requester, why, by=by, now=now)
            continue
        joined = leave_parts.join(leave_parts.of_request(adjoining), part)
        request_steps.apply(
            tx,
            "interrupt",
            adjoining,
            leave_parts.with_part(adjoining, joined),
            requester,
            by=by,
            now=now,
            why=why,
            notification="own_message.refresh",
            tells_cover=False,
        )
    interruptions.notify_approvers(
        tx, "leave_request.interruption_ended", interrupted, before, requester, by=by, now=now
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
    whole = leave_parts.of_request(before)
    if after is None:
        return [whole]
    head, _, tail = leave_parts.cut(whole, counted_days.span_of(after))
    return [part for part in (head, tail) if part is not None]


def _interrupted_by(
    tx: Transaction, organisation_id: str, interruption: LeaveRequest
) -> LeaveRequest:
    interrupted = leave_rows.find(tx, organisation_id, str(interruption.interrupts))
    if interrupted is None:
        raise RuntimeError(f"The leave that {interruption.id} interrupts is missing.")
    return interrupted


def _is_in_place(
    tx: Transaction,
    config: OrganisationConfig,
    interrupted: LeaveRequest,
    interruption: LeaveRequest,
) -> bool:
    """Whether a part of the leave is where it was, or interruptions took all of it."""
    organisation_id = config.organisation.id
    parents = _parents(tx, organisation_id, interrupted.user_id)
    whole = _whole(interrupted.id, parents)
    part_ids = {whole, *(each for each in parents if _whole(each, parents) == whole)}
    family = [
        rows.leave_request(row)
        for row in tx.select(LeaveRequestRow, organisation_id=organisation_id, id=sorted(part_ids))
    ]
    if any(
        leave_rows.cancelled_because(tx, organisation_id, part) == "interrupted"
        for part in family
        if part.status == "cancelled"
    ):
        return True
    approved = [part for part in family if part.status == "approved"]
    if not approved:
        return False
    first_day, last_day = _dates_when_interrupted(tx, organisation_id, whole)
    first_day = min(first_day, interruption.start_date)
    last_day = max(last_day, interruption.end_date)
    return any(part.start_date <= last_day and part.end_date >= first_day for part in approved)


def _dates_when_interrupted(
    tx: Transaction, organisation_id: str, request_id: str
) -> tuple[date, date]:
    """The first and last day of leave before its first interruption, from the audit trail."""
    by = Caller.system(organisation_id, "scheduler")
    # Newest first; no leave is changed a hundred times.
    entries = audit.entries(tx, PageOf(limit=100), by=by, subject_id=request_id).items
    days: dict[str, date] = {}
    for entry in reversed(entries):
        if entry.changes.get("why", {}).get("after") == "interrupted":
            break
        for name in ("start_date", "end_date"):
            # Entries of amendments have the proposed dates.
            if name in entry.changes and ".amendment_" not in entry.action:
                days[name] = date.fromisoformat(str(entry.changes[name]["after"]))
    return days.get("start_date", date.max), days.get("end_date", date.min)


def _parents(tx: Transaction, organisation_id: str, user_id: str) -> Mapping[str, str]:
    """What each part of the person's leave was split from."""
    splits = tx.all(_split, organisation_id=organisation_id, user_id=user_id)
    return {split.id: split.split_from for split in splits}


def _whole(request_id: str, parents: Mapping[str, str]) -> str:
    """The request from which all parts were split."""
    while request_id in parents:
        request_id = parents[request_id]
    return request_id


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
    parents = _parents(tx, by.organisation_id, interrupted.user_id)
    own = [
        request
        for request in map(rows.leave_request, near)
        if _whole(request.id, parents) == _whole(interrupted.id, parents)
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
