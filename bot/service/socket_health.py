"""Health checks and metrics of ``hiatus bot``, which serves no other HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Health:
    """Whether the process is connected to Slack; it sets ``is_connected``.

    ``metrics`` returns what Prometheus reads.
    """

    def __init__(self, metrics: Callable[[], Awaitable[bytes]] | None = None) -> None:
        self.is_connected = False
        self._text_of_metrics = metrics

    @asynccontextmanager
    async def served(self, host: str, port: int) -> AsyncIterator[None]:
        """Serve ``/healthz``, ``/readyz`` and, if there are any, ``/metrics``.

        Raises OSError if the port is in use.
        """
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        if self._text_of_metrics is not None:
            app.router.add_get("/metrics", self._metrics)
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

    async def _metrics(self, request: web.Request) -> web.Response:
        assert self._text_of_metrics is not None
        body = await self._text_of_metrics()
        return web.Response(body=body, headers={"Content-Type": _CONTENT_TYPE})
