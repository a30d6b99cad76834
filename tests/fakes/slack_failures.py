"""The loopback Slack's parts for tests only: failures on demand, consent, Socket Mode."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from aiohttp import web

from playground.loopback.blocks import Payload
from playground.loopback.server import Client, SlackServer, reset_connection
from playground.loopback.web_api import WebApi
from playground.loopback.workspace import OAuthCode
from tests.fakes.slack_socket import Sockets


@dataclass
class Failure:
    """How the next `times` calls of `method` (or of any, "*") fail.

    `error` responds with ok: false, `body` is sent unchanged, `reset` ends the connection,
    `hang_seconds` delays all of these; with `apply_first` the call takes effect all the same. With
    neither error, body, reset nor status the call is only late.
    """

    method: str
    times: int = 1
    error: str | None = None
    status: int | None = None
    retry_after: int | None = None
    hang_seconds: float = 0.0
    reset: bool = False
    body: str | None = None
    apply_first: bool = False

    @property
    def is_only_late(self) -> bool:
        return not (self.error or self.status or self.reset or self.body is not None)

    def response(self) -> web.Response:
        headers = {"Retry-After": str(self.retry_after)} if self.retry_after is not None else {}
        if self.error is not None:
            default = 429 if self.retry_after is not None else 200
            content = {"ok": False, "error": self.error}
            return web.json_response(content, status=self.status or default, headers=headers)
        text = self.body if self.body is not None else "<html>Internal Server Error</html>"
        kind = "text/html" if self.body is None else "application/json"
        return web.Response(
            text=text, status=self.status or 200, headers=headers, content_type=kind
        )


class TestedSlackServer(SlackServer):
    """`failures` is guarded by the workspace's lock."""

    def __init__(self, api: WebApi, sockets: Sockets) -> None:
        super().__init__(api)
        self.sockets = sockets
        self.failures: list[Failure] = []
        self.installer: tuple[str, str] | None = None
        self.app.router.add_get("/oauth/v2/authorize", self._authorize)
        self.app.router.add_get("/socket/", sockets.accept)
        self.app.on_shutdown.append(self._abort_sockets)

    async def _handle(
        self, request: web.Request, arguments: Payload, token: str | None, client: Client | None
    ) -> web.StreamResponse:
        method = request.match_info["method"]
        failure = self._next_failure(method)
        if failure is None:
            return self._respond(method, arguments, token, client)
        if failure.hang_seconds:
            await asyncio.sleep(failure.hang_seconds)
        if failure.is_only_late:
            return self._respond(method, arguments, token, client)
        if failure.apply_first:
            self.api.call(method, arguments, token, client)
        if failure.reset:
            self._record(method, arguments, token, 0, None)
            reset_connection(request.transport)
            raise asyncio.CancelledError
        response = failure.response()
        self._record(method, arguments, token, response.status, response.text)
        return response

    def _next_failure(self, method: str) -> Failure | None:
        with self.api.workspace.changed:
            for failure in self.failures:
                if failure.method in {method, "*"}:
                    failure.times -= 1
                    if failure.times <= 0:
                        self.failures.remove(failure)
                    return failure
            return None

    async def _authorize(self, request: web.Request) -> web.StreamResponse:
        """Slack's consent page, agreed to at once by `installer` (refused when there is none)."""
        back, state = request.query.get("redirect_uri", ""), request.query.get("state", "")
        result = "error=access_denied"
        if self.installer is not None:
            with self.api.workspace.changed:
                code = f"code-{self.api.workspace.next_number()}"
                scopes = filter(None, request.query.get("user_scope", "").split(","))
                self.api.workspace.oauth_codes[code] = OAuthCode(*self.installer, frozenset(scopes))
            result = f"code={code}"
        raise web.HTTPFound(f"{back}?{result}&state={state}")

    async def _abort_sockets(self, app: web.Application) -> None:
        await self.sockets.abort()
