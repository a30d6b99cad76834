"""Reads what a person's balances depend on; year_balances.py computes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from storage.base.clock import local_day
from storage.base.values import LeaveRequest, Organisation, User
from storage.db.database import Transaction
from storage.directory.employment import by_date
from storage.events.organisation_config import OrganisationConfig
from storage.leave import bookings
from storage.leave.bookings import BookedAdjustment, BookedLeave
from storage.rules import employment_terms, leave_years, year_balances
from storage.rules.leave_years import LeaveYearRule
from storage.rules.year_balances import Account, Adjusted, CarryOver, Deduction


@dataclass(frozen=True, kw_only=True, slots=True)
class BalanceInputs:
    """All that a person's balances depend on. ``leave``: earliest first, of any type."""

    account: Account
    leave: list[BookedLeave]


def leave_year_rule(config: OrganisationConfig, user: User) -> LeaveYearRule:
    """When this person's leave years begin."""
    organisation = config.organisation
    return LeaveYearRule(
        type=organisation.leave_year_type,
        month=organisation.leave_year_start_month,
        day=organisation.leave_year_start_day,
        start_date=user.start_date,
    )


def read_inputs(
    tx: Transaction, config: OrganisationConfig, user: User, first_day: date, last_day: date
) -> BalanceInputs:
    """The inputs of the balances of the leave years between two days, both days included.

    Reads the leave of those years; where the organisation carries days over, of all years since
    the person was created, and of later ones.
    """
    organisation = config.organisation
    last_read = date.max
    if organisation.carry_over_half_days == 0:
        rule = leave_year_rule(config, user)
        last_read = leave_years.leave_year_containing(rule, last_day).last_day
    booked = bookings.of_person(
        tx, organisation.id, user.id, accrual_start(config, user, first_day), last_read
    )
    return BalanceInputs(account=account(config, user, booked.adjustments), leave=booked.leave)


def account(
    config: OrganisationConfig, user: User, adjustments: Iterable[BookedAdjustment]
) -> Account:
    """The inputs of the person's balances besides leave."""
    return Account(
        rule=leave_year_rule(config, user),
        entitlement=by_date.entitlement(config, user),
        adjustments=tuple(
            Adjusted(
                id=adjustment.id,
                leave_year=adjustment.leave_year,
                half_days=adjustment.half_days,
                made_on=local_day(adjustment.created_at, config.organisation.timezone),
            )
            for adjustment in adjustments
        ),
        carry_over=_carry_over(config.organisation, user),
    )


def accrual_start(config: OrganisationConfig, user: User, first_day: date) -> date:
    """The first day whose leave affects the leave year of ``first_day``."""
    carry_over = _carry_over(config.organisation, user)
    return year_balances.accrual_start(leave_year_rule(config, user), carry_over, first_day)


def _carry_over(organisation: Organisation, user: User) -> CarryOver | None:
    if organisation.carry_over_half_days == 0:
        return None
    recorded_from = local_day(user.created_at, organisation.timezone)
    first_day = employment_terms.first_day(user)
    if first_day is not None:
        recorded_from = max(recorded_from, first_day)
    return CarryOver(
        max_half_days=organisation.carry_over_half_days,
        expiry_month=organisation.carry_over_expiry_month,
        recorded_from=recorded_from,
    )


def deducting(config: OrganisationConfig, leave: Iterable[BookedLeave]) -> list[Deduction]:
    """The leave whose type uses the allowance."""
    types = config.leave_types
    return [deduction(booked) for booked in leave if types[booked.leave_type_id].deducts_allowance]


def deduction(leave: BookedLeave | LeaveRequest) -> Deduction:
    return Deduction(
        counted_halves=leave.counted_halves,
        start_date=leave.start_date,
        end_date=leave.end_date,
    )
