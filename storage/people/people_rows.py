"""Rows of people, read as values and locked. Callers check who may."""

from __future__ import annotations

from collections.abc import Collection

from peewee import SQL, Case, Select

from storage.base import fields, texts
from storage.base.errors import NotFound
from storage.base.values import Caller, User
from storage.db import locks, rows
from storage.db.compiled import Engine, Param, any_of, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import UserRow


def find(
    tx: Transaction, organisation_id: str, user_id: str, *, for_update: bool = False
) -> User | None:
    """The person of that id. ``for_update``: locked for this transaction."""
    if not fields.is_id(user_id):
        return None
    row = tx.first(_user, organisation_id=organisation_id, user_id=user_id, for_update=for_update)
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
    tx.all(_locked_ids, organisation_id=organisation_id, user_ids=sorted(user_ids))


def find_by_email(tx: Transaction, organisation_id: str, email: str) -> User | None:
    """The person with the address, by its key; an archived one if no other has it."""
    row = tx.first(
        _user_of_email, organisation_id=organisation_id, email_key=texts.email_key(email)
    )
    return None if row is None else rows.user(row)


def has_email(tx: Transaction, organisation_id: str, email: str) -> bool:
    """Whether a person who is not archived has the address."""
    user = find_by_email(tx, organisation_id, email)
    return user is not None and user.status != "archived"


def find_by_slack_id(tx: Transaction, organisation_id: str, slack_user_id: str) -> User | None:
    """The person of that Slack account; an archived one if no other has it."""
    row = tx.first(_user_of_slack_id, organisation_id=organisation_id, slack_user_id=slack_user_id)
    return None if row is None else rows.user(row)


def names(tx: Transaction, organisation_id: str, user_ids: Collection[str]) -> dict[str, str]:
    """The names of the people of these ids, in any status."""
    if not user_ids:
        return {}
    users = tx.all(_users, organisation_id=organisation_id, user_ids=sorted(user_ids))
    return {row.id: f"{row.first_name} {row.last_name}".strip() for row in users}


def of_ids(tx: Transaction, organisation_id: str, user_ids: Collection[str]) -> dict[str, User]:
    """People of the organisation by id, even if archived."""
    found = tx.all(_users, organisation_id=organisation_id, user_ids=sorted(user_ids))
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


@compiled_per_engine
def _user(
    engine: Engine, organisation_id: Param[str], user_id: Param[str], for_update: bool
) -> Select:
    query = UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id, UserRow.id == user_id
    )
    return locks.locked(query, engine) if for_update else query


@compiled_per_engine
def _locked_ids(engine: Engine, organisation_id: Param[str], user_ids: Param[list[str]]) -> Select:
    query = UserRow.select(UserRow.id).where(
        UserRow.organisation_id == organisation_id, any_of(UserRow.id, user_ids)
    )
    return locks.locked(query.order_by(UserRow.id), engine)


def _not_archived_first(query: Select) -> Select:
    """At most one is not archived; of the archived ones, the latest."""
    is_archived = Case(None, ((UserRow.status == "archived", SQL("1")),), SQL("0"))
    return query.order_by(is_archived, UserRow.id.desc()).limit(1)


@compiled
def _user_of_email(organisation_id: Param[str], email_key: Param[str]) -> Select:
    query = UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id, UserRow.email_key == email_key
    )
    return _not_archived_first(query)


@compiled
def _users(organisation_id: Param[str], user_ids: Param[list[str]]) -> Select:
    return UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id, any_of(UserRow.id, user_ids)
    )


@compiled
def of_emails(organisation_id: Param[str], email_keys: Param[list[str]]) -> Select:
    """The people with one of these keys of addresses, as whole rows."""
    return UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id, any_of(UserRow.email_key, email_keys)
    )


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


@compiled
def _user_of_slack_id(organisation_id: Param[str], slack_user_id: Param[str]) -> Select:
    query = UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id, UserRow.slack_user_id == slack_user_id
    )
    return _not_archived_first(query)
