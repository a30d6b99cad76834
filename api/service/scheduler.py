"""What a process does without being asked: dispatchers, jobs by the minute, pruning by the hour."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, Protocol

import structlog

from api.http.handlers import Clock
from storage.cli import pruning
from storage.db.database import Database

_log = structlog.stdlib.get_logger("hiatus.scheduler")

TICK_SECONDS: Final = 1
# Reminders and digests are told by the minute.
JOB_SECONDS: Final = 30
# Whoever stops the process waits so long for a job that was begun.
FINISH_SECONDS: Final = 10.0


class Background(Protocol):
    """A ``Dispatcher`` of any kind of work."""

    name: str

    def start(self) -> None: ...
    def wake(self) -> None: ...
    async def stop(self) -> None: ...


@asynccontextmanager
async def running(
    database: Database,
    dispatchers: Sequence[Background],
    clock: Clock,
    jobs: Sequence[Callable[[], Awaitable[None]]] = (),
    *,
    tick_seconds: float = TICK_SECONDS,
    job_seconds: float = JOB_SECONDS,
) -> AsyncIterator[None]:
    """Have the dispatchers woken by commits, and by a tick for what came due or was missed.

    ``jobs`` are done twice a minute; one that was begun is finished before this ends. What was
    settled long ago is pruned every hour, by each process that runs this.
    """
    from apscheduler.schedulers.asyncio import AsyncIOScheduler

    # A coroutine runs on the loop: a function would wait for one of its threads.
    async def tick() -> None:
        for dispatcher in dispatchers:
            dispatcher.wake()

    async def prune() -> None:
        await pruning.prune(database, now=clock())

    scheduler = AsyncIOScheduler(
        # A stalled loop may delay a tick; it must not cost one.
        job_defaults={"misfire_grace_time": None, "coalesce": True}
    )
    for dispatcher in dispatchers:
        database.on_notify(dispatcher.name, dispatcher.wake)
        dispatcher.start()
    under_way: set[asyncio.Task[object]] = set()
    for job in jobs:
        scheduler.add_job(_noted(job, under_way), "interval", seconds=job_seconds)
    scheduler.add_job(_noted(prune, under_way), "interval", hours=1)
    # To wake twice is to wake once: a late tick may meet the next one.
    scheduler.add_job(_noted(tick, under_way), "interval", seconds=tick_seconds, max_instances=10)
    scheduler.start()
    hearing = asyncio.create_task(database.listen(), name="hear-wakes")
    try:
        yield
    finally:
        hearing.cancel()
        scheduler.pause()
        # What is about to begin does so, and is waited for as well.
        await asyncio.sleep(0)
        await asyncio.gather(*(dispatcher.stop() for dispatcher in dispatchers))
        if under_way:
            await asyncio.wait(under_way, timeout=FINISH_SECONDS)
        scheduler.shutdown(wait=False)


def _noted(
    job: Callable[[], Awaitable[None]], under_way: set[asyncio.Task[object]]
) -> Callable[[], Awaitable[None]]:
    """The job, whose task is in ``under_way`` while it runs."""

    async def noted() -> None:
        task = asyncio.current_task()
        assert task is not None
        under_way.add(task)
        task.add_done_callback(under_way.discard)
        try:
            await job()
        except Exception:  # noqa: BLE001  # the next run may go well
            _log.exception("scheduler.job_failed", job=getattr(job, "__qualname__", repr(job)))

    return noted
