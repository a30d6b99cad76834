"""OAuth states: issued to a browser that begins an installation, valid once and for ten minutes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from peewee import Delete, Select

from storage.base.secrets import fingerprint, new_token
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import SlackStateRow

LIFE: Final = timedelta(minutes=10)
# Each request deletes more expired states than it adds, which bounds the table.
_PRUNED_AT_ONCE: Final = 100


def issue(tx: Transaction, *, now: datetime) -> str:
    """A new state; only its fingerprint is stored."""
    prune(tx, now=now, limit=_PRUNED_AT_ONCE)
    state = new_token()
    tx.insert(SlackStateRow, state_sha256=fingerprint(state), expires_at=now + LIFE)
    return state


def is_valid(tx: Transaction, state: str, *, now: datetime) -> bool:
    """Whether ``consume`` would find the state; writes nothing."""
    return tx.first(_valid, state_sha256=fingerprint(state), now=now) is not None


def consume(tx: Transaction, state: str, *, now: datetime) -> bool:
    """Whether the state was issued, has not expired and is used for the first time."""
    return bool(tx.change(_consume, state_sha256=fingerprint(state), now=now))


def prune(tx: Transaction, *, now: datetime, limit: int = 1_000) -> int:
    """Delete up to ``limit`` expired states; returns how many."""
    return tx.change(_prune, now=now, limit=limit)


@compiled
def _valid(state_sha256: Param[str], now: Param[datetime]) -> Select:
    return SlackStateRow.select(SlackStateRow.state_sha256).where(
        SlackStateRow.state_sha256 == state_sha256, SlackStateRow.expires_at > now
    )


@compiled
def _consume(state_sha256: Param[str], now: Param[datetime]) -> Delete:
    return SlackStateRow.delete().where(
        SlackStateRow.state_sha256 == state_sha256, SlackStateRow.expires_at > now
    )


@compiled
def _prune(now: Param[datetime], limit: Param[int]) -> Delete:
    old = (
        SlackStateRow.select(SlackStateRow.state_sha256)
        .where(SlackStateRow.expires_at <= now)
        .limit(limit)
    )
    return SlackStateRow.delete().where(SlackStateRow.state_sha256.in_(old))
