"""Notifies the dispatchers of other processes, over PostgreSQL's LISTEN and NOTIFY.

A dispatcher that misses a notification finds the work at its next run. Notifications are sent
after the commit, on a separate connection: a NOTIFY in a transaction makes commits wait for each
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

from storage.db.connections import Connection, Hosts

CHANNEL: Final = "hiatus_wake"
# A name is sent once for all commits within this time.
DEBOUNCE_SECONDS: Final = 0.01
RECONNECT_SECONDS: Final = 1.0
# How often an idle connection is checked.
CHECK_SECONDS: Final = 5.0
POOLED: Final = (
    "DATABASE_URL leads to a connection pooler, so statements are not prepared, and what other "
    "processes leave to this one begins up to a second later."
)

_log = structlog.stdlib.get_logger("hiatus.database")


class Notifier:
    """Notifies other processes from its own thread, which starts with the first notification."""

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self._names: set[str] = set()
        self._lock = threading.Lock()
        self._has_names = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def notify(self, name: str) -> None:
        """Notify the dispatchers of that name in other processes, soon. Never blocks."""
        with self._lock:
            self._names.add(name)
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(
                    target=self._send_until_closed, name="notifier", daemon=True
                )
                self._thread.start()
        self._has_names.set()

    def close(self) -> None:
        self._is_closed = True
        self._has_names.set()
        if self._thread is not None:
            self._thread.join()

    def _send_until_closed(self) -> None:
        connection: Connection | None = None
        is_last = False
        while not is_last:
            self._has_names.wait()
            time.sleep(DEBOUNCE_SECONDS)
            self._has_names.clear()
            is_last = self._is_closed
            with self._lock:
                names, self._names = self._names, set()
            if connection is not None and not self._hosts.is_current(connection):
                connection.close()
                connection = None
            try:
                for name in names:
                    if connection is None:
                        connection = self._hosts.connect()
                    connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, name))
            except psycopg.Error:
                # This notification is lost; the dispatcher's next run finds the work.
                if connection is not None:
                    connection.close()
                    self._hosts.lost(connection)
                connection = None
        if connection is not None:
            connection.close()


async def listen(
    hosts: Hosts,
    notify: Callable[[str], None],
    names: list[str],
) -> None:
    """Call ``notify`` with every name that another process sends, until cancelled.

    Each connection begins with all ``names``: notifications before it are lost. Returns if a
    connection pooler is in between, which passes on no notifications.
    """
    while True:
        connection = None
        try:
            connection = await hosts.connect_async()
            if connection.is_pooled:
                _log.info("database.pooled", reason=POOLED)
                return
            await connection.execute(f"LISTEN {CHANNEL}")
            for name in names:
                notify(name)
            while hosts.is_current(connection):
                async for notification in connection.notifies(timeout=CHECK_SECONDS):
                    notify(notification.payload)
                # A server that was stopped or replaced sends nothing either.
                await connection.execute("SELECT 1")
        except psycopg.Error as error:
            _log.warning("database.not_listening", reason=str(error))
            if connection is not None:
                hosts.lost(connection)
        finally:
            if connection is not None:
                await connection.close()
        await asyncio.sleep(RECONNECT_SECONDS)
