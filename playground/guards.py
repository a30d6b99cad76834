"""Checks of the requests to the playground.

Its user can act as any of the demo's people. So only a browser on this machine may use it, and only
through its own page: other websites in the same browser must not reach it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from api.base.client_address import client_address

_TOKEN_HEADER: Final = "x-playground-token"
# A proxy adds these. A request with any of them does not come from this machine.
_PROXY_HEADERS: Final = (
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


def from_page_only(routes: Sequence[Route], token: str) -> Sequence[Route]:
    """The routes, which then serve only the page that has this token."""
    for route in routes:
        route.app = LocalOnly(_FromPageOnly(route.app, token))
    return routes


class LocalOnly:
    """Serves only programs on this machine that use a loopback address or localhost.

    ``Host`` reveals a website whose name resolves to 127.0.0.1 (DNS rebinding).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        address = client_address(scope)
        is_local = (
            not any(name in headers for name in _PROXY_HEADERS)
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


def _refused(reason: str) -> Response:
    return JSONResponse({"ok": False, "problem": reason}, 403, {"Cache-Control": "no-store"})
