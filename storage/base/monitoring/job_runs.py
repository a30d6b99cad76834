"""When the periodic jobs of this process last succeeded, and how long they took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from storage.base.monitoring.measurements import Numbers, Timings

_LABELS: Final = ("name",)
_LAST_SUCCESS: Final = Numbers(
    "hiatus_job_last_success_timestamp_seconds",
    "When a run of the job last succeeded in this process, in Unix time; 0 before the first.",
    _LABELS,
)
_RUNS: Final = Numbers(
    "hiatus_job_runs_total", "Runs of the job by outcome: succeeded or failed.", ("name", "outcome")
)
_DURATIONS: Final = Timings(
    "hiatus_job_duration_seconds",
    "How long the runs took.",
    (0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 1_800.0),
    _LABELS,
)


def expect(name: str) -> None:
    """Show that this process runs the job, before the first run."""
    _LAST_SUCCESS.of(name)


@contextmanager
def job_run(name: str) -> Iterator[None]:
    """Measure one run. A run that raises has failed; a cancelled one does not count."""
    started = time.perf_counter()
    try:
        yield
    except Exception:
        _RUNS.of(name, "failed").add()
        raise
    else:
        _RUNS.of(name, "succeeded").add()
        _LAST_SUCCESS.of(name).set(round(time.time(), 3))
    finally:
        _DURATIONS.of(name).observe(time.perf_counter() - started)
