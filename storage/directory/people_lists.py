"""Lists of people: all of them, or one page of those who pass the filters."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal, TypedDict

from peewee import Select, Tuple

from storage.base import texts
from storage.base.errors import NotFound
from storage.base.values import Caller, Role, User, UserStatus
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import UserRow
from storage.directory import department_rows, people_rows

Sort = Literal["created_at", "-created_at"]
MAX_LIST: Final = 10_000


def list_all(tx: Transaction, /, *, by: Caller) -> list[User]:
    """At most 10,000 people."""
    return page(tx, PageOf(limit=MAX_LIST), by=by).items


class _PageFilters(TypedDict):
    status: str | None
    department_id: str | None
    role: str | None
    manager_id: str | None
    email_key: str | None


def page(
    tx: Transaction,
    page: PageOf,
    *,
    by: Caller,
    status: UserStatus | None = None,
    department_id: str | None = None,
    role: Role | None = None,
    manager_id: str | None = None,
    email: str | None = None,
    sort: Sort = "created_at",
) -> Page[User]:
    """One page of the people who pass the filters, by the time at which they were added.

    Raises NotFound for an unknown department or manager, UnusableCursor.
    """
    _check_filter(tx, department_id, by=by)
    if manager_id is not None:
        people_rows.get(tx, manager_id, by=by)
    filters = _PageFilters(
        status=status,
        department_id=department_id,
        role=role,
        manager_id=manager_id,
        email_key=None if email is None else texts.email_key(email),
    )
    bound_to = ("users", by.organisation_id, *filters.values(), sort)
    after = position(tx, page, *bound_to)
    page_rows = tx.all(
        _users,
        organisation_id=by.organisation_id,
        descends=sort == "-created_at",
        after_at=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=page.limit + 1,
        **filters,
    )
    return page_of(tx, page, page_rows, rows.user, lambda row: [row.created_at, row.id], *bound_to)


def _check_filter(tx: Transaction, department_id: str | None, *, by: Caller) -> None:
    if department_id is not None and not department_rows.exists(
        tx, by.organisation_id, department_id
    ):
        raise NotFound("department")


@compiled
def _users(
    organisation_id: Param[str],
    status: Param[str] | None,
    department_id: Param[str] | None,
    role: Param[str] | None,
    manager_id: Param[str] | None,
    email_key: Param[str] | None,
    descends: bool,
    after_at: Param[datetime] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    query = UserRow.select(*rows.USER).where(UserRow.organisation_id == organisation_id)
    for column, param in (
        (UserRow.status, status),
        (UserRow.department_id, department_id),
        (UserRow.role, role),
        (UserRow.manager_id, manager_id),
        (UserRow.email_key, email_key),
    ):
        if param is not None:
            query = query.where(column == param)
    order = (UserRow.created_at, UserRow.id)
    if after_at is not None:
        after = Tuple(after_at, after_id)
        query = query.where(Tuple(*order) < after if descends else Tuple(*order) > after)
    return query.order_by(*(column.desc() for column in order) if descends else order).limit(limit)
