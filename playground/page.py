"""`/playground`: the page that plays Slack, and the checks of its requests.

Its user can act as any of the demo's people. So only a browser on this machine may use it, and only
through the page itself: other websites in the same browser must not reach it.
"""

from __future__ import annotations

import html
import re
import secrets
from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from api.base.client_address import client_address
from api.documentation.pages import ICON, Asset, answer, asset_route, page

_STATIC: Final = Path(__file__).parent / "static"
_FILES: Final = (ICON, *sorted(_STATIC.iterdir()))
_BODY: Final = """
<header class="top">
<h1>Hiatus playground</h1>
<p>A simulated Slack for three people. Choose who each panel belongs to, type
<code>{command}</code> or press a button. Hiatus sends the same messages to the real Slack.</p>
<a href="docs">API</a>
<button type="button" class="button" id="reset">Clear Slack</button>
</header>
<nav class="jump" aria-label="People">
<a href="#person-1">First person</a> <a href="#person-2">Second</a> <a href="#person-3">Third</a>
</nav>
<p class="problems" id="problems" role="alert" hidden></p>
<main id="playground" data-people="{people}" data-command="{command}" data-token="{token}">
<p class="empty">The playground needs JavaScript.</p>
</main>"""


_TOKEN_HEADER: Final = "x-playground-token"
# A proxy adds these. A request with any of them does not come from this machine.
_OF_PROXIES: Final = (
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
)
_LOOPBACK_HOST: Final = re.compile(
    r"(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?", re.IGNORECASE
)


def routes(people: Iterable[str], command: str, token: str) -> list[Route]:
    """The page. ``people`` are the Slack ids that it shows first; ``token`` authenticates it."""
    body = _BODY.format(
        people=html.escape(",".join(people)), command=html.escape(command), token=html.escape(token)
    )
    drawn: list[Asset] = []

    async def playground(request: Request) -> Response:
        if not drawn:
            drawn.append(
                page(
                    "Hiatus playground",
                    address="playground/assets",
                    files=_FILES,
                    head='<script src="{playground.js}" type="module"></script>\n'
                    '<link rel="stylesheet" href="{playground.css}">',
                    body=body,
                )
            )
        response = answer(request, drawn[0])
        response.headers["Cache-Control"] = "no-store"
        return response

    page_routes = [
        Route("/playground", playground),
        asset_route("/playground/assets/{version}/{name}", _FILES),
    ]
    for route in page_routes:
        route.app = _LocalOnly(route.app)
    return page_routes


def guarded(routes: Sequence[Route], token: str) -> Sequence[Route]:
    """The same routes, for requests of the page with this token only."""
    for route in routes:
        route.app = _LocalOnly(_FromPageOnly(route.app, token))
    return routes


class _LocalOnly:
    """Serves only programs on this machine that use a loopback address or localhost.

    ``Host`` shows a website's name that resolves to 127.0.0.1 (DNS rebinding).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        address = client_address(scope)
        is_local = (
            not any(name in headers for name in _OF_PROXIES)
            and address != ""
            and ip_address(address).is_loopback
            and _LOOPBACK_HOST.fullmatch(headers.get("host", "")) is not None
        )
        app = (
            self._app
            if is_local
            else _refused("Only a browser on this machine can use the playground.")
        )
        await app(scope, receive, send)


class _FromPageOnly:
    """Serves only requests with the page's token and of the same origin."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        # Browsers send Origin with every POST; older ones do not send Sec-Fetch-Site.
        is_from_page = headers.get("sec-fetch-site", "same-origin") == "same-origin" and (
            scope["method"] in ("GET", "HEAD") or headers.get("origin") == _origin(headers)
        )
        app = self._app
        if not is_from_page:
            app = _refused("Only the playground's page can do this.")
        elif not secrets.compare_digest(headers.get(_TOKEN_HEADER, "").encode(), self._token):
            app = _refused("The playground was restarted. Reload this page.")
        await app(scope, receive, send)


def _origin(headers: Headers) -> str:
    return f"http://{headers['host']}"


def _refused(why: str) -> Response:
    return JSONResponse({"ok": False, "problem": why}, 403, {"Cache-Control": "no-store"})
