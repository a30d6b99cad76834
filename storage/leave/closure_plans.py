"""The leave of one person that a closure should book, worked out from what is booked.

It is cut from the closure as ``storage/rules/closure_days.py`` says. ``closure_leave`` reads what
this needs, and writes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final

from storage.base.errors import DomainError
from storage.base.ids import new_id
from storage.base.leave_values import Closure, ClosureEffect, LeaveRequest
from storage.base.values import Caller, User, local_day
from storage.leave import drafts, leave_balances
from storage.leave.bookings import BookedLeave, Bookings
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date
from storage.rules import (
    closure_days,
    counted_days,
    employment_terms,
    leave_parts,
    request_rules,
)
from storage.rules.counted_days import Span
from storage.rules.year_balances import Deduction

_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """``extends`` as in ``closure_days.plan``; ``is_rebooked`` checks the whole leave again, not
    only what is added to it."""

    config: OrganisationConfig
    by: Caller
    now: datetime
    extends: bool
    is_rebooked: bool = False

    @property
    def today(self) -> date:
        return local_day(self.now, self.config.organisation.timezone)


def planned(
    task: Task,
    closure: Closure,
    user: User,
    existing: Sequence[LeaveRequest],
    others: Sequence[LeaveRequest],
    booked: Bookings,
    *,
    is_open: bool,
) -> ClosureEffect | None:
    """None if the person's leave stays as it is. A cancelled request counts nothing."""
    days = _open_days(closure, user, task.today) if is_open else set()
    after = _after(task, closure, user, existing, others, days)
    is_skipped = False
    if _half_days(after) > (0 if task.is_rebooked else _half_days(existing)) and _is_short(
        task.config, closure, user, after, _other_leave(booked, existing, others), booked
    ):
        is_skipped = task.is_rebooked
        after = list(existing)
        if is_skipped:
            after = _after(task, closure, user, existing, others, set())
    replaced, replaced_after = _replaced(task, closure, after, others)
    if list(after) == list(existing) and not is_skipped:
        return None
    return ClosureEffect(
        user=user,
        before=tuple(existing),
        after=tuple(after),
        is_skipped=is_skipped,
        replaced=replaced,
        replaced_after=replaced_after,
    )


def _gives_way(task: Task, closure: Closure, request: LeaveRequest) -> bool:
    """Whether the closure takes days of this leave: of work elsewhere, which is no time off."""
    types = task.config.leave_types
    return (
        request.status == "approved"
        and request.closure_id is None
        and request.interrupts is None
        and types[closure.leave_type_id].is_away
        and not types[request.leave_type_id].is_away
    )


def _replaced(
    task: Task, closure: Closure, booked: Iterable[LeaveRequest], others: Iterable[LeaveRequest]
) -> tuple[tuple[LeaveRequest, ...], tuple[LeaveRequest, ...]]:
    """Work elsewhere on days that are booked: as it is, and what is left of it."""
    spans = [counted_days.span_of(each) for each in booked if each.status == "approved"]
    replaced: list[LeaveRequest] = []
    left: list[LeaveRequest] = []
    for request in others:
        taken = [
            span for span in spans if counted_days.overlaps(span, counted_days.span_of(request))
        ]
        if not taken or not _gives_way(task, closure, request):
            continue
        replaced.append(request)
        ended = replace(request, amendment_id=None)
        parts = leave_parts.without(leave_parts.of_request(request), taken)
        if not parts:
            left.append(_next(task, ended, status="cancelled", cancelled_at=task.now))
            continue
        left.append(_next(task, leave_parts.with_part(ended, parts[0])))
        left += [
            replace(
                leave_parts.with_part(ended, part),
                id=new_id(task.now),
                split_from=request.id,
                created_at=task.now,
                updated_at=task.now,
                version=1,
            )
            for part in parts[1:]
        ]
    return tuple(replaced), tuple(left)


def _half_days(requests: Iterable[LeaveRequest]) -> int:
    return sum(each.total_half_days for each in requests if each.status == "approved")


def _open_days(closure: Closure, user: User, today: date) -> set[date]:
    """The days from today on on which the closure is for the person."""
    if user.status == "archived" or user.id in closure.excluded_user_ids:
        return set()
    periods = employment_terms.periods_of(user)
    first_day = max(closure.start_date, today)
    length = (closure.end_date - first_day).days + 1
    return {
        day
        for day in (first_day + timedelta(days=number) for number in range(length))
        if employment_terms.includes(periods, day)
        and (
            closure.department_id is None
            or employment_by_date.of_day(user, day).department_id == closure.department_id
        )
    }


def _after(
    task: Task,
    closure: Closure,
    user: User,
    existing: Sequence[LeaveRequest],
    others: Sequence[LeaveRequest],
    days: Collection[date],
) -> list[LeaveRequest]:
    """The existing requests as they should be, in their order, and new ones."""
    span, today = counted_days.span_of(closure), task.today
    free, counted, worked = set[int](), dict[date, int](), set[int]()
    if days:
        counts = employment_by_date.count(task.config, user, span)
        counted = {count.date: count.counted for count in counts}
        worked = closure_days.worked_slots(counts)
        off = [counted_days.span_of(each) for each in others if not _gives_way(task, closure, each)]
        free = closure_days.free_slots(span, off, today, days)
    after: dict[str, LeaveRequest] = {}
    of_type: list[LeaveRequest] = []
    for request in existing:
        if request.leave_type_id != closure.leave_type_id and request.start_date < today:
            # Days that have passed keep their type; what follows becomes leave of its own.
            past = Span(
                start_date=request.start_date,
                end_date=min(request.end_date, today - _DAY),
                start_half_day=request.start_half_day,
            )
            after[request.id] = _with_span(task, request, past, {})
        else:
            of_type.append(request)
    planned = closure_days.plan(
        free, worked, list(map(counted_days.span_of, of_type)), today, extends=task.extends
    )
    new: list[LeaveRequest] = []
    for booking in planned:
        if booking.existing is None:
            if booking.span is not None:
                new.append(_new(task, closure, user, booking.span, counted))
            continue
        request = of_type[booking.existing]
        if booking.span is None:
            after[request.id] = _next(task, request, status="cancelled", cancelled_at=task.now)
        else:
            typed = replace(request, leave_type_id=closure.leave_type_id)
            changed = _with_span(task, typed, booking.span, counted)
            after[request.id] = changed if _differ(request, changed) else request
    return [*(after[request.id] for request in existing), *new]


def _differ(before: LeaveRequest, after: LeaveRequest) -> bool:
    """Whether more differs than the version."""
    return replace(before, version=0, updated_at=after.updated_at) != replace(after, version=0)


def _next(task: Task, request: LeaveRequest, **changes: Any) -> LeaveRequest:
    return replace(request, updated_at=task.now, version=request.version + 1, **changes)


def _with_span(
    task: Task, request: LeaveRequest, span: Span, counted: Mapping[date, int]
) -> LeaveRequest:
    """The request with another span; days before today keep their count."""
    halves = []
    for number in range((span.end_date - span.start_date).days + 1):
        day = span.start_date + timedelta(days=number)
        index = (day - request.start_date).days
        mask = int(request.counted_halves[index]) if day < task.today else counted.get(day, 0)
        halves.append(str(mask & counted_days.requested_halves(span, day)))
    counted_halves = "".join(halves)
    return _next(
        task,
        request,
        start_date=span.start_date,
        end_date=span.end_date,
        start_half_day=span.start_half_day,
        end_half_day=span.end_half_day,
        counted_halves=counted_halves,
        total_half_days=counted_days.total_half_days(counted_halves),
    )


def _new(
    task: Task, closure: Closure, user: User, span: Span, counted: Mapping[date, int]
) -> LeaveRequest:
    request = LeaveRequest(
        id=new_id(task.now),
        user_id=user.id,
        leave_type_id=closure.leave_type_id,
        status="approved",
        start_date=span.start_date,
        end_date=span.end_date,
        start_half_day=None,
        end_half_day=None,
        total_half_days=0,
        counted_halves="",
        note=None,
        decided_at=task.now,
        created_at=task.now,
        updated_at=task.now,
        # Created, and approved at once.
        version=1,
        closure_id=closure.id,
    )
    return _with_span(task, request, span, counted)


def _is_short(
    config: OrganisationConfig,
    closure: Closure,
    user: User,
    after: Sequence[LeaveRequest],
    others: Sequence[BookedLeave | LeaveRequest],
    booked: Bookings,
) -> bool:
    """Whether the person has too little left for the leave, if the closure asks for that."""
    leave_type = config.leave_types[closure.leave_type_id]
    if closure.when_short == "overdraft" or leave_type.allow_overdraft:
        return False
    live = [each for each in after if each.status == "approved"]
    try:
        for allowance_id in {leave_balances.allowance_of(config, each) for each in live} - {None}:
            assert allowance_id is not None
            requested = _together(
                [each for each in live if leave_balances.allowance_of(config, each) == allowance_id]
            )
            account = leave_balances.account_of(config, user, booked, allowance_id)
            request_rules.check_available(
                account.terms_on(requested.start_date),
                employment_terms.periods_of(user),
                requested.start_date,
            )
            drafts.check_allowance(
                leave_type,
                account,
                leave_balances.deductions(config, others, allowance_id),
                requested,
                None,
            )
    except DomainError:
        return True
    return False


def _other_leave(
    booked: Bookings, existing: Iterable[LeaveRequest], others: Iterable[LeaveRequest]
) -> list[BookedLeave | LeaveRequest]:
    """All other leave of the person, with what was planned for other closures meanwhile."""
    own_ids = {request.id for request in existing}
    planned = {request.id: request for request in others}
    stored = {each.id: each for each in booked.leave if each.id not in own_ids}
    return [*(stored | planned).values()]


def _together(requests: Sequence[LeaveRequest]) -> Deduction:
    """What these requests deduct, as one."""
    first_day = min(request.start_date for request in requests)
    last_day = max(request.end_date for request in requests)
    masks = [0] * ((last_day - first_day).days + 1)
    for request in requests:
        offset = (request.start_date - first_day).days
        for number, digit in enumerate(request.counted_halves):
            masks[offset + number] |= int(digit)
    return Deduction(
        counted_halves="".join(map(str, masks)), start_date=first_day, end_date=last_day
    )
