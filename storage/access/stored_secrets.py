"""Every column with an encrypted secret, read and replaced in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import orjson
from peewee import SQL, Field, Select, Tuple, Update, fn

from storage.base.secrets import InvalidToken, Secrets
from storage.db.compiled import Param, compiled, json_table
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import CalendarFeedRow, DisplayLinkRow, SlackInstallationRow, WebhookRow

PREVIOUS_WEBHOOK: Final = "previous webhook secret"
_COLUMNS: Final[dict[str, Field]] = {
    "webhook": WebhookRow.secret_encrypted,
    PREVIOUS_WEBHOOK: WebhookRow.previous_secret_encrypted,
    "calendar feed": CalendarFeedRow.token_encrypted,
    "display link": DisplayLinkRow.token_encrypted,
    "Slack workspace": SlackInstallationRow.bot_token_encrypted,
}
KINDS: Final = tuple(_COLUMNS)


def read(tx: Transaction, kind: str, *, after: tuple[str, str] | None, limit: int) -> list[Row]:
    """Secrets of one kind in primary-key order, after the key ``after``."""
    return tx.all(
        _stored,
        kind=kind,
        after_organisation_id=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=limit,
    )


def count(tx: Transaction) -> int:
    """How many there are of all kinds."""
    total = 0
    for kind in KINDS:
        row = tx.first(_number, kind=kind)
        total += 0 if row is None else int(row.number)
    return total


def replace(tx: Transaction, kind: str, rows: Sequence[Row]) -> int:
    """Encrypt secrets with the first key, unless replaced meanwhile; returns how many."""
    if not rows:
        return 0
    changes: list[dict[str, Any]] = [
        {
            "organisation_id": row.organisation_id,
            "id": row.id,
            "old": row.encrypted,
            "new": tx.secrets.encrypt(tx.secrets.decrypt(row.encrypted)),
        }
        for row in rows
    ]
    return tx.change(_change, kind=kind, changes=orjson.dumps(changes).decode())


def is_readable(secrets: Secrets, encrypted: str) -> bool:
    """Whether one of the keys decrypts it."""
    try:
        secrets.decrypt(encrypted)
    except InvalidToken:
        return False
    return True


@compiled
def _stored(
    kind: str,
    after_organisation_id: Param[str] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    # An uninstalled workspace's token is "".
    column = _COLUMNS[kind]
    table = column.model
    query = table.select(table.organisation_id, table.id, column.alias("encrypted")).where(
        column.is_null(False), column != ""
    )
    if after_id is not None:
        after = Tuple(after_organisation_id, after_id)
        query = query.where(Tuple(table.organisation_id, table.id) > after)
    return query.order_by(table.organisation_id, table.id).limit(limit)


@compiled
def _number(kind: str) -> Select:
    column = _COLUMNS[kind]
    number = fn.COUNT(SQL("*")).alias("number")
    return column.model.select(number).where(column.is_null(False), column != "")


@compiled
def _change(kind: str, changes: Param[str]) -> Update:
    column = _COLUMNS[kind]
    table = column.model
    columns = {"organisation_id": "uuid", "id": "uuid", "old": "text", "new": "text"}
    new = json_table(changes, "new", columns)
    return (
        table.update({column: new.column("new")})
        .from_(new)
        .where(
            table.organisation_id == new.column("organisation_id"),
            table.id == new.column("id"),
            column == new.column("old"),
        )
    )
