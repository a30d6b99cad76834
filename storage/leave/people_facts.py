"""What an admin's list says about each person: whom they report to, and what they have left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from storage.base.allowance_values import Amount
from storage.base.values import Caller, User, local_day
from storage.db.database import Transaction
from storage.leave import leave_balances
from storage.leave.bookings import NO_BOOKINGS, Bookings
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import people_lists, people_rows
from storage.rules import year_balances

MAX_LISTED: Final = 25


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonFacts:
    """``manager_name`` is that of the department's manager for people without their own."""

    user: User
    department_name: str | None
    manager_name: str | None
    year_name: str
    remaining_half_days: Amount


@dataclass(frozen=True, kw_only=True, slots=True)
class People:
    """The first people by name. ``has_more``: there are others, whom only a search finds."""

    people: tuple[PersonFacts, ...]
    has_more: bool


def first_by_name(tx: Transaction, *, by: Caller, now: datetime) -> People:
    """The first people by name, without archived ones. Raises InsufficientRole."""
    users = people_lists.find(tx, "", by=by)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    facts = _facts(tx, config, users[:MAX_LISTED], today)
    return People(people=facts, has_more=len(users) > MAX_LISTED)


def _facts(
    tx: Transaction, config: OrganisationConfig, users: Sequence[User], today: date
) -> tuple[PersonFacts, ...]:
    if not users:
        return ()
    organisation_id = config.organisation.id
    booked = leave_balances.bookings_of(tx, config, users, today)
    managers = {user.id: _manager_id(config, user) for user in users}
    names = people_rows.names(tx, organisation_id, {id for id in managers.values() if id})
    facts: list[PersonFacts] = []
    for user in users:
        own = booked.get(user.id, NO_BOOKINGS)
        facts.append(_of_person(config, user, names.get(managers[user.id] or ""), own, today))
    return tuple(facts)


def _of_person(
    config: OrganisationConfig, user: User, manager_name: str | None, booked: Bookings, today: date
) -> PersonFacts:
    allowance_id = config.default_allowance_id
    account = leave_balances.account_of(config, user, booked, allowance_id)
    deductions = leave_balances.deductions(config, booked.leave, allowance_id)
    (balance,) = year_balances.of_years(account, deductions, today, today)
    department = config.departments.get(user.department_id or "")
    return PersonFacts(
        user=user,
        department_name=None if department is None else department.name,
        manager_name=manager_name,
        year_name=balance.year.name,
        remaining_half_days=balance.remaining_half_days(today),
    )


def _manager_id(config: OrganisationConfig, user: User) -> str | None:
    department = config.departments.get(user.department_id or "")
    return user.manager_id or (None if department is None else department.manager_id)
