"""`/playground`: the page on which Slack is played. What it asks for is the bot's to serve."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.pages import Asset, answer, asset_route, page

_ASSETS: Final = (
    "icon.svg",
    "playground.css",
    "playground.js",
    "playground-blocks.js",
    "playground-panel.js",
    "playground-text.js",
)
_BODY: Final = """
<header class="top">
<h1>Hiatus playground</h1>
<p>Slack, played on this machine for three people at once: each picks who they are, types
<code>{command}</code>, presses buttons. What Hiatus shows here is what it would send to Slack.</p>
<a href="docs">API</a>
<button type="button" class="button" id="reset">Empty Slack</button>
</header>
<nav class="jump" aria-label="People">
<a href="#person-1">First person</a> <a href="#person-2">Second</a> <a href="#person-3">Third</a>
</nav>
<p class="problems" id="problems" role="alert" hidden></p>
<main id="playground" data-people="{people}" data-command="{command}">
<p class="empty">The playground needs JavaScript.</p>
</main>"""


def routes(people: Iterable[str], command: str) -> list[Route]:
    """The page, showing these people first, by their Slack ids."""
    body = _BODY.format(people=html.escape(",".join(people)), command=html.escape(command))
    drawn: list[Asset] = []

    async def playground(request: Request) -> Response:
        if not drawn:
            drawn.append(
                page(
                    "Hiatus playground",
                    assets="playground/assets",
                    head=('<script src="{playground.js}" type="module"></script>',),
                    body=body,
                    style="playground.css",
                )
            )
        return answer(request, drawn[0])

    return [
        Route("/playground", playground),
        asset_route("/playground/assets/{version}/{name}", _ASSETS),
    ]
