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

from storage.base.errors import DatabaseUnavailable

Work = TypeVar("Work")
Outcome = TypeVar("Outcome")

DRAIN_SECONDS: Final = 20.0
# Outcomes within this time are recorded together: a commit costs more than the wait.
GATHER_SECONDS: Final = 0.005
# More would block the event loop too long.
MAX_RECORDED: Final = 64

_log = structlog.get_logger("hiatus.dispatcher")


class Dispatcher(Generic[Work, Outcome]):
    """Processes up to ``in_flight`` pieces of work concurrently.

    ``claim(limit)`` leases work that no other process has; ``attempt`` processes one piece outside
    any transaction; ``record_results`` stores several results at once. Claimed work without a
    recorded result is due again when its lease expires, so a crash loses nothing.

    Up to ``most_ahead`` pieces are claimed in advance, as many as finished during the last claim,
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
        most_ahead: int = 0,
    ) -> None:
        self.name = name
        self._claim = claim
        self._attempt = attempt
        self._record_results = record_results
        self._in_flight = in_flight
        self._most_ahead = most_ahead
        self._woken = asyncio.Event()
        self._done: asyncio.Queue[tuple[Work, Outcome]] = asyncio.Queue()
        self._ready: deque[Work] = deque()
        self._ended = 0
        self._running = 0
        self._runs: set[asyncio.Task[None]] = set()
        self._loops: list[asyncio.Task[None]] = []
        self._is_stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Start on the running event loop; work that is already due is claimed at once."""
        self._loop = asyncio.get_running_loop()
        self._loops = [
            asyncio.create_task(self._take_until_stopped(), name=f"{self.name}-take"),
            asyncio.create_task(self._record_for_ever(), name=f"{self.name}-record"),
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
        taking, recording = self._loops
        self._is_stopping = True
        self._woken.set()
        # Not cancelled at once: work of a cancelled claim would wait until its lease expires.
        await asyncio.wait({taking}, timeout=DRAIN_SECONDS)
        await _cancelled(taking)
        if self._runs:
            await asyncio.wait(self._runs, timeout=DRAIN_SECONDS)
        for run in list(self._runs):
            await _cancelled(run)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                await self._done.join()
        await _cancelled(recording)

    async def _take_until_stopped(self) -> None:
        while not self._is_stopping:
            await self._outlived(self._take)

    async def _record_for_ever(self) -> None:
        while True:
            await self._outlived(self._record)

    async def _outlived(self, step: Callable[[], Awaitable[None]]) -> None:
        try:
            await step()
        except DatabaseUnavailable as error:
            # Without traceback: this repeats every second while the database is unavailable.
            _log.warning("dispatcher.step_failed", dispatcher=self.name, reason=str(error))
            await asyncio.sleep(1)
        except Exception:  # noqa: BLE001  # the loop survives any error of a step
            _log.exception("dispatcher.step_failed", dispatcher=self.name)
            await asyncio.sleep(1)

    async def _take(self) -> None:
        await self._woken.wait()
        self._woken.clear()
        if self._is_stopping:
            return
        ahead = min(self._ended, self._most_ahead)
        wanted = self._in_flight + ahead - self._running - len(self._ready)
        if wanted < (self._in_flight // 2 if self._ready else 1):
            return  # Claiming few costs as much as claiming many.
        self._ended = 0
        self._ready.extend(await self._claim(wanted))
        self._begin()

    def _begin(self) -> None:
        for _ in range(min(len(self._ready), self._in_flight - self._running)):
            self._running += 1
            run = asyncio.create_task(self._run())
            self._runs.add(run)
            run.add_done_callback(self._runs.discard)

    async def _run(self) -> None:
        """Process ready work, one piece after the other."""
        try:
            while self._ready:
                await self._do(self._ready.popleft())
                self._ended += 1
                if len(self._ready) == self._in_flight:
                    self._woken.set()
        finally:
            self._running -= 1

    async def _do(self, work: Work) -> None:
        try:
            outcome = await self._attempt(work)
        except Exception:  # noqa: BLE001  # due again when its lease expires
            _log.exception("dispatcher.attempt_failed", dispatcher=self.name)
        else:
            self._done.put_nowait((work, outcome))

    async def _record(self) -> None:
        """Record finished attempts in one transaction."""
        done = [await self._done.get()]
        if self._done.qsize() < MAX_RECORDED - 1:
            await asyncio.sleep(GATHER_SECONDS)
        while len(done) < MAX_RECORDED and not self._done.empty():
            done.append(self._done.get_nowait())
        try:
            await self._record_results(done)
        except DatabaseUnavailable:
            self._record_later(done)
            raise
        except Exception:  # noqa: BLE001  # the others are recorded one by one
            _log.exception("dispatcher.settle_failed", dispatcher=self.name, outcomes=len(done))
            await self._record_each(done)
        finally:
            for _ in done:
                self._done.task_done()
        # More work may be claimable now.
        self._woken.set()

    async def _record_each(self, done: list[tuple[Work, Outcome]]) -> None:
        """One transaction each, so that an error in one does not repeat the others."""
        for number, result in enumerate(done):
            try:
                await self._record_results([result])
            except DatabaseUnavailable:
                self._record_later(done[number:])
                raise
            except Exception:  # noqa: BLE001  # due again when its lease expires
                _log.exception("dispatcher.outcome_lost", dispatcher=self.name)

    def _record_later(self, done: list[tuple[Work, Outcome]]) -> None:
        # The work is done: record its outcome later instead of repeating it.
        for result in done:
            self._done.put_nowait(result)


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
