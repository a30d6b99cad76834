"""The HTTP server: uvicorn, stopped within a bounded time."""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Callable
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
    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        force_exit_after()
        super().handle_exit(sig, frame)


def run(
    app: ASGIApp,
    host: str,
    port: int,
    *,
    trusted_proxies: list[str],
    on_started: Callable[[], None],
) -> None:
    """Serve until a stop signal, like ``uvicorn.run``. Exits the process if it cannot start.

    ``on_started`` is called once, when the server listens.
    """
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
            timeout_graceful_shutdown=DRAIN_SECONDS,
        ),
        on_started,
    )
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        sys.exit(STARTUP_FAILURE)


def shown_address(host: str, port: int) -> str:
    """The address in a URL by which programs on this machine reach a server on ``host``."""
    host = WILDCARDS.get(host, host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
