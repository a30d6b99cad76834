"""Background work of a process: dispatchers, jobs every minute, hourly pruning."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Final, Protocol

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from api.http.operations import Clock
from storage.admin import daily_changes
from storage.base import monitoring
from storage.base.errors import DatabaseUnavailable
from storage.base.monitoring import expect_job, job_run
from storage.base.retention import Retention
from storage.db.database import Database
from storage.operations import pruning

_log = structlog.stdlib.get_logger("hiatus.scheduler")

TICK_SECONDS: Final = 1
# Reminders and digests run every minute.
JOB_SECONDS: Final = 30
# How long a shutdown waits for a running job.
FINISH_SECONDS: Final = 10.0


class Background(Protocol):
    """A ``Dispatcher`` for any kind of work."""

    name: str

    def start(self) -> None: ...
    def wake(self) -> None: ...
    async def stop(self) -> None: ...


@asynccontextmanager
async def running(
    database: Database,
    dispatchers: Sequence[Background],
    clock: Clock,
    jobs: Mapping[str, Callable[[], Awaitable[None]]] = MappingProxyType({}),
    *,
    retention: Retention = Retention(),  # noqa: B008  # frozen
    tick_seconds: float = TICK_SECONDS,
    job_seconds: float = JOB_SECONDS,
) -> AsyncIterator[None]:
    """Wake the dispatchers after commits, and regularly for work that has become due.

    ``jobs`` have names for logs and metrics and run twice a minute; a running job is finished
    before this ends. Every process that runs this prunes old data every hour, lets changes of
    employment take effect and old pending requests lapse.
    """

    # Coroutines, because APScheduler runs plain functions on a thread.
    async def tick() -> None:
        for dispatcher in dispatchers:
            dispatcher.wake()

    async def prune() -> None:
        await pruning.prune(database, now=clock(), retention=retention)

    async def change_employment() -> None:
        await daily_changes.change_employment(database, now=clock())

    async def lapse() -> None:
        await daily_changes.lapse_requests(database, now=clock())

    scheduler = AsyncIOScheduler(
        # A stalled event loop may delay a run but must not skip it.
        job_defaults={"misfire_grace_time": None, "coalesce": True}
    )
    for dispatcher in dispatchers:
        database.on_notify(dispatcher.name, dispatcher.wake)
        dispatcher.start()
    running_jobs: set[asyncio.Task[object]] = set()
    for name, job in {"employment": change_employment, "lapsing": lapse, **jobs}.items():
        scheduler.add_job(_measured(name, job, running_jobs), "interval", seconds=job_seconds)
    scheduler.add_job(_measured("pruning", prune, running_jobs), "interval", hours=1)
    # Overlapping runs are harmless, because waking twice has the effect of waking once.
    scheduler.add_job(tick, "interval", seconds=tick_seconds, max_instances=10)
    scheduler.start()
    listener = asyncio.create_task(database.listen(), name="listen")
    try:
        yield
    finally:
        listener.cancel()
        scheduler.pause()
        # Let jobs start that are due now, to wait for them as well.
        await asyncio.sleep(0)
        await asyncio.gather(*(dispatcher.stop() for dispatcher in dispatchers))
        if running_jobs:
            await asyncio.wait(running_jobs, timeout=FINISH_SECONDS)
        scheduler.shutdown(wait=False)


def _measured(
    name: str, job: Callable[[], Awaitable[None]], running_jobs: set[asyncio.Task[object]]
) -> Callable[[], Awaitable[None]]:
    """The job, measured, which adds its task to ``running_jobs`` while it runs."""
    expect_job(name)

    async def measured() -> None:
        task = asyncio.current_task()
        assert task is not None
        running_jobs.add(task)
        task.add_done_callback(running_jobs.discard)
        try:
            with monitoring.span(f"job {name}"), job_run(name):
                await job()
        except DatabaseUnavailable as error:
            # Without traceback: this repeats while the database is unavailable.
            _log.warning("scheduler.job_failed", job=name, reason=str(error))
        except Exception:  # noqa: BLE001  # the next run may succeed
            _log.exception("scheduler.job_failed", job=name)

    return measured
