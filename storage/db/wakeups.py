"""Waking dispatchers of other processes, over PostgreSQL's LISTEN and NOTIFY.

A hint and no more: whoever misses one finds the work at its next tick. It is sent after the commit
and on a connection of its own, because a NOTIFY inside a transaction makes commits wait for each
other.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Final

import psycopg
import structlog

from storage.db.connections import Connection, Parameters, connect, connect_async

CHANNEL: Final = "hiatus_wake"
# What is woken within so long is said once.
GATHER_SECONDS: Final = 0.01
RECONNECT_SECONDS: Final = 1.0
# How often an idle connection is checked.
CHECK_SECONDS: Final = 30.0

_log = structlog.stdlib.get_logger("hiatus.database")


class Announcer:
    """Tells other processes, from a thread of its own that begins with the first announcement."""

    def __init__(self, parameters: Parameters, timeout_seconds: float) -> None:
        self._parameters = parameters
        self._timeout_seconds = timeout_seconds
        self._names: set[str] = set()
        self._lock = threading.Lock()
        self._has_news = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def announce(self, name: str) -> None:
        """Wake the dispatchers of that name elsewhere, soon. Blocks for nothing."""
        with self._lock:
            self._names.add(name)
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(
                    target=self._announce_until_closed, name="announcer", daemon=True
                )
                self._thread.start()
        self._has_news.set()

    def close(self) -> None:
        self._is_closed = True
        self._has_news.set()
        if self._thread is not None:
            self._thread.join()

    def _announce_until_closed(self) -> None:
        connection: Connection | None = None
        is_last = False
        while not is_last:
            self._has_news.wait()
            time.sleep(GATHER_SECONDS)
            self._has_news.clear()
            is_last = self._is_closed
            with self._lock:
                names, self._names = self._names, set()
            try:
                for name in names:
                    if connection is None:
                        connection = connect(self._parameters, self._timeout_seconds)
                    connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, name))
            except psycopg.Error:
                # Nobody is told this time; the tick tells them.
                if connection is not None:
                    connection.close()
                connection = None
        if connection is not None:
            connection.close()


async def hear(
    parameters: Parameters,
    timeout_seconds: float,
    wake: Callable[[str], None],
    names: list[str],
) -> None:
    """Call ``wake`` with every name that another process announces, until cancelled.

    After every connection each of ``names`` is woken: what was said meanwhile went unheard.
    """
    while True:
        try:
            connection = await connect_async(parameters, timeout_seconds)
            async with connection:
                await connection.execute(f"LISTEN {CHANNEL}")
                for name in names:
                    wake(name)
                while True:
                    async for notice in connection.notifies(timeout=CHECK_SECONDS):
                        wake(notice.payload)
                    # A server that was stopped or replaced is silent, too.
                    await connection.execute("SELECT 1")
        except psycopg.Error as error:
            _log.warning("database.not_listening", reason=str(error))
        await asyncio.sleep(RECONNECT_SECONDS)
