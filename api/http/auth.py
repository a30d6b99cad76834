"""The API key in a request's headers, and when it was last used."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

import structlog

from storage.base.errors import DatabaseUnavailable, Unauthenticated
from storage.base.secrets import fingerprint
from storage.db.database import Database
from storage.keys import authentication
from storage.keys.authentication import Authenticated, is_well_formed

Headers = Iterable[tuple[bytes, bytes]]

# RFC 6750, 2.1: the scheme in any case, one or more spaces, b64token. Ours are about 60 long.
_BEARER: Final = re.compile(rb"bearer +([A-Za-z0-9._~+/-]{1,200}=*)", re.IGNORECASE)

_log = structlog.stdlib.get_logger("hiatus.api")


def api_key_of(headers: Headers) -> str:
    """The key as sent. Raises Unauthenticated unless there is exactly one well-formed key."""
    values = [value for name, value in headers if name == b"authorization"]
    if len(values) != 1:
        raise Unauthenticated
    match = _BEARER.fullmatch(values[0])
    if match is None:
        raise Unauthenticated
    return match[1].decode("ascii")


def fingerprint_of(headers: Headers) -> str:
    """The SHA-256 by which a key is looked up. Raises Unauthenticated for malformed keys."""
    key = api_key_of(headers)
    if not is_well_formed(key):
        raise Unauthenticated
    return fingerprint(key)


async def record_use(database: Database, authenticated: Authenticated, now: datetime) -> None:
    """Record the minute of a key's use, after the response; a use is not worth an error."""
    if not authentication.is_use_due(authenticated, now):
        return
    key = authenticated.key
    try:
        await database.write(authentication.record_use, key.organisation_id, key.key_id, now=now)
    except DatabaseUnavailable as error:
        # What the outage is, is told by the requests that it fails.
        _log.info("key use not recorded", reason=str(error))


def header(headers: Headers, name: bytes) -> str | None:
    """The first header of that lower-case name."""
    for key, value in headers:
        if key == name:
            return value.decode("latin-1")
    return None
