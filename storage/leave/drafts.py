"""Drafts of leave requests: counts their days and checks every rule, for previews and writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import ParamSpec, Protocol, TypeVar

from storage.base import texts
from storage.base.errors import DomainError, InvalidInput, OverlappingLeave
from storage.base.values import HalfDay, LeaveRequest, LeaveType, User
from storage.db.database import Transaction
from storage.directory import public_holidays
from storage.events.organisation_config import OrganisationConfig
from storage.leave import balances
from storage.leave.balances import BalanceInputs
from storage.leave.bookings import BookedLeave
from storage.rules import days, request_rules, spans, working_week, year_balances
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
    """A checked draft with its counted days. ``inputs.leave`` has the request that it replaces."""

    span: spans.Span
    leave_type: LeaveType
    day_counts: list[days.DayCount]
    counted_halves: str
    note: str | None
    inputs: BalanceInputs


def assess(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    draft: Draft,
    *,
    today: date,
    replaces: str | None = None,
) -> Assessment:
    """The counted draft. ``replaces`` is the id of the request that it edits.

    Raises the error of the first broken rule: InvalidInput, OverlappingLeave or
    InsufficientAllowance.
    """
    span, leave_type = _span_and_type(config, draft, today)
    return _check_rules(tx, config, user, draft, span, leave_type, _raising, today, replaces)


def examine(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    draft: Draft,
    *,
    today: date,
    replaces: str | None = None,
) -> tuple[Assessment | None, list[DomainError]]:
    """As ``assess``, with the errors of all broken rules; ``assess`` raises the first.

    The assessment is None if the dates or the type are invalid: then nothing can be counted.
    """
    try:
        span, leave_type = _span_and_type(config, draft, today)
    except DomainError as error:
        return None, [error]
    errors: list[DomainError] = []

    def collecting(rule: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return rule(*args, **kwargs)
        except DomainError as error:
            errors.append(error)
            return None

    assessment = _check_rules(
        tx, config, user, draft, span, leave_type, collecting, today, replaces
    )
    return assessment, errors


class _RunRule(Protocol):
    """Calls a rule, and raises or collects its error."""

    def __call__(self, rule: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T | None: ...


def _raising(rule: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    return rule(*args, **kwargs)


def _span_and_type(
    config: OrganisationConfig, draft: Draft, today: date
) -> tuple[spans.Span, LeaveType]:
    span = spans.requested_span(
        draft.start_date, draft.end_date, draft.start_half_day, draft.end_half_day
    )
    request_rules.check_dates_in_reach(span, today)
    leave_type = config.leave_types.get(draft.leave_type_id)
    if leave_type is None:
        raise InvalidInput.of(
            "leave_type_id",
            "unknown_leave_type",
            "There is no leave type with this id. GET /api/v1/leave-types lists the leave types "
            "({codes}).",
            codes=config.leave_type_codes,
        )
    return span, leave_type


def _check_rules(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    draft: Draft,
    span: spans.Span,
    leave_type: LeaveType,
    run: _RunRule,
    today: date,
    replaces: str | None,
) -> Assessment:
    """``run`` calls each rule; their order decides which error ``assess`` raises."""
    note = run(texts.optional_text, draft.note, "note", MAX_NOTE_LENGTH)
    day_counts = count(config, user, span)
    run(request_rules.check_working_time, day_counts)
    run(request_rules.check_type_rules, leave_type, span, day_counts, draft.note, today)
    counted_halves = days.counted_halves(day_counts)
    inputs = balances.read_inputs(tx, config, user, span.start_date, span.end_date)
    _check_other_leave(config, leave_type, inputs, span, counted_halves, replaces, run)
    return Assessment(
        span=span,
        leave_type=leave_type,
        day_counts=day_counts,
        counted_halves=counted_halves,
        note=note,
        inputs=inputs,
    )


def recheck(tx: Transaction, config: OrganisationConfig, user: User, request: LeaveRequest) -> str:
    """The counted halves of a stored request by today's working days and holidays.

    The rules of its type were checked when it was requested. Raises InvalidInput
    ``no_working_time``, OverlappingLeave or InsufficientAllowance.
    """
    span = spans.of_request(request)
    day_counts = count(config, user, span)
    request_rules.check_working_time(day_counts)
    counted_halves = days.counted_halves(day_counts)
    inputs = balances.read_inputs(tx, config, user, span.start_date, span.end_date)
    leave_type = config.leave_types[request.leave_type_id]
    _check_other_leave(config, leave_type, inputs, span, counted_halves, request.id, _raising)
    return counted_halves


def _check_other_leave(
    config: OrganisationConfig,
    leave_type: LeaveType,
    inputs: BalanceInputs,
    span: spans.Span,
    counted_halves: str,
    replaces: str | None,
    run: _RunRule,
) -> None:
    others = [other for other in inputs.leave if other.id != replaces]
    run(_check_overlap, span, others)
    if leave_type.deducts_allowance:
        requested = Deduction(
            counted_halves=counted_halves, start_date=span.start_date, end_date=span.end_date
        )
        other_deductions = balances.deducting(config, others)
        run(_check_allowance, leave_type, inputs.account, other_deductions, requested)


def _check_overlap(span: spans.Span, others: Iterable[BookedLeave]) -> None:
    for other in others:
        # The dates first: they exclude nearly all leave, at a tenth of the cost.
        is_near = other.start_date <= span.end_date and other.end_date >= span.start_date
        if is_near and spans.overlaps(span, other.span):
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
    demands = year_balances.demands(account, others, requested)
    request_rules.check_allowance(demands, allow_overdraft=leave_type.allow_overdraft)
    later = year_balances.later_demands(account, others, requested)
    request_rules.check_allowance(later, allow_overdraft=leave_type.allow_overdraft)


def count(config: OrganisationConfig, user: User, span: spans.Span) -> list[days.DayCount]:
    country_code = public_holidays.country_code_of(config, user)
    return days.count_days(
        span,
        working_week.working_week(user.working_days or config.organisation.working_days),
        public_holidays.holidays_between(config, country_code, span.start_date, span.end_date),
    )
