"""`GET /wallchart/{token}`: who is off in a month, or for a display link in five weeks.

The token of a feed or a display link is the only credential.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Awaitable
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from api.base.content_negotiation import preferred, prefers_gzip, prefers_html
from api.feeds.feed_endpoint import opened_by
from api.http.conditions import tags_in
from api.http.context import Services
from api.http.errors import RateLimited
from api.wallchart import rasteriser
from api.wallchart.turns import Turns
from api.wallchart.wallchart_cache import Format, Rendered, Subject, Version, WallchartCache
from api.wallchart.wallchart_requests import (
    DisplayRequest,
    WallchartRequest,
    display_request,
    unknown_department,
    wallchart_request,
)
from api.wallchart.wallchart_texts import TEXTS
from api.website import pages
from storage.access import display_links, feed_owners
from storage.access.display_links import Display
from storage.access.feed_owners import FeedOwner
from storage.access.wallcharts import wallchart
from storage.base.clock import local_day
from storage.base.errors import DatabaseUnavailable, InvalidInput, NotFound
from storage.db.database import Transaction

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

T = TypeVar("T")

# How often the page of a display link reloads itself, and how soon when the database is away.
RELOAD_SECONDS: Final = 600
SOON_SECONDS: Final = 60

# The client has gone, so it gets no response: nginx's status for the log.
_DISCONNECTED: Final = 499

_log = structlog.stdlib.get_logger("hiatus.wallchart")


def routes(services: Services) -> list[Route]:
    return [
        Route("/wallchart/{token}", WallchartEndpoint(services).respond, methods=["GET"]),
        pages.asset_route("/wallchart/assets/{version}/{name}", (pages.WALLCHART_STYLE,)),
    ]


class WallchartEndpoint:
    """One query finds the owner and says whether the chart may have changed.

    Only if it has, the chart is read and rendered, on a thread.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._cache = WallchartCache()
        self._turns = Turns()

    async def respond(self, request: Request) -> Response:
        """Browsers get errors as a page. Raises NotFound, RateLimited and InvalidInput."""
        language = preferred(request.headers.get("accept-language", ""), (*TEXTS,))
        try:
            return await self._respond(request, language)
        except ClientDisconnect:
            return Response(status_code=_DISCONNECTED)
        except (NotFound, RateLimited, InvalidInput, DatabaseUnavailable) as error:
            # Screens without a keyboard need a page that reloads itself.
            is_display = request.path_params["token"].startswith(display_links.PREFIX)
            has_page = is_display or not isinstance(error, DatabaseUnavailable)
            if not has_page or not prefers_html(request.headers.get("accept", "")):
                raise
            return await run_in_threadpool(_error_page, error, language, is_display)

    async def _respond(self, request: Request, language: str) -> Response:
        token, format_ = _token_and_format(request.path_params["token"])
        subject = await self._subject(request, token, format_, language)
        is_compressed = format_ != "png" and prefers_gzip(
            request.headers.get("accept-encoding", "")
        )
        rendered = None
        version = self._cache.version(subject, is_compressed=is_compressed)
        if version is None:
            rendered = await self._services.database.read_long(_load_and_render, subject)
            version = self._cache.add_version(subject, rendered, is_compressed=is_compressed)
        headers = _HEADERS | {
            "Content-Language": TEXTS[language]["lang"],
            "Content-Security-Policy": version.policy,
            "ETag": version.tag,
        }
        if isinstance(subject.owner, Display) and format_ == "html":
            headers["Refresh"] = str(RELOAD_SECONDS)
        tags = tags_in(request.headers.raw, b"if-none-match")
        if tags is not None and tags.match_weakly(version.tag.encode()):
            return Response(status_code=304, headers=headers)
        contents = self._cache.contents(version)
        if contents is None:
            if rendered is None:
                rendered = await self._services.database.read_long(_load_and_render, subject)
            if format_ == "png":
                contents = await _while_connected(request, self._drawn(subject, version, rendered))
            else:
                contents = await _encoded(rendered, is_compressed=is_compressed)
                self._cache.add_contents(version, contents)
        if is_compressed:
            headers["Content-Encoding"] = "gzip"
        return Response(contents, 200, headers, _MEDIA_TYPES[format_])

    async def _subject(
        self, request: Request, token: str, format_: Format, language: str
    ) -> Subject:
        """Raises NotFound, RateLimited and InvalidInput."""
        query, now = request.query_params, self._services.clock()
        owner: FeedOwner | Display
        asked: WallchartRequest | DisplayRequest
        if token.startswith(display_links.PREFIX):
            owner = await opened_by(
                token,
                display_links.find_by_token,
                self._services,
                request,
                kind="wallchart",
                prefix=display_links.PREFIX,
            )
            today = local_day(now, owner.timezone)
            asked = display_request(query, today, owner.department_id)
        else:
            owner = await opened_by(
                token, feed_owners.find_by_token, self._services, request, kind="wallchart"
            )
            today = local_day(now, owner.timezone)
            asked = wallchart_request(query, today)
        return Subject(
            owner=owner,
            token=token,
            request=asked,
            format=format_,
            language=language,
            today=today,
        )

    async def _drawn(self, subject: Subject, version: Version, rendered: Rendered) -> bytes:
        """The PNG, also cached. Raises RateLimited."""
        async with self._turns.turn(subject.owner.organisation_id):
            # Many screens may wait for the same picture.
            drawn = self._cache.contents(version)
            if drawn is None:
                drawn = await _rasterised(rendered.content)
                self._cache.add_contents(version, drawn)
            return drawn


async def _while_connected(request: Request, work: Awaitable[T]) -> T:
    """Cancels the work if the client disconnects first. Raises ClientDisconnect."""
    task, disconnected = asyncio.ensure_future(work), asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((task, disconnected), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return await task
    finally:
        task.cancel()
        disconnected.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _rasterised(svg: bytes) -> bytes:
    drawing = asyncio.ensure_future(run_in_threadpool(rasteriser.png, svg))
    try:
        return await asyncio.shield(drawing)
    except asyncio.CancelledError:
        # The process does not end with the request: the turn lasts until it does.
        with suppress(rasteriser.NotDrawn):
            await drawing
        raise
    except rasteriser.NotDrawn as error:
        _log.warning("wallchart.not_drawn", reason=str(error))
        raise HTTPException(503) from error


async def _encoded(rendered: Rendered, *, is_compressed: bool) -> bytes:
    if is_compressed:
        return await run_in_threadpool(partial(gzip.compress, rendered.content, 5, mtime=0))
    return rendered.content


def _token_and_format(name: str) -> tuple[str, Format]:
    if name.endswith(".svg"):
        return name.removesuffix(".svg"), "svg"
    if name.endswith(".png"):
        return name.removesuffix(".png"), "png"
    return name, "html"


def _load_and_render(tx: Transaction, subject: Subject) -> Rendered:
    """Raises InvalidInput for an unknown department."""
    # Jinja2 takes memory, and many deployments have no wallchart.
    from api.wallchart import rendering

    owner, request = subject.owner, subject.request
    scope = "org" if isinstance(request, DisplayRequest) else request.scope
    is_display = isinstance(owner, Display)
    chart = wallchart.load(
        tx,
        organisation_id=owner.organisation_id,
        viewer_id=None if isinstance(owner, Display) else owner.user_id,
        viewer_department_id=owner.department_id,
        scope=scope,
        department_id=request.department_id,
        first_day=request.first_day,
        day_count=(request.last_day - request.first_day).days + 1,
        page=request.page,
        # What is embedded or hung up is read by others.
        hides_own=scope == "org" or subject.format != "html",
    )
    if request.department_id is not None and request.department_id not in chart.config.departments:
        # A display link is revoked with its department, which happened just now.
        raise NotFound("wallchart") if is_display else unknown_department()
    language, today = subject.language, subject.today
    if subject.format != "html":
        picture = rendering.svg(chart, request, language=language, today=today)
        return Rendered(content=picture, policy=_PICTURE_POLICY)
    page = rendering.page(
        chart, request, language=language, today=today, token=subject.token, style=_style()
    )
    return Rendered(content=page.html, policy=_PAGE_POLICY.format(f"'sha256-{page.style_hash}'"))


def _error_page(
    error: NotFound | RateLimited | InvalidInput | DatabaseUnavailable,
    language: str,
    is_display: bool,
) -> Response:
    from api.wallchart import rendering

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
    elif error.errors[0].pointer == "?department_id":
        name = "bad_department"
    elif error.errors[0].pointer == "?month":
        name = "bad_month"
    page = rendering.error_page(name, language=language, style=_style())
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
