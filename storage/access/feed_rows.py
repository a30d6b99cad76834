"""Rows of calendar feeds: read as values, inserted, revoked.

Tokens are stored as a SHA-256 for the look-up, and encrypted, because their owner may see them
again.
"""

from __future__ import annotations

from datetime import datetime

from peewee import Select, Update

from storage.base.calendar_values import CalendarFeed
from storage.base.errors import Forbidden
from storage.base.ids import new_id
from storage.base.secrets import InvalidToken, fingerprint, new_token
from storage.base.values import Caller, User
from storage.db import rows
from storage.db.compiled import Expr, Param, compiled
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import CalendarFeedRow, UserRow
from storage.directory import people_rows


def default_name(owner_name: str) -> str:
    """The name of a feed that was created without one."""
    return f"Leave: {owner_name}"


def value(tx: Transaction, row: Row) -> CalendarFeed:
    """A row of ``select``; its token is empty where no key decrypts it."""
    return CalendarFeed(
        id=row.id,
        name=row.name or default_name(f"{row.first_name} {row.last_name}".strip()),
        token=_token(tx, row.token_encrypted),
        created_at=rows.instant(row.created_at),
        last_fetched_at=rows.instant_or_none(row.last_fetched_at),
        last_fetched_by=row.last_fetched_by,
    )


def _token(tx: Transaction, encrypted: str) -> str:
    try:
        return tx.secrets.decrypt(encrypted)
    except InvalidToken:
        return ""


def lock_owner(tx: Transaction, by: Caller) -> User:
    """The caller, locked, so that their feeds change one at a time. Raises Forbidden."""
    if by.user_id is None:
        raise Forbidden("Only people have calendar feeds. Use the API key of a person.")
    return people_rows.get(tx, by.user_id, by=by, for_update=True)


def insert(
    tx: Transaction,
    name: str | None,
    owner: User,
    *,
    is_personal_token: bool = False,
    by: Caller,
    now: datetime,
) -> CalendarFeed:
    token = new_token()
    feed_id = new_id(now)
    tx.insert(
        CalendarFeedRow,
        organisation_id=by.organisation_id,
        id=feed_id,
        user_id=by.user_id,
        name=name,
        is_personal_token=is_personal_token,
        token_sha256=fingerprint(token),
        token_encrypted=tx.secrets.encrypt(token),
        created_at=now,
    )
    return CalendarFeed(
        id=feed_id, name=name or default_name(owner.name), token=token, created_at=now
    )


def revoke(
    tx: Transaction,
    feed_id: str,
    *,
    user_id: str | None,
    is_personal_token: bool,
    by: Caller,
    now: datetime,
) -> bool:
    """Revoke a person's active feed of that kind; False if there was none."""
    changed = tx.change(
        _revoke,
        organisation_id=by.organisation_id,
        user_id=user_id,
        feed_id=feed_id,
        is_personal_token=is_personal_token,
        now=now,
    )
    return bool(changed)


def select(
    organisation_id: Param[str], user_id: Param[str | None], *, is_personal_token: bool
) -> Select:
    """A person's active feeds of one kind, as ``value`` needs them."""
    return (
        CalendarFeedRow.select(
            CalendarFeedRow.id,
            CalendarFeedRow.name,
            CalendarFeedRow.token_encrypted,
            CalendarFeedRow.created_at,
            CalendarFeedRow.last_fetched_at,
            CalendarFeedRow.last_fetched_by,
            UserRow.first_name,
            UserRow.last_name,
        )
        .join(
            UserRow,
            on=(UserRow.organisation_id == CalendarFeedRow.organisation_id)
            & (UserRow.id == CalendarFeedRow.user_id),
        )
        .where(
            *is_active(organisation_id, user_id),
            CalendarFeedRow.is_personal_token == is_personal_token,
        )
    )


@compiled
def _revoke(
    organisation_id: Param[str],
    user_id: Param[str | None],
    feed_id: Param[str],
    is_personal_token: bool,
    now: Param[datetime],
) -> Update:
    return CalendarFeedRow.update(revoked_at=now).where(
        *is_active(organisation_id, user_id),
        CalendarFeedRow.id == feed_id,
        CalendarFeedRow.is_personal_token == is_personal_token,
    )


def is_active(organisation_id: Param[str], user_id: Param[str | None]) -> tuple[Expr, ...]:
    """The conditions for a person's feeds that are not revoked."""
    return (
        CalendarFeedRow.organisation_id == organisation_id,
        CalendarFeedRow.user_id == user_id,
        CalendarFeedRow.revoked_at.is_null(),
    )
