"""What a person's balances depend on, read in one query, and the balances around a request.

year_balances.py computes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from types import MappingProxyType
from typing import Final, TypedDict

from peewee import SQL, Select

from storage.base.leave_values import HalfDay, LeaveRequest, LeaveStatus
from storage.base.values import Organisation, User, local_day
from storage.db import rows
from storage.db.compiled import Expr, Param, any_of, compiled
from storage.db.database import Row, Transaction
from storage.db.tables import AllowanceAdjustmentRow, LeaveRequestRow
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date
from storage.rules import counted_days, employment_terms, leave_years, request_rules, year_balances
from storage.rules.leave_years import LeaveYear, LeaveYearRule
from storage.rules.year_balances import Account, Adjusted, CarryOver, Deduction


@dataclass(frozen=True, kw_only=True, slots=True)
class BookedLeave:
    """Pending or approved leave of one person."""

    id: str
    leave_type_id: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    status: LeaveStatus
    counted_halves: str

    @property
    def span(self) -> counted_days.Span:
        return counted_days.Span(
            start_date=self.start_date,
            end_date=self.end_date,
            start_half_day=self.start_half_day,
            end_half_day=self.end_half_day,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class BookedAdjustment:
    """``leave_year`` as in `values.Adjustment`."""

    id: str
    leave_year: int
    half_days: int
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Bookings:
    """A person's leave, earliest first and of any type, and adjustments."""

    leave: list[BookedLeave]
    adjustments: list[BookedAdjustment]


def bookings_of(
    tx: Transaction, organisation_id: str, user_id: str, first_day: date, last_day: date
) -> Bookings:
    """The bookings between two days, both included."""
    booking_rows = tx.all(
        _of_person,
        organisation_id=organisation_id,
        user_id=user_id,
        **_bounds(first_day, last_day),
    )
    return _bookings_of(booking_rows)


def bookings_of_people(
    tx: Transaction, organisation_id: str, user_ids: Collection[str], first_day: date
) -> dict[str, Bookings]:
    """By person, from a day on; people without leave and adjustments are absent."""
    booking_rows = tx.all(
        _of_people,
        organisation_id=organisation_id,
        user_ids=sorted(user_ids),
        **_bounds(first_day, date.max),
    )
    rows_by_user: dict[str, list[Row]] = {}
    for row in booking_rows:
        rows_by_user.setdefault(row.user_id, []).append(row)
    return {user_id: _bookings_of(user_rows) for user_id, user_rows in rows_by_user.items()}


class _Bounds(TypedDict):
    first_day: str
    last_day: str
    first_adjusted: str
    last_adjusted: str


def _bounds(first_day: date, last_day: date) -> _Bounds:
    return {
        "first_day": first_day.isoformat(),
        "last_day": last_day.isoformat(),
        # An adjustment belongs to the leave year that begins in the calendar year of its date.
        "first_adjusted": date(first_day.year, 1, 1).isoformat(),
        "last_adjusted": date(last_day.year, 12, 31).isoformat(),
    }


_booked_leave: Final = rows.mapper(BookedLeave)


def _bookings_of(booking_rows: Iterable[Row]) -> Bookings:
    adjustments: list[BookedAdjustment] = []
    leave: list[BookedLeave] = []
    # The query does not sort: SQLite would scan all leave of the organisation in this order.
    for row in sorted(booking_rows, key=lambda row: row.start_date):
        if row.leave_type_id is None:
            leave_year, half_days = int(row.start_date[:4]), int(row.counted_halves)
            adjustments.append(
                BookedAdjustment(
                    id=row.id,
                    leave_year=leave_year,
                    half_days=half_days,
                    created_at=rows.instant(int(row.status)),
                )
            )
        else:
            leave.append(_booked_leave(row))
    return Bookings(leave=leave, adjustments=adjustments)


@compiled
def _of_person(
    organisation_id: Param[str],
    user_id: Param[str],
    first_day: Param[str],
    last_day: Param[str],
    first_adjusted: Param[str],
    last_adjusted: Param[str],
) -> Select:
    leave, adjustments = _leave_and_adjustments(
        organisation_id, (first_day, last_day), (first_adjusted, last_adjusted)
    )
    return leave.where(LeaveRequestRow.user_id == user_id).union_all(
        adjustments.where(AllowanceAdjustmentRow.user_id == user_id)
    )


@compiled
def _of_people(
    organisation_id: Param[str],
    user_ids: Param[list[str]],
    first_day: Param[str],
    last_day: Param[str],
    first_adjusted: Param[str],
    last_adjusted: Param[str],
) -> Select:
    leave, adjustments = _leave_and_adjustments(
        organisation_id, (first_day, last_day), (first_adjusted, last_adjusted)
    )
    requester_id, adjusted_id = LeaveRequestRow.user_id, AllowanceAdjustmentRow.user_id
    return (
        leave.select_extend(requester_id)
        .where(any_of(requester_id, user_ids))
        .union_all(adjustments.select_extend(adjusted_id).where(any_of(adjusted_id, user_ids)))
    )


def _leave_and_adjustments(
    organisation_id: Param[str],
    leave_days: tuple[Param[str], Param[str]],
    adjusted_days: tuple[Param[str], Param[str]],
) -> tuple[Select, Select]:
    """Two queries with the same columns, for one statement.

    An adjustment has the first day of its calendar year as ``start_date``, the time at which it was
    made as ``status``, its half-days as ``counted_halves`` and no leave type.
    """
    columns: tuple[Expr, ...] = rows.columns_of(LeaveRequestRow, BookedLeave)
    leave = LeaveRequestRow.select(*columns).where(
        LeaveRequestRow.organisation_id == organisation_id,
        LeaveRequestRow.end_date >= leave_days[0],
        LeaveRequestRow.start_date <= leave_days[1],
        LeaveRequestRow.status.in_(("pending", "approved")),
    )
    null = SQL("NULL")
    adjustment = AllowanceAdjustmentRow
    adjustments = adjustment.select(
        adjustment.id,
        null,
        adjustment.leave_year_start,
        null,
        null,
        null,
        adjustment.created_at.cast("TEXT"),
        adjustment.half_days.cast("TEXT"),
    ).where(
        adjustment.organisation_id == organisation_id,
        adjustment.leave_year_start >= adjusted_days[0],
        adjustment.leave_year_start <= adjusted_days[1],
    )
    return leave, adjustments


@dataclass(frozen=True, kw_only=True, slots=True)
class BalanceInputs:
    """All that a person's balances depend on. ``leave``: earliest first, of any type."""

    account: Account
    leave: list[BookedLeave]


def leave_year_rule(config: OrganisationConfig, user: User) -> LeaveYearRule:
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
    booked = bookings_of(
        tx, organisation.id, user.id, accrual_start(config, user, first_day), last_read
    )
    return BalanceInputs(account=account_of(config, user, booked.adjustments), leave=booked.leave)


def account_of(
    config: OrganisationConfig, user: User, adjustments: Iterable[BookedAdjustment]
) -> Account:
    """The inputs of the person's balances besides leave."""
    return Account(
        rule=leave_year_rule(config, user),
        entitlement=employment_by_date.entitlement(config, user),
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
    types = config.leave_types
    return [deduction(booked) for booked in leave if types[booked.leave_type_id].deducts_allowance]


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
    approve the pending request.
    """

    year_name: str
    before_half_days: int
    remaining_half_days: int
    pending_half_days: int = 0
    is_short: bool = False


def around_request(
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
    inputs = read_inputs(tx, config, requester, request.start_date, request.end_date)
    return _balances(config, request, inputs.account, inputs.leave, changed)


def around_requests(
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
        accrual_start(config, requesters[request.user_id], request.start_date)
        for request in deducting
    )
    booked = bookings_of_people(
        tx, config.organisation.id, {request.user_id for request in deducting}, first_day
    )
    found = {}
    for request in deducting:
        # A request without counted days may be the person's only booking.
        own = booked.get(request.user_id) or Bookings(leave=[], adjustments=[])
        account = account_of(config, requesters[request.user_id], own.adjustments)
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
    others = deducting(config, other_leave)
    approved = deducting(config, (other for other in other_leave if other.status == "approved"))
    # As decisions check it: other pending requests take nothing away.
    alone = {
        demand.year: demand
        for demand in year_balances.demands(account, approved, deduction(request))
    }
    demands = year_balances.demands(account, others, deduction(request))
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
            for demand in year_balances.demands(account, others, deduction(changed))
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
