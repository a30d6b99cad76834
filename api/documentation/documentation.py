"""`/docs`, `/docs/errors` and `/openapi.json`, from files that come with the service."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.documentation import error_page
from api.documentation.pages import Asset, answer, asset_of, asset_route, page

_ASSETS: Final = (
    "swagger-ui.css",
    "swagger-ui-bundle.js",
    "documentation.css",
    "documentation.js",
    "icon.svg",
)


def routes(document: Callable[[], bytes]) -> list[Route]:
    """``document`` makes the OpenAPI document; it is called once."""

    @lru_cache(maxsize=1)
    def described() -> Asset:
        return asset_of(document(), "application/json")

    async def openapi_document(request: Request) -> Response:
        return answer(request, await run_in_threadpool(described))

    async def reference(request: Request) -> Response:
        return answer(request, await run_in_threadpool(_reference))

    async def errors(request: Request) -> Response:
        return answer(request, await run_in_threadpool(_errors))

    return [
        Route("/openapi.json", openapi_document),
        Route("/docs", reference),
        Route("/docs/errors", errors),
        asset_route("/docs/assets/{version}/{name}", _ASSETS),
    ]


@lru_cache(maxsize=1)
def _reference() -> Asset:
    return page(
        "Hiatus API",
        assets="docs/assets",
        head=(
            '<link rel="stylesheet" href="{swagger-ui.css}">',
            '<script src="{swagger-ui-bundle.js}" defer></script>',
            '<script src="{documentation.js}" defer></script>',
        ),
        body='<main id="reference"><p class="waiting">The reference needs JavaScript. What it '
        'shows is in <a href="openapi.json">openapi.json</a>; the codes of refusals are on the '
        '<a href="docs/errors">errors page</a>.</p></main>',
    )


@lru_cache(maxsize=1)
def _errors() -> Asset:
    back = '<p class="back"><a href="../docs">Hiatus API</a></p>'
    return page(
        "Errors of the Hiatus API",
        assets="assets",
        head=(),
        body=f'<main class="text">{back}\n{error_page.html()}</main>',
    )
