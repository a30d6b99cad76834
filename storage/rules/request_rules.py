"""The lifecycle of requests, rules of leave types, allowances and roles: data and pure checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal

from storage.base.errors import (
    FieldError,
    HalfDays,
    InsufficientAllowance,
    InsufficientRole,
    InvalidInput,
    InvalidTransition,
    NotYourField,
    Sentence,
)
from storage.base.values import ROLES, LeaveRequest, LeaveStatus, LeaveType, Role
from storage.rules.days import DayCount
from storage.rules.leave_years import LeaveYear
from storage.rules.spans import Span

Action = Literal[
    "edit", "approve", "decline", "cancel", "reverse_to_approved", "reverse_to_declined"
]

MAX_YEARS: Final = 2
# The reversal window: how long a decision can be changed in Slack.
REVERSAL_WINDOW: Final = timedelta(minutes=10)

# What people may change of their own record; only admins change the rest.
EDITABLE_BY_SELF: Final = frozenset({"first_name", "last_name", "job_title"})

_RANK: Final[Mapping[str, int]] = {role: rank for rank, role in enumerate(ROLES)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """The statuses in which an action is possible, the status after it, and its past participle."""

    from_statuses: tuple[LeaveStatus, ...]
    to_status: LeaveStatus
    done: str


# Creation is not an action: a new request has no earlier status.
LIFECYCLE: Final[Mapping[Action, Step]] = {
    "edit": Step(from_statuses=("pending",), to_status="pending", done="edited"),
    "approve": Step(from_statuses=("pending",), to_status="approved", done="approved"),
    "decline": Step(from_statuses=("pending",), to_status="declined", done="declined"),
    "cancel": Step(from_statuses=("pending", "approved"), to_status="cancelled", done="cancelled"),
    # Only in Slack, within the reversal window (`is_reversible`).
    "reverse_to_approved": Step(from_statuses=("declined",), to_status="approved", done="approved"),
    "reverse_to_declined": Step(from_statuses=("approved",), to_status="declined", done="declined"),
}


def is_reversible(request: LeaveRequest, now: datetime) -> bool:
    """Whether the approver can still reverse the decision.

    Automatic approvals cannot be reversed.
    """
    is_decided = request.status in ("approved", "declined") and request.decided_by is not None
    if not is_decided or request.decided_at is None:
        return False
    return now < request.decided_at + REVERSAL_WINDOW


def is_possible(action: Action, status: LeaveStatus) -> bool:
    """Whether the action is possible in ``status``, regardless of the caller."""
    return status in LIFECYCLE[action].from_statuses


def check_transition(
    action: Action, status: LeaveStatus, decided_by_name: str | None = None
) -> None:
    """Raises InvalidTransition if the action is impossible in ``status``."""
    if not is_possible(action, status):
        raise InvalidTransition(LIFECYCLE[action].done, status, decided_by_name)


def check_dates_in_reach(span: Span, today: date) -> None:
    """Refuses leave that begins or ends more than two years before or after today.

    On 29 February the limit is 28 February. Raises InvalidInput ``out_of_reach`` at the first of
    the two dates that is too far away.
    """
    earliest, latest = _years_from(today, -MAX_YEARS), _years_from(today, MAX_YEARS)
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


def _years_from(day: date, years: int) -> date:
    if day.month == 2 and day.day == 29:
        day = day.replace(day=28)
    return day.replace(year=day.year + years)


def check_working_time(days: Iterable[DayCount]) -> None:
    """Raises InvalidInput ``no_working_time`` if no requested half-day counts."""
    if not any(day.counted for day in days):
        raise InvalidInput.of(
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
) -> None:
    """Checks the rules of the leave type.

    Raises InvalidInput with all broken rules: ``leave_type_archived`` (alone);
    ``too_little_notice`` (calendar days until the first day; types without notice may be requested
    afterwards); ``too_many_days`` (days of this request that count, so not weekends);
    ``note_required``.
    """
    if leave_type.is_archived:
        raise InvalidInput.of(
            "leave_type_id",
            "leave_type_archived",
            "{leave_type} is no longer in use.",
            leave_type=leave_type.name,
        )
    errors = [
        *_too_little_notice(leave_type, span, today),
        *_too_many_days(leave_type, days),
        *_note_missing(leave_type, note),
    ]
    if errors:
        raise InvalidInput(errors)


def _too_little_notice(leave_type: LeaveType, span: Span, today: date) -> list[FieldError]:
    notice_days = (span.start_date - today).days
    if leave_type.min_notice_days == 0 or notice_days >= leave_type.min_notice_days:
        return []
    detail = Sentence(
        "{leave_type} must be requested at least {notice} in advance.",
        leave_type=leave_type.name,
        notice=HalfDays(2 * leave_type.min_notice_days),
    )
    return [FieldError(pointer="/start_date", code="too_little_notice", detail=detail)]


def _too_many_days(leave_type: LeaveType, days: Sequence[DayCount]) -> list[FieldError]:
    most_days = leave_type.max_consecutive_days
    asked_half_days = sum(day.half_days for day in days)
    if most_days is None or asked_half_days <= 2 * most_days:
        return []
    detail = Sentence(
        "{leave_type} can be at most {most} in a row. This is {asked}.",
        leave_type=leave_type.name,
        most=HalfDays(2 * most_days),
        asked=HalfDays(asked_half_days),
    )
    return [FieldError(pointer="/end_date", code="too_many_days", detail=detail)]


def _note_missing(leave_type: LeaveType, note: str | None) -> list[FieldError]:
    if not leave_type.requires_note or (note and not note.isspace()):
        return []
    detail = Sentence("{leave_type} needs a note.", leave_type=leave_type.name)
    return [FieldError(pointer="/note", code="note_required", detail=detail)]


@dataclass(frozen=True, kw_only=True, slots=True)
class YearDemand:
    """What a leave year has left before a request, and what the request needs of it."""

    year: LeaveYear
    remaining_half_days: int
    needed_half_days: int


def check_allowance(demands: Iterable[YearDemand], *, allow_overdraft: bool) -> None:
    """Raises InsufficientAllowance for the first leave year with too little left.

    A year of which the request needs nothing is ignored, even if it is overdrawn.
    """
    if allow_overdraft:
        return
    for demand in demands:
        if demand.needed_half_days > max(demand.remaining_half_days, 0):
            raise InsufficientAllowance(
                demand.remaining_half_days, demand.needed_half_days, demand.year.name
            )


def has_role(role: Role, at_least: Role) -> bool:
    """Whether ``role`` is ``at_least`` or higher: member, approver, admin, owner."""
    return _RANK[role] >= _RANK[at_least]


def check_role(role: Role, at_least: Role) -> None:
    """Raises InsufficientRole if ``role`` is lower than ``at_least``."""
    if not has_role(role, at_least):
        raise InsufficientRole(at_least)


def role_needed_to_manage(target_role: Role | None, new_role: Role | None = None) -> Role:
    """The lowest role that may create, change or archive a person.

    ``target_role`` is None for a new person, ``new_role`` if the role stays. Only owners manage
    owners.
    """
    return "owner" if "owner" in (target_role, new_role) else "admin"


def may_manage(actor_role: Role, target_role: Role | None, new_role: Role | None = None) -> bool:
    """Whether the actor may create, change or archive that person."""
    return has_role(actor_role, role_needed_to_manage(target_role, new_role))


def check_own_fields(fields: Iterable[str]) -> None:
    """Raises NotYourField for fields that people without admin rights cannot change."""
    foreign = sorted(set(fields) - EDITABLE_BY_SELF)
    if foreign:
        raise NotYourField(foreign)
