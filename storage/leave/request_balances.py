"""The balance of each leave year before and after a request, as approvers see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from storage.base.values import LeaveRequest, User
from storage.db.database import Transaction
from storage.events.organisation_config import OrganisationConfig
from storage.leave import balances, bookings
from storage.leave.bookings import BookedLeave, Bookings
from storage.rules import request_rules, year_balances
from storage.rules.leave_years import LeaveYear
from storage.rules.year_balances import Account


@dataclass(frozen=True, kw_only=True, slots=True)
class YearBalance:
    """The balance of a leave year before and after a request; negative when overdrawn.

    ``pending_half_days`` of other leave of the person await a decision, too; both balances are
    without them. They are 0 once the request is decided. ``is_short``: too little is left to
    approve the pending request.
    """

    year_name: str
    before_half_days: int
    remaining_half_days: int
    pending_half_days: int = 0
    is_short: bool = False


def of_request(
    tx: Transaction,
    config: OrganisationConfig,
    request: LeaveRequest,
    requester: User,
    *,
    changed: LeaveRequest | None = None,
) -> tuple[YearBalance, ...]:
    """Of the leave years of a pending or approved request, oldest first.

    None for a type that does not deduct. ``changed`` is the approved leave that would become
    ``request``: before the change, it is booked.
    """
    if not _deducts(config, request):
        return ()
    inputs = balances.read_inputs(tx, config, requester, request.start_date, request.end_date)
    return _balances(config, request, inputs.account, inputs.leave, changed)


def of_requests(
    tx: Transaction,
    config: OrganisationConfig,
    requests: Sequence[LeaveRequest],
    requesters: Mapping[str, User],
    *,
    changed: Mapping[str, LeaveRequest] = MappingProxyType({}),
) -> dict[str, tuple[YearBalance, ...]]:
    """As ``of_request`` for many, by id; ``requesters`` has their people by id."""
    deducting = [request for request in requests if _deducts(config, request)]
    if not deducting:
        return {}
    first_day = min(
        balances.accrual_start(config, requesters[request.user_id], request.start_date)
        for request in deducting
    )
    booked = bookings.of_people(
        tx, config.organisation.id, {request.user_id for request in deducting}, first_day
    )
    found = {}
    for request in deducting:
        # A request without counted days may be the person's only booking.
        own = booked.get(request.user_id) or Bookings(leave=[], adjustments=[])
        account = balances.account(config, requesters[request.user_id], own.adjustments)
        found[request.id] = _balances(config, request, account, own.leave, changed.get(request.id))
    return found


def _deducts(config: OrganisationConfig, request: LeaveRequest) -> bool:
    is_booked = request.status in ("pending", "approved")
    return is_booked and config.leave_types[request.leave_type_id].deducts_allowance


def _balances(
    config: OrganisationConfig,
    request: LeaveRequest,
    account: Account,
    leave: Iterable[BookedLeave],
    changed: LeaveRequest | None,
) -> tuple[YearBalance, ...]:
    other_leave = [other for other in leave if other.id != request.id]
    others = balances.deducting(config, other_leave)
    approved = balances.deducting(
        config, (other for other in other_leave if other.status == "approved")
    )
    # As decisions check it: other pending requests take nothing away.
    alone = {
        demand.year: demand
        for demand in year_balances.demands(account, approved, balances.deduction(request))
    }
    demands = year_balances.demands(account, others, balances.deduction(request))
    is_undecided = request.status == "pending" or changed is not None
    is_checked = (
        request.status == "pending"
        and request.override_reason is None
        and not config.leave_types[request.leave_type_id].allow_overdraft
    )
    booked: dict[LeaveYear, int] = {}
    if changed is not None and _deducts(config, changed):
        booked = {
            demand.year: demand.remaining_half_days - demand.needed_half_days
            for demand in year_balances.demands(account, others, balances.deduction(changed))
        }
    return tuple(
        YearBalance(
            year_name=demand.year.name,
            before_half_days=booked.get(demand.year, demand.remaining_half_days),
            remaining_half_days=demand.remaining_half_days - demand.needed_half_days,
            pending_half_days=(
                alone[demand.year].remaining_half_days - demand.remaining_half_days
                if is_undecided
                else 0
            ),
            is_short=is_checked and request_rules.is_short(alone[demand.year]),
        )
        for demand in demands
    )
