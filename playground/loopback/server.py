"""The loopback Slack on the wire: HTTP around the Web API and the response_urls."""

from __future__ import annotations

import json
import time
from base64 import b64decode

from aiohttp import web

from playground.loopback.blocks import Payload
from playground.loopback.effects import take_response
from playground.loopback.records import Call
from playground.loopback.web_api import WebApi

Client = tuple[str, str]


class SlackServer:
    """The aiohttp application."""

    def __init__(self, api: WebApi) -> None:
        self.api = api
        self.app = web.Application(client_max_size=8 << 20)
        self.app.router.add_route("*", "/api/{method}", self._call)
        self.app.router.add_post("/response/{response_id}", self._response)

    async def _call(self, request: web.Request) -> web.StreamResponse:
        if request.match_info["method"] == "oauth.v2.access" and request.query:
            # Stricter than Slack: a code or secret in a query string ends up in logs.
            return web.json_response({"ok": False, "error": "invalid_post_type"})
        arguments = await _arguments(request)
        token, client = _credentials(request, arguments)
        return await self._handle(request, arguments, token, client)

    async def _handle(
        self, request: web.Request, arguments: Payload, token: str | None, client: Client | None
    ) -> web.StreamResponse:
        return self._respond(request.match_info["method"], arguments, token, client)

    def _respond(
        self, method: str, arguments: Payload, token: str | None, client: Client | None
    ) -> web.Response:
        status, response = self.api.call(method, arguments, token, client)
        self._record(method, arguments, token, status, response)
        scopes = self._scopes(token)
        return web.json_response(response, status=status, headers={"x-oauth-scopes": scopes})

    def _record(
        self, method: str, arguments: Payload, token: str | None, status: int, response: object
    ) -> None:
        with self.api.workspace.changed:
            call = Call(
                method=method,
                arguments=arguments,
                token=token,
                at_seconds=time.monotonic(),
                status=status,
                answer=response,
            )
            self.api.workspace.calls.append(call)
            self.api.workspace.note_change()

    def _scopes(self, token: str | None) -> str:
        for team in self.api.workspace.teams.values():
            if token is not None and team.token == token:
                return ",".join(sorted(team.scopes))
        return ""

    async def _response(self, request: web.Request) -> web.StreamResponse:
        try:
            body = json.loads(await request.read())
        except ValueError:
            return web.Response(status=400, text="invalid_payload")
        status, response = take_response(self.api, request.match_info["response_id"], body)
        if isinstance(response, str):
            return web.Response(text=response, status=status)
        return web.json_response(response, status=status)


async def _arguments(request: web.Request) -> Payload:
    arguments: Payload = dict(request.query)
    if request.content_type == "application/json":
        body = await request.read()
        members = json.loads(body) if body else {}
        return arguments | members if isinstance(members, dict) else arguments
    if request.can_read_body:
        arguments |= {key: str(value) for key, value in (await request.post()).items()}
    return arguments


def _credentials(request: web.Request, arguments: Payload) -> tuple[str | None, Client | None]:
    """The token, taken out of the arguments, and the client of basic auth."""
    token = arguments.pop("token", None)
    header = request.headers.get("Authorization", "")
    if header.startswith("Basic "):
        login, _, password = b64decode(header.removeprefix("Basic ")).decode().partition(":")
        return None, (login, password)
    if header.startswith("Bearer "):
        token = header.removeprefix("Bearer ")
    return token, None
