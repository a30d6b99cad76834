"""What asking for leave would do, without doing it; and how a request came to its days.

Every figure and refusal comes from the functions that decide (drafts.py, year_balances.py), so that
what is announced is what happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from storage.base.clock import local_day
from storage.base.errors import DomainError, InsufficientRole, InvalidInput, NotFound
from storage.base.values import Caller, LeaveRequest, LeaveType, User
from storage.db.database import Transaction
from storage.directory import approvers, colleagues, people_rows
from storage.directory.colleagues import ColleagueOff
from storage.events import organisation_config
from storage.events.organisation_config import Reference
from storage.leave import balances, drafts, leave_reading, request_steps
from storage.leave.drafts import Assessment, Draft
from storage.leave.request_steps import WhyUnasked
from storage.rules import day_lines, days, request_rules, year_balances
from storage.rules.day_lines import DayLine
from storage.rules.leave_years import LeaveYear
from storage.rules.year_balances import Deduction


@dataclass(frozen=True, kw_only=True, slots=True)
class YearChange:
    """A leave year that the leave touches, as of the leave's last day in it.

    ``half_days`` is what the leave takes of it. Where days are carried over, ``after`` also
    reflects what is carried over less.
    """

    year: LeaveYear
    before_half_days: int
    half_days: int
    after_half_days: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """What would come of a draft.

    ``leave_type`` is None, and nothing is counted, where the dates or the type are refused.
    ``approvers``: whose decision it would await. ``approved_because`` says why it would be
    approved at once; None where an approver decides. ``colleagues``: at most ten, by first day, of
    ``colleagues_count``, with approved leave. ``pending_colleagues_count``: requests of colleagues
    for these days that are not decided yet; they are counted and never named. ``unreachable``:
    pending people whom the approval chain skips, as no Slack account of theirs is known.
    ``refusals``: empty when it could be asked for; the first is what asking raises.
    """

    user: User
    leave_type: LeaveType | None
    lines: list[DayLine]
    total_half_days: int
    years: list[YearChange]
    approvers: list[User]
    approved_because: WhyUnasked | None
    unreachable: list[User]
    colleagues: list[ColleagueOff]
    colleagues_count: int
    pending_colleagues_count: int
    refusals: list[DomainError]


@dataclass(frozen=True, kw_only=True, slots=True)
class ExplainedRequest:
    """A stored request with a line for each of its dates."""

    request: LeaveRequest
    lines: list[DayLine]


def preview(
    tx: Transaction, *, by: Caller, draft: Draft, now: datetime, replaces: str | None = None
) -> Preview:
    """What would come of asking for this leave, or of changing the request ``replaces`` to it.

    For the caller; admins and owners also for requests of others. Changes nothing. Raises
    NotFound or InsufficientRole; errors that would refuse the draft are in the preview.
    """
    if by.user_id is None:
        raise InsufficientRole("member")
    reference = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, reference.organisation.timezone)
    replaced = None if replaces is None else _replaced(tx, replaces, by, now)
    user_id = by.user_id if replaced is None else replaced.user_id
    user = people_rows.find(tx, by.organisation_id, user_id)
    if user is None:
        raise NotFound("user")
    found, refusals = drafts.examine(tx, reference, user, draft, today=today, replaces=replaces)
    if replaced is not None:
        refusals = _refusals_of_edit(replaced, draft) + refusals
    if found is None:
        return Preview(
            user=user,
            leave_type=None,
            lines=[],
            total_half_days=0,
            years=[],
            approvers=[],
            approved_because=None,
            unreachable=[],
            colleagues=[],
            colleagues_count=0,
            pending_colleagues_count=0,
            refusals=refusals,
        )
    deciders, why = _deciders(tx, reference, user, found.leave_type, replaced, today)
    unreachable = []
    if why != "no_approval_needed":
        unreachable = approvers.unreachable(
            tx, by.organisation_id, user.id, asked=deciders, today=today
        )
    team = colleagues.off_with(tx, by.organisation_id, user, found.span)
    off = [one for one in team if not one.is_pending]
    return Preview(
        user=user,
        leave_type=found.leave_type,
        lines=day_lines.lines(found.day_counts),
        total_half_days=days.total_half_days(found.counted_halves),
        years=_years(reference, found, replaces),
        approvers=deciders,
        approved_because=why,
        unreachable=unreachable,
        colleagues=off[: colleagues.MAX_NAMED],
        colleagues_count=len(off),
        pending_colleagues_count=len(team) - len(off),
        refusals=refusals,
    )


def explain(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> ExplainedRequest:
    """A request's dates, for callers who see the request; the stored count is final.

    Raises NotFound.
    """
    request = leave_reading.get(tx, request_id, by=by, now=now)
    user = people_rows.find(tx, by.organisation_id, request.user_id)
    if user is None:
        raise NotFound("leave request")
    reference = organisation_config.of_organisation(tx, by.organisation_id)
    counts = drafts.count(reference, user, _span(request))
    return ExplainedRequest(
        request=request, lines=day_lines.stored_lines(counts, request.counted_halves)
    )


def _span(request: LeaveRequest) -> days.Span:
    return days.Span(
        start_date=request.start_date,
        end_date=request.end_date,
        start_half_day=request.start_half_day,
        end_half_day=request.end_half_day,
    )


def _replaced(tx: Transaction, request_id: str, by: Caller, now: datetime) -> LeaveRequest:
    replaced = leave_reading.get(tx, request_id, by=by, now=now)
    if replaced.user_id != by.user_id and not by.is_admin:
        raise InsufficientRole("admin")
    return replaced


def _refusals_of_edit(replaced: LeaveRequest, draft: Draft) -> list[DomainError]:
    refusals: list[DomainError] = []
    try:
        request_rules.check_transition("edit", replaced.status)
    except DomainError as refusal:
        refusals.append(refusal)
    if draft.leave_type_id != replaced.leave_type_id:
        refusals.append(
            InvalidInput.of(
                "leave_type_id",
                "unknown_field",
                "The leave type of a request cannot be changed. Create a new request instead.",
            )
        )
    return refusals


def _years(reference: Reference, found: Assessment, replaces: str | None) -> list[YearChange]:
    account, span = found.books.account, found.span
    booked = balances.deducting(reference, found.books.leave)
    others = balances.deducting(reference, (one for one in found.books.leave if one.id != replaces))
    requested = Deduction(
        counted_halves=found.counted_halves, start_date=span.start_date, end_date=span.end_date
    )
    with_it = [*others, requested] if found.leave_type.deducts_allowance else others
    before = year_balances.of_years(account, booked, span.start_date, span.end_date)
    after = year_balances.of_years(account, with_it, span.start_date, span.end_date)
    changes = []
    for one, other in zip(before, after, strict=True):
        on = min(span.end_date, one.year.last_day)
        needed = requested.half_days_in_year(one.year) if found.leave_type.deducts_allowance else 0
        changes.append(
            YearChange(
                year=one.year,
                before_half_days=one.remaining_half_days(on),
                half_days=needed,
                after_half_days=other.remaining_half_days(on),
            )
        )
    return changes


def _deciders(
    tx: Transaction,
    reference: Reference,
    user: User,
    leave_type: LeaveType,
    replaced: LeaveRequest | None,
    today: date,
) -> tuple[list[User], WhyUnasked | None]:
    """The approvers, or why the request needs none; an edited request stays pending."""
    if replaced is None and not leave_type.requires_approval:
        return [], request_steps.why_unasked(leave_type)
    deciders = approvers.of_person(tx, reference.organisation.id, user.id, today=today)
    return deciders, None if deciders or replaced else request_steps.why_unasked(leave_type)
