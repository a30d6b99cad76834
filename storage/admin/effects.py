"""What a change would do to leave and to people, told beforehand: the answer of a dry run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Final, NamedTuple

from storage.base.clock import local_day
from storage.base.values import LeaveEffect, LeaveRequest, Rerouted, User
from storage.db.database import Transaction
from storage.events.organisation_config import Reference
from storage.leave import balances
from storage.leave.balances import Booked, BookedLeave
from storage.rules import days, leave_years, year_balances
from storage.rules.leave_years import LeaveYear

# Whose balances are worked out at most.
MOST_BALANCED: Final = 100
# How many people a change of an allowance is checked for.
MAX_CHECKED: Final = 10_000
# Whose leave is in memory at a time.
_READ_AT_ONCE: Final = 500


class BalanceEffect(NamedTuple):
    """What a person has left of one leave year as of ``on``, before and after a change.

    None where there is no such leave year: a change may make them begin on another day.
    """

    user_id: str
    year: LeaveYear
    on: date
    before_half_days: int | None
    after_half_days: int | None


class Effects(NamedTuple):
    """Everything that follows from a change; ``leave`` is by first day.

    ``chosen_country_code`` is the country that is being chosen, None where none is. ``api_keys``
    and ``calendar_feeds`` are how many stop answering; ``reports`` and ``departments`` are the ids
    of those whose manager is archived then. ``balances`` are those of at most 100 people;
    ``moves_allowances`` says that others' change too, because what they are granted does.
    ``overdrawn`` are all balances that a changed allowance makes negative.
    """

    leave: tuple[LeaveEffect, ...] = ()
    chosen_country_code: str | None = None
    rerouted: tuple[Rerouted, ...] = ()
    api_keys: int = 0
    calendar_feeds: int = 0
    reports: tuple[str, ...] = ()
    departments: tuple[str, ...] = ()
    balances: tuple[BalanceEffect, ...] = ()
    moves_allowances: bool = False
    overdrawn: tuple[BalanceEffect, ...] = ()

    @property
    def concerns_others(self) -> bool:
        """Whether leave changes, awaits other approvers, or a balance becomes negative."""
        return bool(self.leave or self.rerouted or self.overdrawn)


def balance_changes(known: Reference, effect: LeaveEffect) -> list[tuple[LeaveYear, int]]:
    """Half-days that each leave year gets back from one request; negative where it loses some.

    Only years that change, oldest first; none for a type that does not deduct.
    """
    user, before, after = effect
    if not known.leave_types[before.leave_type_id].deducts_allowance:
        return []
    rule = balances.leave_year_rule(known, user)
    years = leave_years.leave_years_touched(rule, before.start_date, before.end_date)
    gone = after.status == "cancelled"
    changes = [
        (
            year,
            days.half_days_in(before.counted_halves, before.start_date, *year)
            - (0 if gone else days.half_days_in(after.counted_halves, after.start_date, *year)),
        )
        for year in years
    ]
    return [(year, half_days) for year, half_days in changes if half_days]


def balances_of(
    tx: Transaction,
    before: Reference,
    after: Reference,
    people: Iterable[tuple[User, User]],
    leave: Sequence[LeaveEffect],
    *,
    now: datetime,
) -> tuple[BalanceEffect, ...]:
    """The balances that change of the first 100 people, each as he is and as he will be.

    Of each the leave years from today's to that of his last leave. As of today, or of the first
    day of a leave year that lies ahead: what his balance of that day shows.
    """
    some = list(people)[:MOST_BALANCED]
    return tuple(_changes(tx, before, after, some, leave, now)) if some else ()


def overdrawn_of(
    tx: Transaction,
    before: Reference,
    after: Reference,
    people: Sequence[User],
    leave: Sequence[LeaveEffect] = (),
    *,
    now: datetime,
) -> tuple[BalanceEffect, ...]:
    """The balances of these people that become negative, or more negative than they are."""
    found: list[BalanceEffect] = []
    for start in range(0, len(people), _READ_AT_ONCE):
        some = [(user, user) for user in people[start : start + _READ_AT_ONCE]]
        found += overdrawn(_changes(tx, before, after, some, leave, now))
    return tuple(found)


def overdrawn(changes: Iterable[BalanceEffect]) -> tuple[BalanceEffect, ...]:
    """Those after which a balance is negative, and lower than before."""
    return tuple(
        one
        for one in changes
        if one.after_half_days is not None
        and one.after_half_days < min(one.before_half_days or 0, 0)
    )


def _changes(
    tx: Transaction,
    before: Reference,
    after: Reference,
    some: Sequence[tuple[User, User]],
    leave: Sequence[LeaveEffect],
    now: datetime,
) -> list[BalanceEffect]:
    today = local_day(now, after.organisation.timezone)
    worlds = [(before, was) for was, _ in some] + [(after, will_be) for _, will_be in some]
    begin = min(balances.reckoned_from(known, user, today) for known, user in worlds)
    entered = balances.booked_of_many(
        tx, before.organisation.id, [user.id for user, _ in some], begin
    )
    changed = {one.before.id: one.after for one in leave}
    found: list[BalanceEffect] = []
    for was, will_be in some:
        booked = entered.get(was.id, Booked([], []))
        planned = booked._replace(leave=_changed(booked.leave, changed))
        last_day = max([today, *(one.end_date for one in booked.leave)])
        had = _left(before, was, booked, today, last_day)
        has = _left(after, will_be, planned, today, last_day)
        found += [
            BalanceEffect(was.id, year, max(today, year.first_day), had.get(year), has.get(year))
            for year in sorted(had.keys() | has.keys())
            if had.get(year) != has.get(year)
        ]
    return found


def owners(leave: Iterable[LeaveEffect]) -> list[tuple[User, User]]:
    """Whose leave changes while they stay as they are, in that order, each once."""
    return list({one.user.id: (one.user, one.user) for one in leave}.values())


def _changed(leave: Sequence[BookedLeave], changed: dict[str, LeaveRequest]) -> list[BookedLeave]:
    found = []
    for one in leave:
        after = changed.get(one.id)
        if after is None:
            found.append(one)
        elif after.status != "cancelled":
            found.append(one._replace(end_date=after.end_date, counted_halves=after.counted_halves))
    return found


def _left(
    known: Reference, user: User, booked: Booked, first_day: date, last_day: date
) -> dict[LeaveYear, int]:
    """Half-days that remain of each leave year between the two days, as of the first or later."""
    account = balances.account(known, user, booked.adjustments)
    found = year_balances.standings(
        account, balances.deducting(known, booked.leave), first_day, last_day
    )
    return {one.year: one.remaining_half_days(max(first_day, one.year.first_day)) for one in found}
