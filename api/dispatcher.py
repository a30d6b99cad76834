"""Work that waits in the database, taken and done: a loop that is woken, not a job that runs long.

It knows no work of its own: claiming, doing and settling are handed in by ``serve.py``.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

import structlog

from storage.errors import DatabaseUnavailable

Work = TypeVar("Work")
Outcome = TypeVar("Outcome")

DRAIN_SECONDS: Final = 20.0
# What is done within so long is recorded together: a commit costs more than the wait.
GATHER_SECONDS: Final = 0.005

_log = structlog.get_logger("hiatus.dispatcher")


class Dispatcher(Generic[Work, Outcome]):
    """Keeps up to ``in_flight`` pieces of work going.

    ``claim(limit)`` takes work that no other process has; ``attempt`` does one piece outside any
    transaction; ``settle`` records what came of several at once. What is claimed and never settled
    comes due again when its lease ends, so a crash anywhere in here loses nothing.
    """

    def __init__(
        self,
        name: str,
        *,
        claim: Callable[[int], Awaitable[list[Work]]],
        attempt: Callable[[Work], Awaitable[Outcome]],
        settle: Callable[[list[tuple[Work, Outcome]]], Awaitable[None]],
        in_flight: int = 32,
    ) -> None:
        self.name = name
        self._claim = claim
        self._attempt = attempt
        self._settle = settle
        self._in_flight = in_flight
        self._woken = asyncio.Event()
        self._done: asyncio.Queue[tuple[Work, Outcome]] = asyncio.Queue()
        self._attempts: set[asyncio.Task[None]] = set()
        self._loops: list[asyncio.Task[None]] = []
        self._is_stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Begin on the running event loop; what is due already is taken at once."""
        self._loop = asyncio.get_running_loop()
        self._loops = [
            asyncio.create_task(self._take_until_stopped(), name=f"{self.name}-take"),
            asyncio.create_task(self._record_for_ever(), name=f"{self.name}-record"),
        ]
        self._woken.set()

    def wake(self) -> None:
        """Look for work soon. Safe from any thread, and for nothing when there is none."""
        if self._loop is not None:
            # The loop may be closed at any moment, and then there is nobody left to wake.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._woken.set)

    async def stop(self) -> None:
        """Claim no more, give what is in flight up to 20 seconds, and record what came of it."""
        if not self._loops:
            return
        taking, recording = self._loops
        self._is_stopping = True
        self._woken.set()
        # Not cancelled at once: a claim under way would be nobody's until its lease ends.
        await asyncio.wait({taking}, timeout=DRAIN_SECONDS)
        await _cancelled(taking)
        if self._attempts:
            await asyncio.wait(self._attempts, timeout=DRAIN_SECONDS)
        for attempt in list(self._attempts):
            await _cancelled(attempt)
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
        except Exception:  # noqa: BLE001  # the loop outlives whatever a step meets
            _log.exception("dispatcher.step_failed", dispatcher=self.name)
            await asyncio.sleep(1)

    async def _take(self) -> None:
        await self._woken.wait()
        self._woken.clear()
        if self._is_stopping:
            return
        free = self._in_flight - len(self._attempts)
        if free < min(self._in_flight // 4, len(self._attempts)):
            return  # A claim for few costs as much as one for many. Finished attempts wake us.
        claimed = await self._claim(free)
        for work in claimed:
            task = asyncio.create_task(self._do(work))
            self._attempts.add(task)
            task.add_done_callback(self._attempts.discard)

    async def _do(self, work: Work) -> None:
        try:
            outcome = await self._attempt(work)
        except Exception:  # noqa: BLE001  # left to its lease, which brings it back
            _log.exception("dispatcher.attempt_failed", dispatcher=self.name)
        else:
            await self._done.put((work, outcome))

    async def _record(self) -> None:
        """Settle everything that is done by now in one transaction."""
        done = [await self._done.get()]
        await asyncio.sleep(GATHER_SECONDS)
        while not self._done.empty():
            done.append(self._done.get_nowait())
        try:
            await self._settle(done)
        except DatabaseUnavailable:
            # What was done was done: it is recorded later rather than done again.
            for result in done:
                self._done.put_nowait(result)
            raise
        finally:
            for _ in done:
                self._done.task_done()
        # What waited for these, and what there was no room for, may be taken now.
        self._woken.set()


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
