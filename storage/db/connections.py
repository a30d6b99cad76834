"""Connections to PostgreSQL with a deadline that the client enforces.

A server-side ``statement_timeout`` does not help when the server process is stopped while its host
keeps acknowledging packets.

Connections prepare no statements unless the caller knows that they are not pooled (``is_pooled``).
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from storage.base.errors import FailureKind

T = TypeVar("T")

CONNECT_SECONDS: Final = 5
# The beginning of every connection's ``application_name``.
PROCESS_NAME: Final = "hiatus"
# How often a wait is interrupted to look for signals; psycopg's own default.
_INTERVAL_SECONDS: Final = 0.1
# libpq's lists, one entry for each host.
_HOST_PARAMETERS: Final = ("host", "hostaddr", "port")
_SERVER_PROCESS: Final = "SELECT pg_backend_pid()"
# A timeline has eight hexadecimal digits; a standby has none of its own.
_SERVER: Final = """
    SELECT pg_backend_pid(), (SELECT system_identifier FROM pg_control_system()),
    CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END"""
# Databases that only speak PostgreSQL's protocol may lack these functions, or refuse them.
_UNKNOWN: Final = (psycopg.ProgrammingError, psycopg.NotSupportedError, psycopg.InternalError)

Parameters = dict[str, Any]
Address = tuple[str, int]


class NoAnswer(psycopg.OperationalError):
    """The server took too long; the connection cannot be used any more."""

    failure_kind: FailureKind = "timeout"


class ReplacedPrimary(psycopg.OperationalError):
    """The server is a primary of an earlier timeline than one that this process has used."""


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """Raises NoAnswer when the server takes too long.

    Each statement has ``seconds``, and all of them end at ``ends_at`` (of ``time.monotonic``)
    where that is set. ``address`` is the server's; a broken connection does not know it any more.
    """

    address: Address
    epoch: object = None
    is_pooled: bool = False
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
    """As ``Connection``, for an event loop. A wait with its own time-out keeps it."""

    address: Address
    epoch: object = None
    is_pooled: bool = False
    seconds: float = 10.0

    async def wait(
        self, gen: PQGen[T], interval: float = _INTERVAL_SECONDS, timeout: float | None = None
    ) -> T:
        return await super().wait(gen, interval, self.seconds if timeout is None else timeout)


def parameters_of(url: str, seconds: float, session_attrs: str = "read-write") -> Parameters:
    """libpq's parameters: those of the URL, and keep-alives that notice a dead host in ``seconds``.

    With several hosts, ``session_attrs`` says which are connected to: by default, the primary.
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
        defaults["target_session_attrs"] = session_attrs
    return defaults | url_parameters


def connect(parameters: Parameters, seconds: float, *, ends_at: float | None = None) -> Connection:
    """Connect to the first host that answers, before ``ends_at``. Raises OperationalError."""
    connection = Connection.connect(
        autocommit=True, prepare_threshold=None, **_in_time(parameters, seconds, ends_at)
    )
    connection.address = connection.info.host, connection.info.port
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
    connection.address = connection.info.host, connection.info.port
    connection.seconds = seconds
    return connection


class Hosts:
    """The hosts that a URL names, and what this process knows of them. Thread-safe.

    When one connection is lost or meets a newer timeline, all others are replaced before their next
    use: a primary that froze may wake up after a standby was promoted, and answer with old data.
    """

    def __init__(self, parameters: Parameters, seconds: float) -> None:
        self._parameters = parameters
        self._seconds = seconds
        # A new object makes all connections with the old one outdated.
        self._epoch = object()
        # The cluster of the last primary and its timeline, which each promotion raises.
        self._history: tuple[int, str] | None = None
        self._lock = threading.Lock()

    def connect(self, *, ends_at: float | None = None) -> Connection:
        """As the function of this name; also refuses a primary that was replaced."""
        epoch = self._epoch
        connection = connect(self._parameters, self._seconds, ends_at=ends_at)
        connection.epoch = epoch
        try:
            try:
                row = connection.execute(_SERVER).fetchone()
            except _UNKNOWN:
                row = connection.execute(_SERVER_PROCESS).fetchone()
            self._admit(connection, *row or ())
        except psycopg.OperationalError:
            connection.close()
            self.lost(connection)
            raise
        return connection

    async def connect_async(self) -> AsyncConnection:
        """As ``connect``, for an event loop."""
        epoch = self._epoch
        connection = await connect_async(self._parameters, self._seconds)
        connection.epoch = epoch
        try:
            try:
                row = await (await connection.execute(_SERVER)).fetchone()
            except _UNKNOWN:
                row = await (await connection.execute(_SERVER_PROCESS)).fetchone()
            self._admit(connection, *row or ())
        except psycopg.OperationalError:
            await connection.close()
            self.lost(connection)
            raise
        return connection

    def is_current(self, connection: Connection | AsyncConnection) -> bool:
        """Whether the connection may be used again."""
        return connection.epoch is self._epoch

    def lost(self, connection: Connection | AsyncConnection) -> None:
        """Try that connection's host last from now on: another one may have taken over."""
        with self._lock:
            self._parameters = _with_last(self._parameters, *connection.address)
            if connection.epoch is self._epoch:
                self._epoch = object()

    def _admit(
        self,
        connection: Connection | AsyncConnection,
        process: int,
        system: int | None = None,
        timeline: str | None = None,
    ) -> None:
        """Raises ReplacedPrimary."""
        connection.is_pooled = process != connection.info.backend_pid
        if system is None or timeline is None:
            return
        with self._lock:
            known = self._history
            if known == (system, timeline):
                return
            if known is not None:
                if known[0] == system and timeline < known[1]:
                    raise ReplacedPrimary(
                        f"{connection.address[0]}, port {connection.address[1]}, was replaced as "
                        "the primary and runs again as one: stop it."
                    )
                self._epoch = connection.epoch = object()
            self._history = system, timeline


def is_pooled(connection: Connection) -> bool:
    """Whether a pooler such as PgBouncer is in between.

    In its transaction mode the next transaction may run in another server process, so nothing may
    rely on a session: prepared statements, SET, LISTEN, session locks. A pooler gives each client a
    process id of its own to cancel with.
    """
    return connection.execute(_SERVER_PROCESS).fetchone() != (connection.info.backend_pid,)


def _with_last(parameters: Parameters, host: str, port: int) -> Parameters:
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
