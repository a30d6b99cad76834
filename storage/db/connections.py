"""Connections to PostgreSQL with a deadline that the client enforces.

A server-side ``statement_timeout`` does not help when the server process is stopped while its host
keeps acknowledging packets.

Connections prepare no statements unless the caller knows that they are not pooled (``is_pooled``).
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

T = TypeVar("T")

CONNECT_SECONDS: Final = 5
# How the name of every connection begins.
PROCESS_NAME: Final = "hiatus"
# How often a wait is interrupted to look for signals; psycopg's own default.
_INTERVAL_SECONDS: Final = 0.1
# libpq's lists, one entry for each host.
_HOST_PARAMETERS: Final = ("host", "hostaddr", "port")
_SERVER_PROCESS: Final = "SELECT pg_backend_pid()"

Parameters = dict[str, Any]


class NoAnswer(psycopg.OperationalError):
    """The server took too long; the connection cannot be used any more."""


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """Raises NoAnswer when the server takes too long.

    Each statement has ``seconds``, and all of them end at ``ends_at`` (of ``time.monotonic``)
    where that is set.
    """

    seconds: float = 10.0
    ends_at: float | None = None

    def wait(
        self, gen: PQGen[T], interval: float = _INTERVAL_SECONDS, timeout: float | None = None
    ) -> T:
        if timeout is None:
            timeout = self.seconds
            if self.ends_at is not None:
                timeout = max(min(timeout, self.ends_at - time.monotonic()), 0.0)
        try:
            return super().wait(gen, interval, timeout)
        except psycopg.OperationalError as error:
            if self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                raise
            raise NoAnswer(f"PostgreSQL did not answer within {timeout:.1f} s.") from error


class PatientConnection(Connection):
    """Keeps waiting while the server accepts connections: a migration may take an hour."""

    parameters: Parameters

    def wait(
        self, gen: PQGen[T], interval: float = _INTERVAL_SECONDS, timeout: float | None = None
    ) -> T:
        while True:
            try:
                return super().wait(gen, interval, timeout)
            except NoAnswer:
                if timeout is not None:
                    raise
                # Raises OperationalError where the server no longer answers.
                connect(self.parameters, self.seconds).close()


class AsyncConnection(psycopg.AsyncConnection[tuple[Any, ...]]):
    """As ``Connection``, for an event loop; a wait with a time-out of its own keeps that."""

    seconds: float = 10.0

    async def wait(
        self, gen: PQGen[T], interval: float = _INTERVAL_SECONDS, timeout: float | None = None
    ) -> T:
        return await super().wait(gen, interval, self.seconds if timeout is None else timeout)


def parameters_of(url: str, seconds: float) -> Parameters:
    """libpq's parameters: those of the URL, and keep-alives that notice a dead host in ``seconds``.

    With several hosts, only the primary is connected to.
    """
    url_parameters = conninfo_to_dict(url)
    defaults: Parameters = {
        "connect_timeout": CONNECT_SECONDS,
        "keepalives_idle": 10,
        "keepalives_interval": 3,
        "keepalives_count": 3,
        "tcp_user_timeout": int(seconds * 1_000),
        # Tells in pg_stat_activity which process has a connection.
        "fallback_application_name": f"{PROCESS_NAME} {socket.gethostname()}:{os.getpid()}",
    }
    if _hosts(url_parameters) > 1:
        defaults["target_session_attrs"] = "read-write"
    return defaults | url_parameters


def connect(parameters: Parameters, seconds: float, *, ends_at: float | None = None) -> Connection:
    """Connect to the first host that answers, before ``ends_at``. Raises OperationalError."""
    connection = Connection.connect(
        autocommit=True, prepare_threshold=None, **_in_time(parameters, seconds, ends_at)
    )
    connection.seconds = seconds
    connection.ends_at = ends_at
    return connection


def connect_patiently(parameters: Parameters, seconds: float) -> PatientConnection:
    """Connect for statements that may take long. Raises OperationalError."""
    connection = PatientConnection.connect(
        autocommit=True, prepare_threshold=None, **_in_time(parameters, seconds, None)
    )
    connection.seconds = seconds
    connection.parameters = parameters
    return connection


async def connect_async(parameters: Parameters, seconds: float) -> AsyncConnection:
    """As ``connect``, for an event loop."""
    connection = await AsyncConnection.connect(
        autocommit=True, prepare_threshold=None, **_in_time(parameters, seconds, None)
    )
    connection.seconds = seconds
    return connection


def is_pooled(connection: Connection) -> bool:
    """Whether a pooler such as PgBouncer is in between.

    In its transaction mode the next transaction may run in another server process, so nothing may
    rely on a session: prepared statements, SET, LISTEN, session locks. A pooler gives each client a
    process id of its own to cancel with.
    """
    return _is_of_another(connection, connection.execute(_SERVER_PROCESS).fetchone())


async def is_pooled_async(connection: AsyncConnection) -> bool:
    """As ``is_pooled``, for an event loop."""
    cursor = await connection.execute(_SERVER_PROCESS)
    return _is_of_another(connection, await cursor.fetchone())


def _is_of_another(
    connection: psycopg.BaseConnection[Any], server_process: tuple[Any, ...] | None
) -> bool:
    return server_process != (connection.info.backend_pid,)


def with_last(parameters: Parameters, host: str, port: int) -> Parameters:
    """The parameters with that host as the last one to try."""
    count = _hosts(parameters)
    if count == 1:
        return parameters
    lists = {
        name: str(parameters[name]).split(",") for name in _HOST_PARAMETERS if parameters.get(name)
    }
    lists = {name: values * count if len(values) == 1 else values for name, values in lists.items()}
    names = lists.get("host") or lists["hostaddr"]
    ports = lists.get("port") or [""] * count
    order = sorted(
        range(count), key=lambda index: names[index] == host and ports[index] in ("", str(port))
    )
    reordered = {name: ",".join(values[i] for i in order) for name, values in lists.items()}
    return parameters | reordered


def _hosts(parameters: Mapping[str, Any]) -> int:
    """How many hosts the parameters name."""
    return max(str(parameters.get(name) or "").count(",") + 1 for name in ("host", "hostaddr"))


def _in_time(parameters: Parameters, seconds: float, ends_at: float | None) -> Parameters:
    """The parameters with a time-out for each host that lets all of them be tried in time."""
    seconds_left = seconds if ends_at is None else max(ends_at - time.monotonic(), 0.0)
    # libpq takes whole seconds, at least two.
    timeout = max(int(seconds_left / _hosts(parameters)), 2)
    configured = int(parameters["connect_timeout"] or 0)
    return parameters | {"connect_timeout": min(configured, timeout) if configured > 0 else timeout}
