"""What a change does to leave and to people, recorded while a dry run carries it out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

from storage.base.values import LeaveEffect, Reassignment, User
from storage.db.database import Transaction
from storage.events.organisation_config import Reference
from storage.leave import balances, bookings
from storage.leave.bookings import Bookings
from storage.rules import leave_years, year_balances
from storage.rules.leave_years import LeaveYear

# Of how many people the balances are listed.
MAX_BALANCES: Final = 100
# For how many people a change of an allowance is checked.
MAX_CHECKED: Final = 10_000
# The leave of how many people is in memory at a time.
_READ_AT_ONCE: Final = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class BalanceEffect:
    """What a person has left of one leave year as of ``on``, before and after a change.

    None where there is no such leave year: a change may make leave years begin on another day.
    """

    user_id: str
    year: LeaveYear
    on: date
    before_half_days: int | None
    after_half_days: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Effects:
    """Everything that follows from a change; ``leave`` is by first day.

    ``chosen_country_code`` is the newly chosen country, if any. ``api_keys`` and
    ``calendar_feeds`` are how many stop working; ``reports`` and ``departments`` are the ids of
    people and departments whose manager is archived. ``balances`` are those of at most 100 people;
    ``changes_allowances`` says that balances of more people change, because an allowance does.
    ``overdrawn`` are all balances that a changed allowance makes negative.
    """

    leave: tuple[LeaveEffect, ...] = ()
    chosen_country_code: str | None = None
    reassigned: tuple[Reassignment, ...] = ()
    api_keys: int = 0
    calendar_feeds: int = 0
    reports: tuple[str, ...] = ()
    departments: tuple[str, ...] = ()
    balances: tuple[BalanceEffect, ...] = ()
    changes_allowances: bool = False
    overdrawn: tuple[BalanceEffect, ...] = ()

    @property
    def affects_others(self) -> bool:
        """Whether leave changes, awaits other approvers, or a balance becomes negative."""
        return bool(self.leave or self.reassigned or self.overdrawn)


def balance_changes(reference: Reference, effect: LeaveEffect) -> list[tuple[LeaveYear, int]]:
    """Half-days that each leave year gets back from one request; negative where it loses some.

    Only years that change, oldest first; none for a type that does not deduct.
    """
    before, after = effect.before, effect.after
    if not reference.leave_types[before.leave_type_id].deducts_allowance:
        return []
    rule = balances.leave_year_rule(reference, effect.user)
    years = leave_years.leave_years_touched(rule, before.start_date, before.end_date)
    gone = after.status == "cancelled"
    changes = [
        (
            year,
            balances.deduction(before).half_days_in_year(year)
            - (0 if gone else balances.deduction(after).half_days_in_year(year)),
        )
        for year in years
    ]
    return [(year, half_days) for year, half_days in changes if half_days]


class EffectsRecorder:
    """Collects what a change does to others while it is carried out.

    Only a dry run hands one to a use case: reading balances before and after costs more than the
    change itself.
    """

    def __init__(self) -> None:
        self.effects = Effects()
        self._before: dict[str, _Before] = {}

    def read_balances_before(
        self, tx: Transaction, reference: Reference, users: Iterable[User], *, today: date
    ) -> None:
        """Read the balances of these people; call it before their leave or settings change.

        Of each the leave years from today's to that of their last leave. As of today, or of the
        first day of a leave year that lies ahead: what the balance of that day shows.
        """
        for user, booked in _booked(tx, reference, users, today):
            last_day = max([today, *(one.end_date for one in booked.leave)])
            left = _left(reference, user, booked, today, last_day)
            self._before[user.id] = _Before(today=today, last_day=last_day, left=left)

    def balance_changes(
        self, tx: Transaction, reference: Reference, users: Iterable[User]
    ) -> tuple[BalanceEffect, ...]:
        """The balances of these people that changed since they were read, in their order."""
        people = list(users)
        if not people:
            return ()
        changes: list[BalanceEffect] = []
        for user, booked in _booked(tx, reference, people, self._before[people[0].id].today):
            before = self._before[user.id]
            had = before.left
            has = _left(reference, user, booked, before.today, before.last_day)
            changes += [
                BalanceEffect(
                    user_id=user.id,
                    year=year,
                    on=max(before.today, year.first_day),
                    before_half_days=had.get(year),
                    after_half_days=has.get(year),
                )
                for year in sorted(had.keys() | has.keys(), key=lambda year: year.first_day)
                if had.get(year) != has.get(year)
            ]
        return tuple(changes)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Before:
    """Half-days left of each leave year that shares a date with the time between two days."""

    today: date
    last_day: date
    left: dict[LeaveYear, int]


def overdrawn(changes: Iterable[BalanceEffect]) -> tuple[BalanceEffect, ...]:
    """Those after which a balance is negative, and lower than before."""
    return tuple(
        one
        for one in changes
        if one.after_half_days is not None
        and one.after_half_days < min(one.before_half_days or 0, 0)
    )


def owners(leave: Iterable[LeaveEffect]) -> list[User]:
    """The first 100 people whose leave changes, in that order, each once."""
    return list({one.user.id: one.user for one in leave}.values())[:MAX_BALANCES]


def _booked(
    tx: Transaction, reference: Reference, users: Iterable[User], today: date
) -> Iterator[tuple[User, Bookings]]:
    """Each person with what is booked for them since the first day that matters for ``today``."""
    people = list(users)
    for start in range(0, len(people), _READ_AT_ONCE):
        some = people[start : start + _READ_AT_ONCE]
        begin = min(balances.accrual_start(reference, user, today) for user in some)
        found = bookings.of_people(tx, reference.organisation.id, [user.id for user in some], begin)
        for user in some:
            yield user, found.get(user.id, Bookings(leave=[], adjustments=[]))


def _left(
    reference: Reference, user: User, booked: Bookings, first_day: date, last_day: date
) -> dict[LeaveYear, int]:
    """Half-days that remain of each leave year between the two days, as of the first or later."""
    account = balances.account(reference, user, booked.adjustments)
    found = year_balances.of_years(
        account, balances.deducting(reference, booked.leave), first_day, last_day
    )
    return {one.year: one.remaining_half_days(max(first_day, one.year.first_day)) for one in found}
