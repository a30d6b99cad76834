"""The HTTP server: uvicorn, stopped within a bounded time."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Final

import structlog
import uvicorn
from starlette.types import ASGIApp
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.service.process import DRAIN_SECONDS, force_exit_after
from api.service.request_middleware import for_server

# Wildcard addresses, and the loopback address that then reaches the server.
WILDCARDS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}
# How long a connection may stay idle after a response. uvicorn with httptools bounds neither the
# size nor the time of headers: docs/proxy.md leaves both to the proxy.
KEEP_ALIVE_SECONDS: Final = 5


# As uvicorn has it.
_BACKLOG: Final = 2048


class CannotListen(Exception):
    """Nothing can listen on the address; the message says why, and what to do."""


class _Protocol(HttpToolsProtocol):
    """uvicorn's protocol without trailers, whose fields it adds to the request's headers.

    A trailer that arrives together with its request is parsed before the application runs. h11
    drops trailers, but needs 0.8 s for 256 KiB of one-byte chunks, and every client waits for it.
    """

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        # The request keeps its list. The parser adds further fields to this one.
        self.headers = []


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


@contextmanager
def bound(host: str, port: int) -> Iterator[list[socket.socket]]:
    """Sockets that are bound to the host's addresses and do not listen yet; closed at the end.

    A process binds first, since it must start nothing if it cannot serve. Raises CannotListen.
    """
    with ExitStack() as stack:
        try:
            sockets = _bind(stack, host, port)
        except OSError as error:
            raise CannotListen(why_not(error, host, port)) from error
        yield sockets


def _bind(stack: ExitStack, host: str, port: int) -> list[socket.socket]:
    """Sockets on the host's addresses, as asyncio binds them. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    absent: OSError | None = None
    for family, address in dict.fromkeys((family, address) for family, _, _, _, address in found):
        try:
            listener = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(address)
        except OSError as error:
            # localhost may have an IPv6 address on a machine without IPv6.
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                raise
            absent = error
        else:
            sockets.append(listener)
    if absent is not None and not sockets:
        raise absent
    return sockets


def why_not(error: OSError, host: str, port: int, *, options: str = "--") -> str:
    """Why nothing can listen on that port of that host, and what to do.

    ``options``: how the names of the command's options for both begin.
    """
    match error.errno:
        case errno.EADDRINUSE:
            other = 8000 if port == 9000 else 9000
            return (
                f"Port {port} of {host} is in use by another program. Stop that program, or choose "
                f"another port, such as {options}port {other}."
            )
        case errno.EACCES:
            return (
                f"This user may not listen on port {port}. Choose a port from 1024 on, such as "
                f"{options}port 8000, and let a reverse proxy listen on 80 and 443."
            )
        case errno.EADDRNOTAVAIL:
            return (
                f"{host} is not an address of this machine. Use {options}host 127.0.0.1 for "
                f"programs on this machine, or {options}host 0.0.0.0 for all of its addresses."
            )
    if isinstance(error, socket.gaierror):
        return (
            f"{host!r} is not a host that this machine can find. Use an address, such as 127.0.0.1."
        )
    return f"Port {port} of {host} cannot be listened on: {error.strerror}."


def listen(sockets: Sequence[socket.socket]) -> None:
    """Raises CannotListen if another process bound the same port meanwhile and listens already."""
    for listener in sockets:
        host, port = listener.getsockname()[:2]
        try:
            listener.listen(_BACKLOG)
        except OSError as error:
            raise CannotListen(why_not(error, host, port)) from error
        url = f"http://{shown_address(host, port)}"
        structlog.stdlib.get_logger("hiatus").info("serve.listening", url=url)


def run(
    app: ASGIApp,
    sockets: Sequence[socket.socket],
    *,
    trusted_proxies: list[str],
) -> None:
    """Serve until a stop signal, like ``uvicorn.run``. Exits the process if it cannot start.

    ``sockets`` are bound. Raises CannotListen.
    """
    server = _Server(
        uvicorn.Config(
            for_server(app),
            http=_Protocol,
            # Its upgrade would read the headers later.
            ws="none",
            access_log=False,
            log_config=None,
            server_header=False,
            forwarded_allow_ips=trusted_proxies,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=DRAIN_SECONDS - KEEP_ALIVE_SECONDS,
        ),
    )
    listen(sockets)
    with contextlib.suppress(KeyboardInterrupt):
        server.run([*sockets])
    if not server.started:
        sys.exit(STARTUP_FAILURE)


def shown_address(host: str, port: int) -> str:
    """The address in a URL by which programs on this machine reach a server on ``host``."""
    host = WILDCARDS.get(host, host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
