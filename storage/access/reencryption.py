"""Encrypt every stored secret with the first secret key, so that older keys can be removed."""

from __future__ import annotations

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


def reencrypt(database: Database, *, accept_loss: bool = False, batch: int = BATCH) -> Reencrypted:
    """Encrypt every stored secret with the first key; older keys are then no longer needed.

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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Batch:
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
        changed=stored_secrets.replace(tx, kind, readable),
        unreadable=len(old) - len(readable),
        last=(rows[-1].organisation_id, rows[-1].id) if len(rows) == limit else None,
    )
