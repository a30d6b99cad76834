"""`GET /cal/{token}`: a calendar feed. The token is the only credential.

`/cal/{token}/subscribe` opens it in the calendar program of a Mac, iPhone or iPad.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final, Literal, TypeVar
from urllib.parse import parse_qs

import structlog
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from api.base.content_negotiation import prefers_gzip
from api.feeds.feed_contents import Subscription, View, load_view, midnight
from api.http.conditions import http_date, is_unmodified, last_modified, tags_in
from api.http.operations import Services
from storage.base import secrets
from storage.base.caches import LRUCache
from storage.base.calendar_values import FeedScope
from storage.base.errors import DatabaseUnavailable, InvalidInput, NotFound
from storage.calendars import feed_owners
from storage.calendars.feed_owners import FeedOwner
from storage.db.database import Transaction

Coding = Literal["identity", "gzip"]
T = TypeVar("T")

SCOPES: Final[Mapping[str, FeedScope]] = {"personal": "personal", "team": "team", "org": "org"}
# Each coding is a representation with its own entity tag (RFC 9110, 8.8.3.3).
_TAG_SUFFIX: Final[Mapping[Coding, str]] = {"identity": "", "gzip": "-gzip"}

_MAX_FINGERPRINTS: Final = 4_096
_MAX_CACHED_BYTES: Final = 4_000_000
_MAX_PROGRAM_LENGTH: Final = 60

_COMMENTS: Final = re.compile(r"\([^()]*\)")
_NOT_IN_PROGRAM: Final = re.compile(r"[^A-Za-z0-9 ._+-]+")
# Engines that browsers, and programs built on them, name as well.
_ENGINES: Final = frozenset({"Mozilla", "AppleWebKit", "Gecko", "Version", "Mobile", "Safari"})

_log = structlog.stdlib.get_logger("hiatus.feeds")


def routes(services: Services) -> list[Route]:
    feeds = FeedEndpoint(services)
    return [
        Route("/cal/{token}", feeds.respond, methods=["GET"]),
        Route("/cal/{token}/subscribe", feeds.subscribe, methods=["GET"]),
    ]


class FeedEndpoint:
    """One query finds the feed's owner and says whether the feed may have changed.

    Only if it has, the feed is read and rendered, on a thread. The caches never decide whether a
    feed is current: feeds of equal owners on the same day are equal.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._fingerprints: LRUCache[Subscription, tuple[FeedOwner, str]] = LRUCache(
            _MAX_FINGERPRINTS
        )
        self._rendered: LRUCache[tuple[str, Coding], bytes] = LRUCache(_MAX_CACHED_BYTES)

    async def respond(self, request: Request) -> Response:
        """200 with the feed, or 304. Raises NotFound, RateLimited and InvalidInput."""
        token = request.path_params["token"].removesuffix(".ics")
        owner = await opened_by(
            token, feed_owners.find_by_token, self._services, request, kind="calendar feed"
        )
        now = self._services.clock()
        today = now.astimezone(UTC).date()
        subscription = Subscription(token=token, scope=_scope_of(request), today=today)
        modified = last_modified(max(owner.changed_at, midnight(today)), now)
        tags = tags_in(request.headers.raw, b"if-none-match")
        since = request.headers.get("if-modified-since")
        coding: Coding = "identity"
        if prefers_gzip(request.headers.get("accept-encoding", "")):
            coding = "gzip"

        def is_current(fingerprint: str) -> bool:
            """Whether the client has this version. Entity tags take precedence over the date."""
            if tags is None:
                return since is not None and is_unmodified(since, modified)
            return any(tags.match_weakly(_tag(fingerprint, each)) for each in _TAG_SUFFIX)

        fingerprint, contents = "", None
        cached = self._fingerprints.get(subscription)
        if cached is not None and cached[0] == owner:
            fingerprint = cached[1]
            contents = self._rendered.get((fingerprint, coding))
        if not fingerprint or (contents is None and not is_current(fingerprint)):
            fingerprint, view = await self._services.database.read(self._load, subscription, owner)
            if not is_current(fingerprint):
                contents = await run_in_threadpool(self._render, fingerprint, view, coding)
        # Headers of the 200 and the 304 (RFC 9110, 15.4.5).
        headers = {
            "cache-control": "private, no-cache",
            "vary": "Accept-Encoding",
            "etag": _tag(fingerprint, coding).decode(),
            "last-modified": http_date(modified.at),
        }
        recording = None
        if owner.is_fetch_due(now):
            program = program_of(request.headers.get("user-agent", ""))
            recording = BackgroundTask(self._record_fetch, owner, program, now)
        if contents is None or is_current(fingerprint):
            return Response(None, 304, headers, background=recording)
        headers |= {
            "content-type": "text/calendar; charset=utf-8",
            "content-disposition": 'inline; filename="leave.ics"',
            "content-length": str(len(contents)),
        }
        if coding != "identity":
            headers["content-encoding"] = coding
        body = b"" if request.method == "HEAD" else contents
        return Response(body, 200, headers, background=recording)

    async def subscribe(self, request: Request) -> Response:
        """Slack links to web pages only, and Apple's programs subscribe to ``webcal`` addresses.

        Raises NotFound for what cannot be a token, and InvalidInput for an unknown scope. Says
        nothing about whether the token is valid: the calendar program finds out.
        """
        token = request.path_params["token"]
        if not secrets.is_token(token):
            raise NotFound("calendar feed")
        scope = _scope_of(request)
        query = "" if scope == "personal" else f"?scope={scope}"
        address = self._services.base_url.partition("://")[2]
        headers = {"Cache-Control": "private, no-store", "Referrer-Policy": "no-referrer"}
        return RedirectResponse(f"webcal://{address}/cal/{token}{query}", 302, headers)

    def _load(
        self, tx: Transaction, subscription: Subscription, owner: FeedOwner
    ) -> tuple[str, View]:
        # Read again in the transaction of the view: it may have changed meanwhile.
        owner = feed_owners.find_by_token(tx, subscription.token) or owner
        view = load_view(tx, subscription, owner, self._services.base_url)
        fingerprint = view.fingerprint()
        self._fingerprints.put(subscription, (owner, fingerprint))
        return fingerprint, view

    def _render(self, fingerprint: str, view: View, coding: Coding) -> bytes:
        contents = self._rendered.get((fingerprint, coding))
        if contents is None:
            contents = view.render()
            if coding == "gzip":
                # No time in the header: equal contents have equal bytes.
                contents = gzip.compress(contents, 6, mtime=0)
            self._rendered.put((fingerprint, coding), contents, len(contents))
        return contents

    async def _record_fetch(self, owner: FeedOwner, program: str | None, now: datetime) -> None:
        try:
            await self._services.database.write(
                feed_owners.record_fetch, owner.organisation_id, owner.feed_id, program, now=now
            )
        except DatabaseUnavailable as error:
            # The next fetch is recorded.
            _log.info("feed.fetch_not_recorded", reason=str(error))


async def opened_by(
    token: str,
    find: Callable[[Transaction, str], T | None],
    services: Services,
    request: Request,
    *,
    kind: str,
    prefix: str = "",
) -> T:
    """What the token opens; ``prefix`` is what tokens of this kind begin with.

    Raises NotFound of that ``kind``; RateLimited for too many requests of a token or too many wrong
    ones.
    """
    # A malformed token costs no query.
    found = None
    if token.startswith(prefix) and secrets.is_token(token.removeprefix(prefix)):
        found = await services.database.read(find, token)
    limits = services.rate_limits
    if found is None:
        if limits is not None:
            limits.record_failure(request.scope)
        raise NotFound(kind)
    if limits is not None:
        await limits.feeds.hit(request.scope, secrets.fingerprint(token))
    return found


def program_of(user_agent: str) -> str | None:
    """The program's name, as in ``Thunderbird`` or ``Google-Calendar-Importer``.

    Browsers and programs built on them name their engines first and themselves last.
    """
    products = _COMMENTS.sub(" ", user_agent[:1_000])
    if products.startswith("Mozilla/"):
        names = [product.partition("/")[0] for product in products.split()]
        own = [name for name in names if name not in _ENGINES]
        products = own[-1] if own else names[-1]
    name = _NOT_IN_PROGRAM.sub(" ", products.partition("/")[0])
    return " ".join(name.split())[:_MAX_PROGRAM_LENGTH].strip() or None


def _tag(fingerprint: str, coding: Coding) -> bytes:
    return f'"{fingerprint}{_TAG_SUFFIX[coding]}"'.encode("ascii")


def _scope_of(request: Request) -> FeedScope:
    """Raises InvalidInput for an unknown scope."""
    query = parse_qs(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
    name = query.get("scope", ["personal"])[0]
    if name not in SCOPES:
        detail = f"The scope is one of {', '.join(SCOPES)}."
        raise InvalidInput.at("?scope", "not_one_of", detail)
    return SCOPES[name]


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

_TOKEN: Final = {
    "name": "token",
    "in": "path",
    "required": True,
    "description": "The feed's token.",
    "schema": {"type": "string"},
    "example": "wT7kq2ZfLr9VbX4nJ0sYhC3mE8aUdQ5p",
}
_SCOPE: Final = {
    "name": "scope",
    "in": "query",
    "description": "Whose leave: the owner's, their team's or everyone's.",
    "schema": {"type": "string", "enum": [*SCOPES], "default": "personal"},
    "example": "team",
}

PATHS: Final[Mapping[str, Mapping[str, object]]] = {
    "/cal/{token}": {
        "get": {
            "operationId": "calendar.feed",
            "summary": "Read a calendar feed",
            "description": (
                "An iCalendar feed; the token in the path is the only credential. Unknown and "
                "revoked tokens get the same response. Unknown parameters are ignored. The feed "
                "covers the last year and the next two; leave that is cancelled or declined after "
                "the feed showed it stays for 30 days with `STATUS:CANCELLED`. Poll with "
                "`If-None-Match` or `If-Modified-Since`. HEAD works too."
            ),
            "tags": ["Calendar feeds"],
            "security": [],
            "parameters": [
                {**_TOKEN, "description": "The feed's token; `.ics` may follow it."},
                _SCOPE,
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
    },
    "/cal/{token}/subscribe": {
        "get": {
            "operationId": "calendar.subscribe",
            "summary": "Open a calendar feed in Apple Calendar",
            "description": (
                "Redirects to the feed's address with the scheme `webcal`, which Apple Calendar "
                "subscribes to. Does not check whether the token is valid."
            ),
            "tags": ["Calendar feeds"],
            "security": [],
            "parameters": [
                _TOKEN,
                _SCOPE,
            ],
            "responses": {
                "302": {
                    "description": "The address to subscribe to.",
                    "headers": {
                        "Location": {
                            "description": "A `webcal` address.",
                            "schema": {"type": "string"},
                        }
                    },
                },
            },
            "x-codes": ["not_found", "not_one_of", "internal_error"],
        }
    },
}
