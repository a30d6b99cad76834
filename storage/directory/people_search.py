"""Find people by a part of their name or address, for menus that cannot list all people."""

from __future__ import annotations

from typing import Final

import peewee
from peewee import Select, fn

from storage.base.values import Caller, User
from storage.db import rows
from storage.db.compiled import Engine, Expr, Param, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import UserRow
from storage.directory import approval_rule, people_rows
from storage.rules import roles

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
