"""`GET /wallchart/{token}`: who is off in a month, or for a display link in five weeks.

The token of a feed or a display link is the only credential.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Final, Literal

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.base.content_negotiation import preferred, prefers_gzip, prefers_html
from api.feeds.feed_endpoint import opened_by
from api.http.conditions import tags_in
from api.http.errors import RateLimited
from api.http.operations import Services
from api.wallchart import rasteriser, rendering
from api.wallchart.wallchart_requests import (
    WallchartRequest,
    display_request,
    unknown_department,
    wallchart_request,
)
from api.wallchart.wallchart_texts import TEXTS
from api.website import pages
from storage.base.caches import LRUCache
from storage.base.errors import DatabaseUnavailable, InvalidInput, NotFound
from storage.base.leave_values import LeaveType
from storage.base.values import local_day
from storage.calendars import display_links, feed_owners, wallchart
from storage.calendars.display_links import Display
from storage.calendars.feed_owners import FeedOwner
from storage.db.database import Transaction
from storage.rules import leave_type_fields

Format = Literal["html", "svg", "png"]

_MEDIA_TYPES: Final[dict[Format, str]] = {
    "html": "text/html; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
}
_HEADERS: Final = {
    "Cache-Control": "private, no-cache",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding, Accept-Language",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-Robots-Tag": "noindex",
}
_PAGE_POLICY: Final = (
    "default-src 'none'; style-src 'self' {}; img-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
_PICTURE_POLICY: Final = "default-src 'none'; frame-ancestors 'none'"

# How often the page of a display link reloads itself, and how soon when the database is away.
RELOAD_SECONDS: Final = 600
SOON_SECONDS: Final = 60

MAX_AT_ONCE: Final = 2
# Drawn within half the time that proxies wait for a response, even if each takes a second.
MAX_WAITING: Final = 14
RETRY_AFTER_SECONDS: Final = 5

_MAX_RENDERED_BYTES: Final = 8_000_000
_MAX_DRAWN_BYTES: Final = 4_000_000

_log = structlog.stdlib.get_logger("hiatus.wallchart")


def routes(services: Services) -> list[Route]:
    return [
        Route("/wallchart/{token}", WallchartEndpoint(services).respond, methods=["GET"]),
        pages.asset_route("/wallchart/assets/{version}/{name}", (pages.WALLCHART_STYLE,)),
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Subject:
    """Everything that a chart depends on: ``owner`` has the versions of the data."""

    owner: FeedOwner | Display
    token: str
    request: WallchartRequest
    is_picture: bool
    language: str
    today: date


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rendered:
    """A chart's page or SVG. ``policy`` is its Content-Security-Policy."""

    content: bytes
    version: str
    policy: str


class WallchartEndpoint:
    """One query finds the owner and says whether the chart may have changed.

    Only if it has, the chart is read and rendered, on a thread. The caches never decide whether a
    chart is current: charts of equal owners on the same day are equal.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._rendered: LRUCache[_Subject, _Rendered] = LRUCache(_MAX_RENDERED_BYTES)
        self._drawn: LRUCache[str, bytes] = LRUCache(_MAX_DRAWN_BYTES)
        self._turns = Turns()

    async def respond(self, request: Request) -> Response:
        """Browsers get errors as a page. Raises NotFound, RateLimited and InvalidInput."""
        language = preferred(request.headers.get("accept-language", ""), (*TEXTS,))
        try:
            return await self._respond(request, language)
        except (NotFound, RateLimited, InvalidInput, DatabaseUnavailable) as error:
            # Screens without a keyboard need a page that reloads itself.
            is_display = request.path_params["token"].startswith(display_links.PREFIX)
            has_page = is_display or not isinstance(error, DatabaseUnavailable)
            if not has_page or not prefers_html(request.headers.get("accept", "")):
                raise
            return await run_in_threadpool(_error_page, error, language, is_display)

    async def _respond(self, request: Request, language: str) -> Response:
        token, format_ = _token_and_format(request.path_params["token"])
        subject = await self._subject(
            request, token, is_picture=format_ != "html", language=language
        )
        if format_ == "png" and not rasteriser.is_installed():
            raise HTTPException(501)
        rendered = self._rendered.get(subject)
        if rendered is None:
            rendered = await self._services.database.read(_load_and_render, subject)
            self._rendered.put(subject, rendered, len(rendered.content))
        is_compressed = format_ != "png" and prefers_gzip(
            request.headers.get("accept-encoding", "")
        )
        # Each coding is a representation with its own entity tag (RFC 9110, 8.8.3.3).
        tag = f'"{rendered.version}-{format_}{"-gzip" if is_compressed else ""}"'
        headers = _HEADERS | {
            "Content-Language": TEXTS[language]["lang"],
            "Content-Security-Policy": rendered.policy,
            "ETag": tag,
        }
        if subject.request.is_display and format_ == "html":
            headers["Refresh"] = str(RELOAD_SECONDS)
        tags = tags_in(request.headers.raw, b"if-none-match")
        if tags is not None and tags.match_weakly(tag.encode()):
            return Response(status_code=304, headers=headers)
        contents = rendered.content
        if format_ == "png":
            contents = await self._png(rendered, subject.owner.organisation_id)
        elif is_compressed:
            headers["Content-Encoding"] = "gzip"
            contents = await run_in_threadpool(gzip.compress, contents, 5, mtime=0)
        return Response(contents, 200, headers, _MEDIA_TYPES[format_])

    async def _subject(
        self, request: Request, token: str, *, is_picture: bool, language: str
    ) -> _Subject:
        """Raises NotFound, RateLimited and InvalidInput."""
        query, now = request.query_params, self._services.clock()
        is_display = token.startswith(display_links.PREFIX)
        find: Callable[[Transaction, str], FeedOwner | Display | None] = feed_owners.find_by_token
        prefix = ""
        if is_display:
            find, prefix = display_links.find_by_token, display_links.PREFIX
        owner: FeedOwner | Display = await opened_by(
            token, find, self._services, request, kind="wallchart", prefix=prefix
        )
        today = local_day(now, owner.timezone)
        asked = (
            display_request(query, today, owner.department_id)
            if is_display
            else wallchart_request(query, today)
        )
        return _Subject(
            owner=owner,
            token=token,
            request=asked,
            is_picture=is_picture,
            language=language,
            today=today,
        )

    async def _png(self, rendered: _Rendered, organisation_id: str) -> bytes:
        """The picture, also cached. Raises RateLimited."""
        async with self._turns.turn(organisation_id):
            # Many screens may wait for the same picture.
            drawn = self._drawn.get(rendered.version)
            if drawn is None:
                try:
                    drawn = await run_in_threadpool(rasteriser.png, rendered.content)
                except rasteriser.NotDrawn as error:
                    _log.warning("wallchart.not_drawn", reason=str(error))
                    raise HTTPException(503) from error
                self._drawn.put(rendered.version, drawn, len(drawn))
            return drawn


@dataclass(kw_only=True, slots=True)
class _Queue:
    requests: int = 0
    at_once: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_AT_ONCE))


class Turns:
    """Turns at drawing, one at a time: each picture takes one processor and much memory.

    First come, first served, with at most two pictures of an organisation: the one that is drawn
    and the next. Its others wait until one of these is done, so another organisation waits for two
    pictures at most, and not for all of them.
    """

    def __init__(self) -> None:
        self._drawing = asyncio.Semaphore(1)
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def turn(self, organisation_id: str) -> AsyncIterator[None]:
        """Raises RateLimited if too many of the organisation's pictures wait."""
        queue = self._queues.setdefault(organisation_id, _Queue())
        if queue.requests >= MAX_AT_ONCE + MAX_WAITING:
            raise RateLimited(
                "Too many pictures of this organisation are being drawn; try again in "
                f"{RETRY_AFTER_SECONDS} seconds.",
                RETRY_AFTER_SECONDS,
            )
        queue.requests += 1
        try:
            async with queue.at_once, self._drawing:
                yield
        finally:
            queue.requests -= 1
            if not queue.requests:
                del self._queues[organisation_id]


def _token_and_format(name: str) -> tuple[str, Format]:
    if name.endswith(".svg"):
        return name.removesuffix(".svg"), "svg"
    if name.endswith(".png"):
        return name.removesuffix(".png"), "png"
    return name, "html"


def _load_and_render(tx: Transaction, subject: _Subject) -> _Rendered:
    """Raises InvalidInput for an unknown department."""
    owner, request = subject.owner, subject.request
    chart = wallchart.load(
        tx,
        organisation_id=owner.organisation_id,
        viewer_id=None if isinstance(owner, Display) else owner.user_id,
        viewer_department_id=owner.department_id,
        scope=request.scope,
        department_id=request.department_id,
        first_day=request.first_day,
        day_count=(request.last_day - request.first_day).days + 1,
        page=request.page,
        # What is embedded or hung up is read by others.
        hides_own=request.scope == "org" or subject.is_picture,
    )
    if request.department_id is not None and request.department_id not in chart.config.departments:
        # A display link is revoked with its department, which happened just now.
        raise NotFound("wallchart") if request.is_display else unknown_department()
    language, today = subject.language, subject.today
    chart = wallchart.renamed(chart, partial(_type_name, language))
    if subject.is_picture:
        content = rendering.svg(chart, request, language=language, today=today)
        policy = _PICTURE_POLICY
    else:
        page = rendering.page(
            chart, request, language=language, today=today, token=subject.token, style=_style()
        )
        content, policy = page.html, _PAGE_POLICY.format(f"'sha256-{page.style_hash}'")
    version = hashlib.sha256(content).hexdigest()[:32]
    return _Rendered(content=content, version=version, policy=policy)


def _type_name(language: str, leave_type: LeaveType) -> str:
    return leave_type_fields.shown_name(leave_type.type_name, language)


def _error_page(
    error: NotFound | RateLimited | InvalidInput | DatabaseUnavailable,
    language: str,
    is_display: bool,
) -> Response:
    status, name, headers = 422, "bad_query", {}
    if isinstance(error, NotFound):
        status, name = 404, "bad_link"
    elif isinstance(error, DatabaseUnavailable):
        _log.warning("wallchart.unavailable", reason=str(error).partition("\n")[0], kind=error.kind)
        status, name = 503, "unavailable"
        headers = {"Retry-After": str(SOON_SECONDS), "Refresh": str(SOON_SECONDS)}
    elif isinstance(error, RateLimited):
        status, name = 429, "too_many"
        headers["Retry-After"] = str(error.retry_after_seconds)
        if is_display:
            headers["Refresh"] = str(error.retry_after_seconds)
    else:
        names = {"?department_id": "bad_department", "?month": "bad_month"}
        name = names.get(error.errors[0].pointer, name)
    page = rendering.error_page(name, language)
    headers |= _HEADERS | {
        "Cache-Control": "no-store",
        "Content-Language": TEXTS[language]["lang"],
        "Content-Security-Policy": _PAGE_POLICY.format(""),
        "Vary": f"Accept, {_HEADERS['Vary']}",
    }
    return Response(page, status, headers, _MEDIA_TYPES["html"])


def _style() -> str:
    """The style sheet's address, relative to the page's."""
    return f"assets/{pages.version_of(pages.WALLCHART_STYLE)}/{pages.WALLCHART_STYLE.name}"
