"""The effects of an admin's change on leave and people, recorded for dry runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from storage.admin.personal_data import Erasure
from storage.base.allowance_values import Amount
from storage.base.leave_values import ClosureEffect, LeaveEffect, Reassignment
from storage.base.values import User
from storage.db.database import Transaction
from storage.leave import leave_balances
from storage.leave.bookings import NO_BOOKINGS, Bookings
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import allowance_terms
from storage.rules import employment_terms, leave_years, year_balances
from storage.rules.leave_years import LeaveYear

# How many people's balances are listed.
MAX_BALANCES: Final = 100
# For how many people a changed allowance is checked.
MAX_CHECKED: Final = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class BalanceEffect:
    """A person's remaining half-days of a leave year as of ``on``, before and after a change.

    None where the leave year does not exist: a change may move the start of leave years.
    ``allowance_name`` is that of an allowance other than the default.
    """

    user_id: str
    allowance_id: str
    year: LeaveYear
    on: date
    before_half_days: Amount | None
    after_half_days: Amount | None
    allowance_name: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Effects:
    """The effects of one change; ``leave`` is by first day.

    ``chosen_country_code`` is the newly chosen country, if any. ``api_keys`` and
    ``calendar_feeds`` are how many stop working; ``reports`` and ``departments`` are the ids of
    people and departments whose manager is archived; ``uncovered`` is how many requests lose their
    cover, ``time_credits`` how many claims are cancelled. ``balances`` are those of at most 100
    people;
    ``changes_allowances``: the balances of more people change, because an allowance does.
    ``overdrawn`` are all balances that a changed allowance or leave type makes negative.
    ``deducts_allowance``: booked leave of a type that begins from a day on draws on another
    allowance (True) or on none; None for other changes. ``drawn_on`` is that allowance's name,
    ``drawn_on_from`` the day, None for today. ``changes_the_past``: the day is before today.
    ``rebalanced`` is how many people's balances a changed allowance or leave type changes in
    today's leave year or later. ``leaver`` has a new last day of employment, after which they are
    archived. ``closed`` is what closures book for people, change or take back. ``refused`` and
    ``warned`` are how many requests of the next three months a changed absence limit would have
    refused, or warned of. ``erasure`` is what erasing a person removes.
    """

    leave: tuple[LeaveEffect, ...] = ()
    chosen_country_code: str | None = None
    reassigned: tuple[Reassignment, ...] = ()
    api_keys: int = 0
    calendar_feeds: int = 0
    reports: tuple[str, ...] = ()
    uncovered: int = 0
    time_credits: int = 0
    departments: tuple[str, ...] = ()
    balances: tuple[BalanceEffect, ...] = ()
    changes_allowances: bool = False
    overdrawn: tuple[BalanceEffect, ...] = ()
    deducts_allowance: bool | None = None
    drawn_on: str | None = None
    drawn_on_from: date | None = None
    changes_the_past: bool = False
    rebalanced: int = 0
    leaver: User | None = None
    closed: tuple[ClosureEffect, ...] = ()
    refused: int = 0
    warned: int = 0
    erasure: Erasure | None = None

    @property
    def affects_others(self) -> bool:
        """Whether leave, claims, approvers, cover or the use of an allowance change, a balance
        becomes negative, or lower because an allowance changes, a person leaves, or an absence
        limit would have refused requests, or warned of them."""
        if self.deducts_allowance is not None:
            return True
        if self.changes_allowances and any(map(_is_lower, self.balances)):
            return True
        return bool(
            self.leave
            or self.reassigned
            or self.uncovered
            or self.time_credits
            or self.overdrawn
            or self.leaver
            or self.closed
            or self.refused
            or self.warned
        )


def balance_changes(config: OrganisationConfig, effect: LeaveEffect) -> list[tuple[LeaveYear, int]]:
    """The change of each leave year's balance by one request, in half-days, oldest first.

    Only years that change; none for a type that does not deduct.
    """
    before, after = effect.before, effect.after
    if leave_balances.allowance_of(config, before) is None:
        return []
    rule = allowance_terms.leave_year_rule(config, effect.user)
    years = leave_years.leave_years_touched(rule, before.start_date, before.end_date)
    is_cancelled = after.status == "cancelled"
    changes = [
        (
            year,
            leave_balances.deduction(before).half_days_in_year(year)
            - (0 if is_cancelled else leave_balances.deduction(after).half_days_in_year(year)),
        )
        for year in years
    ]
    return [(year, half_days) for year, half_days in changes if half_days]


def overdrawn(changes: Iterable[BalanceEffect]) -> tuple[BalanceEffect, ...]:
    """The balances that become negative, or more negative than before."""
    return tuple(
        change
        for change in changes
        if change.after_half_days is not None
        and change.after_half_days < min(change.before_half_days or 0, 0)
    )


def worst_first(changes: Iterable[BalanceEffect]) -> tuple[BalanceEffect, ...]:
    """The first 100 changes, negative balances first, then lower ones."""
    changed = tuple(changes)
    lower = filter(_is_lower, changed)
    return tuple(dict.fromkeys((*overdrawn(changed), *lower, *changed)))[:MAX_BALANCES]


def _is_lower(change: BalanceEffect) -> bool:
    return (change.after_half_days or 0) < (change.before_half_days or 0)


def owners(leave: Iterable[LeaveEffect]) -> list[User]:
    """The first 100 people whose leave changes, in that order, each once."""
    return list({effect.user.id: effect.user for effect in leave}.values())[:MAX_BALANCES]


# How many people's leave is in memory at a time.
_BATCH: Final = 500

# How far ahead of today a person's change shows in their balances, beyond their leave.
_FAR: Final = timedelta(days=2 * 366)


class EffectsRecorder:
    """Passed to a use case by dry runs only: reading balances costs more than the change."""

    def __init__(self) -> None:
        self.effects = Effects()
        self._before: dict[str, _Before] = {}

    def read_balances_before(
        self,
        tx: Transaction,
        config: OrganisationConfig,
        users: Iterable[User],
        *,
        today: date,
        until: date | None = None,
    ) -> None:
        """Read the balances of these people; call it before their leave or settings change.

        All leave years from today's to that of their last leave, or of what changes for them, as of
        today or, for later years, as of their first day. ``until`` is the day from which a change
        counts for everyone.
        """
        people = list(users)
        # Only the change of one person can begin later: with working days or a last day of theirs.
        reach = _FAR if len(people) == 1 else timedelta(0)
        for user, booked in _with_bookings(tx, config, people, today):
            last_day = max([today, until or today, *(request.end_date for request in booked.leave)])
            known_until = max(last_day, today + reach)
            remaining = _remaining(config, user, booked, today, known_until)
            self._before[user.id] = _Before(
                user=user,
                today=today,
                last_day=last_day,
                known_until=known_until,
                remaining=remaining,
            )

    def balance_changes(
        self, tx: Transaction, config: OrganisationConfig, users: Iterable[User]
    ) -> tuple[BalanceEffect, ...]:
        """The balances of these people that changed since they were read, in their order."""
        people = list(users)
        if not people:
            return ()
        changes: list[BalanceEffect] = []
        for user, booked in _with_bookings(tx, config, people, self._before[people[0].id].today):
            before = self._before[user.id]
            last_day = max([before.last_day, *_changed_days(before.user, user)])
            last_day = min(last_day, before.known_until)
            old = {
                key: half_days
                for key, half_days in before.remaining.items()
                if key[1].first_day <= last_day
            }
            new = _remaining(config, user, booked, before.today, last_day)
            changes += [
                BalanceEffect(
                    user_id=user.id,
                    allowance_id=allowance_id,
                    year=year,
                    on=max(before.today, year.first_day),
                    before_half_days=old.get((allowance_id, year)),
                    after_half_days=new.get((allowance_id, year)),
                    allowance_name=leave_balances.other_name(config, allowance_id),
                )
                for allowance_id, year in sorted(
                    old.keys() | new.keys(), key=lambda key: (key[1].first_day, key[0])
                )
                if old.get((allowance_id, year)) != new.get((allowance_id, year))
            ]
        return tuple(changes)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Before:
    """Remaining half-days of the leave years from ``today`` to ``known_until``.

    ``last_day`` is that of the person's last leave, or today.
    """

    user: User
    today: date
    last_day: date
    known_until: date
    remaining: dict[tuple[str, LeaveYear], Amount]


def _changed_days(before: User, after: User) -> list[date]:
    """The days on which something else begins to count for the person, or ends."""
    records_before, records_after = (
        employment_terms.records_of(before),
        employment_terms.records_of(after),
    )
    changed = [
        *(record for record in records_before if record not in records_after),
        *(record for record in records_after if record not in records_before),
    ]
    days = [record.valid_from for record in changed]
    if after.end_date != before.end_date:
        days += [before.end_date, after.end_date]
    if after.start_date != before.start_date:
        days += [before.start_date, after.start_date]
    return [day for day in days if day is not None]


def _with_bookings(
    tx: Transaction, config: OrganisationConfig, users: Iterable[User], today: date
) -> Iterator[tuple[User, Bookings]]:
    """Each person with their bookings since the first day that counts for ``today``'s balance."""
    people = list(users)
    for start in range(0, len(people), _BATCH):
        batch = people[start : start + _BATCH]
        bookings_by_id = leave_balances.bookings_of(tx, config, batch, today)
        for user in batch:
            yield user, bookings_by_id.get(user.id, NO_BOOKINGS)


def _remaining(
    config: OrganisationConfig, user: User, booked: Bookings, first_day: date, last_day: date
) -> dict[tuple[str, LeaveYear], Amount]:
    """Remaining half-days of each allowance and leave year between the two days.

    As of the first day, or of the first of a later year.
    """
    remaining: dict[tuple[str, LeaveYear], Amount] = {}
    leave = leave_balances.leave_by_allowance(config, booked)
    for allowance_id in config.allowances:
        account = leave_balances.account_of(config, user, booked, allowance_id)
        deductions = [leave_balances.deduction(each) for each in leave.get(allowance_id, ())]
        for balance in year_balances.of_years(account, deductions, first_day, last_day):
            on = max(first_day, balance.year.first_day)
            remaining[allowance_id, balance.year] = balance.remaining_half_days(on)
    return remaining
