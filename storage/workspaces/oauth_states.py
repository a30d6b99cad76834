"""OAuth states: issued to a browser that begins an installation, valid once and for ten minutes.

A state is signed and stored nowhere, because anyone may begin an installation. It is stored once it
was used, until it has expired. The states of people who connect their Slack status name them.
"""

from __future__ import annotations

import hashlib
import secrets as random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from itsdangerous import BadData, Signer

from storage.base import retention
from storage.base.secrets import Secrets, fingerprint
from storage.db.compiled import milliseconds
from storage.db.database import Transaction
from storage.db.tables import SlackStateRow

LIFE: Final = timedelta(minutes=10)
# Each use deletes more expired states than it adds, which bounds the table.
_PRUNED_AT_ONCE: Final = 100
_STATUS_SALT: Final = "slack status"


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """Who connects their Slack status."""

    organisation_id: str
    user_id: str


def issue(secrets: Secrets, *, now: datetime) -> str:
    return _issue(_signer(secrets), "", now)


def issue_for(secrets: Secrets, person: Person, *, now: datetime) -> str:
    """A state for this person; ``person_of`` reads it."""
    subject = f"{person.organisation_id} {person.user_id} "
    return _issue(_signer(secrets, _STATUS_SALT), subject, now)


def _issue(signer: Signer, subject: str, now: datetime) -> str:
    expires_at = int((now + LIFE).timestamp())
    signed: bytes = signer.sign(f"{subject}{random.token_urlsafe(16)}.{expires_at}")
    return signed.decode()


def person_of(secrets: Secrets, state: str, *, now: datetime) -> Person | None:
    """For whom the state was issued; None if it was not, or has expired. It may have been used."""
    signed = _unsigned(_signer(secrets, _STATUS_SALT), state)
    if signed is None or _expiry(signed) <= now:
        return None
    organisation_id, user_id, _ = signed.split(" ")
    return Person(organisation_id=organisation_id, user_id=user_id)


def consume_for(tx: Transaction, state: str, *, now: datetime) -> bool:
    """As ``consume``, for a state of a person that has not expired."""
    prune(tx, now=now, limit=_PRUNED_AT_ONCE)
    signed = _unsigned(_signer(tx.secrets, _STATUS_SALT), state)
    return signed is not None and _use(tx, signed)


def is_valid(tx: Transaction, state: str, *, now: datetime) -> bool:
    """Whether ``consume`` may find the state; writes nothing."""
    if (signed := _signed(tx.secrets, state)) is not None:
        return _expiry(signed) > now
    return _is_stored(tx, state, now)


def consume(tx: Transaction, state: str, *, now: datetime) -> bool:
    """Whether the state was issued, has not expired and is used for the first time."""
    prune(tx, now=now, limit=_PRUNED_AT_ONCE)
    signed = _signed(tx.secrets, state)
    if signed is None:
        key = {"state_sha256": fingerprint(state)}
        return _is_stored(tx, state, now) and tx.delete(SlackStateRow, **key) == 1
    return _expiry(signed) > now and _use(tx, signed)


def _use(tx: Transaction, signed: str) -> bool:
    return tx.insert_new(
        SlackStateRow,
        # Not of the state: an older version would take the row for one that it issued.
        state_sha256=fingerprint(f"used {signed}"),
        expires_at=_expiry(signed) + retention.USED_OAUTH_STATES,
    )


def _is_stored(tx: Transaction, state: str, now: datetime) -> bool:
    # During an upgrade, processes of the older version still store states as they issue them.
    row = tx.find(SlackStateRow, state_sha256=fingerprint(state))
    return row is not None and row.expires_at > milliseconds(now)


def prune(tx: Transaction, *, now: datetime, limit: int = 1_000) -> int:
    """Delete up to ``limit`` expired states; returns how many."""
    return tx.delete_before(SlackStateRow, "expires_at", now, limit)


def _signer(secrets: Secrets, salt: str = "slack install") -> Signer:
    return Signer(secrets.signing_keys, salt=salt, digest_method=hashlib.sha384)


def _signed(secrets: Secrets, state: str) -> str | None:
    """What ``issue`` signed; None for another text."""
    return _unsigned(_signer(secrets), state)


def _unsigned(signer: Signer, state: str) -> str | None:
    try:
        signed: bytes = signer.unsign(state)
    except BadData:
        return None
    return signed.decode()


def _expiry(signed: str) -> datetime:
    return datetime.fromtimestamp(int(signed.rpartition(".")[2]), UTC)
