"""Previews of drafts, and the counted days of stored requests.

Figures and errors come from the functions that writes use (drafts.py, year_balances.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from storage.base.clock import local_day
from storage.base.errors import DomainError, InsufficientRole, InvalidInput, NotFound
from storage.base.values import Caller, LeaveRequest, LeaveType, User
from storage.db.database import Transaction
from storage.directory import approvers, colleagues, people_rows
from storage.directory.colleagues import ColleagueOff
from storage.events import organisation_config
from storage.events.organisation_config import OrganisationConfig
from storage.leave import balances, drafts, leave_reading, request_steps
from storage.leave.drafts import Assessment, Draft
from storage.leave.request_steps import AutoApprovalReason
from storage.rules import day_lines, halves, lifecycle, spans, year_balances
from storage.rules.day_lines import DayLine
from storage.rules.leave_years import LeaveYear
from storage.rules.year_balances import Deduction


@dataclass(frozen=True, kw_only=True, slots=True)
class YearChange:
    """A leave year that the leave touches, as of the leave's last day in it.

    ``half_days`` is what the leave uses of it. ``after`` also reflects a smaller carry-over.
    """

    year: LeaveYear
    before_half_days: int
    half_days: int
    after_half_days: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """The effects of submitting a draft.

    ``leave_type`` is None, and nothing is counted, if the dates or the type are invalid.
    ``approved_because`` is why it would be approved at once; None if an approver decides.
    ``colleagues``: at most ten of ``colleagues_count`` with approved leave, by first day.
    ``pending_colleagues_count``: colleagues' pending requests for these days, never named.
    ``unreachable``: pending people without a known Slack account, whom the approval chain skips.
    ``refusals``: empty if the draft can be submitted; submitting raises the first.
    """

    user: User
    leave_type: LeaveType | None
    lines: list[DayLine]
    total_half_days: int
    years: list[YearChange]
    approvers: list[User]
    approved_because: AutoApprovalReason | None
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
    tx: Transaction,
    *,
    by: Caller,
    draft: Draft,
    now: datetime,
    replaces: str | None = None,
    reference_version: int | None = None,
) -> Preview:
    """Preview a new request, or an edit of the request ``replaces``.

    For the caller; admins and owners also for requests of others. Raises NotFound or
    InsufficientRole; errors of the draft are in the preview.
    """
    if by.user_id is None:
        raise InsufficientRole("member")
    config = organisation_config.of_organisation(tx, by.organisation_id, reference_version)
    today = local_day(now, config.organisation.timezone)
    replaced = None if replaces is None else _replaced(tx, replaces, by, now)
    user_id = by.user_id if replaced is None else replaced.user_id
    user = people_rows.find(tx, by.organisation_id, user_id)
    if user is None:
        raise NotFound("user")
    assessment, errors = drafts.examine(tx, config, user, draft, today=today, replaces=replaces)
    if replaced is not None:
        errors = _errors_of_edit(replaced, draft) + errors
    if assessment is None:
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
            refusals=errors,
        )
    deciders: list[User] = []
    unreachable: list[User] = []
    reason: AutoApprovalReason | None = None
    # An edited request stays pending.
    if replaced is not None or assessment.leave_type.requires_approval:
        deciders, unreachable = approvers.with_unreachable(
            tx, by.organisation_id, user.id, today=today
        )
    if replaced is None and not deciders:
        reason = request_steps.auto_approval_reason(assessment.leave_type)
    off = colleagues.off_with(tx, by.organisation_id, user, assessment.span, includes_pending=False)
    return Preview(
        user=user,
        leave_type=assessment.leave_type,
        lines=day_lines.lines(assessment.day_counts),
        total_half_days=halves.total_half_days(assessment.counted_halves),
        years=_years(config, assessment, replaces),
        approvers=deciders,
        approved_because=reason,
        unreachable=unreachable,
        colleagues=off.named,
        colleagues_count=off.count,
        pending_colleagues_count=off.pending_count,
        refusals=errors,
    )


def explain(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> ExplainedRequest:
    """A request's dates by its stored count, for callers who can see the request.

    Raises NotFound.
    """
    request = leave_reading.get(tx, request_id, by=by, now=now)
    user = people_rows.find(tx, by.organisation_id, request.user_id)
    if user is None:
        raise NotFound("leave request")
    config = organisation_config.of_organisation(tx, by.organisation_id)
    counts = drafts.count(config, user, spans.of_request(request))
    return ExplainedRequest(
        request=request, lines=day_lines.stored_lines(counts, request.counted_halves)
    )


def _replaced(tx: Transaction, request_id: str, by: Caller, now: datetime) -> LeaveRequest:
    replaced = leave_reading.get(tx, request_id, by=by, now=now)
    if replaced.user_id != by.user_id and not by.is_admin:
        raise InsufficientRole("admin")
    return replaced


def _errors_of_edit(replaced: LeaveRequest, draft: Draft) -> list[DomainError]:
    errors: list[DomainError] = []
    try:
        lifecycle.check_transition("edit", replaced.status)
    except DomainError as error:
        errors.append(error)
    if draft.leave_type_id != replaced.leave_type_id:
        errors.append(
            InvalidInput.of(
                "leave_type_id",
                "unknown_field",
                "The leave type of a request cannot be changed. Create a new request instead.",
            )
        )
    return errors


def _years(
    config: OrganisationConfig, assessment: Assessment, replaces: str | None
) -> list[YearChange]:
    account, span = assessment.inputs.account, assessment.span
    current = balances.deducting(config, assessment.inputs.leave)
    others = balances.deducting(
        config, (booked for booked in assessment.inputs.leave if booked.id != replaces)
    )
    requested = Deduction(
        counted_halves=assessment.counted_halves, start_date=span.start_date, end_date=span.end_date
    )
    planned = [*others, requested] if assessment.leave_type.deducts_allowance else others
    before = year_balances.of_years(account, current, span.start_date, span.end_date)
    after = year_balances.of_years(account, planned, span.start_date, span.end_date)
    changes = []
    for year_before, year_after in zip(before, after, strict=True):
        year = year_before.year
        on = min(span.end_date, year.last_day)
        needed = requested.half_days_in_year(year) if assessment.leave_type.deducts_allowance else 0
        changes.append(
            YearChange(
                year=year,
                before_half_days=year_before.remaining_half_days(on),
                half_days=needed,
                after_half_days=year_after.remaining_half_days(on),
            )
        )
    return changes
