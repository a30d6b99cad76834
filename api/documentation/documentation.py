"""`/docs`, `/docs/errors`, `/openapi.json` and the icon that browsers ask for by themselves."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.website.pages import (
    FAVICON,
    ICON,
    SCRIPT,
    STYLE,
    SWAGGER_UI_SCRIPT,
    SWAGGER_UI_STYLE,
    WEBSITE_STYLE,
    Asset,
    asset_of,
    asset_response,
    asset_route,
    file_route,
    page,
    slash_route,
)

_FILES: Final = (
    SWAGGER_UI_STYLE,
    SWAGGER_UI_SCRIPT,
    STYLE,
    SCRIPT,
    ICON,
    WEBSITE_STYLE,
)
_STYLED: Final = '<link rel="stylesheet" href="{documentation.css}">'


def routes(document: Callable[[], bytes]) -> list[Route]:
    """``document`` makes the OpenAPI document; it is called once."""

    @lru_cache(maxsize=1)
    def described() -> Asset:
        return asset_of(document(), "application/json")

    async def openapi_document(request: Request) -> Response:
        return asset_response(request, await run_in_threadpool(described))

    async def reference(request: Request) -> Response:
        return asset_response(request, await run_in_threadpool(_reference))

    async def errors(request: Request) -> Response:
        return asset_response(request, await run_in_threadpool(_errors))

    return [
        Route("/openapi.json", openapi_document),
        Route("/docs", reference),
        slash_route("/docs"),
        Route("/docs/errors", errors),
        slash_route("/docs/errors"),
        file_route("/favicon.ico", FAVICON),
        asset_route("/docs/assets/{version}/{name}", _FILES),
    ]


@lru_cache(maxsize=1)
def _reference() -> Asset:
    return page(
        "Hiatus API",
        address="docs/assets",
        files=_FILES,
        head='<link rel="stylesheet" href="{swagger-ui.css}">\n'
        '<script src="{swagger-ui-bundle.js}" defer></script>\n'
        '<script src="{documentation.js}" defer></script>\n' + _STYLED,
        # Swagger UI has a main element of its own, in place of this one.
        body='<div id="reference"><main class="waiting">The reference needs JavaScript. It '
        'shows <a href="openapi.json">openapi.json</a>; the error codes are on the '
        '<a href="docs/errors">errors page</a>.</main></div>',
    )


@lru_cache(maxsize=1)
def _errors() -> Asset:
    # Imported here: few servers are asked for it.
    from api.documentation import error_page

    back = '<p class="back"><a href="../docs">Hiatus API</a></p>'
    return page(
        "Hiatus API errors",
        address="assets",
        files=_FILES,
        head=_STYLED,
        body=f'<main class="text">{back}\n{error_page.html()}</main>',
    )
