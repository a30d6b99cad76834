"""What this process tells of itself: metrics, and spans for OpenTelemetry.

``api.base.metrics`` exposes the registry. Other metrics are declared in the module that fills them.
Labels come from the code, never from requests: each id would be a series of its own.

``api.service.telemetry`` provides the tracing; without it, spans do nothing. Attributes are names
from the code, numbers and ids: never names of people, notes, URLs or tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter, time
from typing import Final, Literal, Protocol, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from storage.base.errors import FailureKind

REGISTRY: Final = CollectorRegistry()

Kind = Literal["internal", "client", "server"]
Attributes = Mapping[str, str | int | bool]


class Span(Protocol):
    def rename(self, name: str) -> None: ...
    def set(self, attributes: Attributes) -> None: ...
    def fail(self, error_type: str) -> None: ...


class Tracing(Protocol):
    """What the SDK is used for. A span with an error has the error's type only."""

    def span(
        self, name: str, kind: Kind, attributes: Attributes, headers: Mapping[str, str] | None
    ) -> AbstractContextManager[Span]:
        """A span around a block; with ``headers``, it continues the trace that they name."""

    def inner_span(self, name: str, attributes: Attributes) -> AbstractContextManager[Span]:
        """A span of the database. Does nothing outside of another span."""

    def finished(self, name: str, seconds: float, attributes: Attributes) -> None:
        """A span of the database that has just ended. Does nothing outside of another span."""

    def ids(self) -> tuple[str, str] | None:
        """The ids of the current trace and span, in hexadecimal; None outside of a span."""


class _NoSpan:
    def rename(self, name: str) -> None: ...
    def set(self, attributes: Attributes) -> None: ...
    def fail(self, error_type: str) -> None: ...


_NO_SPAN: Final = nullcontext(_NoSpan())

# None unless tracing is on. Read it as an attribute of this module.
active_tracing: Tracing | None = None


def trace_ids() -> tuple[str, str] | None:
    """The ids of the current trace and span, in hexadecimal; None outside of a span."""
    return None if active_tracing is None else active_tracing.ids()


def activate_tracing(tracing: Tracing) -> None:
    """Trace from now on."""
    global active_tracing
    active_tracing = tracing


def span(
    name: str,
    kind: Kind = "internal",
    attributes: Attributes | None = None,
    headers: Mapping[str, str] | None = None,
) -> AbstractContextManager[Span]:
    """A span around a block of code, if tracing is on."""
    if active_tracing is None:
        return _NO_SPAN
    return active_tracing.span(name, kind, attributes or {}, headers)


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
    if active_tracing is not None:
        attributes = {"db.system.name": engine, "db.query.text": sql}
        active_tracing.finished(sql.partition(" ")[0], seconds, attributes)


_ERRORS: Final = Counter(
    "hiatus_database_errors_total",
    "Errors of the database by kind, those after which a retry succeeded included.",
    ("kind",),
    registry=REGISTRY,
)

# From the start, because Prometheus sees no increase in a counter that begins with 1.
for _kind in get_args(FailureKind):
    _ERRORS.labels(_kind)


def count_database_error(kind: FailureKind) -> None:
    _ERRORS.labels(kind).inc()


_JOB_LABELS: Final = ("name",)

_LAST_SUCCESS: Final = Gauge(
    "hiatus_job_last_success_timestamp_seconds",
    "When a run of the job last succeeded in this process, in Unix time; 0 before the first.",
    _JOB_LABELS,
    registry=REGISTRY,
    multiprocess_mode="max",
)

_JOB_RUNS: Final = Counter(
    "hiatus_job_runs_total",
    "Runs of the job by outcome: succeeded or failed.",
    ("name", "outcome"),
    registry=REGISTRY,
)

_JOB_DURATIONS: Final = Histogram(
    "hiatus_job_duration_seconds",
    "How long the runs took.",
    _JOB_LABELS,
    registry=REGISTRY,
    buckets=(0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 1_800.0),
)


def expect_job(name: str) -> None:
    """Show that this process runs the job, before the first run."""
    _LAST_SUCCESS.labels(name)


@contextmanager
def job_run(name: str) -> Iterator[None]:
    """Measure one run. A run that raises has failed; a cancelled one does not count."""
    started = perf_counter()
    try:
        yield
    except Exception:
        _JOB_RUNS.labels(name, "failed").inc()
        raise
    else:
        _JOB_RUNS.labels(name, "succeeded").inc()
        _LAST_SUCCESS.labels(name).set(round(time(), 3))
    finally:
        _JOB_DURATIONS.labels(name).observe(perf_counter() - started)
