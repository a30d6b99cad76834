"""Previews of drafts, and the counted days of stored requests.

Figures and errors come from the functions that writes use (drafts.py, year_balances.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from storage.base.allowance_values import Amount
from storage.base.errors import (
    DomainError,
    FieldError,
    InsufficientRole,
    InvalidInput,
    LeaveTypeNotRecordable,
    NotFound,
)
from storage.base.leave_values import LeaveRequest, LeaveType
from storage.base.values import Caller, User, local_day
from storage.db.database import Transaction
from storage.leave import (
    bookings,
    covers,
    drafts,
    leave_balances,
    leave_changes,
    leave_requests,
    leave_rows,
    request_steps,
)
from storage.leave.drafts import Assessment, Draft
from storage.leave.request_steps import AutoApprovalReason
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approvers, colleagues, employment_by_date, people_rows
from storage.people.colleagues import ColleagueOff
from storage.rules import counted_days, free_days, lifecycle, request_rules, roles, year_balances
from storage.rules.counted_days import DayLine
from storage.rules.free_days import Bridge
from storage.rules.leave_years import LeaveYear
from storage.rules.year_balances import Deduction


@dataclass(frozen=True, kw_only=True, slots=True)
class YearChange:
    """A leave year that the leave touches, as of the leave's last day in it.

    ``half_days`` is what the leave uses of it. ``after`` also reflects a smaller carry-over.
    ``allowance_name`` is that of an allowance other than the default.
    """

    allowance_id: str
    allowance_name: str | None
    year: LeaveYear
    before_half_days: Amount
    half_days: int
    after_half_days: Amount


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """The effects of submitting a draft.

    ``leave_type`` is None, and nothing is counted, if the dates or the type are invalid.
    ``approved_because`` is why it would be approved at once; None if an approver decides.
    ``effect``: what a change of approved leave does; None for other drafts, for one that changes
    nothing, and for days that the caller cannot change. ``replaced`` is the request that is
    changed. ``colleagues``: at most ten of ``colleagues_count`` with approved leave, by first day.
    ``pending_colleagues_count``: colleagues' pending requests for these days, never named.
    ``unreachable``: pending people without a known Slack account, whom the approval chain skips.
    ``refusals``: empty if the draft can be submitted; submitting raises the first. ``warnings``
    stop nothing. ``bridge`` is a working day worth taking as well, for leave from the allowance.
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
    warnings: list[FieldError]
    effect: Literal["at_once", "amendment"] | None = None
    bridge: Bridge | None = None
    replaced: LeaveRequest | None = None


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
    user_id: str | None = None,
    override_reason: str | None = None,
    reference_version: int | None = None,
) -> Preview:
    """Preview a request, an edit or change of the request ``replaces``, or recorded leave.

    For the caller; admins and owners also for requests of others. Raises NotFound,
    InsufficientRole and the errors of ``leave_requests.create``, but for that of the leave type,
    which is in the preview like all errors of the draft.
    """
    if by.user_id is None:
        raise InsufficientRole("member")
    config = organisation_config.of_organisation(tx, by.organisation_id, reference_version)
    today = local_day(now, config.organisation.timezone)
    replaced = None if replaces is None else _replaced(tx, replaces, by, now)
    is_recorded = user_id is not None and user_id != by.user_id
    if replaced is not None:
        if user_id is not None:
            raise _not_with_replaces()
        user_id = replaced.user_id
    override_reason = request_rules.checked_override(override_reason, user_id=user_id, by=by)
    user = people_rows.find(tx, by.organisation_id, user_id or by.user_id)
    if user is None:
        raise leave_requests.unknown_user() if is_recorded else NotFound("user")
    if is_recorded:
        leave_requests.check_recordable_person(tx, user, by=by, today=today)
    deciders: list[User] = []
    unreachable: list[User] = []
    effect: lifecycle.Effect | None = None
    if replaced is not None and replaced.status == "approved":
        deciders, unreachable = approvers.with_unreachable(
            tx, by.organisation_id, user.id, today=today
        )
        plan = leave_changes.plan(
            tx,
            config,
            user,
            replaced,
            draft,
            by=by,
            has_approver=bool(deciders),
            today=today,
            is_override=override_reason is not None,
        )
        assessment, errors, effect = plan.assessment, list(plan.refusals), plan.effect
        if effect != "amendment":
            deciders, unreachable = [], []
    else:
        assessment, errors = drafts.check_all(
            tx,
            config,
            user,
            draft,
            today=today,
            replaces=replaced,
            is_override=override_reason is not None,
        )
        if replaced is not None:
            errors = _errors_of_edit(replaced, draft) + errors
    leave_type = config.leave_types.get(draft.leave_type_id)
    if is_recorded and leave_type is not None and not roles.may_record_type(leave_type, by=by):
        errors.insert(0, LeaveTypeNotRecordable(leave_type.type_name))
    elif is_recorded and assessment is not None:
        try:
            leave_requests.check_recordable_days(assessment, by=by)
        except LeaveTypeNotRecordable as refusal:
            errors.insert(0, refusal)
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
            replaced=replaced,
            warnings=[],
        )
    reason: AutoApprovalReason | None = None
    is_change = replaced is not None and replaced.status == "approved"
    # An edited request stays pending.
    needs_decision = replaced is not None or assessment.leave_type.requires_approval
    if not is_change and not is_recorded and needs_decision:
        deciders, unreachable = approvers.with_unreachable(
            tx, by.organisation_id, user.id, today=today
        )
    if is_recorded:
        reason = "recorded"
    elif replaced is None and not deciders:
        reason = request_steps.auto_approval_reason(assessment.leave_type)
    off = colleagues.off_with(tx, by.organisation_id, user, assessment.span, includes_pending=False)
    return Preview(
        user=user,
        leave_type=assessment.leave_type,
        lines=counted_days.stored_lines(assessment.day_counts, assessment.counted_halves),
        total_half_days=counted_days.total_half_days(assessment.counted_halves),
        years=_years(config, user, assessment, replaces),
        approvers=deciders,
        approved_because=reason,
        unreachable=unreachable,
        colleagues=off.named,
        colleagues_count=off.count,
        pending_colleagues_count=off.pending_count,
        refusals=errors,
        effect=None if effect == "nothing" else effect,
        replaced=replaced,
        warnings=[
            *request_rules.far_ahead(
                assessment.leave_type, assessment.span.start_date, today, replaced
            ),
            *_cover_warnings(tx, config, assessment),
            *_limit_warnings(assessment, refuses=override_reason is None),
        ],
        bridge=None
        if is_recorded or (errors and assessment.counted_halves.strip("0"))
        else _bridge(tx, config, user, assessment, replaces, today=today),
    )


def explain(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> ExplainedRequest:
    """A request's dates by its stored count, for callers who can see the request.

    Raises NotFound.
    """
    request = leave_rows.get(tx, request_id, by=by, now=now)
    user = people_rows.find(tx, by.organisation_id, request.user_id)
    if user is None:
        raise NotFound("leave request")
    config = organisation_config.of_organisation(tx, by.organisation_id)
    counts = employment_by_date.count(config, user, counted_days.span_of(request))
    return ExplainedRequest(
        request=request, lines=counted_days.stored_lines(counts, request.counted_halves)
    )


def _bridge(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    assessment: Assessment,
    replaces: str | None,
    *,
    today: date,
) -> Bridge | None:
    """The bridge beside leave from the allowance, which people plan; not beside sick leave.

    Days of work elsewhere are no days off, and not free to be taken either.
    """
    if assessment.allowance_id is None or not assessment.leave_type.is_away:
        return None
    window = free_days.window(assessment.span)
    counts = employment_by_date.count(config, user, window)
    if not any(count.holiday_name for count in counts):
        return None
    # The inputs of the balance end with the leave year, which is where many holidays are.
    booked = bookings.of_person(
        tx, config.organisation.id, user.id, window.start_date, window.end_date
    )
    others = [leave for leave in booked.leave if leave.id != replaces]
    off, elsewhere = (
        [
            leave.span
            for leave in others
            if config.leave_types[leave.leave_type_id].is_away == is_away
        ]
        for is_away in (True, False)
    )
    bridge = free_days.bridge_of(counts, assessment.span, off, not_before=today)
    if bridge is None or free_days.booked_halves(bridge.day, elsewhere):
        return None
    return bridge


def _cover_warnings(
    tx: Transaction, config: OrganisationConfig, assessment: Assessment
) -> list[FieldError]:
    cover, span = assessment.cover, assessment.span
    if cover is None:
        return []
    # Pending leave of colleagues is never named to a requester.
    days_off = covers.days_off(
        tx,
        config,
        cover,
        start_date=span.start_date,
        counted_halves=assessment.counted_halves,
        worked_halves=counted_days.counted_halves(employment_by_date.count(config, cover, span)),
    )
    return [covers.away_warning(cover, days_off)] if days_off else []


def _limit_warnings(assessment: Assessment, *, refuses: bool) -> list[FieldError]:
    """Those that are not among the refusals; ``refuses``: limits are not overridden."""
    refusing = (each for each in assessment.over_limits if each.limit.enforcement == "block")
    refusal = next(refusing, None) if refuses else None
    return [each.warning for each in assessment.over_limits if each is not refusal]


def _replaced(tx: Transaction, request_id: str, by: Caller, now: datetime) -> LeaveRequest:
    replaced = leave_rows.get(tx, request_id, by=by, now=now)
    if replaced.user_id != by.user_id and not by.is_admin:
        raise InsufficientRole("admin")
    return replaced


def _not_with_replaces() -> InvalidInput:
    return InvalidInput.of(
        "user_id",
        "not_with_replaces",
        "Omit user_id: the request that is replaced already says whose leave it is.",
    )


def _errors_of_edit(replaced: LeaveRequest, draft: Draft) -> list[DomainError]:
    errors: list[DomainError] = []
    try:
        lifecycle.check_transition("edit", replaced.status)
    except DomainError as error:
        errors.append(error)
    try:
        drafts.check_same_type(replaced, draft)
    except DomainError as error:
        errors.append(error)
    return errors


def _years(
    config: OrganisationConfig, user: User, assessment: Assessment, replaces: str | None
) -> list[YearChange]:
    """In the allowance that it draws on, or else in the default one, which stays as it is."""
    span = assessment.span
    allowance_id = assessment.allowance_id or config.default_allowance_id
    account = leave_balances.account_of(config, user, assessment.booked, allowance_id)
    current = leave_balances.deductions(config, assessment.booked.leave, allowance_id)
    others = current
    if replaces is not None:
        kept = [booked for booked in assessment.booked.leave if booked.id != replaces]
        others = leave_balances.deductions(config, kept, allowance_id)
    requested = Deduction(
        counted_halves=assessment.counted_halves, start_date=span.start_date, end_date=span.end_date
    )
    draws = assessment.allowance_id is not None
    planned = [*others, requested] if draws else others
    before = year_balances.of_years(account, current, span.start_date, span.end_date)
    after = year_balances.of_years(account, planned, span.start_date, span.end_date)
    changes = []
    for year_before, year_after in zip(before, after, strict=True):
        on = min(span.end_date, year_before.last_day)
        needed = requested.half_days_in(year_before.first_day, year_before.last_day) if draws else 0
        changes.append(
            YearChange(
                allowance_id=allowance_id,
                allowance_name=leave_balances.other_name(config, allowance_id),
                year=year_before.year,
                before_half_days=year_before.remaining_half_days(on),
                half_days=needed,
                after_half_days=year_after.remaining_half_days(on),
            )
        )
    return changes
