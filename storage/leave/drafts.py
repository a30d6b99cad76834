"""Drafts of leave requests: counts their days and checks every rule, for previews and writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import ParamSpec, Protocol, TypeVar

from storage.base import texts
from storage.base.errors import DomainError, FieldError, InvalidInput, OverlappingLeave
from storage.base.leave_values import HalfDay, LeaveRequest, LeaveType
from storage.base.values import User
from storage.db.database import Transaction
from storage.leave import covers, leave_balances, limit_checks
from storage.leave.bookings import BookedLeave, Bookings
from storage.leave.limit_checks import LimitExcess, LimitUse
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date
from storage.rules import counted_days, employment_terms, lifecycle, request_rules
from storage.rules.year_balances import Account, Deduction

# With the longest names and letters of four bytes an event still stays under 20 kB.
MAX_NOTE_LENGTH = 2_000


P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    leave_type_id: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None = None
    end_half_day: HalfDay | None = None
    note: str | None = None
    cover_user_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Assessment:
    """A checked draft with its counted days. ``booked.leave`` has the request that it replaces.

    ``allowance_id`` is the allowance that it draws on; None for none. ``over_limits``: where it
    exceeds absence limits.
    """

    span: counted_days.Span
    leave_type: LeaveType
    day_counts: list[counted_days.DayCount]
    counted_halves: str
    note: str | None
    booked: Bookings
    allowance_id: str | None
    cover: User | None
    over_limits: Sequence[LimitExcess]


def check(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    draft: Draft,
    *,
    today: date,
    replaces: LeaveRequest | None = None,
    is_override: bool = False,
    warnings: list[FieldError] | None = None,
) -> Assessment:
    """The counted draft. ``replaces`` is the request that it edits, checked for what it adds.

    ``is_override`` ignores the allowance, absence limits and the type's notice, length and note
    rules. Raises the error of the first broken rule: InvalidInput, OverlappingLeave,
    InsufficientAllowance or AbsenceLimitExceeded. The caller has locked the person. To ``warnings``
    it adds the limits that are exceeded and do not refuse.
    """
    span, leave_type = _span_and_type(config, draft, today, replaces)
    assessment = _check_rules(
        tx,
        config,
        user,
        draft,
        span,
        leave_type,
        _raising,
        today,
        replaces,
        is_by_admin=False,
        is_override=is_override,
        limits="locked",
    )
    limit_checks.warn(assessment.over_limits, warnings)
    return assessment


def check_all(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    draft: Draft,
    *,
    today: date,
    replaces: LeaveRequest | None = None,
    is_by_admin: bool = False,
    is_override: bool = False,
    limits: LimitUse = "read",
) -> tuple[Assessment | None, list[DomainError]]:
    """As ``check``, with the errors of all broken rules; ``check`` raises the first.

    ``limits``: what it does with absence limits.
    ``is_by_admin`` as in ``check_rules_of_change``. The assessment is None if the dates or the type
    are invalid: then nothing can be counted.
    """
    try:
        span, leave_type = _span_and_type(config, draft, today, replaces)
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
        tx,
        config,
        user,
        draft,
        span,
        leave_type,
        collecting,
        today,
        replaces,
        is_by_admin=is_by_admin,
        is_override=is_override,
        limits=limits,
    )
    return assessment, errors


class _RunRule(Protocol):
    """Calls a rule, and raises or collects its error."""

    def __call__(self, rule: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T | None: ...


def _raising(rule: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    return rule(*args, **kwargs)


def _span_and_type(
    config: OrganisationConfig, draft: Draft, today: date, replaces: LeaveRequest | None
) -> tuple[counted_days.Span, LeaveType]:
    span = counted_days.requested_span(
        draft.start_date, draft.end_date, draft.start_half_day, draft.end_half_day
    )
    if replaces is None or span != counted_days.span_of(replaces):
        request_rules.check_dates_in_reach(span, today)
    return span, leave_type_of(config, draft)


def leave_type_of(config: OrganisationConfig, draft: Draft) -> LeaveType:
    """Raises InvalidInput ``unknown_leave_type``."""
    leave_type = config.leave_types.get(draft.leave_type_id)
    if leave_type is None:
        raise InvalidInput.of(
            "leave_type_id",
            "unknown_leave_type",
            "There is no leave type with this id. GET /api/v1/leave-types lists the leave types "
            "({codes}).",
            codes=config.leave_type_codes,
        )
    return leave_type


def _check_rules(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    draft: Draft,
    span: counted_days.Span,
    leave_type: LeaveType,
    run: _RunRule,
    today: date,
    replaces: LeaveRequest | None,
    *,
    is_by_admin: bool,
    is_override: bool,
    limits: LimitUse,
) -> Assessment:
    """``run`` calls each rule; their order decides which error ``check`` raises."""
    note = run(texts.optional_text, draft.note, "note", MAX_NOTE_LENGTH)
    if replaces is None or not counted_days.lies_within(span, counted_days.span_of(replaces)):
        run(employment_terms.check_employed, span, employment_terms.periods_of(user))
    day_counts = employment_by_date.count(config, user, span)
    adds_leave = True
    if replaces is not None:
        counted_halves = lifecycle.halves_after_change(replaces, day_counts)
        changed = changed_request(replaces, draft, counted_halves, note)
        first_added_day = lifecycle.first_added_day(replaces, changed)
        adds_leave = first_added_day is not None
        run(request_rules.check_working_time, counted_halves)
        run(
            request_rules.check_rules_of_change,
            leave_type,
            replaces,
            changed,
            first_added_day=first_added_day,
            is_by_admin=is_by_admin,
            today=today,
            is_override=is_override,
        )
    else:
        counted_halves = counted_days.counted_halves(day_counts)
        run(request_rules.check_working_time, counted_halves)
        run(
            request_rules.check_type_rules,
            leave_type,
            span,
            day_counts,
            draft.note,
            today,
            is_override=is_override,
        )
    is_same_cover = replaces is not None and replaces.cover_user_id == draft.cover_user_id
    if not is_override and (adds_leave or not is_same_cover):
        run(request_rules.check_cover_given, leave_type, draft.cover_user_id)
    cover = run(covers.check_cover, tx, config.organisation.id, user, draft.cover_user_id, replaces)
    booked = leave_balances.read(tx, config, user, span.start_date, span.end_date)
    if adds_leave:
        replaces_id = None if replaces is None else replaces.id
        _check_other_leave(
            config, user, leave_type, booked, span, counted_halves, replaces_id, run, is_override
        )
    elif replaces is not None and not counted_days.lies_within(
        span, counted_days.span_of(replaces)
    ):
        # Days that do not count may count after a change of working days or holidays.
        run(_check_overlap, span, [other for other in booked.leave if other.id != replaces.id])
    added = limit_checks.added(config, leave_type, span.start_date, counted_halves, replaces)
    over_limits = limit_checks.exceeded(tx, config, user, added, limits)
    if not is_override:
        run(limit_checks.check, over_limits)
    return Assessment(
        span=span,
        leave_type=leave_type,
        day_counts=day_counts,
        counted_halves=counted_halves,
        note=note,
        booked=booked,
        allowance_id=config.allowance_of(leave_type.id, span.start_date),
        cover=cover,
        over_limits=over_limits,
    )


def check_same_type(before: LeaveRequest, draft: Draft) -> None:
    """Refuses another leave type for a pending request. Raises InvalidInput ``read_only``."""
    if draft.leave_type_id != before.leave_type_id:
        raise InvalidInput.of(
            "leave_type_id",
            "read_only",
            "The leave type of a pending request cannot be changed. Create a new request instead.",
        )


def changed_request(
    request: LeaveRequest, draft: Draft, counted_halves: str, note: str | None
) -> LeaveRequest:
    """The request with a draft's type, time, note and cover."""
    return replace(
        request,
        leave_type_id=draft.leave_type_id,
        start_date=draft.start_date,
        end_date=draft.end_date,
        start_half_day=draft.start_half_day,
        end_half_day=draft.end_half_day,
        total_half_days=counted_days.total_half_days(counted_halves),
        counted_halves=counted_halves,
        note=note,
        cover_user_id=draft.cover_user_id,
    )


def recheck(tx: Transaction, config: OrganisationConfig, user: User, request: LeaveRequest) -> str:
    """The counted halves of a stored request by today's working days and holidays.

    The rules of its type were checked when it was requested. Raises InvalidInput
    ``before_start_date``, ``after_end_date`` or ``no_working_time``, OverlappingLeave or
    InsufficientAllowance.
    """
    span = counted_days.span_of(request)
    employment_terms.check_employed(span, employment_terms.periods_of(user))
    day_counts = employment_by_date.count(config, user, span)
    counted_halves = counted_days.counted_halves(day_counts)
    check_other_leave(
        tx,
        config,
        user,
        config.leave_types[request.leave_type_id],
        span,
        counted_halves,
        request.id,
        is_override=request.override_reason is not None,
    )
    return counted_halves


def check_other_leave(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    leave_type: LeaveType,
    span: counted_days.Span,
    counted_halves: str,
    replaces: str | None = None,
    *,
    is_override: bool = False,
    is_booked: bool = False,
) -> None:
    """Raises OverlappingLeave or InsufficientAllowance for counted leave of a type.

    ``is_booked``: it is a pending request, which has its place in the allowance already: other
    pending requests do not take it away.
    """
    booked = leave_balances.read(tx, config, user, span.start_date, span.end_date)
    _check_other_leave(
        config,
        user,
        leave_type,
        booked,
        span,
        counted_halves,
        replaces,
        _raising,
        is_override,
        is_booked,
    )


def _check_other_leave(
    config: OrganisationConfig,
    user: User,
    leave_type: LeaveType,
    booked: Bookings,
    span: counted_days.Span,
    counted_halves: str,
    replaces: str | None,
    run: _RunRule,
    is_override: bool,
    is_booked: bool = False,
) -> None:
    others = [other for other in booked.leave if other.id != replaces]
    run(_check_overlap, span, others)
    allowance_id = config.allowance_of(leave_type.id, span.start_date)
    if allowance_id is not None and not is_override:
        requested = Deduction(
            counted_halves=counted_halves, start_date=span.start_date, end_date=span.end_date
        )
        account = leave_balances.account_of(config, user, booked, allowance_id)
        counted = [other for other in others if not is_booked or other.status == "approved"]
        run(
            request_rules.check_available,
            account.terms_on(span.start_date),
            employment_terms.periods_of(user),
            span.start_date,
        )
        run(
            check_allowance,
            leave_type,
            account,
            leave_balances.deductions(config, counted, allowance_id),
            requested,
            leave_balances.other_name(config, allowance_id),
        )


def _check_overlap(span: counted_days.Span, others: Iterable[BookedLeave]) -> None:
    for other in others:
        # The dates first: they exclude nearly all leave, at a tenth of the cost.
        is_near = other.start_date <= span.end_date and other.end_date >= span.start_date
        if is_near and counted_days.overlaps(span, other.span):
            raise OverlappingLeave(
                other.id,
                other.start_date,
                other.end_date,
                begins_at_midday=other.span.first_slot % 2 == 1,
                ends_at_midday=other.span.last_slot % 2 == 0,
            )


def check_allowance(
    leave_type: LeaveType,
    account: Account,
    others: Sequence[Deduction],
    requested: Deduction,
    allowance_name: str | None,
) -> None:
    """Raises InsufficientAllowance for a leave year with too little left, or a later one."""
    for demands in (request_rules.demands, request_rules.later_demands):
        request_rules.check_allowance(
            demands(account, others, requested),
            allowance_name=allowance_name,
            allow_overdraft=leave_type.allow_overdraft,
        )
