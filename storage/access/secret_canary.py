"""A canary for the secret keys: a start with wrong or missing keys fails at once.

The database keeps a known text encrypted with every key that was ever the first of
``HIATUS_SECRET_KEYS``. With keys that cannot decrypt one of them, webhooks, calendar feeds and
Slack workspaces would fail one by one. After ``reencrypt``, older keys are no longer needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import orjson
from peewee import Delete, Field, Insert, Select, Tuple, Update

from storage.base.errors import SecretKeysUnusable
from storage.base.secrets import InvalidToken, Secrets
from storage.db.compiled import Param, compiled, json_table
from storage.db.database import Database, Transaction
from storage.db.tables import CalendarFeedRow, SecretCanaryRow, SlackInstallationRow, WebhookRow

_TEXT: Final = "hiatus secret key canary"
# One for each rotation that ``reencrypt`` has not completed.
MAX_CANARIES: Final = 1_000
# How many stored secrets of each kind are tried if there is no canary yet.
_SAMPLE: Final = 20
BATCH: Final = 500
_PREVIOUS: Final = "previous webhook secret"
# An uninstalled workspace's token is "".
_COLUMNS: Final[dict[str, Field]] = {
    "webhook": WebhookRow.secret_encrypted,
    _PREVIOUS: WebhookRow.previous_secret_encrypted,
    "calendar feed": CalendarFeedRow.token_encrypted,
    "Slack workspace": SlackInstallationRow.bot_token_encrypted,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Reencrypted:
    """How many stored secrets were encrypted again, and how many of each kind no key decrypts.

    ``is_complete``: only the first key is still needed.
    """

    changed: int
    unreadable: dict[str, int]
    is_complete: bool


def ensure(database: Database) -> None:
    """Check the keys against the database, and store a canary for the first key if it has none.

    Raises SecretKeysUnusable, or DatabaseUnavailable.
    """
    if not database.read_now(_is_complete):
        database.write_now(_store_canary)


def reencrypt(database: Database, *, accept_loss: bool = False, batch: int = BATCH) -> Reencrypted:
    """Encrypt every stored secret with the first key; older keys are then no longer needed.

    If no key decrypts a secret or a canary, the canaries stay, unless ``accept_loss``: then they
    are replaced, and unreadable secrets stay unreadable until they are renewed. Raises
    DatabaseUnavailable.
    """
    changed, unreadable = 0, dict.fromkeys(_COLUMNS, 0)
    for kind in _COLUMNS:
        after: tuple[str, str] | None = None
        while True:
            done = database.write_now(_reencrypt_batch, kind, after, batch)
            changed += done.changed
            unreadable[kind] += done.unreadable
            if done.last is None:
                break
            after = done.last
    # It signs for a day at most, in addition to the newer secret.
    del unreadable[_PREVIOUS]
    unreadable = {kind: count for kind, count in unreadable.items() if count}
    is_key_missing = bool(unreadable) or database.read_now(_has_unreadable_canary)
    is_complete = accept_loss or not is_key_missing
    if is_complete:
        database.write_now(_replace)
    return Reencrypted(changed=changed, unreadable=unreadable, is_complete=is_complete)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Batch:
    changed: int
    unreadable: int
    last: tuple[str, str] | None


def _is_complete(tx: Transaction, /) -> bool:
    return _covers_first_key(tx, _canaries(tx))


def _covers_first_key(tx: Transaction, canaries: list[str]) -> bool:
    """Whether the first key has its canary. Raises SecretKeysUnusable."""
    if not all(_is_readable(tx.secrets, canary) for canary in canaries):
        raise SecretKeysUnusable
    if not canaries:
        # An older database without canaries: one readable secret is enough, since others may have
        # been lost long ago.
        stored = [text for kind in _COLUMNS for text in _sample(tx, kind)]
        if stored and not any(_is_readable(tx.secrets, text) for text in stored):
            raise SecretKeysUnusable
    return any(tx.secrets.is_by_first_key(canary) for canary in canaries)


def _store_canary(tx: Transaction) -> None:
    # If two processes start at once, the second one's insert conflicts and changes nothing; it then
    # checks the canary of the first.
    canaries = _canaries(tx)
    while not _covers_first_key(tx, canaries):
        tx.change(_insert, number=len(canaries) + 1, encrypted=tx.secrets.encrypt(_TEXT))
        canaries = _canaries(tx)


def _replace(tx: Transaction) -> None:
    tx.change(_delete)
    tx.change(_insert, number=1, encrypted=tx.secrets.encrypt(_TEXT))


def _canaries(tx: Transaction) -> list[str]:
    return [encrypted for (encrypted,) in tx.all(_all, limit=MAX_CANARIES)]


def _has_unreadable_canary(tx: Transaction, /) -> bool:
    return not all(_is_readable(tx.secrets, canary) for canary in _canaries(tx))


def _is_readable(secrets: Secrets, encrypted: str) -> bool:
    try:
        secrets.decrypt(encrypted)
    except InvalidToken:
        return False
    return True


def _sample(tx: Transaction, kind: str) -> list[str]:
    secrets = tx.all(_stored, kind=kind, after_organisation_id=None, after_id=None, limit=_SAMPLE)
    return [row.encrypted for row in secrets]


def _reencrypt_batch(
    tx: Transaction, kind: str, after: tuple[str, str] | None, limit: int
) -> _Batch:
    batch = tx.all(
        _stored,
        kind=kind,
        after_organisation_id=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=limit,
    )
    old = [row for row in batch if not tx.secrets.is_by_first_key(row.encrypted)]
    readable = [row for row in old if _is_readable(tx.secrets, row.encrypted)]
    changes = [
        {
            "organisation_id": row.organisation_id,
            "id": row.id,
            "old": row.encrypted,
            "new": tx.secrets.encrypt(tx.secrets.decrypt(row.encrypted)),
        }
        for row in readable
    ]
    changed = 0
    if changes:
        changed = tx.change(_change, kind=kind, changes=orjson.dumps(changes).decode())
    last = (batch[-1].organisation_id, batch[-1].id) if len(batch) == limit else None
    return _Batch(changed=changed, unreadable=len(old) - len(readable), last=last)


@compiled
def _all(limit: Param[int]) -> Select:
    return (
        SecretCanaryRow.select(SecretCanaryRow.encrypted)
        .order_by(SecretCanaryRow.number)
        .limit(limit)
    )


@compiled
def _insert(number: Param[int], encrypted: Param[str]) -> Insert:
    return SecretCanaryRow.insert(number=number, encrypted=encrypted).on_conflict_ignore()


@compiled
def _delete() -> Delete:
    return SecretCanaryRow.delete()


@compiled
def _stored(
    kind: str,
    after_organisation_id: Param[str] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    """Encrypted values of one kind in primary-key order; an empty text is no secret."""
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
def _change(kind: str, changes: Param[str]) -> Update:
    """Changes values that were not replaced meanwhile."""
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
