"""The effects of an admin's change on leave and people, as a dry run returns them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final

from storage.base.values import LeaveEffect, Reassignment, User
from storage.events.organisation_config import OrganisationConfig
from storage.leave import balances
from storage.rules import leave_years
from storage.rules.leave_years import LeaveYear

# How many people's balances are listed.
MAX_BALANCES: Final = 100
# For how many people a changed allowance is checked.
MAX_CHECKED: Final = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class BalanceEffect:
    """A person's remaining half-days of a leave year as of ``on``, before and after a change.

    None where the leave year does not exist: a change may move the start of leave years.
    """

    user_id: str
    year: LeaveYear
    on: date
    before_half_days: int | None
    after_half_days: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Effects:
    """The effects of one change; ``leave`` is by first day.

    ``chosen_country_code`` is the newly chosen country, if any. ``api_keys`` and
    ``calendar_feeds`` are how many stop working; ``reports`` and ``departments`` are the ids of
    people and departments whose manager is archived; ``uncovered`` is how many requests lose their
    cover. ``balances`` are those of at most 100 people;
    ``changes_allowances``: the balances of more people change, because an allowance does.
    ``overdrawn`` are all balances that a changed allowance or leave type makes negative.
    ``deducts_allowance``: booked leave of a type starts (True) or stops using the allowance, in all
    leave years; None for other changes. ``rebalanced`` is how many people's balances it changes in
    today's leave year or later. ``leaver`` has a new
    last day of employment, after which they are archived.
    """

    leave: tuple[LeaveEffect, ...] = ()
    chosen_country_code: str | None = None
    reassigned: tuple[Reassignment, ...] = ()
    api_keys: int = 0
    calendar_feeds: int = 0
    reports: tuple[str, ...] = ()
    uncovered: int = 0
    departments: tuple[str, ...] = ()
    balances: tuple[BalanceEffect, ...] = ()
    changes_allowances: bool = False
    overdrawn: tuple[BalanceEffect, ...] = ()
    deducts_allowance: bool | None = None
    rebalanced: int = 0
    leaver: User | None = None

    @property
    def affects_others(self) -> bool:
        """Whether leave, its approvers or cover, or its use of the allowance change, a balance
        becomes negative or a person leaves."""
        return self.deducts_allowance is not None or bool(
            self.leave or self.reassigned or self.uncovered or self.overdrawn or self.leaver
        )


def balance_changes(config: OrganisationConfig, effect: LeaveEffect) -> list[tuple[LeaveYear, int]]:
    """The change of each leave year's balance by one request, in half-days, oldest first.

    Only years that change; none for a type that does not deduct.
    """
    before, after = effect.before, effect.after
    if not config.leave_types[before.leave_type_id].deducts_allowance:
        return []
    rule = balances.leave_year_rule(config, effect.user)
    years = leave_years.leave_years_touched(rule, before.start_date, before.end_date)
    is_cancelled = after.status == "cancelled"
    changes = [
        (
            year,
            balances.deduction(before).half_days_in_year(year)
            - (0 if is_cancelled else balances.deduction(after).half_days_in_year(year)),
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


def owners(leave: Iterable[LeaveEffect]) -> list[User]:
    """The first 100 people whose leave changes, in that order, each once."""
    return list({effect.user.id: effect.user for effect in leave}.values())[:MAX_BALANCES]
