"""A loop that processes queued work from the database, generic in the kind of work.

``serve.py`` passes the functions that claim work, attempt it and record the results.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

import structlog

from storage.base import monitoring
from storage.base.errors import DatabaseUnavailable
from storage.base.monitoring import expect_job, job_run

Work = TypeVar("Work")
Outcome = TypeVar("Outcome")

DRAIN_SECONDS: Final = 20.0
# Results within this time are recorded together: a commit costs more than the wait.
BATCH_SECONDS: Final = 0.005
# More would block the event loop too long.
MAX_BATCH: Final = 64

_log = structlog.get_logger("hiatus.dispatcher")


class Dispatcher(Generic[Work, Outcome]):
    """Processes up to ``in_flight`` pieces of work concurrently.

    ``claim(limit)`` leases work that no other process has; ``attempt`` processes one piece outside
    any transaction; ``record_results`` stores several results at once. Claimed work without a
    recorded result is due again when its lease expires, so a crash loses nothing.

    Up to ``max_ahead`` pieces are claimed in advance, as many as finished during the last claim,
    so that no slot stays idle. A lease must then last for at least two attempts, because a piece
    may wait for one that hangs.
    """

    def __init__(
        self,
        name: str,
        *,
        claim: Callable[[int], Awaitable[list[Work]]],
        attempt: Callable[[Work], Awaitable[Outcome]],
        record_results: Callable[[list[tuple[Work, Outcome]]], Awaitable[None]],
        in_flight: int = 32,
        max_ahead: int = 0,
    ) -> None:
        self.name = name
        self._claim = claim
        self._attempt = attempt
        self._record_results = record_results
        self._in_flight = in_flight
        self._max_ahead = max_ahead
        self._woken = asyncio.Event()
        self._results: asyncio.Queue[tuple[Work, Outcome]] = asyncio.Queue()
        self._ready: deque[Work] = deque()
        self._finished = 0
        self._running = 0
        self._runs: set[asyncio.Task[None]] = set()
        self._loops: list[asyncio.Task[None]] = []
        self._is_stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Start on the running event loop; work that is already due is claimed at once."""
        expect_job(self.name)
        self._loop = asyncio.get_running_loop()
        self._loops = [
            asyncio.create_task(self._claim_until_stopped(), name=f"{self.name}-claim"),
            asyncio.create_task(self._record_until_cancel(), name=f"{self.name}-record"),
        ]
        self._woken.set()

    def wake(self) -> None:
        """Trigger a claim. Safe from any thread; does nothing if there is no work."""
        if self._loop is not None:
            # The event loop may be closed at any moment.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._woken.set)

    async def stop(self) -> None:
        """Stop claiming, wait up to 20 seconds for running attempts, and record their results."""
        if not self._loops:
            return
        claiming, recording = self._loops
        self._is_stopping = True
        self._woken.set()
        # Not cancelled at once: work of a cancelled claim would wait until its lease expires.
        await asyncio.wait({claiming}, timeout=DRAIN_SECONDS)
        await _cancel(claiming)
        if self._runs:
            await asyncio.wait(self._runs, timeout=DRAIN_SECONDS)
        for run in list(self._runs):
            await _cancel(run)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                await self._results.join()
        await _cancel(recording)

    async def _claim_until_stopped(self) -> None:
        while not self._is_stopping:
            await self._survive_errors(self._claim_more)

    async def _record_until_cancel(self) -> None:
        while True:
            await self._survive_errors(self._record)

    async def _survive_errors(self, step: Callable[[], Awaitable[None]]) -> None:
        try:
            await step()
        except DatabaseUnavailable as error:
            # Without traceback: this repeats every second while the database is unavailable.
            _log.warning("dispatcher.step_failed", dispatcher=self.name, reason=str(error))
            await asyncio.sleep(1)
        except Exception:  # noqa: BLE001  # the loop survives any error of a step
            _log.exception("dispatcher.step_failed", dispatcher=self.name)
            await asyncio.sleep(1)

    async def _claim_more(self) -> None:
        await self._woken.wait()
        self._woken.clear()
        if self._is_stopping:
            return
        ahead = min(self._finished, self._max_ahead)
        free_slots = self._in_flight + ahead - self._running - len(self._ready)
        if free_slots < (self._in_flight // 2 if self._ready else 1):
            return  # Claiming few costs as much as claiming many.
        self._finished = 0
        with job_run(self.name):
            claimed = await self._claim(free_slots)
        self._ready.extend(claimed)
        self._start_runs()

    def _start_runs(self) -> None:
        for _ in range(min(len(self._ready), self._in_flight - self._running)):
            self._running += 1
            run = asyncio.create_task(self._run())
            self._runs.add(run)
            run.add_done_callback(self._runs.discard)

    async def _run(self) -> None:
        """Process ready work, one piece at a time."""
        try:
            while self._ready:
                await self._process(self._ready.popleft())
                self._finished += 1
                if len(self._ready) == self._in_flight:
                    self._woken.set()
        finally:
            self._running -= 1

    async def _process(self, work: Work) -> None:
        try:
            with monitoring.span(f"deliver {self.name}"):
                outcome = await self._attempt(work)
        except DatabaseUnavailable as error:
            # Due again when its lease expires.
            _log.warning("dispatcher.attempt_failed", dispatcher=self.name, reason=str(error))
        except Exception:  # noqa: BLE001  # due again when its lease expires
            _log.exception("dispatcher.attempt_failed", dispatcher=self.name)
        else:
            self._results.put_nowait((work, outcome))

    async def _record(self) -> None:
        """Record finished attempts in one transaction."""
        results = [await self._results.get()]
        if self._results.qsize() < MAX_BATCH - 1:
            await asyncio.sleep(BATCH_SECONDS)
        while len(results) < MAX_BATCH and not self._results.empty():
            results.append(self._results.get_nowait())
        try:
            await self._record_results(results)
        except DatabaseUnavailable:
            self._record_later(results)
            raise
        except Exception:  # noqa: BLE001  # the others are recorded one by one
            _log.exception("dispatcher.record_failed", dispatcher=self.name, results=len(results))
            await self._record_each(results)
        finally:
            for _ in results:
                self._results.task_done()
        # More work may be claimable now.
        self._woken.set()

    async def _record_each(self, results: list[tuple[Work, Outcome]]) -> None:
        """One transaction each, so that an error in one does not repeat the others."""
        for number, result in enumerate(results):
            try:
                await self._record_results([result])
            except DatabaseUnavailable:
                self._record_later(results[number:])
                raise
            except Exception:  # noqa: BLE001  # due again when its lease expires
                _log.exception("dispatcher.result_lost", dispatcher=self.name)

    def _record_later(self, results: list[tuple[Work, Outcome]]) -> None:
        # The work is done: record its result later instead of repeating it.
        for result in results:
            self._results.put_nowait(result)


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
