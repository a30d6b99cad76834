"""Encrypt every stored secret with the first secret key, so that older keys can be removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from storage.access import secret_canary, stored_secrets
from storage.db.database import Database, Transaction

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
    changed, unreadable = 0, dict.fromkeys(stored_secrets.KINDS, 0)
    for kind in stored_secrets.KINDS:
        after: tuple[str, str] | None = None
        while True:
            result = database.write_now(_reencrypt_batch, kind, after, batch)
            changed += result.changed
            unreadable[kind] += result.unreadable
            on_read(result.read)
            if result.last is None:
                break
            after = result.last
    # It signs for a day at most, in addition to the newer secret.
    del unreadable[stored_secrets.PREVIOUS_WEBHOOK]
    unreadable = {kind: count for kind, count in unreadable.items() if count}
    is_key_missing = bool(unreadable) or database.read_now(secret_canary.has_unreadable)
    is_complete = accept_loss or not is_key_missing
    if is_complete:
        database.write_now(secret_canary.replace_all)
    return Reencrypted(changed=changed, unreadable=unreadable, is_complete=is_complete)


def needs_older_keys(database: Database) -> bool:
    """Whether only an older key decrypts a canary or a stored secret.

    Raises SecretKeysUnusable or DatabaseUnavailable.
    """
    if database.read_now(secret_canary.needs_older_keys):
        return True
    for kind in stored_secrets.KINDS:
        after: tuple[str, str] | None = None
        while True:
            rows = database.read_now(stored_secrets.read, kind, after=after, limit=BATCH)
            for row in rows:
                is_first = database.secrets.is_encrypted_with_first_key(row.encrypted)
                if not is_first and stored_secrets.is_readable(database.secrets, row.encrypted):
                    return True
            if len(rows) < BATCH:
                break
            after = rows[-1].organisation_id, rows[-1].id
    return False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Batch:
    read: int
    changed: int
    unreadable: int
    last: tuple[str, str] | None


def _reencrypt_batch(
    tx: Transaction, kind: str, after: tuple[str, str] | None, limit: int
) -> _Batch:
    rows = stored_secrets.read(tx, kind, after=after, limit=limit)
    old = [row for row in rows if not tx.secrets.is_encrypted_with_first_key(row.encrypted)]
    readable = [row for row in old if stored_secrets.is_readable(tx.secrets, row.encrypted)]
    return _Batch(
        read=len(rows),
        changed=stored_secrets.replace(tx, kind, readable),
        unreadable=len(old) - len(readable),
        last=(rows[-1].organisation_id, rows[-1].id) if len(rows) == limit else None,
    )
