"""API keys: created, listed and revoked. A key is shown once, when it is created.

The REST side checks scopes; this module decides which keys a caller may see and revoke.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from storage.base import texts
from storage.base.errors import Forbidden, InvalidInput, NotFound
from storage.base.ids import is_id, new_id
from storage.base.secrets import fingerprint
from storage.base.values import SCOPES, ApiKey, Caller
from storage.db import pages, rows
from storage.db.compiled import NOT_NULL
from storage.db.database import Row, Transaction
from storage.db.pages import Page, PageOf
from storage.db.tables import ApiKeyRow
from storage.keys import authentication
from storage.keys.authentication import with_reads
from storage.outbox import audit
from storage.people import people_changes, people_rows
from storage.rules import roles

_AUDITED: Final = ("user_id", "name", "prefix", "variant", "expires_at", "scopes")


def create_key(
    tx: Transaction,
    *,
    for_user: str,
    name: str,
    scopes: Sequence[str] | None,
    variant: int,
    expires_at: datetime | None,
    by: Caller,
    now: datetime,
    secret: str | None = None,
) -> tuple[ApiKey, str]:
    """Create a key for a person; the second item is the secret key, which is not readable later.

    ``scopes`` None means every scope that ``by`` has. A pending person becomes active. People
    create keys for themselves, the system for any person. ``secret`` is an existing key instead of
    a random one. Raises InvalidInput, Forbidden or NotFound.
    """
    name = texts.name(name, "name")
    granted = _granted_scopes(scopes, variant, expires_at, by, now)
    if by.user_id is not None and by.user_id != for_user:
        raise Forbidden("You can only create API keys for yourself.")
    _activate_owner(tx, for_user, by=by, now=now)
    secret = secret or authentication.new_key()
    key = ApiKey(
        id=new_id(now),
        user_id=for_user,
        name=name,
        prefix=secret[: authentication.SHOWN_CHARACTERS],
        scopes=granted,
        variant=variant,
        created_at=now,
        expires_at=expires_at,
        last_used_at=None,
        revoked_at=None,
    )
    own = {"organisation_id": by.organisation_id, "secret_sha256": fingerprint(secret)}
    tx.insert(ApiKeyRow, **own, **rows.columns(key))
    audit.record_value(tx, "api_key.created", "api_key", None, key, _AUDITED, by=by, now=now)
    return key, secret


def page(
    tx: Transaction,
    page: PageOf,
    *,
    by: Caller,
    own_only: bool = False,
    user_id: str | None = None,
    is_revoked: bool | None = None,
) -> Page[ApiKey]:
    """The caller's keys; for admins all keys or those of ``user_id``, unless ``own_only``.

    Newest first, with revoked and expired ones. Raises InsufficientRole if a member asks for
    another person's keys, NotFound for an unknown ``user_id``, UnusableCursor.
    """
    if user_id not in (None, by.user_id):
        roles.check_role(by.role, "admin")
        people_rows.get(tx, str(user_id), by=by)
    if own_only or not by.is_admin:
        user_id = by.user_id
    where: dict[str, object] = {}
    if is_revoked is not None:
        where = {"revoked_at": NOT_NULL if is_revoked else None}
    return pages.by_id(
        tx,
        page,
        ApiKeyRow,
        rows.api_key,
        "api_keys",
        by.organisation_id,
        descends=True,
        where=where,
        user_id=user_id,
    )


def get(tx: Transaction, key_id: str, *, by: Caller) -> ApiKey:
    """A key of the caller; for admins any key. Raises NotFound, also for keys of others."""
    key = _get(tx, key_id, by)
    if not by.is_admin and key.user_id != by.user_id:
        raise NotFound("API key")
    return key


def revoke(tx: Transaction, key_id: str, *, by: Caller, now: datetime) -> ApiKey:
    """Revoke a key of the caller; for admins any key. A revoked key stays as it is.

    Raises NotFound, also for keys of others.
    """
    get(tx, key_id, by=by)
    _revoke_one(tx, key_id, by=by, now=now)
    return _get(tx, key_id, by)


def count(tx: Transaction, organisation_id: str, user_id: str) -> int:
    return len(_active(tx, organisation_id, user_id))


def revoke_all(tx: Transaction, user_id: str, *, by: Caller, now: datetime) -> int:
    """Revoke every key of a person without checking ``by``; returns how many there were."""
    keys = _active(tx, by.organisation_id, user_id)
    return sum(_revoke_one(tx, row.id, by=by, now=now) for row in keys)


def _active(tx: Transaction, organisation_id: str, user_id: str) -> list[Row]:
    return tx.select(ApiKeyRow, organisation_id=organisation_id, user_id=user_id, revoked_at=None)


def _granted_scopes(
    scopes: Sequence[str] | None,
    variant: int,
    expires_at: datetime | None,
    by: Caller,
    now: datetime,
) -> tuple[str, ...]:
    """The scopes of the new key, in the order of ``SCOPES``. Raises InvalidInput."""
    if variant not in (1, 2):
        raise InvalidInput.of("variant", "unknown_variant", "The variant must be 1 or 2.")
    if expires_at is not None and expires_at <= now:
        raise InvalidInput.of("expires_at", "expiry_in_past", "The expiry must be in the future.")
    # Only API keys have scopes; callers from Slack or a shell have all of them.
    own = with_reads(by.scopes) if by.source == "api" else frozenset(SCOPES)
    requested = own if scopes is None else frozenset(scopes)
    unknown = sorted(requested.difference(SCOPES))
    if unknown:
        raise InvalidInput.of(
            "scopes",
            "unknown_scope",
            "There is no scope {unknown}. Available scopes: {known}.",
            unknown=tuple(unknown),
            known=SCOPES,
        )
    if not requested:
        raise InvalidInput.of("scopes", "no_scopes", "An API key needs at least one scope.")
    beyond = sorted(requested - own)
    if beyond:
        raise InvalidInput.of(
            "scopes",
            "scope_not_held",
            "Your own API key lacks {beyond}, so you cannot give it to a new key.",
            beyond=tuple(beyond),
        )
    return tuple(scope for scope in SCOPES if scope in requested)


def _activate_owner(tx: Transaction, user_id: str, *, by: Caller, now: datetime) -> None:
    # Locked: archiving either sees the new key and revokes it, or is seen here.
    user = people_rows.get(tx, user_id, by=by, for_update=True)
    if user.status in ("deactivated", "archived"):
        raise InvalidInput.of(
            "user_id",
            "user_not_active",
            "The person is {status} and cannot have a key.",
            status=user.status,
        )
    people_changes.activate(tx, user, by=by, now=now)


def _get(tx: Transaction, key_id: str, by: Caller) -> ApiKey:
    if is_id(key_id):
        row = tx.find(ApiKeyRow, organisation_id=by.organisation_id, id=key_id)
        if row is not None:
            return rows.api_key(row)
    raise NotFound("API key")


def _revoke_one(tx: Transaction, key_id: str, *, by: Caller, now: datetime) -> bool:
    after = {"revoked_at": now}
    where = {"organisation_id": by.organisation_id, "id": key_id, "revoked_at": None}
    if not tx.update(ApiKeyRow, after, **where):
        return False
    audit.record(tx, "api_key.revoked", "api_key", key_id, by=by, now=now, after=after)
    return True
