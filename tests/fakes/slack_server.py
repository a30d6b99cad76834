"""The loopback Slack on the wire: HTTP around the Web API, and the failures it is told to show."""

from __future__ import annotations

import asyncio
import json
import time
from base64 import b64decode
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.fakes.loopback import reset_connection
from tests.fakes.slack_effects import take_response
from tests.fakes.slack_records import Call, Payload
from tests.fakes.slack_socket import Sockets
from tests.fakes.slack_web_api import WebApi


@dataclass
class Failure:
    """How the next `times` calls of `method` (or of any, "*") go wrong.

    `error` answers ok: false, `body` is sent as it is, `reset` ends the connection, `hang_seconds`
    comes before anything else; with `apply_first` the call takes effect all the same. With
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
            answer = {"ok": False, "error": self.error}
            return web.json_response(answer, status=self.status or default, headers=headers)
        text = self.body if self.body is not None else "<html>Internal Server Error</html>"
        kind = "text/html" if self.body is None else "application/json"
        return web.Response(
            text=text, status=self.status or 200, headers=headers, content_type=kind
        )


class SlackServer:
    """The aiohttp application; `failures` is guarded by the workspace's lock."""

    def __init__(self, api: WebApi, sockets: Sockets) -> None:
        self.api = api
        self.sockets = sockets
        self.failures: list[Failure] = []
        self.installer: tuple[str, str] | None = None
        self.app = web.Application(client_max_size=8 << 20)
        self.app.router.add_route("*", "/api/{method}", self._call)
        self.app.router.add_post("/response/{response_id}", self._response)
        self.app.router.add_get("/oauth/v2/authorize", self._authorize)
        self.app.router.add_get("/socket/", sockets.accept)
        self.app.on_shutdown.append(self._abort_sockets)

    async def _call(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        arguments = await _arguments(request)
        token, client = _credentials(request, arguments)
        failure = self._next_failure(method)
        if failure is None:
            return self._answered(method, arguments, token, client)
        if failure.hang_seconds:
            await asyncio.sleep(failure.hang_seconds)
        if failure.is_only_late:
            return self._answered(method, arguments, token, client)
        if failure.apply_first:
            self.api.call(method, arguments, token, client)
        if failure.reset:
            self._record(method, arguments, token, 0, None)
            reset_connection(request.transport)
            raise asyncio.CancelledError
        response = failure.response()
        self._record(method, arguments, token, response.status, response.text)
        return response

    def _answered(
        self, method: str, arguments: Payload, token: str | None, client: tuple[str, str] | None
    ) -> web.Response:
        status, answer = self.api.call(method, arguments, token, client)
        self._record(method, arguments, token, status, answer)
        scopes = self._scopes(token)
        return web.json_response(answer, status=status, headers={"x-oauth-scopes": scopes})

    def _record(
        self, method: str, arguments: Payload, token: str | None, status: int, answer: Any
    ) -> None:
        with self.api.workspace.changed:
            call = Call(method, arguments, token, time.monotonic(), status, answer)
            self.api.workspace.calls.append(call)
            self.api.workspace.note_change()

    def _scopes(self, token: str | None) -> str:
        for team in self.api.workspace.teams.values():
            if token is not None and team.token == token:
                return ",".join(sorted(team.scopes))
        return ""

    def _next_failure(self, method: str) -> Failure | None:
        with self.api.workspace.changed:
            for failure in self.failures:
                if failure.method in {method, "*"}:
                    failure.times -= 1
                    if failure.times <= 0:
                        self.failures.remove(failure)
                    return failure
            return None

    async def _response(self, request: web.Request) -> web.StreamResponse:
        try:
            body = json.loads(await request.read())
        except ValueError:
            return web.Response(status=400, text="invalid_payload")
        status, answer = take_response(self.api, request.match_info["response_id"], body)
        if isinstance(answer, str):
            return web.Response(text=answer, status=status)
        return web.json_response(answer, status=status)

    async def _authorize(self, request: web.Request) -> web.StreamResponse:
        """Slack's consent page, agreed to at once by `installer` (refused when there is none)."""
        back, state = request.query.get("redirect_uri", ""), request.query.get("state", "")
        given = "error=access_denied"
        if self.installer is not None:
            with self.api.workspace.changed:
                code = f"code-{self.api.workspace.next_number()}"
                self.api.workspace.oauth_codes[code] = self.installer
            given = f"code={code}"
        raise web.HTTPFound(f"{back}?{given}&state={state}")

    async def _abort_sockets(self, app: web.Application) -> None:
        await self.sockets.abort()


async def _arguments(request: web.Request) -> Payload:
    arguments: Payload = dict(request.query)
    if request.content_type == "application/json":
        body = await request.read()
        given = json.loads(body) if body else {}
        return arguments | given if isinstance(given, dict) else arguments
    if request.can_read_body:
        arguments |= {key: str(value) for key, value in (await request.post()).items()}
    return arguments


def _credentials(
    request: web.Request, arguments: Payload
) -> tuple[str | None, tuple[str, str] | None]:
    """The token, taken out of the arguments, and the client of basic auth."""
    given = arguments.pop("token", None)
    header = request.headers.get("Authorization", "")
    if header.startswith("Basic "):
        login, _, password = b64decode(header.removeprefix("Basic ")).decode().partition(":")
        return None, (login, password)
    token = header.removeprefix("Bearer ") if header.startswith("Bearer ") else given
    return token, None
