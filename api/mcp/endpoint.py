"""The route `/mcp`: authenticates each request and passes it to the SDK's session manager."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from api.http.endpoints import record_use
from api.http.errors import McpUnavailable
from api.http.fields import read_content
from api.http.operations import Services
from api.mcp.callers import (
    CALL,
    Call,
    SlackPeople,
    caller_in_slack,
    caller_of_key,
    check_origin,
)
from storage.base.errors import DomainError, Unauthenticated

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH: Final = "/mcp"


class McpEndpoint:
    """Serves ``/mcp`` while ``running``, in every process by itself: no request needs another's."""

    def __init__(self, services: Services, slack: SlackPeople | None) -> None:
        self._services = services
        self._slack = slack
        self._manager: asyncio.Task[StreamableHTTPSessionManager] | None = None
        self._runner: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    def route(self) -> Route:
        return Route(PATH, self)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The time in which it may be called; ends the SDK's session manager."""
        try:
            yield
        finally:
            self._stopping.set()
            if self._runner is not None:
                await self._runner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            # GET would open a stream on which nothing is ever sent.
            raise HTTPException(405, headers={"Allow": "POST"})
        services, now = self._services, self._services.clock()
        try:
            request = Request(scope, receive)
            check_origin(request.headers, services.base_url)
            scope[CALL], body = await self._authenticate(request, now)
            if find_spec("mcp") is None:
                raise McpUnavailable
            manager = await self._started()
            await manager.handle_request(scope, _replaying(body, receive), send)
        finally:
            if "authenticated" in scope:
                await record_use(services.database, scope["authenticated"], now)

    async def _authenticate(self, request: Request, now: datetime) -> tuple[Call, bytes]:
        """Raises Unauthenticated, RateLimited or BodyTooLarge.

        A person in Slack who may not use Hiatus is told so by the tools.
        """
        services, scope = self._services, request.scope
        if "x-slack-signature" not in request.headers or "authorization" in request.headers:
            caller = await caller_of_key(scope, services, now)
            return Call(caller=caller, now=now), await read_content(request)
        body = await read_content(request)
        try:
            found = await caller_in_slack(scope, body, services, self._slack, now)
        except Unauthenticated:
            raise
        except DomainError as refusal:
            return Call(caller=None, now=now, refusal=refusal), body
        if found is not None:
            scope["caller"] = found
        return Call(caller=found, now=now), body

    async def _started(self) -> StreamableHTTPSessionManager:
        if self._manager is None:
            self._manager = asyncio.create_task(self._start())
        return await asyncio.shield(self._manager)

    async def _start(self) -> StreamableHTTPSessionManager:
        manager = await asyncio.to_thread(_load, self._services, self._slack)
        is_ready = asyncio.Event()
        self._runner = asyncio.create_task(self._run(manager, is_ready.set))
        await is_ready.wait()
        return manager

    async def _run(
        self, manager: StreamableHTTPSessionManager, started: Callable[[], None]
    ) -> None:
        """In a task of its own: the manager must be left in the task that entered it."""
        async with manager.run():
            started()
            await self._stopping.wait()


def _load(services: Services, slack: SlackPeople | None) -> StreamableHTTPSessionManager:
    from api.mcp import server

    return server.session_manager(services, slack)


def _replaying(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    """Receives the body that was read, then what follows: the client's disconnection."""
    is_sent = False

    async def replay() -> Message:
        nonlocal is_sent
        if is_sent:
            return await receive()
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
