"""Background jobs go on while all threads are busy, and end silently."""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from structlog.testing import capture_logs

from api.base.dispatcher import Dispatcher
from api.service.scheduler import running
from storage.db.database import Database
from tests.builders import NOW


class Looks:
    """Counts how often a dispatcher claims work."""

    def __init__(self) -> None:
        self.number = 0

    async def claim(self, limit: int) -> list[int]:
        self.number += 1
        return []

    async def attempt(self, work: int) -> int:
        return work

    async def record_results(self, done: list[tuple[int, int]]) -> None:
        return None

    def dispatcher(self) -> Dispatcher[int, int]:
        return Dispatcher(
            "test", claim=self.claim, attempt=self.attempt, record_results=self.record_results
        )


def test_the_scheduler_runs_while_every_thread_is_busy(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    looks, is_over = Looks(), threading.Event()

    async def story() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        every_thread = loop.run_in_executor(None, is_over.wait)
        async with running(database, [looks.dispatcher()], lambda: NOW, tick_seconds=0.01):
            async with asyncio.timeout(30):
                while looks.number < 5:
                    await asyncio.sleep(0.01)
        is_over.set()
        await every_thread

    with caplog.at_level(logging.WARNING):
        asyncio.run(story())

    assert caplog.records == []


def test_a_started_job_is_finished(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []

    async def story() -> None:
        is_begun = asyncio.Event()

        async def job() -> None:
            is_begun.set()
            await asyncio.sleep(0.2)
            done.append("finished")

        async with running(database, [], lambda: NOW, {"job": job}, job_seconds=0.01):
            await asyncio.wait_for(is_begun.wait(), 30)

    with caplog.at_level(logging.ERROR):
        asyncio.run(story())

    assert done == ["finished"]
    assert caplog.records == []


def test_a_job_that_fails_is_logged_and_runs_again(database: Database) -> None:
    begun: list[int] = []

    async def fail() -> None:
        begun.append(1)
        raise RuntimeError("damaged")

    async def story() -> None:
        async with running(database, [], lambda: NOW, {"fail": fail}, job_seconds=0.01):
            async with asyncio.timeout(30):
                while len(begun) < 2:
                    await asyncio.sleep(0.01)

    with capture_logs() as logs:
        asyncio.run(story())

    failed = [log_entry for log_entry in logs if log_entry["event"] == "scheduler.job_failed"]
    assert len(failed) >= 2
    assert failed[0]["exc_info"]
    assert failed[0]["job"] == "fail"
