"""Stopping a process within a bounded time."""

from __future__ import annotations

import os
import sys
import threading
from typing import Final

import structlog

# How long a stopping server waits for its running requests.
DRAIN_SECONDS: Final = 20
# How long it may then take to finish deliveries and to close the database.
FINISH_SECONDS: Final = 10


def end_before_long(seconds: float = DRAIN_SECONDS + FINISH_SECONDS) -> None:
    """End the process after the time for an orderly stop, even if something still hangs."""

    def end() -> None:
        structlog.stdlib.get_logger("hiatus").error("process.ended_unfinished")
        sys.stderr.flush()
        os._exit(1)

    timer = threading.Timer(seconds, end)
    # The timer must not keep the process alive.
    timer.daemon = True
    timer.start()
