"""Pages that come with the service. They load nothing from other hosts; their policy forbids it.

Each is made at its first request, so that it does not delay the start.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from api.base.content_negotiation import prefers_gzip
from api.http.conditions import tags_in

# No inline script, no eval, no other host. Swagger UI draws its icons as data: images.
POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
STATIC: Final = Path(__file__).parent / "static"
ICON: Final = STATIC / "icon.svg"
# The same picture for what asks for /favicon.ico without a page: 16 and 32 pixels.
FAVICON: Final = STATIC / "favicon.ico"
STYLE: Final = STATIC / "documentation.css"
WEBSITE_STYLE: Final = STATIC / "website.css"
WALLCHART_STYLE: Final = STATIC / "wallchart.css"
SCRIPT: Final = STATIC / "documentation.js"
# Vendored from npm by `make swagger-ui`; its package.json has the version.
SWAGGER_UI_STYLE: Final = STATIC / "swagger-ui/swagger-ui.css"
SWAGGER_UI_SCRIPT: Final = STATIC / "swagger-ui/swagger-ui-bundle.js"
_MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".ico": "image/vnd.microsoft.icon",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Asset:
    """Bytes to send, plain and compressed. ``version`` changes with the content."""

    content: bytes
    compressed: bytes
    version: str
    media_type: str


def made_route(path: str, make: Callable[[], Asset]) -> Route:
    """A route for what ``make`` makes at the first request, on a thread."""
    made = cache(make)

    async def served(request: Request) -> Response:
        return asset_response(request, await run_in_threadpool(made))

    return Route(path, served)


def file_route(path: str, file: Path) -> Route:
    """A route for one file at an address without a version."""

    async def served(request: Request) -> Response:
        response = asset_response(request, await run_in_threadpool(_asset, file))
        response.headers["Cache-Control"] = "public, max-age=86400"
        return response

    return Route(path, served)


def slash_route(path: str) -> Route:
    """A redirect from the path with a slash at its end to the page itself.

    Relative, so that it also works below the path of a proxy. A query is dropped.
    """

    async def redirect(_: Request) -> Response:
        return RedirectResponse(f"../{path.rpartition('/')[2]}", 308, _HEADERS)

    return Route(f"{path}/", redirect)


def asset_route(path: str, files: Collection[Path]) -> Route:
    """A route for these files; ``path`` has ``{version}`` and ``{name}``."""
    by_name = {file.name: file for file in files}

    async def asset(request: Request) -> Response:
        file = by_name.get(request.path_params["name"])
        if file is None:
            raise HTTPException(404)
        current = await run_in_threadpool(_asset, file)
        # A page of another version may still be open: it gets the current file.
        is_current = request.path_params["version"] == current.version
        return asset_response(request, current, is_immutable=is_current)

    return Route(path, asset)


@lru_cache(maxsize=32)
def _asset(file: Path) -> Asset:
    return asset_of(file.read_bytes(), _MEDIA_TYPES[file.suffix])


def version_of(file: Path) -> str:
    """The part of the file's address that changes with its contents. It reads the file once."""
    return _asset(file).version


def asset_of(content: bytes, media_type: str) -> Asset:
    version = hashlib.sha256(content).hexdigest()[:16]
    return Asset(
        content=content,
        compressed=gzip.compress(content, 6, mtime=0),
        version=version,
        media_type=media_type,
    )


def page(
    title: str,
    *,
    address: str,
    files: Collection[Path],
    lang: str = "en-GB",
    head: str = "",
    body: str,
) -> Asset:
    """A page with relative URLs, so that it can be served below any path.

    ``{name}`` in ``head`` and ``body`` is the address of the file of that name. All files are
    served at ``address``.
    """
    text = "\n".join(
        [
            "<!doctype html>",
            f'<html lang="{lang}">',
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{title}</title>",
            '<link rel="icon" href="{icon.svg}" type="image/svg+xml">',
            head,
            body,
        ]
    )
    for file in files:
        text = text.replace(f"{{{file.name}}}", f"{address}/{_asset(file).version}/{file.name}")
    return asset_of(f"{text}\n</html>\n".encode(), "text/html; charset=utf-8")


def unkept_response(asset: Asset, status: int, headers: Mapping[str, str]) -> Response:
    """A page about an error, which no one keeps."""
    return Response(
        asset.content,
        status,
        {**_HEADERS, "Cache-Control": "no-store", **headers},
        asset.media_type,
    )


def asset_response(request: Request, asset: Asset, *, is_immutable: bool = False) -> Response:
    is_compressed = prefers_gzip(request.headers.get("accept-encoding", ""))
    # Each encoding is a representation with its own entity tag (RFC 9110, 8.8.3.3).
    tag = f'"{asset.version}{"-gzip" if is_compressed else ""}"'
    headers = {
        **_HEADERS,
        "ETag": tag,
        "Cache-Control": "public, max-age=31536000, immutable" if is_immutable else "no-cache",
    }
    cached = tags_in(request.headers.raw, b"if-none-match")
    if cached is not None and cached.match_weakly(tag.encode("ascii")):
        return Response(status_code=304, headers=headers)
    content = asset.content
    if is_compressed:
        headers["Content-Encoding"] = "gzip"
        content = asset.compressed
    return Response(content, 200, headers, asset.media_type)
