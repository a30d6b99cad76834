"""`GET /cal/{token}`: a calendar feed, for which the token is enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qs

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from api.feeds.feed_fetches import FeedFetches
from api.feeds.feed_rendering import Coding, FeedCache, Subscription, midnight
from api.feeds.owner_lookup import OwnerLookup
from api.http.auth import header
from api.http.conditions import LastModified, Tags, http_date, is_unmodified, last_modified, tags_in
from api.http.content_negotiation import prefers_gzip
from api.http.handlers import Services
from storage.access import feed_owners
from storage.access.feed_owners import FeedOwner
from storage.base import secrets
from storage.base.calendar_values import FeedScope
from storage.base.errors import FieldError, InvalidInput, NotFound
from storage.db.database import Transaction

_SCOPES: Final[Mapping[str, FeedScope]] = {
    "personal": "personal",
    "team": "team",
    "org": "org",
}
# Headers of the 200 and the 304 (RFC 9110, 15.4.5).
_ALWAYS: Final = (
    (b"cache-control", b"private, no-cache"),
    (b"vary", b"Accept-Encoding"),
)
_WITH_CONTENTS: Final = (
    (b"content-type", b"text/calendar; charset=utf-8"),
    (b"content-disposition", b'inline; filename="leave.ics"'),
)
# Each coding is a representation with its own entity tag (RFC 9110, 8.8.3.3).
_SUFFIX: Final[Mapping[Coding, bytes]] = {"identity": b"", "gzip": b"-gzip"}

_PREFERENCE_HEADERS: Final = frozenset({b"accept-encoding", b"if-none-match", b"if-modified-since"})

_VALIDATORS: Final = {
    "ETag": {
        "description": "Changes with the contents, and differs between content codings.",
        "schema": {"type": "string"},
    },
    "Last-Modified": {
        "description": (
            "The last change of any kind in the organisation, or the start of today in UTC, "
            "whichever is later, rounded up to a whole second."
        ),
        "schema": {"type": "string"},
    },
}

_EXAMPLE: Final = "\r\n".join(
    [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "METHOD:PUBLISH",
        "X-WR-CALNAME:Leave: Acme (my team)",
        "BEGIN:VEVENT",
        "UID:0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
        "SUMMARY:Ada Lovelace: Annual leave",
        "DTSTART;VALUE=DATE:20260803",
        "DTEND;VALUE=DATE:20260808",
        "END:VEVENT",
        "END:VCALENDAR",
        "",
    ]
)

PATHS: Final[Mapping[str, Mapping[str, object]]] = {
    "/cal/{token}": {
        "get": {
            "operationId": "calendar.feed",
            "summary": "Read a calendar feed",
            "description": (
                "An iCalendar feed; the token in the path is the only credential. Unknown and "
                "revoked tokens get the same answer. Unknown parameters are ignored. The feed "
                "covers the last year and the next two; leave that is cancelled or declined after "
                "the feed showed it stays for 30 days with `STATUS:CANCELLED`. Poll with "
                "`If-None-Match` or `If-Modified-Since`. HEAD works too."
            ),
            "tags": ["Calendar feeds"],
            "security": [],
            "parameters": [
                {
                    "name": "token",
                    "in": "path",
                    "required": True,
                    "description": "The feed's token; `.ics` may follow it.",
                    "schema": {"type": "string"},
                    "example": "wT7kq2ZfLr9VbX4nJ0sYhC3mE8aUdQ5p",
                },
                {
                    "name": "scope",
                    "in": "query",
                    "description": "Whose leave: the owner's, their team's or everyone's.",
                    "schema": {"type": "string", "enum": [*_SCOPES], "default": "personal"},
                    "example": "team",
                },
                {
                    "name": "If-None-Match",
                    "in": "header",
                    "description": "Entity tags that the client has; overrides the date.",
                    "schema": {"type": "string"},
                    "example": '"7f3a9c1e5b"',
                },
                {
                    "name": "If-Modified-Since",
                    "in": "header",
                    "description": "The `Last-Modified` that the client has.",
                    "schema": {"type": "string"},
                    "example": "Tue, 16 Jun 2026 13:05:01 GMT",
                },
            ],
            "responses": {
                "200": {
                    "description": "The calendar, compressed if the client accepts gzip.",
                    "headers": _VALIDATORS,
                    "content": {
                        "text/calendar": {"schema": {"type": "string"}, "example": _EXAMPLE}
                    },
                },
                "304": {
                    "description": "The client has the current calendar.",
                    "headers": _VALIDATORS,
                },
            },
            "x-codes": ["not_found", "not_one_of", "rate_limited", "internal_error", "unavailable"],
        }
    }
}


def routes(services: Services) -> list[Route]:
    return [Route("/cal/{token}", FeedEndpoint(services), methods=["GET"])]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Preferences:
    """The coding that the client prefers, and the versions that it has."""

    coding: Coding
    tags: Tags | None
    if_modified_since: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class _FeedRequest:
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
            return any(tags.have_weakly(_tag(fingerprint, coding)) for coding in _SUFFIX)
        return since is not None and is_unmodified(since, self.modified)


class FeedEndpoint:
    """`/cal/{token}` as an ASGI application.

    One query finds the owner and whether the feed may have changed. Only then the feed is read and
    rendered, on a thread.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._cache = FeedCache(services.base_url)
        self._fetches = FeedFetches(services.database)
        self._owners = OwnerLookup(self._owners_of)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        token: str = scope["path_params"]["token"].removesuffix(".ics")
        owner = await self._owner(scope, token)
        request = _request(scope, token, owner, self._services.clock())
        fingerprint, contents = await self._contents(request)
        await _send(scope["method"], request, fingerprint, contents, send)
        self._fetches.note(owner, header(scope["headers"], b"user-agent"), request.now)

    async def _owners_of(self, tokens: set[str]) -> Mapping[str, FeedOwner]:
        return await self._services.database.read(feed_owners.find_by_tokens, tokens)

    async def _owner(self, scope: Scope, token: str) -> FeedOwner:
        """Raises NotFound; RateLimited for too many requests of a feed or too many wrong tokens."""
        limits = self._services.rate_limits
        owner = None
        # A malformed token costs no query.
        if secrets.is_token(token):
            owner = await self._owners.find(token)
        if owner is None:
            if limits is not None:
                limits.record_failure(scope)
            raise NotFound("calendar feed")
        if limits is not None:
            await limits.feeds.hit(scope, secrets.fingerprint(token))
        return owner

    async def _contents(self, request: _FeedRequest) -> tuple[str, bytes | None]:
        """The fingerprint, and the contents unless the client has them."""
        fingerprint = self._cache.fingerprint(request.subscription, request.owner)
        if fingerprint is not None:
            if request.has_current(fingerprint):
                return fingerprint, None
            contents = self._cache.contents(fingerprint, request.preferences.coding)
            if contents is not None:
                return fingerprint, contents
        return await self._services.database.read_long(self._rendered, request)

    def _rendered(self, tx: Transaction, request: _FeedRequest) -> tuple[str, bytes | None]:
        fingerprint, view = self._cache.load(tx, request.subscription, request.owner)
        if request.has_current(fingerprint):
            return fingerprint, None
        return fingerprint, self._cache.render(fingerprint, view, request.preferences.coding)


def _request(scope: Scope, token: str, owner: FeedOwner, now: datetime) -> _FeedRequest:
    """Raises InvalidInput for an unknown scope."""
    today = now.astimezone(UTC).date()
    headers = [(name, value) for name, value in scope["headers"] if name in _PREFERENCE_HEADERS]
    return _FeedRequest(
        subscription=Subscription(token=token, scope=_scope(scope["query_string"]), today=today),
        owner=owner,
        modified=last_modified(max(owner.changed_at, midnight(today)), now),
        preferences=_preferences(tuple(headers)),
        now=now,
    )


# Calendar programs send the same headers every few minutes.
@lru_cache(1_024)
def _preferences(headers: tuple[tuple[bytes, bytes], ...]) -> _Preferences:
    return _Preferences(
        coding="gzip" if prefers_gzip(header(headers, b"accept-encoding") or "") else "identity",
        tags=tags_in(headers, b"if-none-match"),
        if_modified_since=header(headers, b"if-modified-since"),
    )


async def _send(
    method: str, request: _FeedRequest, fingerprint: str, contents: bytes | None, send: Send
) -> None:
    """200 with the contents, or 304 without."""
    coding = request.preferences.coding
    headers = [
        *_ALWAYS,
        (b"etag", _tag(fingerprint, coding)),
        (b"last-modified", http_date(request.modified.at).encode()),
    ]
    status = 304
    if contents is not None:
        status = 200
        headers += (*_WITH_CONTENTS, (b"content-length", b"%d" % len(contents)))
        if coding != "identity":
            headers.append((b"content-encoding", coding.encode()))
    body = b"" if contents is None or method == "HEAD" else contents
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@lru_cache(4_096)
def _tag(fingerprint: str, coding: Coding) -> bytes:
    return b'"%s%s"' % (fingerprint.encode("ascii"), _SUFFIX[coding])


def _scope(query_string: bytes) -> FeedScope:
    if not query_string:
        return "personal"
    query = parse_qs(query_string.decode("latin-1"), keep_blank_values=True)
    name = query.get("scope", ["personal"])[0]
    if name not in _SCOPES:
        raise InvalidInput(
            [
                FieldError(
                    pointer="?scope",
                    code="not_one_of",
                    detail=f"The scope is one of {', '.join(_SCOPES)}.",
                )
            ]
        )
    return _SCOPES[name]
