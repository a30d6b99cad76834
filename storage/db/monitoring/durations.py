"""How long transactions wait and take, and their statements."""

from __future__ import annotations

from time import perf_counter
from typing import Final

from storage.base.monitoring import tracing
from storage.base.monitoring.measurements import Timings

_SECONDS: Final = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0),
)
_TRANSACTIONS: Final = Timings(
    "hiatus_database_transaction_duration_seconds",
    "Transactions from the call to the result, including the wait and the commit.",
    _SECONDS,
    ("mode",),
)
_WAITS: Final = Timings(
    "hiatus_database_wait_seconds",
    "How long transactions waited for SQLite's writer, or on PostgreSQL for a thread and for a new "
    "connection.",
    _SECONDS,
    ("resource",),
)

_STATEMENTS: Final = Timings(
    "hiatus_database_statement_duration_seconds", "Statements, with their rows.", _SECONDS
).of()
TRANSACTIONS: Final = {mode: _TRANSACTIONS.of(mode) for mode in ("read", "write", "dry_run")}
WRITER_WAITS: Final = _WAITS.of("writer")
THREAD_WAITS: Final = _WAITS.of("thread")
CONNECTION_WAITS: Final = _WAITS.of("connection")


def end_statement(engine: str, sql: str, started: float) -> None:
    """Measure a statement that began at ``started`` of ``perf_counter``.

    ``sql`` has placeholders instead of values.
    """
    seconds = perf_counter() - started
    _STATEMENTS.observe(seconds)
    if tracing.active is not None:
        attributes = {"db.system.name": engine, "db.query.text": sql}
        tracing.active.finished(sql.partition(" ")[0], seconds, attributes)
