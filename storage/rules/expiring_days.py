"""Which days of a person lapse if no more leave is taken, and when the person is told of them.

Leave that is booked counts as taken. Days lapse in three ways: carried days and credits at the end
of their time, and at the end of a leave year what may not be carried over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal

from storage.base.allowance_values import Amount
from storage.rules import year_balances
from storage.rules.leave_years import LeaveYear, months_after
from storage.rules.year_balances import Account, Deduction, LeaveYearBalance

LapseReason = Literal["carry_over", "credit", "year_end"]
NoticeKind = Literal["statement", "reminder"]

# Months before days lapse, earliest first.
REMINDED_MONTHS_BEFORE: Final = (3, 1)
# A notice that named the days so shortly before is as good as the reminder.
MERGED_WITHIN: Final = timedelta(days=30)
# How late the statement of a leave year may be; later it would surprise more than it tells.
STATEMENT_LATE: Final = timedelta(days=30)
_ONE_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Lapse:
    """Half-days that lapse after ``last_day``, the last on which they can be taken."""

    reason: LapseReason
    half_days: Amount
    last_day: date


@dataclass(frozen=True, kw_only=True, slots=True)
class Pot:
    """What a person has in one allowance and leave year, and what of it lapses.

    ``granted_half_days`` are those of the year with adjustments, ``taken_half_days`` all booked
    leave, ``left_half_days`` what is left of it today with all that the year still grants.
    ``carries_half_days`` is the most that passes to the next year (None: all). ``last_day`` is that
    of the leave year, or of employment if it ends in it, which ``ends_employment`` says.
    """

    year: LeaveYear
    granted_half_days: Amount
    carried_half_days: Amount
    credit_half_days: Amount
    taken_half_days: Amount
    left_half_days: Amount
    carries_half_days: Amount | None
    last_day: date
    ends_employment: bool
    lapses: tuple[Lapse, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.granted_half_days or self.carried_half_days or self.credit_half_days)


def pot(account: Account, deductions: Sequence[Deduction], today: date) -> Pot:
    """The allowance in the leave year of ``today``, in the employment of that day.

    ``deductions`` has all leave since ``year_balances.accrual_start``, future leave included.
    """
    # Credits may pass to the next leave year and lapse in it.
    ahead = months_after(today, REMINDED_MONTHS_BEFORE[0] + 1)
    balances = year_balances.of_years(account, deductions, today, ahead)
    balance = next(each for each in balances if each.first_day <= today <= each.last_day)
    employed_until = balance.employment.end_date
    ends_employment = employed_until is not None and employed_until <= balance.last_day
    carries = account.terms_on(balance.last_day).carry_over_half_days
    lapses = [*_carried(balance, today), *_credits(balances, today)]
    # What is left at the end of employment is settled, and lapses by no rule of ours.
    if not ends_employment:
        lapses += _at_year_end(balance, carries)
    credits = sum(each.half_days for each in balance.credits)
    granted = balance.allowance.prorated_half_days + balance.adjusted_half_days
    lapsed = balance.lapsed_half_days(today)
    lapsed += sum(each.left_half_days for each in balance.lapsed_credits(today))
    total = granted + balance.carried_half_days + credits
    return Pot(
        year=balance.year,
        granted_half_days=granted,
        carried_half_days=balance.carried_half_days,
        credit_half_days=credits,
        taken_half_days=balance.taken_half_days,
        left_half_days=total - balance.taken_half_days - lapsed,
        carries_half_days=carries,
        last_day=balance.last_day if not ends_employment else employed_until or balance.last_day,
        ends_employment=ends_employment,
        lapses=tuple(sorted(lapses, key=lambda each: (each.last_day, each.reason))),
    )


def _carried(balance: LeaveYearBalance, today: date) -> list[Lapse]:
    until = balance.carried_until
    if until is None or until < today or not balance.lapsing_half_days:
        return []
    return [Lapse(reason="carry_over", half_days=balance.lapsing_half_days, last_day=until)]


def _credits(balances: Iterable[LeaveYearBalance], today: date) -> list[Lapse]:
    """Credits of one last day are one lapse; each counts in the leave year of that day."""
    left: dict[date, Amount] = {}
    for balance in balances:
        for each in balance.credits:
            until = each.credit.until
            if until is None or until < today or not each.left_half_days:
                continue
            if balance.first_day <= until <= balance.last_day:
                left[until] = left.get(until, 0) + each.left_half_days
    return [
        Lapse(reason="credit", half_days=half_days, last_day=until)
        for until, half_days in left.items()
    ]


def _at_year_end(balance: LeaveYearBalance, carries: Amount | None) -> list[Lapse]:
    left = balance.final_half_days - balance.passing_half_days
    if carries is None or left <= carries:
        return []
    return [Lapse(reason="year_end", half_days=left - carries, last_day=balance.last_day)]


# What a notice says of days: the allowance and their last day.
Named = tuple[str, date]


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A notice that went out: on which day, and which days it named."""

    on: date
    is_statement: bool
    named: frozenset[Named]


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownFrom:
    """The first days of the organisation and of the person in Hiatus, and of employment."""

    organisation: date
    person: date
    employment: date | None


def statement_day(year: LeaveYear, known: KnownFrom) -> date:
    """From when the statement is due: the first day of the leave year, or of employment in it."""
    return max(year.first_day, known.employment or year.first_day)


def is_statement_due(year: LeaveYear, told: Iterable[Told], known: KnownFrom, today: date) -> bool:
    """Whether the person has to hear now what they have in the leave year.

    Leave years that had begun when the organisation began with Hiatus have no statement: what was
    taken before may not be entered yet.
    """
    day = statement_day(year, known)
    if not day <= today <= day + STATEMENT_LATE or day < known.organisation:
        return False
    return not any(each.is_statement and each.on >= day for each in told)


def reminder_days(last_day: date) -> list[date]:
    """When days that lapse after ``last_day`` are told again, earliest first."""
    return [months_after(last_day + _ONE_DAY, -months) for months in REMINDED_MONTHS_BEFORE]


def is_announced(lapse: Lapse, today: date) -> bool:
    """Whether the first reminder of the days has come."""
    return reminder_days(lapse.last_day)[0] <= today


def is_reminder_due(named: Named, told: Collection[Told], known: KnownFrom, today: date) -> bool:
    """Whether the person has to be reminded now of days that lapse.

    The last reminder that has come counts; no notice on it or in the 30 days before may have named
    the days. Reminders of a time before the person was in Hiatus are left out.
    """
    days = [day for day in reminder_days(named[1]) if known.person <= day <= today <= named[1]]
    if not days:
        return False
    since = days[-1] - MERGED_WITHIN
    return not any(named in each.named and each.on >= since for each in told)


@dataclass(frozen=True, kw_only=True, slots=True)
class Due:
    """The notice to send now, and the days of each allowance that it names."""

    kind: NoticeKind
    named: Mapping[str, tuple[Lapse, ...]]

    @property
    def first_last_day(self) -> date | None:
        days = [lapse.last_day for lapses in self.named.values() for lapse in lapses]
        return min(days, default=None)


def due(
    pots: Mapping[str, Pot], told: Collection[Told], known: KnownFrom, today: date
) -> Due | None:
    """The notice that is due on a day, by allowance id; None if there is none.

    A statement names all days that would lapse; a reminder those whose time has come, with others
    that were due to be told before. One message a day is enough: a statement says it all.
    """
    if not pots:
        return None
    year = next(iter(pots.values())).year
    has_any = any(not each.is_empty for each in pots.values())
    if has_any and is_statement_due(year, told, known, today):
        return Due(kind="statement", named={id_: each.lapses for id_, each in pots.items()})
    is_due = any(
        is_reminder_due((allowance_id, lapse.last_day), told, known, today)
        for allowance_id, each in pots.items()
        for lapse in each.lapses
    )
    if not is_due:
        return None
    named = {
        allowance_id: tuple(lapse for lapse in each.lapses if is_announced(lapse, today))
        for allowance_id, each in pots.items()
    }
    return Due(kind="reminder", named={id_: lapses for id_, lapses in named.items() if lapses})


def is_sent_on(today: date, working_days: Sequence[date], first_last_day: date | None) -> bool:
    """Whether a due notice is sent on a day: on a working day, or before it would be too late.

    ``working_days`` are the person's from today on, for two weeks.
    """
    if not working_days or working_days[0] == today:
        return True
    return first_last_day is not None and first_last_day < working_days[0]
