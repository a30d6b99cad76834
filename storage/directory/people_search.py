"""Looking people up by a part of their name or address, for menus that cannot list all people."""

from __future__ import annotations

from typing import Final

from peewee import Select, fn

from storage.base.values import Caller, User
from storage.db import rows
from storage.db.compiled import Engine, Expr, Param, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import UserRow
from storage.directory import people_rows
from storage.rules import roles

# As many as a Slack menu takes, less one for "None".
MAX_FOUND: Final = 99


def find(tx: Transaction, words: str, *, by: Caller) -> list[User]:
    """People whose name, or address before the @, holds what was typed, by name; none archived.

    An address that was typed further than its @ has to begin that way: a domain alone would find
    everyone.

    Without case where the engine knows the letters: SQLite knows the English ones, and for others
    tries the spelling as it was typed, too. At most 99. Raises InsufficientRole.
    """
    roles.check_role(by.role, "admin")
    typed = " ".join(words.split())
    found = tx.all(
        _found,
        organisation_id=by.organisation_id,
        typed=typed,
        lowered=typed.lower(),
        limit=MAX_FOUND,
    )
    return [rows.user(row) for row in found]


def option(tx: Transaction, user_id: str | None, *, by: Caller) -> User | None:
    """The person who is chosen in such a menu."""
    return None if user_id is None else people_rows.find(tx, by.organisation_id, user_id)


@compiled_per_engine
def _found(
    engine: Engine,
    organisation_id: Param[str],
    typed: Param[str],
    lowered: Param[str],
    limit: Param[int],
) -> Select:
    user = UserRow
    name = user.first_name.concat(" ").concat(user.last_name)
    return (
        user.select(*rows.USER)
        .where(
            user.organisation_id == organisation_id,
            user.status != "archived",
            _holds(name, typed, engine)
            | _holds(fn.LOWER(name), lowered, engine)
            | _holds(_local_part(user.email_key, engine), lowered, engine)
            | (_position(user.email_key, lowered, engine) == 1),
        )
        .order_by(user.first_name, user.last_name, user.id)
        .limit(limit)
    )


def _holds(text: Expr, part: Param[str], engine: str) -> Expr:
    return _position(text, part, engine) > 0


def _position(text: Expr, part: Param[str], engine: str) -> Expr:
    # Not LIKE: what people type would have to be kept from being a pattern.
    position = fn.INSTR if engine == "sqlite" else fn.STRPOS
    return position(text, part)


def _local_part(address: Expr, engine: str) -> Expr:
    """What stands before the @."""
    if engine == "sqlite":
        return fn.SUBSTR(address, 1, fn.INSTR(address, "@") - 1)
    return fn.SPLIT_PART(address, "@", 1)
