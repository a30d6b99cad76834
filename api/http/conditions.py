"""Conditional and idempotent requests: entity tags, dates and `Idempotency-Key`.

Sources: RFC 9110, 8.8 and 13.1; draft-ietf-httpapi-idempotency-key-header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from functools import lru_cache
from hashlib import blake2b, sha256
from typing import Final, TypeGuard

import orjson
from starlette.types import Scope

from storage.base.errors import (
    DomainError,
    InsufficientRole,
    InsufficientScope,
    InvalidInput,
    Unauthenticated,
)
from storage.base.values import Caller, record
from storage.keys.idempotency import (
    Claim,
    IdempotencyAnswerErased,
    IdempotencyAnswerUnreadable,
    IdempotencyInProgress,
    IdempotencyKeyReused,
)
from storage.people.people_changes import ChangedMeanwhile

_JSON_OPTIONS: Final = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC | orjson.OPT_PASSTHROUGH_DATACLASS
_TAG_SCHEMA: Final = {"type": "string"}
IF_MATCH: Final[dict[str, object]] = {
    "name": "If-Match",
    "in": "header",
    "description": (
        "The `ETag` of the resource as you read it: the change is only made if it still "
        "matches. Fields that Hiatus updates by itself (`last_used_at`, `last_fetched_at`, "
        "`last_fetched_by`, `failing_since`, `next_attempt_at`) do not count. Several can be "
        "given, comma-separated; `*` matches any existing resource."
    ),
    "schema": _TAG_SCHEMA,
    "example": "*",
}
IF_NONE_MATCH: Final[dict[str, object]] = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The `ETag` of the version you have: the response is 304 if it still matches.",
    "schema": _TAG_SCHEMA,
    "example": '"5e884898da28047151d0e56f8dc62927"',
}

_TAGS: Final = re.compile(rb'(W/)?("[\x21\x23-\x7e\x80-\xff]*")')
# A quotation mark and 16 hexadecimal digits.
_HALF: Final = 17
# Members that Hiatus updates by itself. The tag covers them, so that clients see them change, but
# If-Match ignores them.
AUTOMATIC: Final = frozenset(
    {"last_used_at", "last_fetched_at", "last_fetched_by", "failing_since", "next_attempt_at"}
)
_SECOND: Final = timedelta(seconds=1)
Headers = Iterable[tuple[bytes, bytes]]


def tag_of(content: bytes, without_automatic: bytes | None = None) -> bytes:
    """A strong tag: equal bytes have equal tags, in every process.

    ``without_automatic`` is the content without ``AUTOMATIC``, if it has any; the first half of the
    tag is its digest.
    """
    if without_automatic is None:
        return b'"%s"' % blake2b(content, digest_size=16).hexdigest().encode("ascii")
    halves = (blake2b(part, digest_size=8).hexdigest() for part in (without_automatic, content))
    return b'"%s"' % "".join(halves).encode("ascii")


def body_tag(body: object, content: bytes) -> bytes:
    """The entity tag of a body whose JSON is ``content``."""
    if not has_automatic(body):
        return tag_of(content)
    rest = {name: value for name, value in body.items() if name not in AUTOMATIC}
    return tag_of(content, to_json(rest))


def has_automatic(body: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(body, dict) and not AUTOMATIC.isdisjoint(body)


def to_json(body: object) -> bytes:
    return orjson.dumps(body, record, _JSON_OPTIONS)


class Tags:
    """The tags in a header; ``*`` matches any."""

    def __init__(self, values: Iterable[bytes]) -> None:
        joined = b",".join(values)
        self._is_any = joined.strip() == b"*"
        tags = _TAGS.findall(joined)
        self._all = {tag for _, tag in tags}
        self._strong = {tag for weak, tag in tags if not weak}

    def match(self, tag: bytes) -> bool:
        """Strong comparison, for If-Match: a weak tag never matches."""
        return self._is_any or tag in self._strong

    def match_except_automatic(self, tag: bytes) -> bool:
        """As ``match``, ignoring ``AUTOMATIC``."""
        return self._is_any or any(
            len(sent) == len(tag) and sent[:_HALF] == tag[:_HALF] for sent in self._strong
        )

    def match_weakly(self, tag: bytes) -> bool:
        """Weak comparison, for If-None-Match."""
        return self._is_any or tag in self._all


def tags_in(headers: Headers, name: bytes) -> Tags | None:
    """The tags in the header of that lower-case name; None if it was not sent."""
    values = [value for key, value in headers if key == name]
    return Tags(values) if values else None


@dataclass(frozen=True, kw_only=True, slots=True)
class LastModified:
    """``is_settled`` is False while another change could still fall in the same second."""

    at: datetime
    is_settled: bool


def last_modified(changed_at: datetime, now: datetime) -> LastModified:
    """A whole second that no later change shares, once the second of this change is over.

    HTTP dates have no fractions, so a later change in the same second would be missed. Never later
    than ``now`` (RFC 9110, 8.8.2.1).
    """
    second = changed_at.replace(microsecond=0)
    if second + _SECOND <= now:
        return LastModified(at=second + _SECOND, is_settled=True)
    return LastModified(at=min(second, now.replace(microsecond=0)), is_settled=False)


@lru_cache(maxsize=4_096)
def http_date(instant: datetime) -> str:
    """An aware UTC datetime as an HTTP date."""
    return format_datetime(instant, usegmt=True)


def is_unmodified(if_modified_since: str, modified: LastModified) -> bool:
    """Whether nothing has changed since the date; False for an unreadable date."""
    try:
        since = parsedate_to_datetime(if_modified_since)
    except ValueError:
        return False
    if since.tzinfo is None:
        since = since.replace(tzinfo=UTC)
    return modified.is_settled and modified.at <= since


IDEMPOTENCY_KEY: Final[dict[str, object]] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": (
        "Makes it safe to send the request again: the first response, even a refusal by a rule, "
        "is stored for 24 hours for this API key and replayed with `Idempotent-Replayed: true`. "
        "The idempotency key stays unused if a request is refused for its form, or because the "
        "API key may not make it. Use a new random UUID for each new request."
    ),
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    "example": "3f0b7c1e-5d0c-4c8e-9a52-7c1e6a3d9b20",
}


_VALID_KEY: Final = re.compile(rb"[ -~]{1,255}")
# Of every POST.
IDEMPOTENCY_REFUSALS: Final = (
    IdempotencyAnswerErased,
    IdempotencyAnswerUnreadable,
    IdempotencyInProgress,
    IdempotencyKeyReused,
)


# Errors that a retry may not meet again, so they are not stored.
_NOT_STORED: Final = (
    Unauthenticated,
    InsufficientScope,
    InsufficientRole,
    ChangedMeanwhile,
    *IDEMPOTENCY_REFUSALS,
)


def claim_of(scope: Scope, caller: Caller, content: bytes) -> Claim | None:
    """The request with its idempotency key; None if none was sent. Raises InvalidInput."""
    keys = [value for name, value in scope["headers"] if name == b"idempotency-key"]
    if not keys:
        return None
    if len(keys) > 1 or not _VALID_KEY.fullmatch(keys[0]):
        raise InvalidInput.at(
            "Idempotency-Key",
            "invalid_idempotency_key",
            "Send the header Idempotency-Key once, with 1 to 255 printable ASCII characters.",
        )
    # Each part on its own line; the first three cannot contain line breaks.
    lines = f"{scope['method']}\n{scope['path']}\n".encode() + scope["query_string"] + b"\n"
    digest = sha256(lines + content).hexdigest()
    assert caller.key_id is not None
    return Claim(
        organisation_id=caller.organisation_id,
        api_key_id=caller.key_id,
        idempotency_key=keys[0].decode("ascii"),
        sha256=digest,
    )


def is_stored(refusal: DomainError) -> bool:
    """Whether an error is stored as the response, instead of being retried."""
    return not isinstance(refusal, _NOT_STORED)
