"""What a process does without being asked: dispatchers, jobs by the minute, pruning by the hour."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from api.dispatcher import Dispatcher
from api.operations import Clock
from storage import pruning
from storage.database import Database

TICK_SECONDS: Final = 1
# Reminders and digests are told by the minute.
JOB_SECONDS: Final = 30


@asynccontextmanager
async def running(
    database: Database,
    dispatchers: Sequence[Dispatcher[Any, Any]],
    clock: Clock,
    jobs: Sequence[Callable[[], Awaitable[None]]] = (),
) -> AsyncIterator[None]:
    """Have the dispatchers woken by commits, and by a tick for what came due or was missed.

    ``jobs`` are done twice a minute. What was settled long ago is pruned every hour, by each
    process that runs this.
    """
    from apscheduler.schedulers.asyncio import AsyncIOScheduler

    async def prune() -> None:
        await pruning.prune(database, now=clock())

    scheduler = AsyncIOScheduler(
        # A stalled loop may delay a tick; it must not cost one.
        job_defaults={"misfire_grace_time": None, "coalesce": True}
    )
    for dispatcher in dispatchers:
        database.on_wake(dispatcher.name, dispatcher.wake)
        dispatcher.start()
        scheduler.add_job(dispatcher.wake, "interval", seconds=TICK_SECONDS)
    for job in jobs:
        scheduler.add_job(job, "interval", seconds=JOB_SECONDS)
    scheduler.add_job(prune, "interval", hours=1)
    scheduler.start()
    hearing = asyncio.create_task(database.hear_wakes(), name="hear-wakes")
    try:
        yield
    finally:
        hearing.cancel()
        scheduler.shutdown(wait=False)
        await asyncio.gather(*(dispatcher.stop() for dispatcher in dispatchers))
