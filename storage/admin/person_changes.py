"""A changed person, written with what follows for their leave, its approvers and others' cards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime
from typing import Final

from storage.admin import effects, offboarding, reassignment, recalculation
from storage.admin.effects import Effects, EffectsRecorder
from storage.base.event_values import AuditAction
from storage.base.leave_values import ClosureEffect, LeaveEffect, LeaveRequest
from storage.base.values import Caller, User, local_day
from storage.calendars import feeds
from storage.db.database import Transaction
from storage.keys import api_keys
from storage.leave import card_refreshes, closure_leave
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date, people_changes
from storage.rules import employment_terms

# The fields that affect the balance and the colleagues on cards of a person's own requests.
_ON_CARDS: Final = (
    "leave_allowance_half_days",
    "start_date",
    "end_date",
    "employment",
    "department_id",
    "manager_id",
)


# The fields that decide which closures are for a person, and what counts then.
_IN_CLOSURES: Final = (
    "start_date",
    "end_date",
    "earlier_periods",
    "employment",
    "department_id",
    "working_days",
    "public_holiday_country_code",
)


def write(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    after: User,
    action: AuditAction,
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> User:
    """Write the checked change of a locked person; returns them with the next version.

    Leave is recalculated on every day whose working days or public holidays change, past days
    included; leave after a new last day of employment or before a new first one is cancelled or
    shortened, and closures book what is new. New approvers get their cards.
    """
    pending = _pending_with_other_approvers(tx, config, user, after, now)
    approvers_before = reassignment.approvers_by_request(tx, config, pending, now=now)
    if recorder is not None:
        today = local_day(now, config.organisation.timezone)
        recorder.read_balances_before(tx, config, [user], today=today)
    after = people_changes.save(tx, user, after, action, by=by, now=now)
    leave = _recalculate(tx, config, user, after, by=by, now=now)
    if after.end_date is not None and after.end_date < (user.end_date or date.max):
        ended = offboarding.end_leave_after(tx, config, after, after.end_date, by=by, now=now)
        leave = _joined(leave, ended)
    if after.start_date is not None and after.start_date > (user.start_date or date.min):
        ended = offboarding.end_leave_before(tx, config, after, after.start_date, by=by, now=now)
        leave = _joined(leave, ended)
    closed: list[ClosureEffect] = []
    if any(getattr(user, name) != getattr(after, name) for name in _IN_CLOSURES):
        closed = closure_leave.fill(tx, config, [after], by=by, now=now)
    approvers_after = reassignment.approvers_by_request(tx, config, pending, now=now)
    reassigned = reassignment.difference(pending, approvers_before, approvers_after)
    # Cancelled requests have no approvers.
    ended_ids = {effect.before.id for effect in leave if effect.after.status == "cancelled"}
    reassigned = [change for change in reassigned if change.request.id not in ended_ids]
    reassignment.apply(tx, config, reassigned, by=by, now=now)
    _refresh_cards(tx, config, user, after, now)
    if recorder is not None:
        chosen = after.public_holiday_country_code
        balances = recorder.balance_changes(tx, config, [after])
        recorder.effects = replace(
            recorder.effects,
            leave=tuple(leave),
            chosen_country_code=None if chosen == user.public_holiday_country_code else chosen,
            reassigned=tuple(reassigned),
            balances=balances,
            overdrawn=effects.overdrawn(balances),
            closed=tuple(closed),
        )
        if after.end_date is not None and after.end_date != user.end_date:
            recorder.effects = _with_leaver(tx, config, recorder.effects, after)
    return after


def _with_leaver(
    tx: Transaction, config: OrganisationConfig, changes: Effects, user: User
) -> Effects:
    """With what stops on the day after the person's last."""
    organisation_id = config.organisation.id
    return replace(
        changes,
        leaver=user,
        api_keys=api_keys.count(tx, organisation_id, user.id),
        calendar_feeds=feeds.count(tx, organisation_id, user.id),
        reports=offboarding.reports(tx, organisation_id, user.id),
        departments=offboarding.managed_departments(config, user.id),
    )


def _recalculate(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    after: User,
    *,
    by: Caller,
    now: datetime,
) -> list[LeaveEffect]:
    """Recalculate the leave on the days whose working days or public holidays differ."""
    before_records, after_records = (
        employment_terms.records_of(user),
        employment_terms.records_of(after),
    )
    other_weeks = employment_terms.differing_periods(
        before_records,
        after_records,
        lambda record: employment_by_date.working_days(config, record),
    )
    other_countries = employment_terms.differing_periods(
        before_records,
        after_records,
        lambda record: employment_by_date.country_code_of(config, record),
    )
    cause = recalculation.cause_of(
        other_week=bool(other_weeks), other_country=bool(other_countries)
    )
    if cause is None:
        return []
    leave = recalculation.plan_periods(
        tx, config, [after], [*other_weeks, *other_countries], now=now
    )
    recalculation.apply(tx, config, leave, cause, by=by, now=now)
    return leave


def _joined(first: Iterable[LeaveEffect], second: Iterable[LeaveEffect]) -> list[LeaveEffect]:
    """Two changes one after the other, as one change of each request."""
    joined = {effect.before.id: effect for effect in first}
    for effect in second:
        earlier = joined.get(effect.before.id)
        joined[effect.before.id] = (
            effect if earlier is None else replace(effect, before=earlier.before)
        )
    return sorted(joined.values(), key=lambda effect: (effect.before.start_date, effect.before.id))


def _refresh_cards(
    tx: Transaction, config: OrganisationConfig, user: User, after: User, now: datetime
) -> None:
    """Refresh open cards whose balance or colleagues the change alters."""
    if any(getattr(user, name) != getattr(after, name) for name in _ON_CARDS):
        card_refreshes.enqueue(tx, config=config, now=now, user_ids={user.id})
    if user.department_id != after.department_id:
        # The cards of former and new colleagues list this person's leave.
        for department_id in {user.department_id, after.department_id} - {None}:
            card_refreshes.enqueue(tx, config=config, now=now, department_id=department_id)
    if user.manager_id != after.manager_id:
        managers = {manager for manager in (user.manager_id, after.manager_id) if manager}
        card_refreshes.enqueue(tx, config=config, now=now, user_ids=managers)


def _pending_with_other_approvers(
    tx: Transaction, config: OrganisationConfig, user: User, after: User, now: datetime
) -> list[LeaveRequest]:
    """Pending requests that the change may give other approvers, read before it.

    The person's own, and those of people whose approver they are before or after the change.
    """
    requests: list[LeaveRequest] = []
    if (after.manager_id, after.department_id) != (user.manager_id, user.department_id):
        requests += reassignment.pending_of(tx, config, user_id=user.id)
    if _has_other_requesters(user, after):
        requests += reassignment.assigned_to(tx, config, user, now=now)
        if after.role in ("admin", "owner"):
            requests += reassignment.pending_of(tx, config)
        elif after.role == "approver" and after.department_id is not None:
            requests += reassignment.pending_of(tx, config, department_id=after.department_id)
    return list({request.id: request for request in requests}.values())


def _has_other_requesters(user: User, after: User) -> bool:
    """Whether the role or department lets the person decide on other people's leave than before."""
    if after.role != user.role:
        return True
    return after.role == "approver" and after.department_id != user.department_id
