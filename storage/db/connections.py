"""Connections to PostgreSQL that end, even when the server is frozen.

A server-side ``statement_timeout`` does not help when the server process is stopped, nor does
``tcp_user_timeout`` while its host keeps acknowledging packets.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from storage.base.errors import FailureKind

# The beginning of every connection's ``application_name``.
PROCESS_NAME: Final = "hiatus"
_CONNECT_SECONDS: Final = 5
# libpq tries no host for less.
_MIN_CONNECT_SECONDS: Final = 2
# libpq's lists, one entry for each host.
_HOST_PARAMETERS: Final = ("host", "hostaddr", "port")
_WATCH_SECONDS: Final = 0.2
# PostgreSQL itself ends a slow statement first, which keeps the connection.
_GRACE_SECONDS: Final = 0.5

Connection = psycopg.Connection[tuple[Any, ...]]
Parameters = dict[str, Any]


class NoAnswer(psycopg.OperationalError):
    """The server took too long; the connection cannot be used any more."""

    failure_kind: FailureKind = "timeout"


def parameters_of(url: str, seconds: float) -> Parameters:
    """libpq's parameters: those of the URL, and time-outs that notice a dead host in ``seconds``.

    Of several hosts, the primary is connected to, and all of them can be tried in that time.
    """
    url_parameters = conninfo_to_dict(url)
    hosts = _hosts(url_parameters)
    connect_seconds = max(min(_CONNECT_SECONDS, int(seconds / hosts / 2)), _MIN_CONNECT_SECONDS)
    defaults: Parameters = {
        "connect_timeout": connect_seconds,
        "keepalives_idle": 10,
        "keepalives_interval": 3,
        "keepalives_count": 3,
        "tcp_user_timeout": int(seconds * 1_000),
        # Tells in pg_stat_activity which process has a connection.
        "fallback_application_name": f"{PROCESS_NAME} {socket.gethostname()}:{os.getpid()}",
    }
    if hosts > 1:
        defaults["target_session_attrs"] = "read-write"
    return defaults | url_parameters


def with_first(parameters: Parameters, host: str, port: int) -> Parameters:
    """The parameters with that host as the first one to try."""
    count = _hosts(parameters)
    if count == 1:
        return parameters
    lists = {name: str(parameters.get(name) or "").split(",") for name in _HOST_PARAMETERS}
    lists = {name: values * count if len(values) == 1 else values for name, values in lists.items()}
    names = lists["host"] if parameters.get("host") else lists["hostaddr"]
    order = sorted(
        range(count),
        key=lambda index: names[index] != host or lists["port"][index] not in ("", str(port)),
    )
    reordered = {name: ",".join(values[i] for i in order) for name, values in lists.items()}
    return parameters | {name: reordered[name] for name in lists if parameters.get(name)}


def _hosts(parameters: Mapping[str, Any]) -> int:
    return max(str(parameters.get(name) or "").count(",") + 1 for name in ("host", "hostaddr"))


def is_pooled(connection: Connection) -> bool:
    """Whether a pooler such as PgBouncer is in between.

    In its transaction mode the next transaction may run in another server process, so nothing may
    rely on a session: prepared statements, SET, LISTEN, session locks. A pooler gives each client a
    process id of its own to cancel with.
    """
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    return row != (connection.info.backend_pid,)


def abort(connection: psycopg.Connection[Any]) -> None:
    """End a connection from another thread: the one that waits gets an OperationalError."""
    # It may be closed already.
    with (
        suppress(OSError, psycopg.OperationalError),
        socket.socket(fileno=os.dup(connection.fileno())) as own,
    ):
        own.shutdown(socket.SHUT_RDWR)


class Watchdog:
    """Aborts connections that wait for the server for more than ``seconds``."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends_at: dict[psycopg.Connection[Any], float] = {}
        self._lock = threading.Lock()
        self._is_closed = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def watching(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """Raises NoAnswer when the server takes too long. Use it for one statement."""
        ends_at = time.monotonic() + self._seconds + _GRACE_SECONDS
        with self._lock:
            self._ends_at[connection] = ends_at
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._watch, name="postgresql-watchdog", daemon=True
                )
                self._thread.start()
        try:
            yield
        except psycopg.OperationalError as error:
            if time.monotonic() < ends_at:
                raise
            text = f"PostgreSQL did not answer within {self._seconds:.1f} s."
            raise NoAnswer(text) from error
        finally:
            with self._lock:
                del self._ends_at[connection]

    def close(self) -> None:
        self._is_closed.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        while not self._is_closed.wait(_WATCH_SECONDS):
            now = time.monotonic()
            # With the lock, so that no connection is closed and its file number reused meanwhile.
            with self._lock:
                for connection, ends_at in self._ends_at.items():
                    if ends_at < now:
                        abort(connection)


@contextmanager
def aborted_if_unreachable(
    connection: psycopg.Connection[Any], parameters: Parameters, seconds: float
) -> Iterator[None]:
    """For statements that may take an hour: wait while the server accepts other connections."""
    is_done = threading.Event()

    def watch() -> None:
        while not is_done.wait(seconds):
            try:
                psycopg.connect(**parameters).close()
            except psycopg.OperationalError:
                abort(connection)
                return

    thread = threading.Thread(target=watch, name="migration-watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_done.set()
        thread.join()
