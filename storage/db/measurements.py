"""What the database is measured by: durations, and errors by kind."""

from __future__ import annotations

import sqlite3
from time import perf_counter
from typing import Final, get_args

from prometheus_client import Counter, Histogram

from storage.base.errors import DatabaseUnavailable, FailureKind
from storage.base.monitoring import tracing
from storage.base.monitoring.measurements import REGISTRY

_SECONDS: Final = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0),
)
_TRANSACTIONS: Final = Histogram(
    "hiatus_database_transaction_duration_seconds",
    "Transactions from the call to the result, including the wait and the commit.",
    ("mode",),
    registry=REGISTRY,
    buckets=_SECONDS,
)
_WAITS: Final = Histogram(
    "hiatus_database_wait_seconds",
    "How long transactions waited for SQLite's writer, or on PostgreSQL for a thread and for a "
    "connection.",
    ("resource",),
    registry=REGISTRY,
    buckets=_SECONDS,
)

_STATEMENTS: Final = Histogram(
    "hiatus_database_statement_duration_seconds",
    "Statements, with their rows.",
    registry=REGISTRY,
    buckets=_SECONDS,
)
TRANSACTIONS: Final = {mode: _TRANSACTIONS.labels(mode) for mode in ("read", "write", "dry_run")}
WRITER_WAITS: Final = _WAITS.labels("writer")
THREAD_WAITS: Final = _WAITS.labels("thread")
CONNECTION_WAITS: Final = _WAITS.labels("connection")


def end_statement(engine: str, sql: str, started: float) -> None:
    """Measure a statement that began at ``started`` of ``perf_counter``.

    ``sql`` has placeholders instead of values.
    """
    seconds = perf_counter() - started
    _STATEMENTS.observe(seconds)
    if tracing.active is not None:
        attributes = {"db.system.name": engine, "db.query.text": sql}
        tracing.active.finished(sql.partition(" ")[0], seconds, attributes)


_ERRORS: Final = Counter(
    "hiatus_database_errors_total",
    "Errors of the database by kind, those after which a retry succeeded included.",
    ("kind",),
    registry=REGISTRY,
)
# From the start, because Prometheus sees no increase in a counter that begins with 1.
for _kind in get_args(FailureKind):
    _ERRORS.labels(_kind)
# https://www.sqlite.org/rescode.html
_SQLITE_KINDS: Final[dict[int, FailureKind]] = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_FULL: "disk_full",
    sqlite3.SQLITE_CORRUPT: "corrupt",
    sqlite3.SQLITE_NOTADB: "corrupt",
    sqlite3.SQLITE_IOERR: "input_output",
    sqlite3.SQLITE_CANTOPEN: "input_output",
    sqlite3.SQLITE_READONLY: "read_only",
}
# https://www.postgresql.org/docs/current/errcodes-appendix.html
_SQLSTATES: Final[dict[str, FailureKind]] = {
    "25006": "read_only",
    "40001": "serialization",
    "40P01": "deadlock",
    "53100": "disk_full",
    "53300": "too_many_connections",
    "55P03": "locked",
    "57014": "timeout",
    "XX001": "corrupt",
    "XX002": "corrupt",
}


def count(kind: FailureKind) -> None:
    _ERRORS.labels(kind).inc()


def counted(error: Exception) -> FailureKind:
    """Count an error of an engine's library; its kind."""
    kind = kind_of(error)
    count(kind)
    return kind


def unavailable(error: Exception) -> DatabaseUnavailable:
    """The error for callers. Counts it, unless its cause was counted already."""
    if isinstance(error.__cause__, DatabaseUnavailable):
        return DatabaseUnavailable(str(error.__cause__), kind=error.__cause__.kind)
    return DatabaseUnavailable(str(error), kind=counted(error))


def kind_of(error: Exception) -> FailureKind:
    """The kind of an error that SQLite or psycopg raised."""
    if isinstance(error, sqlite3.Error):
        # The low byte is the primary result code.
        return _SQLITE_KINDS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "other")
    own_kind: FailureKind | None = getattr(error, "failure_kind", None)
    if own_kind is not None:
        return own_kind
    sqlstate: str | None = getattr(error, "sqlstate", None)
    # Without a state, the error is libpq's own: there is no connection.
    if sqlstate is None or sqlstate.startswith(("08", "57P")):
        return "connection_lost"
    return _SQLSTATES.get(sqlstate, "other")


def is_unavailable(error: sqlite3.Error) -> bool:
    """Whether SQLite cannot work at all, rather than rejecting the statement itself."""
    if isinstance(error, sqlite3.OperationalError):
        return getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_ERROR
    return kind_of(error) == "corrupt"
