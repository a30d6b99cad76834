"""Health checks of ``hiatus bot``, which serves no other HTTP: for containers and monitoring."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web


class Health:
    """Whether the process is connected to Slack; it sets ``is_connected``."""

    def __init__(self) -> None:
        self.is_connected = False

    @asynccontextmanager
    async def served(self, host: str, port: int) -> AsyncIterator[None]:
        """Serve ``/healthz`` and ``/readyz``. Raises OSError if the port is in use."""
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port).start()
            yield
        finally:
            await runner.cleanup()

    async def _healthz(self, request: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def _readyz(self, request: web.Request) -> web.Response:
        if self.is_connected:
            return web.json_response({"status": "ok"})
        unready = {"status": "unavailable", "reason": "slack_not_connected"}
        return web.json_response(unready, status=503)
