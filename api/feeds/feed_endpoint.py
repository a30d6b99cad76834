"""`GET /cal/{token}`: a calendar feed. The token is the only credential."""

from __future__ import annotations

from typing import Final

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from api.feeds.feed_cache import FeedCache
from api.feeds.feed_fetches import record_fetch
from api.feeds.feed_reads import FeedReads
from api.feeds.feed_requests import FeedRequest, feed_request, tag_of
from api.feeds.feed_tokens import FeedTokens
from api.http.auth import header
from api.http.conditions import http_date
from api.http.handlers import Services
from storage.access import feed_owners
from storage.db.database import Transaction

# Headers of the 200 and the 304 (RFC 9110, 15.4.5).
_HEADERS: Final = (
    (b"cache-control", b"private, no-cache"),
    (b"vary", b"Accept-Encoding"),
)
_CONTENT_HEADERS: Final = (
    (b"content-type", b"text/calendar; charset=utf-8"),
    (b"content-disposition", b'inline; filename="leave.ics"'),
)


def routes(services: Services) -> list[Route]:
    return [Route("/cal/{token}", FeedEndpoint(services), methods=["GET"])]


class FeedEndpoint:
    """`/cal/{token}` as an ASGI application.

    One query finds the feed's owner and says whether the feed may have changed. Only if it has, the
    feed is read and rendered, on a thread.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._cache = FeedCache(services.base_url)
        self._reads = FeedReads(services.database, services.clock)
        self._tokens = FeedTokens(services, "calendar feed", feed_owners.find_by_token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        token: str = scope["path_params"]["token"].removesuffix(".ics")
        owner = await self._tokens.owner(scope, token)
        request = feed_request(scope, token, owner, self._services.clock())
        fingerprint, contents = await self._contents(request)
        await _send(scope["method"], request, fingerprint, contents, send)
        user_agent = header(scope["headers"], b"user-agent")
        await record_fetch(self._services.database, owner, user_agent, request.now)

    async def _contents(self, request: FeedRequest) -> tuple[str, bytes | None]:
        """The fingerprint, and the contents unless the client has them."""
        fingerprint = self._cache.fingerprint(request.subscription, request.owner)
        if fingerprint is not None:
            if request.has_current(fingerprint):
                return fingerprint, None
            contents = self._cache.contents(fingerprint, request.preferences.coding)
            if contents is not None:
                return fingerprint, contents
        return await self._reads.read(self._load_and_render, request)

    def _load_and_render(self, tx: Transaction, request: FeedRequest) -> tuple[str, bytes | None]:
        fingerprint, view = self._cache.load(tx, request.subscription, request.owner)
        if request.has_current(fingerprint):
            return fingerprint, None
        return fingerprint, self._cache.render(fingerprint, view, request.preferences.coding)


async def _send(
    method: str, request: FeedRequest, fingerprint: str, contents: bytes | None, send: Send
) -> None:
    """200 with the contents, or 304 without."""
    coding = request.preferences.coding
    headers = [
        *_HEADERS,
        (b"etag", tag_of(fingerprint, coding)),
        (b"last-modified", http_date(request.modified.at).encode()),
    ]
    status = 304
    if contents is not None:
        status = 200
        headers += (*_CONTENT_HEADERS, (b"content-length", b"%d" % len(contents)))
        if coding != "identity":
            headers.append((b"content-encoding", coding.encode()))
    body = b"" if contents is None or method == "HEAD" else contents
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
