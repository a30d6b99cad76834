"""Links to a file that work once: for people whose workspace gives the app no files.

The token is signed and names the person and what the file is about; nothing is stored until it is
used. Then its fingerprint is, with those of the OAuth states, until the link has expired.
"""

from __future__ import annotations

import hashlib
import secrets as random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from itsdangerous import BadData, URLSafeSerializer

from storage.base import retention
from storage.base.secrets import Secrets, fingerprint
from storage.base.values import Caller, Role
from storage.db.database import Transaction
from storage.db.tables import SlackStateRow
from storage.people import people_rows
from storage.rules import roles

Kind = Literal["report", "personal data"]

LIFE: Final = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Used:
    """Whose link was used, and what it is about."""

    by: Caller
    about: tuple[str, ...]


def token(secrets: Secrets, kind: Kind, about: Sequence[str], *, by: Caller, now: datetime) -> str:
    """A token for this person, valid for a day."""
    expires_at = int((now + LIFE).timestamp())
    nonce = random.token_urlsafe(12)
    signed: str = _serializer(secrets, kind).dumps(
        [by.organisation_id, by.user_id, *about, expires_at, nonce]
    )
    return signed


def use(
    tx: Transaction, kind: Kind, token: str, *, role: Role = "member", now: datetime
) -> Used | None:
    """Whose it is, the first time; None if it was used, has expired or was never made.

    And for a person who is no longer active or has not the role any more.
    """
    try:
        values = _serializer(tx.secrets, kind).loads(token)
    except BadData:
        return None
    organisation_id, user_id, *about, expires, _ = values
    expires_at = datetime.fromtimestamp(expires, UTC)
    if expires_at <= now:
        return None
    user = people_rows.find(tx, organisation_id, user_id)
    if user is None or user.status != "active" or not roles.has_role(user.role, role):
        return None
    is_first = tx.insert_new(
        SlackStateRow,
        state_sha256=fingerprint(f"{kind} {token}"),
        expires_at=expires_at + retention.USED_OAUTH_STATES,
    )
    if not is_first:
        return None
    by = Caller(
        organisation_id=organisation_id,
        user_id=user.id,
        role=user.role,
        scopes=frozenset(),
        source="slack",
    )
    return Used(by=by, about=tuple(about))


def _serializer(secrets: Secrets, kind: Kind) -> URLSafeSerializer:
    return URLSafeSerializer(
        secrets.signing_keys, salt=f"{kind} link", signer_kwargs={"digest_method": hashlib.sha384}
    )
