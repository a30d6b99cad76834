"""`/docs`, `/docs/errors`, `/openapi.json`, `/llms.txt`, and the icon that browsers ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from starlette.routing import Route

from api.documentation import errors_page, navigation, openapi
from api.http.operations import Operation
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
    asset_route,
    file_route,
    made_route,
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


def routes(
    operations: Sequence[Operation], others: Mapping[str, Mapping[str, object]], base_url: str
) -> list[Route]:
    """``others`` are documented paths without operations."""

    def document() -> Asset:
        return asset_of(openapi.document(operations, others, base_url), "application/json")

    return [
        made_route("/openapi.json", document),
        made_route("/llms.txt", partial(_llms, base_url)),
        made_route("/docs", partial(_reference, operations, others)),
        slash_route("/docs"),
        made_route("/docs/errors", partial(_errors_page, operations)),
        slash_route("/docs/errors"),
        file_route("/favicon.ico", FAVICON),
        asset_route("/docs/assets/{version}/{name}", _FILES),
    ]


def _reference(
    operations: Sequence[Operation], others: Mapping[str, Mapping[str, object]]
) -> Asset:
    return page(
        "Hiatus API",
        address="docs/assets",
        files=_FILES,
        head='<link rel="stylesheet" href="{swagger-ui.css}">\n'
        '<script src="{documentation.js}" defer></script>\n'
        '<script src="{swagger-ui-bundle.js}" defer></script>\n' + _STYLED,
        # Swagger UI has a main element of its own, in place of this one.
        body=f'<div class="beside">{navigation.html(operations, others)}\n'
        '<div id="reference"><main class="waiting">The reference needs JavaScript. It '
        'shows <a href="openapi.json">openapi.json</a>; the error codes are on the '
        '<a href="docs/errors">errors page</a>.</main></div></div>',
    )


def _llms(base_url: str) -> Asset:
    """What language models are told of this service, as https://llmstxt.org describes."""
    text = Path(__file__).with_name("llms.txt").read_text(encoding="utf-8")
    return asset_of(text.replace("{base_url}", base_url).encode(), "text/plain; charset=utf-8")


def _errors_page(operations: Sequence[Operation]) -> Asset:
    back = '<p class="back"><a href="../docs">Hiatus API</a></p>'
    return page(
        "Hiatus API errors",
        address="assets",
        files=_FILES,
        head=_STYLED,
        body=f'<main class="text">{back}\n{errors_page.html(operations)}</main>',
    )
