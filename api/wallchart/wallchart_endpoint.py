"""`GET /wallchart/{token}`: who is off in a month. The token of a feed is the only credential."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Final, Literal

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.base.content_negotiation import preferred, prefers_gzip
from api.base.shared_lookup import SharedLookup
from api.http.conditions import tags_in
from api.http.handlers import Services
from api.wallchart import rasteriser
from api.wallchart.wallchart_requests import (
    WallchartRequest,
    unknown_department,
    wallchart_request,
)
from api.wallchart.wallchart_texts import TEXTS
from api.website import pages
from storage.access import feed_owners, wallchart
from storage.access.feed_owners import FeedOwner
from storage.base import secrets
from storage.base.clock import local_day
from storage.base.errors import NotFound
from storage.db.database import Transaction

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
    "default-src 'none'; style-src 'self' 'sha256-{}'; img-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
_PICTURE_POLICY: Final = "default-src 'none'; frame-ancestors 'none'"

_log = structlog.stdlib.get_logger("hiatus.wallchart")


def routes(services: Services) -> list[Route]:
    return [
        Route("/wallchart/{token}", WallchartEndpoint(services).respond, methods=["GET"]),
        pages.asset_route("/wallchart/assets/{version}/{name}", (pages.WALLCHART_STYLE,)),
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rendered:
    content: bytes
    policy: str

    @property
    def version(self) -> str:
        return hashlib.sha256(self.content).hexdigest()[:32]


class WallchartEndpoint:
    """Reads and renders on threads; the version is that of the contents.

    The counters of feeds do not count everything that is shown here, such as a new colleague.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._owners = SharedLookup(
            lambda tokens: services.database.read(feed_owners.find_by_tokens, tokens)
        )
        # Each drawing takes one processor and much memory.
        self._drawing = asyncio.Semaphore(1)

    async def respond(self, request: Request) -> Response:
        """Raises NotFound, RateLimited and InvalidInput."""
        token, format_ = _token_and_format(request.path_params["token"])
        owner = await self._owner(request, token)
        today = local_day(self._services.clock(), owner.timezone)
        asked = wallchart_request(request.query_params, today)
        language = preferred(request.headers.get("accept-language", ""), (*TEXTS,))
        rendered = await self._services.database.read_long(
            _load_and_render, owner, asked, token, format_, language, today
        )
        headers = _HEADERS | {
            "Content-Language": TEXTS[language]["lang"],
            "Content-Security-Policy": rendered.policy,
        }
        is_compressed = format_ != "png" and prefers_gzip(
            request.headers.get("accept-encoding", "")
        )
        # Each coding is a representation with its own entity tag (RFC 9110, 8.8.3.3).
        headers["ETag"] = f'"{rendered.version}-{format_}{"-gzip" if is_compressed else ""}"'
        known = tags_in(request.headers.raw, b"if-none-match")
        if known is not None and known.match_weakly(headers["ETag"].encode()):
            return Response(status_code=304, headers=headers)
        content = rendered.content
        if format_ == "png":
            content = await self._drawn(content)
        if is_compressed:
            headers["Content-Encoding"] = "gzip"
            content = await run_in_threadpool(partial(gzip.compress, content, 5, mtime=0))
        return Response(content, 200, headers, _MEDIA_TYPES[format_])

    async def _owner(self, request: Request, token: str) -> FeedOwner:
        limits = self._services.rate_limits
        owner = None
        # A malformed token costs no query.
        if secrets.is_token(token):
            owner = await self._owners.find(token)
        if owner is None:
            if limits is not None:
                limits.record_failure(request.scope)
            raise NotFound("wallchart")
        if limits is not None:
            await limits.feeds.hit(request.scope, secrets.fingerprint(token))
        return owner

    async def _drawn(self, svg: bytes) -> bytes:
        async with self._drawing:
            try:
                return await run_in_threadpool(rasteriser.png, svg)
            except rasteriser.NotDrawn as error:
                _log.warning("wallchart.not_drawn", reason=str(error))
                raise HTTPException(503) from error


def _token_and_format(name: str) -> tuple[str, Format]:
    if name.endswith(".svg"):
        return name.removesuffix(".svg"), "svg"
    if name.endswith(".png"):
        return name.removesuffix(".png"), "png"
    return name, "html"


def _load_and_render(
    tx: Transaction,
    owner: FeedOwner,
    asked: WallchartRequest,
    token: str,
    format_: Format,
    language: str,
    today: date,
) -> _Rendered:
    """Raises InvalidInput for an unknown department."""
    # Jinja2 takes memory, and many deployments have no wallchart.
    from api.wallchart import rendering

    chart = wallchart.load(
        tx,
        organisation_id=owner.organisation_id,
        viewer_id=owner.user_id,
        viewer_department_id=owner.department_id,
        scope=asked.scope,
        department_id=asked.department_id,
        first_day=asked.month.first_day,
        day_count=asked.month.day_count,
        page=asked.page,
    )
    if asked.department_id is not None and asked.department_id not in chart.config.departments:
        raise unknown_department()
    if format_ != "html":
        picture = rendering.svg(chart, asked, language=language, today=today)
        return _Rendered(content=picture, policy=_PICTURE_POLICY)
    page = rendering.page(
        chart,
        asked,
        language=language,
        today=today,
        token=token,
        style=f"assets/{pages.version_of(pages.WALLCHART_STYLE)}/{pages.WALLCHART_STYLE.name}",
    )
    return _Rendered(content=page.html, policy=_PAGE_POLICY.format(page.style_hash))
