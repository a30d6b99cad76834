"""When the periodic jobs of this process last succeeded, and how long they took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from storage.base.monitoring.measurements import REGISTRY

_LABELS: Final = ("name",)
_LAST_SUCCESS: Final = Gauge(
    "hiatus_job_last_success_timestamp_seconds",
    "When a run of the job last succeeded in this process, in Unix time; 0 before the first.",
    _LABELS,
    registry=REGISTRY,
    multiprocess_mode="max",
)
_RUNS: Final = Counter(
    "hiatus_job_runs_total",
    "Runs of the job by outcome: succeeded or failed.",
    ("name", "outcome"),
    registry=REGISTRY,
)
_DURATIONS: Final = Histogram(
    "hiatus_job_duration_seconds",
    "How long the runs took.",
    _LABELS,
    registry=REGISTRY,
    buckets=(0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 1_800.0),
)


def expect(name: str) -> None:
    """Show that this process runs the job, before the first run."""
    _LAST_SUCCESS.labels(name)


@contextmanager
def job_run(name: str) -> Iterator[None]:
    """Measure one run. A run that raises has failed; a cancelled one does not count."""
    started = time.perf_counter()
    try:
        yield
    except Exception:
        _RUNS.labels(name, "failed").inc()
        raise
    else:
        _RUNS.labels(name, "succeeded").inc()
        _LAST_SUCCESS.labels(name).set(round(time.time(), 3))
    finally:
        _DURATIONS.labels(name).observe(time.perf_counter() - started)
