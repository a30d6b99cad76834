"""The HTTP server: uvicorn, stopped within a bounded time."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from types import FrameType
from typing import Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.config import STARTUP_FAILURE

from api.service.process import DRAIN_SECONDS, force_exit_after
from api.service.request_middleware import for_server

# Wildcard addresses, and the loopback address that then reaches the server.
WILDCARDS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}
# How long a connection may stay idle after a response. uvicorn with httptools bounds neither the
# size nor the time of headers: docs/proxy.md leaves both to the proxy.
KEEP_ALIVE_SECONDS: Final = 5


class _Server(uvicorn.Server):
    _is_interrupted = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        force_exit_after()
        self._is_interrupted = sig == signal.SIGINT
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if not self._is_interrupted:
            await self._let_clients_close()
        await super().shutdown(sockets)

    async def _let_clients_close(self) -> None:
        """Accept no connection, and answer on the open ones until their clients have closed them.

        A proxy may be sending a request on a connection that is idle here. Closed at that moment, a
        POST is lost: no proxy sends it to another process.
        """
        for server in self.servers:
            server.close()
        state = self.server_state
        state.default_headers = [*state.default_headers, (b"connection", b"close")]
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + KEEP_ALIVE_SECONDS
        while state.connections and not self.force_exit and loop.time() < ends_at:
            await asyncio.sleep(0.05)


def run(
    app: ASGIApp,
    host: str,
    port: int,
    *,
    trusted_proxies: list[str],
) -> None:
    """Serve until a stop signal, like ``uvicorn.run``. Exits the process if it cannot start."""
    server = _Server(
        uvicorn.Config(
            for_server(app),
            host=host,
            port=port,
            access_log=False,
            log_config=None,
            server_header=False,
            forwarded_allow_ips=trusted_proxies,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=DRAIN_SECONDS - KEEP_ALIVE_SECONDS,
        ),
    )
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        sys.exit(STARTUP_FAILURE)


def shown_address(host: str, port: int) -> str:
    """The address in a URL by which programs on this machine reach a server on ``host``."""
    host = WILDCARDS.get(host, host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
