"""Pages that come with the service: they load nothing from elsewhere, and are let load nothing.

All of it is made when it is first asked for: a start is not delayed by pages that nobody reads.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Collection
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.http.codings import prefers_gzip
from api.http.conditions import tags_in

# No inline script, no eval, nobody else's host. Swagger UI draws its icons as data: images.
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
_OWN: Final = Path(__file__).parent / "static"
# By name: where it is and what it is. Swagger UI comes in a wheel, which is never imported.
_FILES: Final = {
    "swagger-ui.css": ("fastapi_offline", "text/css; charset=utf-8"),
    "swagger-ui-bundle.js": ("fastapi_offline", "text/javascript; charset=utf-8"),
    "documentation.css": (None, "text/css; charset=utf-8"),
    "documentation.js": (None, "text/javascript; charset=utf-8"),
    "icon.svg": (None, "image/svg+xml"),
    "playground.css": (None, "text/css; charset=utf-8"),
    "playground.js": (None, "text/javascript; charset=utf-8"),
    "playground-blocks.js": (None, "text/javascript; charset=utf-8"),
    "playground-panel.js": (None, "text/javascript; charset=utf-8"),
    "playground-text.js": (None, "text/javascript; charset=utf-8"),
}


class Asset(NamedTuple):
    """Bytes to send, plain and compressed. ``version`` changes when they do."""

    content: bytes
    compressed: bytes
    version: str
    media_type: str


def asset_route(path: str, names: Collection[str]) -> Route:
    """The named files, at `path`, which holds `{version}` and `{name}`."""

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in names:
            raise HTTPException(404)
        found = await run_in_threadpool(_file, name)
        # A page of another version may still be open somewhere: it gets what there is now.
        is_current = request.path_params["version"] == found.version
        return answer(request, found, is_immutable=is_current)

    return Route(path, asset)


@lru_cache(maxsize=len(_FILES))
def _file(name: str) -> Asset:
    package, media_type = _FILES[name]
    folder = _OWN if package is None else _folder_of(package)
    return asset_of((folder / name).read_bytes(), media_type)


def _folder_of(package: str) -> Path:
    # Of a package at the top, this only looks where it is.
    spec = find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "static"


def asset_of(content: bytes, media_type: str) -> Asset:
    version = hashlib.sha256(content).hexdigest()[:16]
    return Asset(content, gzip.compress(content, 6, mtime=0), version, media_type)


def page(
    title: str,
    *,
    assets: str,
    head: tuple[str, ...],
    body: str,
    style: str = "documentation.css",
) -> Asset:
    """A page whose addresses are relative, so that it may be served below any path."""
    lines = [
        "<!doctype html>",
        '<html lang="en-GB">',
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{title}</title>",
        '<link rel="icon" href="{icon.svg}" type="image/svg+xml">',
        *head,
        f'<link rel="stylesheet" href="{{{style}}}">',
    ]
    text = "\n".join(lines)
    for name in _FILES:
        if f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", f"{assets}/{_file(name).version}/{name}")
    return asset_of(f"{text}\n{body}\n</html>\n".encode(), "text/html; charset=utf-8")


def answer(request: Request, asset: Asset, *, is_immutable: bool = False) -> Response:
    is_compressed = prefers_gzip(request.headers.get("accept-encoding", ""))
    # The two encodings are two representations, and have an entity tag each (RFC 9110, 8.8.3.3).
    tag = f'"{asset.version}{"-gzip" if is_compressed else ""}"'
    headers = {
        **_HEADERS,
        "ETag": tag,
        "Cache-Control": "public, max-age=31536000, immutable" if is_immutable else "no-cache",
    }
    known = tags_in(request.headers.raw, b"if-none-match")
    if known is not None and known.have_weakly(tag.encode("ascii")):
        return Response(status_code=304, headers=headers)
    content = asset.content
    if is_compressed:
        headers["Content-Encoding"] = "gzip"
        content = asset.compressed
    return Response(content, 200, headers, asset.media_type)
