"""Records the effects of a change while a dry run carries it out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from storage.admin.effects import BalanceEffect, Effects
from storage.base.values import User
from storage.db.database import Transaction
from storage.events.organisation_config import OrganisationConfig
from storage.leave import balances, bookings
from storage.leave.bookings import Bookings
from storage.rules import employment_terms, year_balances
from storage.rules.leave_years import LeaveYear

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
        self, tx: Transaction, config: OrganisationConfig, users: Iterable[User], *, today: date
    ) -> None:
        """Read the balances of these people; call it before their leave or settings change.

        All leave years from today's to that of their last leave, or of what changes for them, as of
        today or, for later years, as of their first day.
        """
        people = list(users)
        # Only the change of one person can begin later: with working days or a last day of theirs.
        reach = _FAR if len(people) == 1 else timedelta(0)
        for user, booked in _with_bookings(tx, config, people, today):
            last_day = max([today, *(request.end_date for request in booked.leave)])
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
                year: half_days
                for year, half_days in before.remaining.items()
                if year.first_day <= last_day
            }
            new = _remaining(config, user, booked, before.today, last_day)
            changes += [
                BalanceEffect(
                    user_id=user.id,
                    year=year,
                    on=max(before.today, year.first_day),
                    before_half_days=old.get(year),
                    after_half_days=new.get(year),
                )
                for year in sorted(old.keys() | new.keys(), key=lambda year: year.first_day)
                if old.get(year) != new.get(year)
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
    remaining: dict[LeaveYear, int]


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
        begin = min(balances.accrual_start(config, user, today) for user in batch)
        user_ids = [user.id for user in batch]
        bookings_by_id = bookings.of_people(tx, config.organisation.id, user_ids, begin)
        for user in batch:
            yield user, bookings_by_id.get(user.id, Bookings(leave=[], adjustments=[]))


def _remaining(
    config: OrganisationConfig, user: User, booked: Bookings, first_day: date, last_day: date
) -> dict[LeaveYear, int]:
    """Remaining half-days of each leave year between the two days, as of the first or later."""
    account = balances.account(config, user, booked.adjustments)
    years = year_balances.of_years(
        account, balances.deducting(config, booked.leave), first_day, last_day
    )
    return {
        balance.year: balance.remaining_half_days(max(first_day, balance.year.first_day))
        for balance in years
    }
