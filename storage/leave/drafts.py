"""Drafts of leave requests: days are counted and every rule is checked. Nothing is stored here.

The same functions decide and explain: what a form says is what submitting does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import ParamSpec, Protocol, TypeVar

from storage.base import fields
from storage.base.errors import DomainError, InvalidInput, OverlappingLeave
from storage.base.values import HalfDay, LeaveRequest, LeaveType, User
from storage.db.database import Transaction
from storage.directory import holiday_sets
from storage.events.organisation_config import Reference
from storage.leave import balances
from storage.leave.balances import BookedLeave, Books
from storage.rules import days, request_rules, year_balances
from storage.rules.year_balances import Account, Deduction

# With the longest names and letters of four bytes an event still stays under 20 kB.
MAX_NOTE_LENGTH = 2_000


P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """The leave that a person requests."""

    leave_type_id: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None = None
    end_half_day: HalfDay | None = None
    note: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Assessment:
    """A draft, what it counts, and what the person's leave years follow from.

    ``books.leave`` still holds the request that the draft replaces.
    """

    span: days.Span
    leave_type: LeaveType
    day_counts: list[days.DayCount]
    counted_halves: str
    note: str | None
    books: Books


def assess(
    tx: Transaction,
    reference: Reference,
    user: User,
    draft: Draft,
    *,
    today: date,
    replaces: str | None = None,
) -> Assessment:
    """What a draft counts for a person, or the refusal of the first rule that it breaks.

    ``replaces`` is the request that it would take the place of. Changes nothing. Raises
    InvalidInput, OverlappingLeave or InsufficientAllowance.
    """
    return _hold(
        tx, reference, user, draft, *_basis(reference, draft, today), _raising, today, replaces
    )


def examine(
    tx: Transaction,
    reference: Reference,
    user: User,
    draft: Draft,
    *,
    today: date,
    replaces: str | None = None,
) -> tuple[Assessment | None, list[DomainError]]:
    """As ``assess``, with every refusal that the draft meets; the first is what ``assess`` raises.

    The assessment is None where the dates or the type are refused, so that there is nothing to
    count.
    """
    try:
        basis = _basis(reference, draft, today)
    except DomainError as refusal:
        return None, [refusal]
    refusals: list[DomainError] = []

    def collecting(rule: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return rule(*args, **kwargs)
        except DomainError as refusal:
            refusals.append(refusal)
            return None

    return _hold(tx, reference, user, draft, *basis, collecting, today, replaces), refusals


class _Hold(Protocol):
    """Calls a rule; what becomes of its refusal differs."""

    def __call__(self, rule: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T | None: ...


def _raising(rule: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    return rule(*args, **kwargs)


def _basis(reference: Reference, draft: Draft, today: date) -> tuple[days.Span, LeaveType]:
    """What nothing can be counted without."""
    span = days.asked_span(
        draft.start_date, draft.end_date, draft.start_half_day, draft.end_half_day
    )
    request_rules.check_dates_in_reach(span, today)
    leave_type = reference.leave_types.get(draft.leave_type_id)
    if leave_type is None:
        raise InvalidInput.of(
            "leave_type_id",
            "unknown_leave_type",
            "There is no leave type with this id. GET /api/v1/leave-types lists the leave types "
            "({codes}).",
            codes=reference.leave_type_codes,
        )
    return span, leave_type


def _hold(
    tx: Transaction,
    reference: Reference,
    user: User,
    draft: Draft,
    span: days.Span,
    leave_type: LeaveType,
    hold: _Hold,
    today: date,
    replaces: str | None,
) -> Assessment:
    """Hold a draft against the other rules, in their one order; ``hold`` calls each of them."""
    note = hold(fields.optional_text, draft.note, "note", MAX_NOTE_LENGTH)
    day_counts = count(reference, user, span)
    hold(request_rules.check_working_time, day_counts)
    hold(request_rules.check_type_rules, leave_type, span, day_counts, draft.note, today)
    counted_halves = days.counted_halves(day_counts)
    books = balances.books(tx, reference, user, span.start_date, span.end_date)
    others = [other for other in books.leave if other.id != replaces]
    hold(_check_overlap, span, others)
    if leave_type.deducts_allowance:
        requested = Deduction(
            counted_halves=counted_halves, start_date=span.start_date, end_date=span.end_date
        )
        hold(
            _check_allowance,
            leave_type,
            books.account,
            balances.deducting(reference, others),
            requested,
        )
    return Assessment(
        span=span,
        leave_type=leave_type,
        day_counts=day_counts,
        counted_halves=counted_halves,
        note=note,
        books=books,
    )


def recheck(tx: Transaction, reference: Reference, user: User, request: LeaveRequest) -> str:
    """What a stored request counts now, if it still fits beside the person's other leave.

    The rules of its type held when it was asked for. Raises InvalidInput ``no_working_time``,
    OverlappingLeave or InsufficientAllowance.
    """
    span = days.Span(
        start_date=request.start_date,
        end_date=request.end_date,
        start_half_day=request.start_half_day,
        end_half_day=request.end_half_day,
    )
    day_counts = count(reference, user, span)
    request_rules.check_working_time(day_counts)
    counted_halves = days.counted_halves(day_counts)
    books = balances.books(tx, reference, user, span.start_date, span.end_date)
    others = [other for other in books.leave if other.id != request.id]
    _check_overlap(span, others)
    leave_type = reference.leave_types[request.leave_type_id]
    if leave_type.deducts_allowance:
        requested = Deduction(
            counted_halves=counted_halves, start_date=span.start_date, end_date=span.end_date
        )
        _check_allowance(
            leave_type, books.account, balances.deducting(reference, others), requested
        )
    return counted_halves


def _check_overlap(span: days.Span, others: Iterable[BookedLeave]) -> None:
    for other in others:
        # The dates first: nearly all leave is ruled out by them, at a tenth of the cost.
        is_near = other.start_date <= span.end_date and other.end_date >= span.start_date
        if is_near and days.overlaps(span, other.span):
            raise OverlappingLeave(
                other.id,
                other.start_date,
                other.end_date,
                begins_at_midday=other.span.first_slot % 2 == 1,
                ends_at_midday=other.span.last_slot % 2 == 0,
            )


def _check_allowance(
    leave_type: LeaveType, account: Account, others: Sequence[Deduction], requested: Deduction
) -> None:
    may_overdraw = leave_type.allow_overdraft
    demands = year_balances.demands(account, others, requested)
    request_rules.check_allowance(demands, allow_overdraft=may_overdraw)
    later = year_balances.later_demands(account, others, requested)
    request_rules.check_allowance(later, allow_overdraft=may_overdraw)


def count(reference: Reference, user: User, span: days.Span) -> list[days.DayCount]:
    """Every date of a span with what it counts for this person, and why not more."""
    country_code = holiday_sets.country_code_of(reference, user)
    return days.count_days(
        span,
        days.working_week(user.working_days or reference.organisation.working_days),
        holiday_sets.holidays_between(reference, country_code, span.start_date, span.end_date),
    )
