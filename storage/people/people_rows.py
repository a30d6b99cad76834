"""People and their Slack accounts: rows, read as values and locked. Callers check who may.

Which person a Slack account belongs to is one rule for events, commands, installations, deliveries
and the daily comparison: the account that is linked already; else the person with the account's
e-mail address, compared by its key, if Slack says that the address is confirmed and the person has
no other Slack account. Anyone can type any address into a Slack profile; only a confirmed one
proves who uses the account. A deleted account is matched only if it is linked: its address says
nothing about who uses Slack today.

Languages (``en-GB``) are stored with Slack's time of the last change of the profile that was
applied.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from peewee import Select

from storage.base import fields, texts
from storage.base.errors import NotFound
from storage.base.ids import is_id
from storage.base.values import Caller, User, as_dict
from storage.db import locks, rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import SlackProfileRow, UserRow


def find(
    tx: Transaction, organisation_id: str, user_id: str, *, for_update: bool = False
) -> User | None:
    """The person of that id. ``for_update``: locked for this transaction."""
    if not is_id(user_id):
        return None
    lock = locks.ROW if for_update else ""
    row = tx.find(UserRow, lock, organisation_id=organisation_id, id=user_id)
    return None if row is None else rows.user(row)


def get(tx: Transaction, user_id: str, *, by: Caller, for_update: bool = False) -> User:
    """The person of the caller's organisation, even if archived. Raises NotFound.

    ``for_update`` locks the person until this transaction ends.
    """
    user = find(tx, by.organisation_id, user_id, for_update=for_update)
    if user is None:
        raise NotFound("user")
    return user


def lock(tx: Transaction, organisation_id: str, user_ids: Collection[str]) -> None:
    """Lock these people until this transaction ends, before the first of them is written.

    Otherwise the first write would lock a feed counter before the next person is locked.
    """
    tx.select(UserRow, locks.ROW, organisation_id=organisation_id, id=sorted(user_ids))


def find_by_email(tx: Transaction, organisation_id: str, email: str) -> User | None:
    """The person with the address, by its key; an archived one if no other has it."""
    return _find(tx, organisation_id=organisation_id, email_key=texts.email_key(email))


def has_email(tx: Transaction, organisation_id: str, email: str) -> bool:
    """Whether a person who is not archived has the address."""
    user = find_by_email(tx, organisation_id, email)
    return user is not None and user.status != "archived"


def with_employee_numbers(
    tx: Transaction, organisation_id: str, numbers: Collection[str]
) -> list[User]:
    """The people with these employee numbers; none archived."""
    if not numbers:
        return []
    found = tx.select(UserRow, organisation_id=organisation_id, employee_number=sorted(numbers))
    return [rows.user(row) for row in found if row.status != "archived"]


def find_by_slack_id(tx: Transaction, organisation_id: str, slack_user_id: str) -> User | None:
    """The person of that Slack account; an archived one if no other has it."""
    return _find(tx, organisation_id=organisation_id, slack_user_id=slack_user_id)


def _find(tx: Transaction, **where: str) -> User | None:
    """At most one is not archived; of the archived ones, the latest."""
    people = map(rows.user, tx.select(UserRow, **where))
    return max(people, key=lambda user: (user.status != "archived", user.id), default=None)


def names(tx: Transaction, organisation_id: str, user_ids: Collection[str]) -> dict[str, str]:
    """The names of the people of these ids, in any status."""
    if not user_ids:
        return {}
    users = tx.select(UserRow, organisation_id=organisation_id, id=sorted(user_ids))
    return {row.id: f"{row.first_name} {row.last_name}".strip() for row in users}


def of_ids(tx: Transaction, organisation_id: str, user_ids: Collection[str]) -> dict[str, User]:
    """People of the organisation by id, even if archived."""
    if not user_ids:
        return {}
    found = tx.select(UserRow, organisation_id=organisation_id, id=sorted(user_ids))
    return {row.id: rows.user(row) for row in found}


def has_other_active_owner(tx: Transaction, organisation_id: str, user_id: str) -> bool:
    """Whether another active owner would remain, one whose employment does not end."""
    owners = active_owners(tx, organisation_id)
    return any(owner.id != user_id and owner.end_date is None for owner in owners)


def active_owners(tx: Transaction, organisation_id: str) -> list[User]:
    """By id."""
    where = {"organisation_id": organisation_id, "role": "owner", "status": "active"}
    owners = map(rows.user, tx.select(UserRow, **where))
    return sorted(owners, key=lambda owner: owner.id)


def pattern_of_records(word: str) -> str:
    """For LIKE: employment records other than today's that have this id or country code."""
    return f'%"{word}"%'


def not_archived(
    tx: Transaction, organisation_id: str, *, department_id: str | None = None, limit: int
) -> list[User]:
    """The people who are not archived, by id; at most ``limit``.

    Of the organisation, or of one department, people with past or future records in it included.
    """
    users = tx.all(
        _not_archived,
        organisation_id=organisation_id,
        department_id=department_id,
        records_like=None if department_id is None else pattern_of_records(department_id),
        limit=limit,
    )
    return [rows.user(row) for row in users]


@compiled
def _not_archived(
    organisation_id: Param[str],
    department_id: Param[str] | None,
    records_like: Param[str] | None,
    limit: Param[int],
) -> Select:
    query = UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id, UserRow.status != "archived"
    )
    if department_id is not None:
        query = query.where(
            (UserRow.department_id == department_id) | (UserRow.employment**records_like)
        )
    return query.order_by(UserRow.id).limit(limit)


@dataclass(frozen=True, kw_only=True, slots=True)
class SlackProfile:
    """A full member of a workspace as Slack describes them; names may be empty."""

    slack_user_id: str
    email: str | None
    first_name: str
    last_name: str
    timezone: str | None
    locale: str | None
    avatar_url: str | None
    is_deleted: bool = False
    is_email_confirmed: bool = False
    # Slack's own time of the last change, to the second; None where Slack told none.
    updated_at: datetime | None = None

    @property
    def confirmed_email(self) -> str | None:
        """The address, if Slack vouches for it."""
        email = (self.email or "").strip()
        return email if email and self.is_email_confirmed else None

    @property
    def known_timezone(self) -> str | None:
        """The time zone; None if it is missing or unknown here, which is no reason for an error."""
        return self.timezone if self.timezone and fields.is_timezone(self.timezone) else None


def find_by_profile(tx: Transaction, organisation_id: str, profile: SlackProfile) -> User | None:
    """The account's person, in any status."""
    return choose_by_profile(
        profile,
        lambda slack_id: find_by_slack_id(tx, organisation_id, slack_id),
        lambda email: find_by_email(tx, organisation_id, email),
    )


def choose_by_profile(
    profile: SlackProfile,
    by_slack_id: Callable[[str], User | None],
    by_email: Callable[[str], User | None],
) -> User | None:
    """As ``find``, with the caller's look-ups, for many people who were read in one query."""
    linked = by_slack_id(profile.slack_user_id)
    if linked is not None and linked.status != "archived":
        return linked
    email = None if profile.is_deleted else profile.confirmed_email
    user = None if email is None else by_email(email)
    if user is None or user.status == "archived":
        return linked or user
    # An archived person may have come back as a new one.
    return user if user.slack_user_id is None else linked


_MAX_LOCALE_LENGTH: Final = 35


@dataclass(frozen=True, kw_only=True, slots=True)
class AppliedProfile:
    """``slack_updated_at`` is Slack's time; None where Slack gave none."""

    locale: str | None
    slack_updated_at: datetime | None


def save_locale(
    tx: Transaction,
    organisation_id: str,
    user_id: str,
    locale: str | None,
    *,
    now: datetime,
    slack_updated_at: datetime | None = None,
) -> None:
    """Save the language in which the person reads Slack; None keeps the stored one.

    ``slack_updated_at`` is when the applied profile was changed; an earlier time is not stored.
    """
    before = find_applied_profile(tx, organisation_id, user_id)
    new_locale = locale if locale and len(locale) <= _MAX_LOCALE_LENGTH else before.locale
    times = [time for time in (before.slack_updated_at, slack_updated_at) if time is not None]
    after = AppliedProfile(locale=new_locale, slack_updated_at=max(times, default=None))
    if after != before:
        key = {"organisation_id": organisation_id, "user_id": user_id}
        tx.upsert(SlackProfileRow, key, **as_dict(after), updated_at=now)


def save_applied_profile(
    tx: Transaction, organisation_id: str, user_id: str, profile: SlackProfile, *, now: datetime
) -> None:
    """As ``save_locale``, after a profile was applied."""
    updated_at = profile.updated_at
    save_locale(tx, organisation_id, user_id, profile.locale, now=now, slack_updated_at=updated_at)


def find_applied_profile(tx: Transaction, organisation_id: str, user_id: str) -> AppliedProfile:
    """What was applied of the person's profile; both None where nothing was."""
    row = tx.find(SlackProfileRow, organisation_id=organisation_id, user_id=user_id)
    return (
        AppliedProfile(locale=None, slack_updated_at=None) if row is None else applied_profile(row)
    )


applied_profile: Final = rows.mapper(AppliedProfile)


def delete_applied_profile(tx: Transaction, organisation_id: str, user_id: str) -> None:
    """Delete it, when the account is no longer the person's."""
    tx.delete(SlackProfileRow, organisation_id=organisation_id, user_id=user_id)


def locale_of(tx: Transaction, organisation_id: str, user_id: str) -> str | None:
    """The person's locale, None where it is not known."""
    return locales_of(tx, organisation_id, [user_id]).get(user_id)


def locales_of(tx: Transaction, organisation_id: str, user_ids: Iterable[str]) -> dict[str, str]:
    """The known locales, by the people's ids."""
    profiles = tx.select(SlackProfileRow, organisation_id=organisation_id, user_id=list(user_ids))
    return {row.user_id: row.locale for row in profiles if row.locale is not None}
