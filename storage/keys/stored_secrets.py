"""Secrets at rest: the columns that hold them, their encryption with the first key, and a canary.

The database keeps a canary: a known text encrypted with every key that was ever the first of
``HIATUS_SECRET_KEYS``. With keys that cannot decrypt one of them, webhooks, calendar feeds and
Slack workspaces would fail one by one, so a start with wrong or missing keys fails at once. After
``reencrypt``, older keys are no longer needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from peewee import SQL, Field, Select, Tuple, Update, fn

from storage.base.errors import SecretKeysUnusable
from storage.base.secrets import InvalidToken, Secrets
from storage.db.compiled import Param, compiled, update_each
from storage.db.database import Database, Row, Transaction
from storage.db.tables import (
    CalendarFeedRow,
    DisplayLinkRow,
    SecretCanaryRow,
    SlackInstallationRow,
    SlackStatusRow,
    WebhookRow,
)

PREVIOUS_WEBHOOK: Final = "previous webhook secret"
_COLUMNS: Final[dict[str, Field]] = {
    "webhook": WebhookRow.secret_encrypted,
    PREVIOUS_WEBHOOK: WebhookRow.previous_secret_encrypted,
    "calendar feed": CalendarFeedRow.token_encrypted,
    "display link": DisplayLinkRow.token_encrypted,
    "Slack workspace": SlackInstallationRow.bot_token_encrypted,
    "Slack status": SlackStatusRow.token_encrypted,
}
KINDS: Final = tuple(_COLUMNS)


def _read(tx: Transaction, kind: str, *, after: tuple[str, str] | None, limit: int) -> list[Row]:
    """Secrets of one kind in primary-key order, after the key ``after``."""
    return tx.all(
        _stored,
        kind=kind,
        after_organisation_id=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=limit,
    )


def count(tx: Transaction) -> int:
    total = 0
    for kind in KINDS:
        row = tx.first(_number, kind=kind)
        total += 0 if row is None else int(row.number)
    return total


def _replace(tx: Transaction, kind: str, rows: Sequence[Row]) -> int:
    """Encrypt secrets with the first key, unless replaced meanwhile; returns how many."""
    if not rows:
        return 0
    column = _COLUMNS[kind].name
    changes: list[dict[str, Any]] = [
        {
            "organisation_id": row.organisation_id,
            "id": row.id,
            "old": row.encrypted,
            column: tx.secrets.encrypt(tx.secrets.decrypt(row.encrypted)),
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


_TEXT: Final = "hiatus secret key canary"
# One for each rotation that ``reencrypt`` has not completed.
MAX_CANARIES: Final = 1_000
# How many stored secrets of each kind are tried if there is no canary yet.
_SAMPLE: Final = 20


def check_keys(database: Database) -> None:
    """Check the keys against the database, and store a canary for the first key if it has none.

    Raises SecretKeysUnusable, or DatabaseUnavailable.
    """
    if not database.read_now(_is_complete):
        database.write_now(_store_canary)


def replace_canaries(tx: Transaction) -> None:
    """Replace all canaries by one of the first key."""
    tx.delete(SecretCanaryRow)
    tx.insert(SecretCanaryRow, number=1, encrypted=tx.secrets.encrypt(_TEXT))


def has_unreadable_canary(tx: Transaction, /) -> bool:
    """Whether the keys cannot decrypt a canary."""
    return not all(is_readable(tx.secrets, canary) for canary in _canaries(tx))


def canary_needs_older_keys(tx: Transaction, /) -> bool:
    """Whether a rotation is not complete: the first key is not the only one that is needed.

    Raises SecretKeysUnusable.
    """
    canaries = _canaries(tx)
    _covers_first_key(tx, canaries)
    return not all(tx.secrets.is_encrypted_with_first_key(canary) for canary in canaries)


def _is_complete(tx: Transaction, /) -> bool:
    return _covers_first_key(tx, _canaries(tx))


def _covers_first_key(tx: Transaction, canaries: list[str]) -> bool:
    """Whether the first key has its canary. Raises SecretKeysUnusable."""
    if not all(is_readable(tx.secrets, canary) for canary in canaries):
        raise SecretKeysUnusable
    if not canaries:
        # An older database without canaries: one readable secret is enough, since others may have
        # been lost long ago.
        sample = [
            row.encrypted for kind in KINDS for row in _read(tx, kind, after=None, limit=_SAMPLE)
        ]
        if sample and not any(is_readable(tx.secrets, text) for text in sample):
            raise SecretKeysUnusable
    return any(tx.secrets.is_encrypted_with_first_key(canary) for canary in canaries)


def _store_canary(tx: Transaction) -> None:
    # If two processes start at once, the second one's insert conflicts and changes nothing; it then
    # checks the canary of the first.
    canaries = _canaries(tx)
    while not _covers_first_key(tx, canaries):
        encrypted = tx.secrets.encrypt(_TEXT)
        tx.insert_new(SecretCanaryRow, number=len(canaries) + 1, encrypted=encrypted)
        canaries = _canaries(tx)


def _canaries(tx: Transaction) -> list[str]:
    return [row.encrypted for row in tx.select(SecretCanaryRow)]


BATCH: Final = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Reencrypted:
    """How many stored secrets were encrypted again, and how many of each kind no key decrypts.

    ``is_complete``: only the first key is still needed.
    """

    changed: int
    unreadable: dict[str, int]
    is_complete: bool


def reencrypt(
    database: Database,
    *,
    accept_loss: bool = False,
    batch: int = BATCH,
    on_read: Callable[[int], None] = lambda _: None,
) -> Reencrypted:
    """Encrypt every stored secret with the first key; older keys are then no longer needed.

    Each batch is a transaction: after a crash, the next run continues. ``on_read`` is called with
    the size of each batch.

    If no key decrypts a secret or a canary, the canaries stay, unless ``accept_loss``: then they
    are replaced, and unreadable secrets stay unreadable until they are renewed. Raises
    DatabaseUnavailable.
    """
    changed, unreadable = 0, dict.fromkeys(KINDS, 0)
    for kind in KINDS:
        for rows in _batches(database, kind, batch):
            old = [row for row in rows if not _is_first(database, row)]
            readable = [row for row in old if is_readable(database.secrets, row.encrypted)]
            changed += database.write_now(_replace, kind, readable)
            unreadable[kind] += len(old) - len(readable)
            on_read(len(rows))
    # It signs for a day at most, in addition to the newer secret.
    del unreadable[PREVIOUS_WEBHOOK]
    unreadable = {kind: count for kind, count in unreadable.items() if count}
    is_key_missing = bool(unreadable) or database.read_now(has_unreadable_canary)
    is_complete = accept_loss or not is_key_missing
    if is_complete:
        database.write_now(replace_canaries)
    return Reencrypted(changed=changed, unreadable=unreadable, is_complete=is_complete)


def needs_older_keys(database: Database) -> bool:
    """Whether only an older key decrypts a canary or a stored secret.

    Raises SecretKeysUnusable or DatabaseUnavailable.
    """
    return database.read_now(canary_needs_older_keys) or any(
        not _is_first(database, row) and is_readable(database.secrets, row.encrypted)
        for kind in KINDS
        for rows in _batches(database, kind, BATCH)
        for row in rows
    )


def _batches(database: Database, kind: str, size: int) -> Iterator[list[Row]]:
    """All secrets of a kind, each batch read in a transaction of its own."""
    after: tuple[str, str] | None = None
    while True:
        rows = database.read_now(_read, kind, after=after, limit=size)
        yield rows
        if len(rows) < size:
            return
        after = rows[-1].organisation_id, rows[-1].id


def _is_first(database: Database, row: Row) -> bool:
    return database.secrets.is_encrypted_with_first_key(row.encrypted)


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
    return update_each(table, changes, (column.name,), {"old": column.name})
