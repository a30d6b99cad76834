"""A process that serves: uvicorn, the address that it listens on, and its end in time."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from typing import Final

import structlog
import uvicorn
from starlette.types import ASGIApp

# Wildcard addresses, and the loopback address that then reaches the server.
WILDCARDS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}
# How long a connection may stay idle after a response.
KEEP_ALIVE_SECONDS: Final = 5
# How long a stopping server waits for its running requests.
DRAIN_SECONDS: Final = 20
# How long it may then take to finish deliveries and to close the database.
FINISH_SECONDS: Final = 10
# A worker that does not answer for so long is replaced. Its imports take a second, or ten on a
# machine that is busy.
WORKER_START_SECONDS: Final = 60

_log = structlog.stdlib.get_logger("hiatus")


class CannotListen(Exception):
    """Nothing can listen on the address; the message says why, and what to do."""


def run(
    app: ASGIApp | str, host: str, port: int, trusted_proxies: Sequence[str], workers: int = 1
) -> None:
    """Serve until a stop signal. Exits the process if it cannot start.

    With several workers, ``app`` is where each of them finds the function that makes it.
    """
    uvicorn.run(
        app,
        factory=isinstance(app, str),
        host=host,
        port=port,
        workers=workers,
        # httptools adds the trailer of a chunked request to its headers.
        http="h11",
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        forwarded_allow_ips=[*trusted_proxies],
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        timeout_worker_healthcheck=WORKER_START_SECONDS,
    )


def check_address(host: str, port: int) -> None:
    """Raises CannotListen if nothing can listen there at the moment."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, address in dict.fromkeys((each[0], each[4]) for each in found):
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind(address)
    except OSError as error:
        raise CannotListen(why_not(error, host, port)) from error


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


def shown_address(host: str, port: int) -> str:
    """The address in a URL by which programs on this machine reach a server on ``host``."""
    host = WILDCARDS.get(host, host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def end_soon(seconds: float = FINISH_SECONDS) -> None:
    """End the process after the time for an orderly stop, even if something still hangs."""

    def end() -> None:
        _log.error("process.ended_unfinished")
        sys.stderr.flush()
        os._exit(1)

    timer = threading.Timer(seconds, end)
    # The timer must not keep the process alive.
    timer.daemon = True
    timer.start()


def stop_event() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set. From then on, the time for the stop is bounded."""
    stop = asyncio.Event()

    def request_stop() -> None:
        end_soon(DRAIN_SECONDS + FINISH_SECONDS)
        stop.set()

    for signal_number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signal_number, request_stop)
    return stop


async def idle_until_stopped() -> None:
    """Wait for SIGTERM or SIGINT, with one line in the log that says why."""
    stop = stop_event()
    log = structlog.stdlib.get_logger("hiatus.bot")
    log.info("idle until stopped: HIATUS_SLACK_APP_TOKEN is not set, so there is no Socket Mode")
    await stop.wait()
