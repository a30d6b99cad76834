"""API keys as credentials: their form, and the caller of every request."""

from __future__ import annotations

import secrets
import zlib
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

import orjson
from peewee import Select, Update

from storage.base.errors import Unauthenticated
from storage.base.secrets import fingerprint
from storage.base.values import Caller, Role
from storage.db import rows
from storage.db.compiled import Param, compiled, milliseconds
from storage.db.database import Transaction
from storage.db.tables import ApiKeyRow, OrganisationRow, UserRow

# A key is this, 32 random bytes in base62, and a checksum of that.
PREFIX: Final = "hiatus_sk_live_"

# 62 ** 43 is the first power above 2 ** 256, 62 ** 6 the first above 2 ** 32.
_SECRET_CHARACTERS: Final = 43
_CHECKSUM_CHARACTERS: Final = 6
_KEY_CHARACTERS: Final = len(PREFIX) + _SECRET_CHARACTERS + _CHECKSUM_CHARACTERS
# Of the key in lists.
SHOWN_CHARACTERS: Final = len(PREFIX) + 6
_BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_MINUTE_MILLISECONDS: Final = 60_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ActiveKey:
    """A key that is not revoked, with its active owner; it may have expired.

    ``expires_at`` and ``last_used_at`` are in milliseconds, the latter a whole minute; None for
    never. ``reference_version`` is the organisation's.
    """

    organisation_id: str
    key_id: str
    user_id: str
    scopes: str
    variant: int
    expires_at: int | None
    last_used_at: int | None
    role: Role
    reference_version: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Authenticated:
    caller: Caller
    key: ActiveKey


_active_key: Final = rows.mapper(ActiveKey)


def find_key(tx: Transaction, secret_sha256: str) -> ActiveKey | None:
    """The key with this SHA-256; None if it is revoked or its owner is not active."""
    row = tx.first(_usable_key, secret_sha256=secret_sha256)
    return None if row is None else _active_key(row)


def caller_of(
    key: ActiveKey | None, *, now: datetime, request_id: str | None = None
) -> Authenticated:
    """The caller with that key. Raises Unauthenticated for None and for an expired key."""
    if key is None or (key.expires_at is not None and key.expires_at <= milliseconds(now)):
        raise Unauthenticated
    caller = Caller(
        organisation_id=key.organisation_id,
        user_id=key.user_id,
        role=key.role,
        scopes=_scopes(key.scopes),
        source="api",
        request_id=request_id,
        variant=key.variant,
        key_id=key.key_id,
    )
    return Authenticated(caller=caller, key=key)


def authenticate(tx: Transaction, key: str, *, now: datetime) -> Authenticated:
    """The caller with the key as it was sent.

    Raises Unauthenticated for a key that is malformed, unknown, revoked or expired, or whose owner
    is not active.
    """
    if not is_well_formed(key):
        raise Unauthenticated
    return caller_of(find_key(tx, fingerprint(key)), now=now)


def is_use_due(authenticated: Authenticated, now: datetime) -> bool:
    """Whether to record a use now: at most one a minute is recorded."""
    last_used_at = authenticated.key.last_used_at
    return last_used_at is None or last_used_at < _minute(now)


def record_use(tx: Transaction, organisation_id: str, key_id: str, *, now: datetime) -> None:
    """Record the minute in which a key was used, unless a later one is recorded."""
    tx.change(_record_use, organisation_id=organisation_id, key_id=key_id, minute=_minute(now))


@lru_cache(maxsize=1_024)
def _scopes(text: str) -> frozenset[str]:
    return with_reads(frozenset(orjson.loads(text)))


def with_reads(scopes: frozenset[str]) -> frozenset[str]:
    """Writing includes reading."""
    implied = {f"{scope[:-6]}:read" for scope in scopes if scope.endswith(":write")}
    return scopes | implied


def _minute(now: datetime) -> int:
    return milliseconds(now) // _MINUTE_MILLISECONDS * _MINUTE_MILLISECONDS


def new_key() -> str:
    """A random key; the checksum is that of the base62 characters."""
    return key_of_bytes(secrets.token_bytes(32))


def key_of_bytes(secret_bytes: bytes) -> str:
    """The key of 32 secret bytes."""
    secret = _base62(int.from_bytes(secret_bytes, "big"), _SECRET_CHARACTERS)
    return PREFIX + secret + _checksum(secret)


def is_well_formed(key: str) -> bool:
    """Whether the length, prefix and checksum of ``key`` are right, without a query."""
    if len(key) != _KEY_CHARACTERS or not key.startswith(PREFIX) or not key.isascii():
        return False
    secret = key[len(PREFIX) : -_CHECKSUM_CHARACTERS]
    return key[-_CHECKSUM_CHARACTERS:] == _checksum(secret)


def _checksum(secret: str) -> str:
    return _base62(zlib.crc32(secret.encode()), _CHECKSUM_CHARACTERS)


def _base62(number: int, width: int) -> str:
    digits = []
    for _ in range(width):
        number, digit = divmod(number, 62)
        digits.append(_BASE62[digit])
    return "".join(reversed(digits))


@compiled
def _usable_key(secret_sha256: Param[str]) -> Select:
    return (
        ApiKeyRow.select(
            ApiKeyRow.organisation_id,
            ApiKeyRow.id.alias("key_id"),
            ApiKeyRow.user_id,
            ApiKeyRow.scopes,
            ApiKeyRow.variant,
            ApiKeyRow.expires_at,
            ApiKeyRow.last_used_at,
            UserRow.role,
            OrganisationRow.reference_version,
        )
        .join(
            UserRow,
            on=(UserRow.organisation_id == ApiKeyRow.organisation_id)
            & (UserRow.id == ApiKeyRow.user_id),
        )
        .join(OrganisationRow, on=(OrganisationRow.id == ApiKeyRow.organisation_id))
        .where(
            ApiKeyRow.secret_sha256 == secret_sha256,
            ApiKeyRow.revoked_at.is_null(),
            UserRow.status == "active",
        )
    )


@compiled
def _record_use(organisation_id: Param[str], key_id: Param[str], minute: Param[int]) -> Update:
    return ApiKeyRow.update(last_used_at=minute).where(
        ApiKeyRow.organisation_id == organisation_id,
        ApiKeyRow.id == key_id,
        ApiKeyRow.last_used_at.is_null() | (ApiKeyRow.last_used_at < minute),
    )
