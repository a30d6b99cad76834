"""A person's balance as a ledger: the lines of one leave year add up to what remains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal

from peewee import Select

from storage.base.allowance_values import Allowance, Amount
from storage.base.errors import FieldError, InsufficientRole, InvalidInput, NotFound, Sentence
from storage.base.leave_values import Adjustment, LeaveStatus
from storage.base.values import Caller, User, local_day
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Row, Transaction
from storage.db.tables import AllowanceAdjustmentRow
from storage.leave import leave_balances
from storage.leave.bookings import BookedLeave, Bookings
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import allowance_terms, approvers, employment_by_date, people_rows
from storage.people.allowance_terms import AllowanceSource
from storage.rules import leave_years, year_balances
from storage.rules.entitlements import StepKind
from storage.rules.leave_years import LeaveYear
from storage.rules.year_balances import CreditBalance, LeaveYearBalance

# Every year in between has to be computed.
REACH_YEARS: Final = 20
# Leave years after the present one that Home shows.
YEARS_AHEAD: Final = 2
# Of one person and leave year; bounds the ledger.
MAX_ADJUSTMENTS: Final = 200

LineType = Literal[
    "earlier_employment",
    "earlier_employment_settled",
    "allowance",
    "pro_rata",
    "allowance_change",
    "employment_end",
    "carry_over",
    "adjustment",
    "leave",
    "carry_over_expired",
    "credit",
    "credit_expired",
    "not_granted_yet",
]
_LINE_OF_STEP: Final[Mapping[StepKind, LineType]] = {
    "start": "pro_rata",
    "change": "allowance_change",
    "end": "employment_end",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line; deductions are negative.

    ``source`` is whose setting an allowance is. ``day`` is the person's first day (pro rata), the
    first day of another allowance, the last day of employment (or of an earlier one), or the last
    day on which carried-over days or those of a credit could be taken (expired). ``from_year`` is
    the leave year that days are carried over from.
    """

    type: LineType
    half_days: Amount
    source: AllowanceSource | None = None
    day: date | None = None
    from_year: LeaveYear | None = None
    adjustment: Adjustment | None = None
    leave: BookedLeave | None = None
    credit: CreditBalance | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Balance:
    """One leave year of one person in an allowance, as of the day ``on``.

    The lines add up to what remains.

    ``taken`` is approved leave, past and future. ``lapsing`` is the part of what remains that
    expires after ``lapsing_after`` if it is not taken by then.
    """

    user_id: str
    allowance: Allowance
    on: date
    working_days: tuple[str, ...]
    year: LeaveYear
    lines: list[Line]
    entitled_half_days: Amount
    taken_half_days: Amount
    pending_half_days: Amount
    remaining_half_days: Amount
    lapsing_half_days: Amount
    lapsing_after: date | None


def balance(
    tx: Transaction, user_id: str, *, on: date | None, by: Caller, now: datetime
) -> Balance:
    """The balance of the default allowance, in the leave year of the day ``on`` (by default today).

    For the person, their approvers, admins and owners. Raises NotFound, InsufficientRole,
    InvalidInput ``out_of_range``.
    """
    return balances(tx, user_id, on=on, by=by, now=now)[0]


def balances(
    tx: Transaction, user_id: str, *, on: date | None, by: Caller, now: datetime
) -> list[Balance]:
    """The default allowance's balance, and those of others that hold anything. As ``balance``."""
    user = person_seen_by(tx, user_id, by=by, now=now)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    day = checked_day(today if on is None else on, today)
    booked = leave_balances.read(tx, config, user, day, day)
    year = leave_years.leave_year_containing(allowance_terms.leave_year_rule(config, user), day)
    leave = leave_balances.leave_by_allowance(config, booked)
    found = []
    for allowance in config.allowances.values():
        drawn = leave.get(allowance.id, [])
        *earlier, last = _of_years(config, user, booked, allowance, drawn, year.first_day, day)
        found.append(_balance(tx, config, user, allowance, drawn, last, earlier, day))
    return [each for each in found if each.allowance.is_default or _holds_anything(each)]


def from_today(
    tx: Transaction, config: OrganisationConfig, user: User, *, now: datetime
) -> list[Balance]:
    """The person's balances of today's leave year, and of the next two where leave is booked.

    The default allowance first, then others that hold anything.
    """
    today = local_day(now, config.organisation.timezone)
    rule = allowance_terms.leave_year_rule(config, user)
    last_day = today
    for _ in range(YEARS_AHEAD):
        year = leave_years.leave_year_containing(rule, last_day)
        last_day = year.last_day + timedelta(days=1)
    booked = leave_balances.read(tx, config, user, today, last_day)
    first_day = leave_years.leave_year_containing(rule, today).first_day
    leave = leave_balances.leave_by_allowance(config, booked)
    found: list[Balance] = []
    for allowance in config.allowances.values():
        drawn = leave.get(allowance.id, [])
        last_drawn = max([today, *(each.end_date for each in drawn)])
        until = min(last_day, last_drawn)
        of_years = _of_years(config, user, booked, allowance, drawn, first_day, until)
        for each in of_years:
            if each.last_day < today or (each.first_day > today and not each.taken_half_days):
                continue
            earlier = [other for other in of_years if other.last_day < each.first_day]
            on = max(today, each.first_day)
            shown = _balance(tx, config, user, allowance, drawn, each, earlier, on)
            if allowance.is_default or _holds_anything(shown):
                found.append(shown)
    return found


def _of_years(
    config: OrganisationConfig,
    user: User,
    booked: Bookings,
    allowance: Allowance,
    drawn: Iterable[BookedLeave],
    first_day: date,
    last_day: date,
) -> list[LeaveYearBalance]:
    """``drawn`` is the booked leave that draws on the allowance."""
    return year_balances.of_years(
        leave_balances.account_of(config, user, booked, allowance.id),
        [leave_balances.deduction(each) for each in drawn],
        first_day,
        last_day,
    )


def _holds_anything(balance: Balance) -> bool:
    return any(line.half_days for line in balance.lines)


def _balance(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    allowance: Allowance,
    drawn: Sequence[BookedLeave],
    year_balance: LeaveYearBalance,
    earlier: Sequence[LeaveYearBalance],
    day: date,
) -> Balance:
    lines = [
        *_earlier_lines(drawn, year_balance, earlier),
        *_lines(tx, config, user, allowance, drawn, year_balance, day),
    ]
    taken, pending = _of_status(lines, "approved"), _of_status(lines, "pending")
    remaining = sum(line.half_days for line in lines)
    lapsing = year_balance.lapsing_half_days - year_balance.lapsed_half_days(day)
    return Balance(
        user_id=user.id,
        allowance=allowance,
        on=day,
        working_days=employment_by_date.working_days(config, employment_by_date.of_day(user, day)),
        year=year_balance.year,
        lines=lines,
        entitled_half_days=remaining + taken + pending,
        taken_half_days=taken,
        pending_half_days=pending,
        remaining_half_days=remaining,
        lapsing_half_days=lapsing,
        lapsing_after=year_balance.carried_until if lapsing else None,
    )


def person_seen_by(tx: Transaction, user_id: str, *, by: Caller, now: datetime) -> User:
    """The person, for a caller who may see their balance.

    Raises NotFound, or InsufficientRole: callers may know that a colleague exists.
    """
    user = people_rows.find(tx, by.organisation_id, user_id)
    if user is None:
        raise NotFound("user")
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    if user.id not in approvers.may_read_employment(tx, [user], by=by, today=today):
        raise InsufficientRole("admin")
    return user


def adjustment_of(row: Row) -> Adjustment:
    """A row of ``ADJUSTMENT`` as a value."""
    return Adjustment(
        id=row.id,
        allowance_id=row.allowance_id,
        user_id=row.user_id,
        leave_year=int(row.leave_year_start[:4]),
        half_days=row.half_days,
        reason=row.reason,
        created_by=row.created_by,
        created_at=rows.instant(row.created_at),
    )


ADJUSTMENT: Final = tuple(
    getattr(AllowanceAdjustmentRow, name)
    for name in (
        "id",
        "user_id",
        "leave_year_start",
        "half_days",
        "reason",
        "created_by",
        "created_at",
        "allowance_id",
    )
)


def _of_status(lines: list[Line], status: LeaveStatus) -> Amount:
    return -sum(line.half_days for line in lines if line.leave and line.leave.status == status)


def checked_day(on: date, today: date) -> date:
    """The day. Raises InvalidInput ``out_of_range``: every year in between has to be computed."""
    if abs(on.year - today.year) > REACH_YEARS:
        detail = Sentence("Choose a date within {years} years of today.", years=REACH_YEARS)
        raise InvalidInput([FieldError(pointer="?on", code="out_of_range", detail=detail)])
    return on


def _lines(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    allowance: Allowance,
    drawn: Iterable[BookedLeave],
    year_balance: LeaveYearBalance,
    on: date,
) -> list[Line]:
    """In the order in which a person would explain them, without zero amounts but the first."""
    year = year_balance.year
    granted = year_balance.allowance
    first_day = max(year.first_day, year_balance.employment.start_date or date.min)
    source = allowance_terms.figure_on(config, user, allowance.id, first_day).source
    lines = [Line(type="allowance", half_days=granted.granted_half_days, source=source)]
    lines += [
        Line(type=_LINE_OF_STEP[step.kind], half_days=step.half_days, day=step.day)
        for step in granted.steps
    ]
    if year_balance.carried_half_days:
        rule = allowance_terms.leave_year_rule(config, user)
        before = leave_years.leave_year_before(rule, year)
        lines.append(
            Line(type="carry_over", half_days=year_balance.carried_half_days, from_year=before)
        )
    lines += _adjustment_lines(tx, config, user, year_balance)
    lines += [
        Line(type="credit", half_days=each.half_days, day=each.credit.worked_on, credit=each)
        for each in year_balance.credits_by(on)
    ]
    lines += _leave_lines(drawn, year_balance)
    if year_balance.lapsed_half_days(on):
        lapsed = -year_balance.lapsed_half_days(on)
        lines.append(
            Line(type="carry_over_expired", half_days=lapsed, day=year_balance.carried_until)
        )
    lines += [
        Line(
            type="credit_expired",
            half_days=-each.left_half_days,
            day=each.credit.until,
            credit=each,
        )
        for each in year_balance.lapsed_credits(on)
    ]
    later = year_balance.not_granted_half_days(on)
    if later:
        lines.append(Line(type="not_granted_yet", half_days=-later))
    return lines


def _earlier_lines(
    drawn: Sequence[BookedLeave],
    year_balance: LeaveYearBalance,
    earlier: Iterable[LeaveYearBalance],
) -> list[Line]:
    """Each earlier employment in the leave year, which leaves nothing to the present one."""
    lines: list[Line] = []
    for each in earlier:
        if each.year != year_balance.year:
            continue
        left = each.final_half_days
        lines += [
            Line(
                type="earlier_employment",
                half_days=left + each.taken_half_days,
                day=each.last_day,
            ),
            *_leave_lines(drawn, each),
            Line(type="earlier_employment_settled", half_days=-left, day=each.last_day),
        ]
    return [line for line in lines if line.half_days]


def _leave_lines(drawn: Iterable[BookedLeave], year_balance: LeaveYearBalance) -> list[Line]:
    first_day, last_day = year_balance.first_day, year_balance.last_day
    amounts = [
        (leave, leave_balances.deduction(leave).half_days_in(first_day, last_day))
        for leave in drawn
    ]
    return [
        Line(type="leave", half_days=-half_days, leave=leave)
        for leave, half_days in amounts
        if half_days
    ]


def _adjustment_lines(
    tx: Transaction, config: OrganisationConfig, user: User, year_balance: LeaveYearBalance
) -> list[Line]:
    calendar_year = year_balance.year.first_day.year
    if not year_balance.adjustments:
        return []
    adjustment_rows = tx.all(
        _adjustments_of_year,
        organisation_id=config.organisation.id,
        user_id=user.id,
        first_day=date(calendar_year, 1, 1).isoformat(),
        last_day=date(calendar_year, 12, 31).isoformat(),
        limit=MAX_ADJUSTMENTS,
    )
    by_id = {row.id: adjustment_of(row) for row in adjustment_rows}
    # Lines for the booked ones: PostgreSQL may show this second statement a newer adjustment.
    return [
        Line(type="adjustment", half_days=amount.half_days, adjustment=by_id[amount.id])
        for amount in sorted(year_balance.adjustments, key=lambda amount: amount.id)
    ]


@compiled
def _adjustments_of_year(
    organisation_id: Param[str],
    user_id: Param[str],
    first_day: Param[str],
    last_day: Param[str],
    limit: Param[int],
) -> Select:
    return (
        AllowanceAdjustmentRow.select(*ADJUSTMENT)
        .where(
            AllowanceAdjustmentRow.organisation_id == organisation_id,
            AllowanceAdjustmentRow.user_id == user_id,
            AllowanceAdjustmentRow.leave_year_start >= first_day,
            AllowanceAdjustmentRow.leave_year_start <= last_day,
        )
        .limit(limit)
    )
