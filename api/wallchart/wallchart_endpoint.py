"""`GET /wallchart/{token}`: who is off in a month. The token of a feed is the only credential."""

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
from api.feeds.feed_tokens import FeedTokens
from api.http.conditions import tags_in
from api.http.errors import RateLimited
from api.http.handlers import Services
from api.wallchart import rasteriser
from api.wallchart.turns import Turns
from api.wallchart.wallchart_cache import Format, Rendered, Subject, Version, WallchartCache
from api.wallchart.wallchart_requests import unknown_department, wallchart_request
from api.wallchart.wallchart_texts import TEXTS
from api.website import pages
from storage.access.wallcharts import wallchart
from storage.base.clock import local_day
from storage.base.errors import InvalidInput, NotFound
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
        self._tokens = FeedTokens(services, "wallchart")
        self._turns = Turns()

    async def respond(self, request: Request) -> Response:
        """Browsers get errors as a page. Raises NotFound, RateLimited and InvalidInput."""
        language = preferred(request.headers.get("accept-language", ""), (*TEXTS,))
        try:
            return await self._respond(request, language)
        except ClientDisconnect:
            return Response(status_code=_DISCONNECTED)
        except (NotFound, RateLimited, InvalidInput) as error:
            if not prefers_html(request.headers.get("accept", "")):
                raise
            return await run_in_threadpool(_error_page, error, language)

    async def _respond(self, request: Request, language: str) -> Response:
        token, format_ = _token_and_format(request.path_params["token"])
        owner = await self._tokens.owner(request.scope, token)
        today = local_day(self._services.clock(), owner.timezone)
        subject = Subject(
            owner=owner,
            token=token,
            request=wallchart_request(request.query_params, today),
            format=format_,
            language=language,
            today=today,
        )
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
    chart = wallchart.load(
        tx,
        organisation_id=owner.organisation_id,
        viewer_id=owner.user_id,
        viewer_department_id=owner.department_id,
        scope=request.scope,
        department_id=request.department_id,
        first_day=request.month.first_day,
        day_count=request.month.day_count,
        page=request.page,
        # What is embedded or hung up is read by others.
        hides_own=request.scope == "org" or subject.format != "html",
    )
    if request.department_id is not None and request.department_id not in chart.config.departments:
        raise unknown_department()
    language, today = subject.language, subject.today
    if subject.format != "html":
        picture = rendering.svg(chart, request, language=language, today=today)
        return Rendered(content=picture, policy=_PICTURE_POLICY)
    page = rendering.page(
        chart, request, language=language, today=today, token=subject.token, style=_style()
    )
    return Rendered(content=page.html, policy=_PAGE_POLICY.format(f"'sha256-{page.style_hash}'"))


def _error_page(error: NotFound | RateLimited | InvalidInput, language: str) -> Response:
    from api.wallchart import rendering

    status, name, headers = 422, "bad_query", {}
    if isinstance(error, NotFound):
        status, name = 404, "bad_link"
    elif isinstance(error, RateLimited):
        status, name = 429, "too_many"
        headers["Retry-After"] = str(error.retry_after_seconds)
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
