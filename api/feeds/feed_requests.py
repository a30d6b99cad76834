"""Requests for a feed: its scope, the preferred coding, and the version that the client has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qs

from starlette.types import Scope

from api.base.content_negotiation import prefers_gzip
from api.feeds.feed_cache import Coding
from api.feeds.feed_views import Subscription, midnight
from api.http.auth import header
from api.http.conditions import LastModified, Tags, is_unmodified, last_modified, tags_in
from storage.access.feed_owners import FeedOwner
from storage.base.calendar_values import FeedScope
from storage.base.errors import FieldError, InvalidInput

SCOPES: Final[Mapping[str, FeedScope]] = {
    "personal": "personal",
    "team": "team",
    "org": "org",
}
# Each coding is a representation with its own entity tag (RFC 9110, 8.8.3.3).
_TAG_SUFFIX: Final[Mapping[Coding, bytes]] = {"identity": b"", "gzip": b"-gzip"}
_PREFERENCE_HEADERS: Final = frozenset({b"accept-encoding", b"if-none-match", b"if-modified-since"})


@dataclass(frozen=True, kw_only=True, slots=True)
class _Preferences:
    """The coding that the client prefers, and the versions that it has."""

    coding: Coding
    tags: Tags | None
    if_modified_since: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedRequest:
    """One request, with the current state of the feed's owner."""

    subscription: Subscription
    owner: FeedOwner
    modified: LastModified
    preferences: _Preferences
    now: datetime

    def has_current(self, fingerprint: str) -> bool:
        """Whether the client has this version. Entity tags take precedence over the date."""
        tags, since = self.preferences.tags, self.preferences.if_modified_since
        if tags is not None:
            return any(tags.match_weakly(tag_of(fingerprint, coding)) for coding in _TAG_SUFFIX)
        return since is not None and is_unmodified(since, self.modified)


def feed_request(scope: Scope, token: str, owner: FeedOwner, now: datetime) -> FeedRequest:
    """Raises InvalidInput for an unknown scope."""
    today = now.astimezone(UTC).date()
    headers = [(name, value) for name, value in scope["headers"] if name in _PREFERENCE_HEADERS]
    return FeedRequest(
        subscription=Subscription(token=token, scope=scope_of(scope["query_string"]), today=today),
        owner=owner,
        modified=last_modified(max(owner.changed_at, midnight(today)), now),
        preferences=_preferences(tuple(headers)),
        now=now,
    )


# Calendar programs send the same headers every few minutes.
@lru_cache(maxsize=1_024)
def _preferences(headers: tuple[tuple[bytes, bytes], ...]) -> _Preferences:
    return _Preferences(
        coding="gzip" if prefers_gzip(header(headers, b"accept-encoding") or "") else "identity",
        tags=tags_in(headers, b"if-none-match"),
        if_modified_since=header(headers, b"if-modified-since"),
    )


@lru_cache(maxsize=4_096)
def tag_of(fingerprint: str, coding: Coding) -> bytes:
    return b'"%s%s"' % (fingerprint.encode("ascii"), _TAG_SUFFIX[coding])


def scope_of(query_string: bytes) -> FeedScope:
    """Raises InvalidInput for an unknown scope."""
    if not query_string:
        return "personal"
    query = parse_qs(query_string.decode("latin-1"), keep_blank_values=True)
    name = query.get("scope", ["personal"])[0]
    if name not in SCOPES:
        raise InvalidInput(
            [
                FieldError(
                    pointer="?scope",
                    code="not_one_of",
                    detail=f"The scope is one of {', '.join(SCOPES)}.",
                )
            ]
        )
    return SCOPES[name]
