"""Set-up of a server process: garbage collection and a bounded shutdown."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import structlog

# How long a stopping server waits for its running requests.
DRAIN_SECONDS: Final = 20
# How long it may then take to finish deliveries and to close the database.
FINISH_SECONDS: Final = 10


@contextmanager
def exempt_from_collection() -> Iterator[None]:
    """Exempt objects that are created inside, mostly modules, from garbage collection.

    They live as long as the process. A full collection of them takes 70 ms, in which the event loop
    serves no request.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def force_exit_after(seconds: float = DRAIN_SECONDS + FINISH_SECONDS) -> None:
    """End the process after the time for an orderly stop, even if something still hangs."""

    def end() -> None:
        structlog.stdlib.get_logger("hiatus").error("process.ended_unfinished")
        end_process()

    timer = threading.Timer(seconds, end)
    # The timer must not keep the process alive.
    timer.daemon = True
    timer.start()


def end_process() -> None:
    """End the process at once with exit code 1."""
    sys.stderr.flush()
    os._exit(1)


def stop_event() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set. From then on, the time for the stop is bounded."""
    stop = asyncio.Event()

    def request_stop() -> None:
        force_exit_after()
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
