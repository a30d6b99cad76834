"""A web server on 127.0.0.1 in its own thread, for fakes of external services.

The application decides what it responds.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import TypeVar

from aiohttp import web

T = TypeVar("T")


class LoopbackServer:
    """One aiohttp application on an ephemeral port, served by its own thread and event loop."""

    def __init__(self, app: web.Application, name: str) -> None:
        self._app = app
        self._name = name
        self._loop: asyncio.AbstractEventLoop
        self._runner: web.AppRunner | None = None
        self._thread: threading.Thread | None = None
        self.port = 0

    def start(self) -> None:
        """Serves until `stop`; `port` is known when this returns."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()
        self.run(self._listen())

    def stop(self) -> None:
        """Closes every connection and waits for the thread; harmless when called twice."""
        if self._thread is None:
            return
        self.run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
        self._thread = None

    def submit(self, work: Coroutine[object, None, T]) -> Future[T]:
        """Starts `work` on the server's loop; callable from any thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[object, None, T], timeout_seconds: float = 10) -> T:
        """Runs `work` on the server's loop and waits; never call it from that loop."""
        return self.submit(work).result(timeout_seconds)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _listen(self) -> None:
        runner = web.AppRunner(self._app, access_log=None, shutdown_timeout=0.05)
        await runner.setup()
        self._runner = runner
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]

    async def _close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)


def reset_connection(transport: asyncio.BaseTransport | None) -> None:
    """Ends a connection with RST, which the other side sees as a connection reset."""
    if transport is None:
        return
    connection = transport.get_extra_info("socket")
    if connection is not None:
        # Lingering for zero seconds turns the close into a reset.
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    abort = getattr(transport, "abort", transport.close)
    abort()
