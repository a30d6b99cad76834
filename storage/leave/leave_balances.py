"""What a person's balances depend on, read in one query, and the balances around a request.

year_balances.py computes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import Final, TypedDict

from peewee import SQL, Select

from storage.base.allowance_values import Allowance, Amount
from storage.base.leave_values import HalfDay, LeaveRequest, LeaveStatus, TimeCredit
from storage.base.values import User, local_day
from storage.db import rows
from storage.db.compiled import Expr, Param, any_of, compiled
from storage.db.database import Row, Transaction
from storage.db.tables import AllowanceAdjustmentRow, LeaveRequestRow, TimeCreditRow
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import allowance_terms
from storage.people.allowance_terms import leave_year_rule
from storage.rules import (
    counted_days,
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
    """``leave_year`` as in `values.Adjustment`; ``allowance_id`` None: the default allowance."""

    id: str
    leave_year: int
    half_days: int
    created_at: datetime
    allowance_id: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class BookedCredit:
    """An approved time credit."""

    id: str
    allowance_id: str
    worked_on: date
    half_days: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Bookings:
    """A person's leave, earliest first and of any type, adjustments and credits."""

    leave: list[BookedLeave]
    adjustments: list[BookedAdjustment]
    credits: list[BookedCredit]


NO_BOOKINGS: Final = Bookings(leave=[], adjustments=[], credits=[])


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
    credits: list[BookedCredit] = []
    leave: list[BookedLeave] = []
    # The query does not sort: SQLite would scan all leave of the organisation in this order.
    for row in sorted(booking_rows, key=lambda row: row.start_date):
        if row.leave_type_id is not None:
            leave.append(_booked_leave(row))
        elif row.status == "approved":
            credits.append(
                BookedCredit(
                    id=row.id,
                    allowance_id=row.allowance_id,
                    worked_on=rows.day(row.start_date),
                    half_days=int(row.counted_halves),
                )
            )
        else:
            adjustments.append(
                BookedAdjustment(
                    id=row.id,
                    leave_year=int(row.start_date[:4]),
                    half_days=int(row.counted_halves),
                    created_at=rows.instant(int(row.status)),
                    allowance_id=row.allowance_id,
                )
            )
    return Bookings(leave=leave, adjustments=adjustments, credits=credits)


@compiled
def _of_person(
    organisation_id: Param[str],
    user_id: Param[str],
    first_day: Param[str],
    last_day: Param[str],
    first_adjusted: Param[str],
    last_adjusted: Param[str],
) -> Select:
    leave, adjustments, credits = _leave_adjustments_and_credits(
        organisation_id, (first_day, last_day), (first_adjusted, last_adjusted)
    )
    return (
        leave.where(LeaveRequestRow.user_id == user_id)
        .union_all(adjustments.where(AllowanceAdjustmentRow.user_id == user_id))
        .union_all(credits.where(TimeCreditRow.user_id == user_id))
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
    leave, adjustments, credits = _leave_adjustments_and_credits(
        organisation_id, (first_day, last_day), (first_adjusted, last_adjusted)
    )
    requester_id, adjusted_id = LeaveRequestRow.user_id, AllowanceAdjustmentRow.user_id
    credited_id = TimeCreditRow.user_id
    return (
        leave.select_extend(requester_id)
        .where(any_of(requester_id, user_ids))
        .union_all(adjustments.select_extend(adjusted_id).where(any_of(adjusted_id, user_ids)))
        .union_all(credits.select_extend(credited_id).where(any_of(credited_id, user_ids)))
    )


def _leave_adjustments_and_credits(
    organisation_id: Param[str],
    leave_days: tuple[Param[str], Param[str]],
    adjusted_days: tuple[Param[str], Param[str]],
) -> tuple[Select, Select, Select]:
    """Three queries with the same columns, for one statement.

    An adjustment has the first day of its calendar year as ``start_date``, the time at which it was
    made as ``status``, its half-days as ``counted_halves`` and no leave type. A credit has the day
    of the work, the status ``approved``, its half-days, and no leave type either.
    """
    columns: tuple[Expr, ...] = rows.columns_of(LeaveRequestRow, BookedLeave)
    leave = LeaveRequestRow.select(*columns, SQL("NULL").alias("allowance_id")).where(
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
        adjustment.allowance_id,
    ).where(
        adjustment.organisation_id == organisation_id,
        adjustment.leave_year_start >= adjusted_days[0],
        adjustment.leave_year_start <= adjusted_days[1],
    )
    credit = TimeCreditRow
    credits = credit.select(
        credit.id,
        null,
        credit.worked_on,
        null,
        null,
        null,
        credit.status,
        credit.half_days.cast("TEXT"),
        credit.allowance_id,
    ).where(
        credit.organisation_id == organisation_id,
        credit.worked_on >= leave_days[0],
        credit.worked_on <= leave_days[1],
        credit.status == "approved",
    )
    return leave, adjustments, credits


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
    return bookings_of(tx, config.organisation.id, user.id, begin, last_read)


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


def deductions(
    config: OrganisationConfig, leave: Iterable[BookedLeave], allowance_id: str
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
    booked = bookings_of_people(
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
