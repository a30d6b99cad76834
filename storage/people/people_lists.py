"""Lists of people: all, a page of those who pass the filters, or found by a part of a name."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal, TypedDict

import peewee
from peewee import Select, Tuple, fn

from storage.base import texts
from storage.base.errors import NotFound
from storage.base.values import Caller, Role, User, UserStatus
from storage.db import rows
from storage.db.compiled import Engine, Expr, Param, compiled, compiled_per_engine
from storage.db.database import Row, Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import UserRow
from storage.people import approval_rule, department_rows, people_rows
from storage.rules import roles

Sort = Literal["created_at", "-created_at", "updated_at"]
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
    employee_number: str | None
    updated_since: datetime | None


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
    employee_number: str | None = None,
    updated_since: datetime | None = None,
    sort: Sort = "created_at",
) -> Page[User]:
    """One page of the people who pass the filters; ``updated_since`` is inclusive.

    Only admins filter by employee number, which others do not read. Raises NotFound for an unknown
    department or manager, InsufficientRole, UnusableCursor.
    """
    if employee_number is not None:
        roles.check_role(by.role, "admin")
    _check_filter(tx, department_id, by=by)
    if manager_id is not None:
        people_rows.get(tx, manager_id, by=by)
    filters = _PageFilters(
        status=status,
        department_id=department_id,
        role=role,
        manager_id=manager_id,
        email_key=None if email is None else texts.email_key(email),
        employee_number=employee_number,
        updated_since=updated_since,
    )
    bound_to = ("users", by.organisation_id, *filters.values(), sort)
    after = position(tx, page, *bound_to)
    page_rows = tx.all(
        _users,
        organisation_id=by.organisation_id,
        sort=sort,
        after_at=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=page.limit + 1,
        **filters,
    )
    column = sort.removeprefix("-")

    def key(row: Row) -> list[object]:
        return [getattr(row, column), row.id]

    return page_of(tx, page, page_rows, rows.user, key, *bound_to)


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
    employee_number: Param[str] | None,
    updated_since: Param[datetime] | None,
    sort: Sort,
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
        (UserRow.employee_number, employee_number),
    ):
        if param is not None:
            query = query.where(column == param)
    if updated_since is not None:
        query = query.where(UserRow.updated_at >= updated_since)
    order = (getattr(UserRow, sort.removeprefix("-")), UserRow.id)
    descends = sort.startswith("-")
    if after_at is not None:
        after = Tuple(after_at, after_id)
        query = query.where(Tuple(*order) < after if descends else Tuple(*order) > after)
    return query.order_by(*(column.desc() for column in order) if descends else order).limit(limit)


# As many as a Slack menu takes, less one for "None".
MAX_OPTIONS: Final = 99


def find(tx: Transaction, words: str, *, by: Caller) -> list[User]:
    """People whose name, or address before the @, contains the text, by name; none archived.

    Text that includes an @ has to be the beginning of the address: a domain alone would match
    everyone. Case-insensitive; on SQLite only for English letters, others match as typed. At most
    99. Raises InsufficientRole.
    """
    roles.check_role(by.role, "admin")
    return _find(tx, words, by, only_reachable=False)


def reachable(tx: Transaction, words: str, *, by: Caller) -> list[User]:
    """As ``find``, for any caller: only active people, and pending ones with a Slack account."""
    return _find(tx, words, by, only_reachable=True)


def _find(tx: Transaction, words: str, by: Caller, *, only_reachable: bool) -> list[User]:
    typed = normalised(words)
    users = tx.all(
        _matching,
        organisation_id=by.organisation_id,
        typed=typed,
        lowered=typed.lower(),
        only_reachable=only_reachable,
        limit=MAX_OPTIONS,
    )
    return [rows.user(row) for row in users]


def named(tx: Transaction, words: str, *, by: Caller) -> list[User]:
    """People whose first or last name is in the casefolded text, for any caller; none archived.

    On SQLite, letters that are not English are found in small letters, and at the beginning of a
    word in capitals. At most 99.
    """
    forms = f" {words} {words.title()} "
    people = tx.all(_named, organisation_id=by.organisation_id, typed=forms, limit=MAX_OPTIONS)
    return [rows.user(row) for row in people]


def normalised(words: str) -> str:
    """The typed text with single spaces."""
    return " ".join(words.split())


def option(tx: Transaction, user_id: str | None, *, by: Caller) -> User | None:
    """The person who is selected in such a menu."""
    return None if user_id is None else people_rows.find(tx, by.organisation_id, user_id)


@compiled_per_engine
def _named(
    engine: Engine, organisation_id: Param[str], typed: Param[str], limit: Param[int]
) -> Select:
    user = UserRow
    return (
        user.select(*rows.USER)
        .where(
            user.organisation_id == organisation_id,
            user.status != "archived",
            _contains(typed, _word(user.first_name), engine)
            | _contains(typed, _word(user.last_name), engine),
        )
        .order_by(user.first_name, user.last_name, user.id)
        .limit(limit)
    )


def _word(name: Expr) -> Expr:
    return fn.LOWER(peewee.Value(" ").concat(name).concat(" "))


@compiled_per_engine
def _matching(
    engine: Engine,
    organisation_id: Param[str],
    typed: Param[str],
    lowered: Param[str],
    only_reachable: bool,
    limit: Param[int],
) -> Select:
    query = matching(engine, organisation_id, typed, lowered)
    if only_reachable:
        query = query.where(approval_rule.is_reachable_sql(UserRow))
    return query.limit(limit)


def matching(
    engine: Engine, organisation_id: Expr, typed: Param[str], lowered: Param[str]
) -> Select:
    """The people of ``find``, for queries that narrow them down; call in a compiled function."""
    user = UserRow
    name = user.first_name.concat(" ").concat(user.last_name)
    return (
        user.select(*rows.USER)
        .where(
            user.organisation_id == organisation_id,
            user.status != "archived",
            _contains(name, typed, engine)
            | _contains(fn.LOWER(name), lowered, engine)
            | _contains(_local_part(user.email_key, engine), lowered, engine)
            | (_position(user.email_key, lowered, engine) == 1),
        )
        .order_by(user.first_name, user.last_name, user.id)
    )


def _contains(text: Expr | Param[str], part: Expr | Param[str], engine: str) -> Expr:
    return _position(text, part, engine) > 0


def _position(text: Expr | Param[str], part: Expr | Param[str], engine: str) -> Expr:
    # Not LIKE: wildcards in the text would have to be escaped.
    position = fn.INSTR if engine == "sqlite" else fn.STRPOS
    return position(text, part)


def _local_part(address: Expr, engine: str) -> Expr:
    """The part before the @."""
    if engine == "sqlite":
        return fn.SUBSTR(address, 1, fn.INSTR(address, "@") - 1)
    return fn.SPLIT_PART(address, "@", 1)
