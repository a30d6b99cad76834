"""The dispatcher and the scheduler: woken, bounded, robust, and orderly at the end."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from structlog.testing import capture_logs

from api.base.dispatcher import MAX_BATCH, Dispatcher
from api.service.scheduler import running
from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database
from tests.builders import NOW


class Work:
    """A queue in memory; ``settled`` holds one list for each time that outcomes were recorded."""

    def __init__(self, *waiting: int) -> None:
        self.waiting = list(waiting)
        self.settled: list[list[tuple[int, int]]] = []
        self.running = 0
        self.most_running = 0

    async def claim(self, limit: int) -> list[int]:
        claimed, self.waiting = self.waiting[:limit], self.waiting[limit:]
        return claimed

    async def attempt(self, work: int) -> int:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(0.01)
        self.running -= 1
        return work * 10

    async def record_results(self, done: list[tuple[int, int]]) -> None:
        self.settled.append(done)

    def all_settled(self) -> list[tuple[int, int]]:
        return sorted(pair for done in self.settled for pair in done)


def dispatcher(work: Work, in_flight: int = 4, max_ahead: int = 0) -> Dispatcher[int, int]:
    return Dispatcher(
        "test",
        claim=work.claim,
        attempt=work.attempt,
        record_results=work.record_results,
        in_flight=in_flight,
        max_ahead=max_ahead,
    )


async def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)


def run(story: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(_awaited(story), 30))


async def _awaited(story: Callable[[], Awaitable[None]]) -> None:
    await story()


def work_until(work: Work, is_done: Callable[[], bool], **limits: int) -> None:
    """Run a dispatcher until the condition holds, and stop it."""

    async def story() -> None:
        doing = dispatcher(work, **limits)
        doing.start()
        await until(is_done)
        await doing.stop()

    run(story)


def test_all_work_is_done_within_the_concurrency_limit() -> None:
    work = Work(*range(20))

    work_until(work, lambda: len(work.all_settled()) == 20)

    assert work.all_settled() == [(number, number * 10) for number in range(20)]
    assert work.most_running == 4


def test_it_sleeps_until_it_is_woken_from_any_thread() -> None:
    work = Work()

    async def story() -> None:
        doing = dispatcher(work)
        doing.start()
        await asyncio.sleep(0.05)
        work.waiting.append(7)
        await asyncio.to_thread(doing.wake)
        await until(lambda: work.all_settled() == [(7, 70)])
        await doing.stop()

    run(story)


def test_a_failing_claim_does_not_end_the_loop() -> None:
    work = Work(1)

    class Flaky(Work):
        failures = 1

        async def claim(self, limit: int) -> list[int]:
            if self.failures:
                self.failures -= 1
                raise OSError("the database is away")
            return await super().claim(limit)

    work = Flaky(1)

    async def story() -> None:
        doing = dispatcher(work)
        doing.start()
        await asyncio.sleep(0.05)
        doing.wake()
        await until(lambda: work.all_settled() == [(1, 10)])
        await doing.stop()

    run(story)


def test_an_unavailable_database_is_logged_without_a_traceback() -> None:
    class Away(Work):
        failures = 1

        async def claim(self, limit: int) -> list[int]:
            if self.failures:
                self.failures -= 1
                raise DatabaseUnavailable("the host is down")
            return await super().claim(limit)

    work = Away(1)

    async def story() -> None:
        doing = dispatcher(work)
        doing.start()
        await until(lambda: work.failures == 0)
        doing.wake()
        await until(lambda: work.all_settled() == [(1, 10)])
        await doing.stop()

    with capture_logs() as logged:
        run(story)

    assert logged == [
        {
            "event": "dispatcher.step_failed",
            "log_level": "warning",
            "dispatcher": "test",
            "reason": "the host is down",
        }
    ]


def test_a_failing_attempt_is_left_to_its_lease() -> None:
    class Broken(Work):
        async def attempt(self, work: int) -> int:
            if work == 1:
                raise ZeroDivisionError
            return await super().attempt(work)

    work = Broken(1, 2)

    work_until(work, lambda: work.all_settled() == [(2, 20)])


def test_stopping_waits_for_attempts_in_flight_and_records_them() -> None:
    work = Work(1, 2, 3)

    work_until(work, lambda: work.running > 0)

    assert work.all_settled() == [(1, 10), (2, 20), (3, 30)]


def test_work_claimed_during_the_stop_is_processed() -> None:
    class Slow(Work):
        is_claiming = False

        async def claim(self, limit: int) -> list[int]:
            claimed = await super().claim(limit)
            self.is_claiming = True
            await asyncio.sleep(0.05)
            return claimed

    work = Slow(1)

    work_until(work, lambda: work.is_claiming)

    assert work.all_settled() == [(1, 10)]


def test_an_unrecorded_outcome_is_recorded_later() -> None:
    class Away(Work):
        failures = 1
        attempts = 0

        async def attempt(self, work: int) -> int:
            self.attempts += 1
            return await super().attempt(work)

        async def record_results(self, done: list[tuple[int, int]]) -> None:
            if self.failures:
                self.failures -= 1
                raise DatabaseUnavailable("away")
            await super().record_results(done)

    work = Away(1)

    work_until(work, lambda: work.failures == 0)

    assert (work.all_settled(), work.attempts) == ([(1, 10)], 1)


def test_work_is_claimed_before_a_place_is_free() -> None:
    class Slow(Work):
        ahead = 0

        async def claim(self, limit: int) -> list[int]:
            await asyncio.sleep(0.01)
            claimed = await super().claim(limit)
            self.ahead = max(self.ahead, self.running + len(claimed))
            return claimed

    work = Slow(*range(100))

    work_until(work, lambda: len(work.all_settled()) == 100, max_ahead=8)

    assert work.most_running == 4
    assert 4 < work.ahead <= 12


def test_no_work_is_claimed_to_wait_for_hanging_attempts() -> None:
    class Hanging(Work):
        async def attempt(self, work: int) -> int:
            self.running += 1
            await asyncio.sleep(30)
            return work

    work = Hanging(*range(20))

    async def story() -> None:
        doing = dispatcher(work, max_ahead=8)
        doing.start()
        await until(lambda: work.running == 4)
        for _ in range(5):
            doing.wake()
            await asyncio.sleep(0.01)

    run(story)

    assert len(work.waiting) == 16


def test_work_claimed_ahead_is_processed_before_the_stop() -> None:
    work = Work(*range(100))

    work_until(work, lambda: len(work.all_settled()) >= 20, max_ahead=8)

    assert len(work.all_settled()) + len(work.waiting) == 100


def test_no_transaction_records_more_than_a_few_dozen() -> None:
    class AtOnce(Work):
        async def attempt(self, work: int) -> int:
            return work * 10

    work = AtOnce(*range(300))

    work_until(work, lambda: len(work.all_settled()) == 300, in_flight=300)

    assert max(len(done) for done in work.settled) == MAX_BATCH


def test_an_unrecordable_outcome_does_not_lose_the_others() -> None:
    work = Work(*range(8))
    record_results = work.record_results

    async def record_all_but_3(done: list[tuple[int, int]]) -> None:
        if (3, 30) in done:
            raise ValueError("a row that no code of ours writes")
        await record_results(done)

    work.record_results = record_all_but_3  # type: ignore[method-assign]

    work_until(work, lambda: len(work.all_settled()) == 7, in_flight=8)

    assert work.all_settled() == [(number, number * 10) for number in range(8) if number != 3]


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
