"""`/playground`: the page that plays Slack."""

from __future__ import annotations

import html
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.website.pages import ICON, Asset, asset_response, asset_route, page
from playground.guards import LocalOnly

_STATIC: Final = Path(__file__).parent / "static"
_FILES: Final = (ICON, *sorted(_STATIC.iterdir()))
_BODY: Final = """
<header class="top">
<h1>Hiatus playground</h1>
<p>A simulated Slack. Choose who each panel belongs to, type <code>{command}</code> or press a
button. Hiatus sends the same messages to the real Slack.</p>
<a href="docs">API</a>
<button type="button" class="button" id="start-tour" hidden>Tour</button>
<button type="button" class="button" id="reset">Clear Slack</button>
</header>
<section class="tour" id="tour" aria-label="Tour" hidden></section>
<nav class="jump" aria-label="People" hidden></nav>
<p class="problems" id="problems" role="alert" hidden></p>
<div class="heard" id="news" role="log" aria-label="New messages"></div>
<main id="playground" data-people="{people}" data-command="{command}" data-token="{token}">
<p class="empty">The playground needs JavaScript.</p>
</main>"""


def routes(people: Iterable[str], command: str, token: str) -> list[Route]:
    """The page. ``people`` are the Slack ids that it shows first; ``token`` authenticates it."""
    body = _BODY.format(
        people=html.escape(",".join(people)), command=html.escape(command), token=html.escape(token)
    )
    rendered: list[Asset] = []

    async def playground(request: Request) -> Response:
        if not rendered:
            rendered.append(
                page(
                    "Hiatus playground",
                    address="playground/assets",
                    files=_FILES,
                    head='<script src="{playground.js}" type="module"></script>\n'
                    '<link rel="stylesheet" href="{playground.css}">',
                    body=body,
                )
            )
        response = asset_response(request, rendered[0])
        response.headers["Cache-Control"] = "no-store"
        return response

    page_routes = [
        Route("/playground", playground),
        asset_route("/playground/assets/{version}/{name}", _FILES),
    ]
    for route in page_routes:
        route.app = LocalOnly(route.app)
    return page_routes
