"""Rows of people, read as values and locked. Callers check who may."""

from __future__ import annotations

from collections.abc import Collection

from peewee import Select

from storage.base import texts
from storage.base.errors import NotFound
from storage.base.ids import is_id
from storage.base.values import Caller, User
from storage.db import locks, rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import UserRow


def find(
    tx: Transaction, organisation_id: str, user_id: str, *, for_update: bool = False
) -> User | None:
    """The person of that id. ``for_update``: locked for this transaction."""
    if not is_id(user_id):
        return None
    lock = locks.ROW if for_update else ""
    row = tx.find(UserRow, lock=lock, organisation_id=organisation_id, id=user_id)
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
    tx.select(UserRow, lock=locks.ROW, organisation_id=organisation_id, id=sorted(user_ids))


def find_by_email(tx: Transaction, organisation_id: str, email: str) -> User | None:
    """The person with the address, by its key; an archived one if no other has it."""
    return _find(tx, organisation_id=organisation_id, email_key=texts.email_key(email))


def has_email(tx: Transaction, organisation_id: str, email: str) -> bool:
    """Whether a person who is not archived has the address."""
    user = find_by_email(tx, organisation_id, email)
    return user is not None and user.status != "archived"


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
    found = tx.select(UserRow, organisation_id=organisation_id, id=sorted(user_ids))
    return {row.id: rows.user(row) for row in found}


def has_other_active_owner(tx: Transaction, organisation_id: str, user_id: str) -> bool:
    """Whether another active owner would remain, one whose employment does not end."""
    owners = tx.all(staying_owners, organisation_id=organisation_id, limit=2)
    return any(owner_id != user_id for (owner_id,) in owners)


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


@compiled
def active_owners(organisation_id: Param[str], limit: Param[int]) -> Select:
    """Ids of the organisation's active owners."""
    return _active_owners(organisation_id).limit(limit)


@compiled
def staying_owners(organisation_id: Param[str], limit: Param[int]) -> Select:
    """Ids of the organisation's active owners whose employment does not end."""
    return _active_owners(organisation_id).where(UserRow.end_date.is_null()).limit(limit)


def _active_owners(organisation_id: Param[str]) -> Select:
    return UserRow.select(UserRow.id).where(
        UserRow.organisation_id == organisation_id,
        UserRow.role == "owner",
        UserRow.status == "active",
    )
