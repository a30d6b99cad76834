"""Checks of requested leave: dates, working time, the rules of its type, allowance, overrides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from storage.base import texts
from storage.base.allowance_values import AllowanceTerms, Amount
from storage.base.errors import (
    FieldError,
    HalfDays,
    InsufficientAllowance,
    InvalidInput,
    OverrideNotAllowed,
    Sentence,
)
from storage.base.leave_values import LeaveRequest, LeaveType
from storage.base.values import Caller, EmploymentPeriod
from storage.rules import year_balances
from storage.rules.counted_days import DayCount, Span
from storage.rules.leave_years import LeaveYear, months_after
from storage.rules.year_balances import Account, Deduction, LeaveYearBalance, Remaining

MAX_YEARS: Final = 2
MAX_REASON_LENGTH: Final = 1_000
# Leave that needs no approval is usually requested when it begins.
_USUAL_DAYS_AHEAD: Final = 7


def check_dates_in_reach(span: Span, today: date) -> None:
    """Refuses leave that begins or ends more than two years before or after today.

    On 29 February the limit is 28 February. Raises InvalidInput ``out_of_reach`` at the first of
    the two dates that is too far away.
    """
    earliest, latest = earliest_day(today), _years_from(today, MAX_YEARS)
    for field, day in (("start_date", span.start_date), ("end_date", span.end_date)):
        if not earliest <= day <= latest:
            raise InvalidInput.of(
                field,
                "out_of_reach",
                "{day} is too far away. Use a date from {earliest} to {latest}.",
                day=day,
                earliest=earliest,
                latest=latest,
            )


def earliest_day(today: date) -> date:
    """The first day on which leave may begin."""
    return _years_from(today, -MAX_YEARS)


def _years_from(day: date, years: int) -> date:
    if day.month == 2 and day.day == 29:
        day = day.replace(day=28)
    return day.replace(year=day.year + years)


def check_working_time(counted_halves: str) -> None:
    """Raises InvalidInput ``no_working_time`` if no requested half-day counts."""
    if not counted_halves.strip("0"):
        raise no_working_time()


def no_working_time() -> InvalidInput:
    return InvalidInput.of(
        "start_date",
        "no_working_time",
        "You're not working on any of these days.",
    )


def check_type_rules(
    leave_type: LeaveType,
    span: Span,
    days: Sequence[DayCount],
    note: str | None,
    today: date,
    *,
    is_override: bool = False,
) -> None:
    """Checks the rules of the leave type; ``is_override``: only that it is in use.

    Raises InvalidInput with all broken rules: ``leave_type_archived`` (alone);
    ``too_little_notice`` (calendar days until the first day; types without notice may be requested
    afterwards); ``too_many_days`` (days of this request that count, so not weekends);
    ``note_required``.
    """
    _check_not_archived(leave_type)
    if is_override:
        return
    errors = [
        *_too_little_notice(leave_type, span.start_date, today),
        *_too_many_days(leave_type, sum(day.half_days for day in days)),
        *_note_missing(leave_type, note),
    ]
    if errors:
        raise InvalidInput(errors)


def check_rules_of_change(
    leave_type: LeaveType,
    before: LeaveRequest,
    after: LeaveRequest,
    *,
    first_added_day: date | None,
    is_by_admin: bool,
    today: date,
    is_override: bool = False,
) -> None:
    """Checks the rules of the leave type for what a change of booked leave adds.

    Notice counts until the first added day, and does not bind admins who change others' approved
    leave. What stays as it was is never refused. ``is_override`` and errors as in
    ``check_type_rules``.
    """
    is_other_type = after.leave_type_id != before.leave_type_id
    if is_other_type:
        _check_not_archived(leave_type)
    if is_override:
        return
    errors: list[FieldError] = []
    if first_added_day is not None:
        if not is_by_admin:
            errors += _too_little_notice(leave_type, first_added_day, today)
        errors += _too_many_days(leave_type, after.total_half_days)
    if is_other_type or after.note != before.note:
        errors += _note_missing(leave_type, after.note)
    if errors:
        raise InvalidInput(errors)


def _check_not_archived(leave_type: LeaveType) -> None:
    if leave_type.is_archived:
        raise InvalidInput.of(
            "leave_type_id",
            "leave_type_archived",
            "{leave_type} is no longer in use.",
            leave_type=leave_type.type_name,
        )


def _too_little_notice(leave_type: LeaveType, first_day: date, today: date) -> list[FieldError]:
    notice_days = (first_day - today).days
    if leave_type.min_notice_days == 0 or notice_days >= leave_type.min_notice_days:
        return []
    detail = Sentence(
        "{leave_type} must be requested at least {notice} in advance.",
        leave_type=leave_type.type_name,
        notice=HalfDays(2 * leave_type.min_notice_days),
    )
    return [FieldError(pointer="/start_date", code="too_little_notice", detail=detail)]


def _too_many_days(leave_type: LeaveType, requested_half_days: int) -> list[FieldError]:
    max_days = leave_type.max_consecutive_days
    if max_days is None or requested_half_days <= 2 * max_days:
        return []
    detail = Sentence(
        "{leave_type} can be at most {most} in a row. This is {asked}.",
        leave_type=leave_type.type_name,
        most=HalfDays(2 * max_days),
        asked=HalfDays(requested_half_days),
    )
    return [FieldError(pointer="/end_date", code="too_many_days", detail=detail)]


def _note_missing(leave_type: LeaveType, note: str | None) -> list[FieldError]:
    if not leave_type.requires_note or not texts.is_blank(note or ""):
        return []
    detail = Sentence("{leave_type} needs a note.", leave_type=leave_type.type_name)
    return [FieldError(pointer="/note", code="note_required", detail=detail)]


def far_ahead(
    leave_type: LeaveType, start_date: date, today: date, before: LeaveRequest | None = None
) -> list[FieldError]:
    """The warning ``unusually_far_ahead`` about leave that needs no approval, if there is one.

    ``before`` is the request that is changed: it warns about another first day or leave type.
    """
    is_same = before is not None and (before.leave_type_id, before.start_date) == (
        leave_type.id,
        start_date,
    )
    if leave_type.requires_approval or is_same or (start_date - today).days <= _USUAL_DAYS_AHEAD:
        return []
    detail = Sentence(
        "{leave_type} needs no approval, and this leave starts more than a week from now, on "
        "{day}. Check the leave type and the dates.",
        leave_type=leave_type.type_name,
        day=start_date,
    )
    return [FieldError(pointer="/start_date", code="unusually_far_ahead", detail=detail)]


def check_cover_given(leave_type: LeaveType, cover_user_id: str | None) -> None:
    """Raises InvalidInput ``cover_required`` if the leave type needs a cover and there is none."""
    if leave_type.requires_cover and cover_user_id is None:
        raise InvalidInput.of(
            "cover_user_id",
            "cover_required",
            "{leave_type} needs a colleague to cover.",
            leave_type=leave_type.type_name,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class YearDemand:
    """What a leave year has left of an allowance before a request, and the amount that it needs.

    It may be overdrawn by ``overdraft_half_days``. ``later_leave`` are the first and last day of
    leave that would no longer be covered, if that decides what remains.
    """

    year: LeaveYear
    remaining_half_days: Amount
    needed_half_days: Amount
    overdraft_half_days: int = 0
    later_leave: tuple[date, date] | None = None


def check_available(
    terms: AllowanceTerms, periods: Sequence[EmploymentPeriod], start_date: date
) -> None:
    """Refuses leave before the allowance may be taken.

    Raises InvalidInput ``not_available_yet``.
    """
    hired_on = next(
        (
            period.start_date
            for period in reversed(periods)
            if period.start_date is not None and period.start_date <= start_date
        ),
        None,
    )
    if terms.available_after_months is None or hired_on is None:
        return
    first_day = months_after(hired_on, terms.available_after_months)
    if start_date < first_day:
        raise InvalidInput.of(
            "start_date",
            "not_available_yet",
            "This leave can be taken from {first_day} on. Choose that day or a later one.",
            first_day=first_day,
        )


def demands(
    account: Account, others: Sequence[Deduction], requested: Deduction
) -> list[YearDemand]:
    """The half-days that this leave needs of each of its leave years, and those that remain there.

    On the leave's last day in that year: days that expire later can still be taken. ``others`` is
    all other leave.
    """
    year_demands = []
    for balance in year_balances.of_years(
        account, [*others, requested], requested.start_date, requested.end_date
    ):
        needed = requested.half_days_in(balance.first_day, balance.last_day)
        on = min(requested.end_date, balance.last_day)
        terms = account.terms_on(max(requested.start_date, balance.first_day))
        remaining = balance.remaining(on, may_borrow=terms.may_borrow)
        year_demands.append(
            YearDemand(
                year=balance.year,
                remaining_half_days=remaining.half_days + needed,
                needed_half_days=needed,
                overdraft_half_days=terms.overdraft_half_days,
                later_leave=None if remaining.needed_by is None else remaining.needed_by.days,
            )
        )
    return year_demands


def later_demands(
    account: Account, others: Sequence[Deduction], requested: Deduction
) -> list[YearDemand]:
    """Later leave years that this leave overdraws through a smaller carry-over.

    Days that it takes cannot be carried over, and other leave may need them in the next year.
    ``needed_half_days`` is by how much that year's carry-over shrinks.
    """
    if account.passes_from is None or not others:
        return []
    first_day = requested.start_date
    last_day = max(other.end_date for other in others)
    if last_day <= first_day:
        return []
    after = year_balances.of_years(account, [*others, requested], first_day, last_day)
    left_after = [_least_left(account, balance) for balance in after[1:]]
    if all(left.half_days >= 0 for left in left_after):
        return []
    before = year_balances.of_years(account, others, first_day, last_day)
    demands = []
    for year_before, left in zip(before[1:], left_after, strict=True):
        remaining = _least_left(account, year_before).half_days
        is_requested = requested.half_days_in(year_before.first_day, year_before.last_day)
        if left.half_days < min(remaining, 0) and not is_requested:
            terms = account.terms_on(year_before.first_day)
            demands.append(
                YearDemand(
                    year=year_before.year,
                    remaining_half_days=remaining,
                    needed_half_days=remaining - left.half_days,
                    overdraft_half_days=terms.overdraft_half_days,
                    later_leave=None if left.needed_by is None else left.needed_by.days,
                )
            )
    return demands


def _least_left(account: Account, balance: LeaveYearBalance) -> Remaining:
    """What is left at the end of the year, or after the leave that leaves the least before it."""
    may_borrow = account.terms_on(balance.first_day).may_borrow
    return balance.least_left(may_borrow=may_borrow)


def check_allowance(
    demands: Iterable[YearDemand], *, allow_overdraft: bool, allowance_name: str | None = None
) -> None:
    """Raises InsufficientAllowance for the first leave year with too little left.

    Ignores years of which the request needs nothing, even overdrawn ones. ``allowance_name`` is
    that of an allowance other than the default.
    """
    if allow_overdraft:
        return
    for demand in demands:
        if is_short(demand):
            raise InsufficientAllowance(
                demand.remaining_half_days,
                demand.needed_half_days,
                demand.year.name,
                allowance_name=allowance_name,
                later_leave=demand.later_leave,
            )


def is_short(demand: YearDemand) -> bool:
    left = demand.remaining_half_days + demand.overdraft_half_days
    return demand.needed_half_days > max(left, 0)


def checked_override(reason: str | None, *, user_id: str | None, by: Caller) -> str | None:
    """The reason, stripped; None if there is none. ``user_id`` is whose leave it is.

    Raises OverrideNotAllowed, or InvalidInput ``override_of_own_leave``,
    ``override_without_reason``, ``invalid_length`` or ``control_character``.
    """
    if reason is None:
        return None
    if not by.is_admin:
        raise OverrideNotAllowed
    if user_id is None or user_id == by.user_id:
        raise InvalidInput.of(
            "override_reason",
            "override_of_own_leave",
            "Rules can only be overridden for another person's leave. To record leave for them, "
            "send their user_id as well.",
        )
    checked = texts.optional_text(reason, "override_reason", MAX_REASON_LENGTH)
    if checked is None:
        raise InvalidInput.of(
            "override_reason",
            "override_without_reason",
            "Say why the rules are overridden, or omit override_reason.",
        )
    return checked
