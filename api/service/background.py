"""What a server does besides answering requests: it begins once the application has started.

Imports that REST and feeds can do without run meanwhile on a thread. They hold the interpreter lock
for up to 5 ms at a time, in the first half second of a process only.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import structlog
from starlette.routing import BaseRoute, Route, Router
from starlette.types import Receive, Scope, Send

from api.service.process import end_process

_log = structlog.stdlib.get_logger("hiatus")


class LateRoutes:
    """An ASGI application whose routes are not known at the start; requests wait for them."""

    def __init__(self) -> None:
        self._router = Router()
        self._are_known = asyncio.Event()

    def provide(self, routes: Sequence[BaseRoute]) -> None:
        """Let the waiting requests continue, and all later ones."""
        self._router = Router(routes, redirect_slashes=False)
        self._are_known.set()

    def at(self, path: str) -> Route:
        """A route that leads here, for paths that must wait."""
        return Route(path, self)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._are_known.wait()
        await self._router(scope, receive, send)


@asynccontextmanager
async def in_background(
    work: Callable[[], AbstractAsyncContextManager[None]],
) -> AsyncIterator[None]:
    """Enter ``work`` in a task of its own, and exit it in that task at the end.

    The process ends with exit code 1 if it fails on the way: its installation is broken.
    """
    is_over = asyncio.Event()

    async def run() -> None:
        try:
            async with work():
                await is_over.wait()
        except Exception:  # noqa: BLE001  # reported, and the process manager starts the next one
            _log.exception("process.background_failed")
            end_process()

    task = asyncio.create_task(run(), name="background")
    try:
        yield
    finally:
        is_over.set()
        await task
