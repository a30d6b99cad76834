"""What a person's balances depend on, and the balances around a request.

bookings.py reads what is booked, and year_balances.py computes the balances.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType
from typing import Final

from storage.base.allowance_values import Allowance, Amount
from storage.base.leave_values import LeaveRequest, TimeCredit
from storage.base.values import User, local_day
from storage.db.database import Transaction
from storage.leave import bookings
from storage.leave.bookings import NO_BOOKINGS, BookedCredit, BookedLeave, Bookings
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import allowance_terms
from storage.people.allowance_terms import leave_year_rule
from storage.rules import (
    dated,
    employment_terms,
    leave_years,
    request_rules,
    year_balances,
)
from storage.rules.leave_years import LeaveYear, months_after
from storage.rules.year_balances import Account, Adjusted, Credit, Deduction

# How long after the work a credit can be claimed.
CREDIT_REACH: Final = timedelta(days=366)


def read(
    tx: Transaction, config: OrganisationConfig, user: User, first_day: date, last_day: date
) -> Bookings:
    """What the balances of the leave years between two days depend on, both days included.

    Reads the leave of those years; where an allowance carries days over, of all years since the
    person was created, and of later ones.
    """
    last_read = date.max
    begin = accrual_start(config, user, first_day)
    if not any(_passes_on(allowance) for allowance in config.allowances.values()):
        rule = leave_year_rule(config, user)
        last_read = leave_years.leave_year_containing(rule, last_day).last_day
    return bookings.of_person(tx, config.organisation.id, user.id, begin, last_read)


def bookings_of(
    tx: Transaction, config: OrganisationConfig, users: Collection[User], first_day: date
) -> Mapping[str, Bookings]:
    """What the balances of these people from a day on depend on, by person, in one query.

    People without bookings are absent.
    """
    if not users:
        return {}
    begin = min(accrual_start(config, user, first_day) for user in users)
    return bookings.of_people(tx, config.organisation.id, [user.id for user in users], begin)


def account_of(
    config: OrganisationConfig, user: User, booked: Bookings, allowance_id: str
) -> Account:
    """The inputs of the person's balances in an allowance, besides leave."""
    return Account(
        rule=leave_year_rule(config, user),
        entitlement=allowance_terms.entitlement(config, user, allowance_id),
        terms=allowance_terms.terms_from(config, user, allowance_id),
        recorded_from=_recorded_from(config, user),
        passes_from=_passes_from(config, user, config.allowances[allowance_id]),
        credits=tuple(
            Credit(
                id=credit.id,
                worked_on=credit.worked_on,
                half_days=credit.half_days,
                until=usable_until(config, user, credit),
            )
            for credit in booked.credits
            if credit.allowance_id == allowance_id
        ),
        adjustments=tuple(
            Adjusted(
                id=adjustment.id,
                leave_year=adjustment.leave_year,
                half_days=adjustment.half_days,
                made_on=local_day(adjustment.created_at, config.organisation.timezone),
            )
            for adjustment in booked.adjustments
            if (adjustment.allowance_id or config.default_allowance_id) == allowance_id
        ),
    )


def usable_until(
    config: OrganisationConfig, user: User, credit: BookedCredit | TimeCredit
) -> date | None:
    """The last day on which the credit can be taken, by the terms of the day of the work."""
    terms = config.allowances[credit.allowance_id].terms
    of_day = dated.on_or_first(terms, leave_year_rule(config, user), credit.worked_on)
    months = of_day.credits_expire_after_months
    return None if months is None else months_after(credit.worked_on, months)


def accrual_start(config: OrganisationConfig, user: User, first_day: date) -> date:
    """The first day whose leave affects the leave year of ``first_day`` in any allowance."""
    rule = leave_year_rule(config, user)
    return min(
        year_balances.accrual_start(rule, _passes_from(config, user, allowance), first_day)
        for allowance in config.allowances.values()
    )


def _passes_from(config: OrganisationConfig, user: User, allowance: Allowance) -> date | None:
    """The first day on which anything in the allowance may pass to the next leave year."""
    if not _passes_on(allowance):
        return None
    recorded_from = _recorded_from(config, user)
    return recorded_from - CREDIT_REACH if allowance.earnable else recorded_from


def _passes_on(allowance: Allowance) -> bool:
    return allowance.earnable or any(terms.carry_over_half_days != 0 for terms in allowance.terms)


def _recorded_from(config: OrganisationConfig, user: User) -> date:
    recorded_from = local_day(user.created_at, config.organisation.timezone)
    first_day = employment_terms.first_day(user)
    return recorded_from if first_day is None else max(recorded_from, first_day)


def allowance_of(config: OrganisationConfig, leave: BookedLeave | LeaveRequest) -> str | None:
    """The allowance that the leave draws on; None for none."""
    return config.allowance_of(leave.leave_type_id, leave.start_date)


def leave_by_allowance(
    config: OrganisationConfig, booked: Bookings
) -> dict[str | None, list[BookedLeave]]:
    """The booked leave by the allowance that it draws on, in the same order."""
    found: dict[str | None, list[BookedLeave]] = {}
    for each in booked.leave:
        found.setdefault(allowance_of(config, each), []).append(each)
    return found


def deductions(
    config: OrganisationConfig, leave: Iterable[BookedLeave | LeaveRequest], allowance_id: str
) -> list[Deduction]:
    """The leave that draws on the allowance."""
    return [deduction(each) for each in leave if allowance_of(config, each) == allowance_id]


def deduction(leave: BookedLeave | LeaveRequest) -> Deduction:
    return Deduction(
        counted_halves=leave.counted_halves,
        start_date=leave.start_date,
        end_date=leave.end_date,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class YearBalance:
    """The balance of a leave year before and after a request; negative when overdrawn.

    ``pending_half_days`` of other leave of the person await a decision, too; both balances are
    without them. They are 0 once the request is decided. ``is_short``: too little is left to
    approve the pending request. ``allowance_name`` is that of an allowance other than the default.
    """

    year_name: str
    before_half_days: Amount
    remaining_half_days: Amount
    pending_half_days: Amount = 0
    is_short: bool = False
    allowance_name: str | None = None


def around_request(
    tx: Transaction,
    config: OrganisationConfig,
    request: LeaveRequest,
    requester: User,
    *,
    changed: LeaveRequest | None = None,
) -> tuple[YearBalance, ...]:
    """Of the leave years of a pending or approved request, oldest first.

    None for leave that draws on no allowance. ``changed`` is the approved leave that would become
    ``request``: before the change, it is booked.
    """
    if not _draws(config, request):
        return ()
    booked = read(tx, config, requester, request.start_date, request.end_date)
    return _balances(config, request, requester, booked, changed)


def around_requests(
    tx: Transaction,
    config: OrganisationConfig,
    requests: Sequence[LeaveRequest],
    requesters: Mapping[str, User],
    *,
    changed: Mapping[str, LeaveRequest] = MappingProxyType({}),
) -> dict[str, tuple[YearBalance, ...]]:
    """As ``around_request`` for many, by id; ``requesters`` has their people by id."""
    drawing = [request for request in requests if _draws(config, request)]
    if not drawing:
        return {}
    first_day = min(
        accrual_start(config, requesters[request.user_id], request.start_date)
        for request in drawing
    )
    booked = bookings.of_people(
        tx, config.organisation.id, {request.user_id for request in drawing}, first_day
    )
    return {
        request.id: _balances(
            config,
            request,
            requesters[request.user_id],
            # A request without counted days may be the person's only booking.
            booked.get(request.user_id, NO_BOOKINGS),
            changed.get(request.id),
        )
        for request in drawing
    }


def _draws(config: OrganisationConfig, request: LeaveRequest) -> bool:
    is_booked = request.status in ("pending", "approved")
    return is_booked and allowance_of(config, request) is not None


def _balances(
    config: OrganisationConfig,
    request: LeaveRequest,
    requester: User,
    booked: Bookings,
    changed: LeaveRequest | None,
) -> tuple[YearBalance, ...]:
    allowance_id = allowance_of(config, request)
    if allowance_id is None:
        return ()
    account = account_of(config, requester, booked, allowance_id)
    other_leave = [other for other in booked.leave if other.id != request.id]
    others = deductions(config, other_leave, allowance_id)
    approved = deductions(
        config, (other for other in other_leave if other.status == "approved"), allowance_id
    )
    # As decisions check it: other pending requests take nothing away.
    alone = {
        demand.year: demand
        for demand in request_rules.demands(account, approved, deduction(request))
    }
    demands = request_rules.demands(account, others, deduction(request))
    is_undecided = request.status == "pending" or changed is not None
    is_checked = (
        request.status == "pending"
        and request.override_reason is None
        and not config.leave_types[request.leave_type_id].allow_overdraft
    )
    before: dict[LeaveYear, Amount] = {}
    if changed is not None and allowance_of(config, changed) == allowance_id:
        before = {
            demand.year: demand.remaining_half_days - demand.needed_half_days
            for demand in request_rules.demands(account, others, deduction(changed))
        }
    return tuple(
        YearBalance(
            year_name=demand.year.name,
            before_half_days=before.get(demand.year, demand.remaining_half_days),
            remaining_half_days=demand.remaining_half_days - demand.needed_half_days,
            pending_half_days=(
                alone[demand.year].remaining_half_days - demand.remaining_half_days
                if is_undecided
                else 0
            ),
            is_short=is_checked and request_rules.is_short(alone[demand.year]),
            allowance_name=other_name(config, allowance_id),
        )
        for demand in demands
    )


def other_name(config: OrganisationConfig, allowance_id: str) -> str | None:
    """The name of an allowance; None for the default one."""
    is_default = allowance_id == config.default_allowance_id
    return None if is_default else config.allowances[allowance_id].name
