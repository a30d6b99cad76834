"""`GET /cal/{token}/subscribe`: opens a feed in the calendar program of a Mac, iPhone or iPad.

Slack links to web pages only. Apple's programs subscribe to addresses with the scheme ``webcal``.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from api.feeds.feed_requests import scope_of
from api.http.handlers import Services
from storage.base import secrets
from storage.base.errors import NotFound


def routes(services: Services) -> list[Route]:
    address = services.base_url.partition("://")[2]

    async def subscribe(request: Request) -> Response:
        """Raises NotFound for what cannot be a token, and InvalidInput for an unknown scope.

        Says nothing about whether the token is valid: the calendar program finds out.
        """
        token = request.path_params["token"]
        if not secrets.is_token(token):
            raise NotFound("calendar feed")
        scope = scope_of(request.url.query.encode())
        query = "" if scope == "personal" else f"?scope={scope}"
        headers = {"Cache-Control": "private, no-store", "Referrer-Policy": "no-referrer"}
        return RedirectResponse(f"webcal://{address}/cal/{token}{query}", 302, headers)

    return [Route("/cal/{token}/subscribe", subscribe, methods=["GET"])]
