"""A canary for the secret keys: a start with wrong or missing keys fails at once.

The database keeps a known text encrypted with every key that was ever the first of
``HIATUS_SECRET_KEYS``. With keys that cannot decrypt one of them, webhooks, calendar feeds and
Slack workspaces would fail one by one. After ``reencryption.reencrypt``, older keys are no longer
needed.
"""

from __future__ import annotations

from typing import Final

from peewee import Delete, Insert, Select

from storage.access import stored_secrets
from storage.base.errors import SecretKeysUnusable
from storage.db.compiled import Param, compiled
from storage.db.database import Database, Transaction
from storage.db.tables import SecretCanaryRow

_TEXT: Final = "hiatus secret key canary"
# One for each rotation that ``reencrypt`` has not completed.
MAX_CANARIES: Final = 1_000
# How many stored secrets of each kind are tried if there is no canary yet.
_SAMPLE: Final = 20


def ensure(database: Database) -> None:
    """Check the keys against the database, and store a canary for the first key if it has none.

    Raises SecretKeysUnusable, or DatabaseUnavailable.
    """
    if not database.read_now(_is_complete):
        database.write_now(_store_canary)


def replace_all(tx: Transaction) -> None:
    """Replace all canaries by one of the first key."""
    tx.change(_delete)
    tx.change(_insert, number=1, encrypted=tx.secrets.encrypt(_TEXT))


def has_unreadable(tx: Transaction, /) -> bool:
    """Whether the keys cannot decrypt a canary."""
    return not all(stored_secrets.is_readable(tx.secrets, canary) for canary in _canaries(tx))


def needs_older_keys(tx: Transaction, /) -> bool:
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
    if not all(stored_secrets.is_readable(tx.secrets, canary) for canary in canaries):
        raise SecretKeysUnusable
    if not canaries:
        # An older database without canaries: one readable secret is enough, since others may have
        # been lost long ago.
        sample = [
            row.encrypted
            for kind in stored_secrets.KINDS
            for row in stored_secrets.read(tx, kind, after=None, limit=_SAMPLE)
        ]
        if sample and not any(stored_secrets.is_readable(tx.secrets, text) for text in sample):
            raise SecretKeysUnusable
    return any(tx.secrets.is_encrypted_with_first_key(canary) for canary in canaries)


def _store_canary(tx: Transaction) -> None:
    # If two processes start at once, the second one's insert conflicts and changes nothing; it then
    # checks the canary of the first.
    canaries = _canaries(tx)
    while not _covers_first_key(tx, canaries):
        tx.change(_insert, number=len(canaries) + 1, encrypted=tx.secrets.encrypt(_TEXT))
        canaries = _canaries(tx)


def _canaries(tx: Transaction) -> list[str]:
    return [encrypted for (encrypted,) in tx.all(_all, limit=MAX_CANARIES)]


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
