"""Several callers, one question."""

from __future__ import annotations

import asyncio

import pytest

from storage.db.gathering import Gathering


class Oracle:
    """Answers when it is let, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.may_answer = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self, keys: list[str]) -> dict[str, str]:
        self.asked.append(keys)
        await self.may_answer.wait()
        if self.error is not None:
            raise self.error
        return {key: key.upper() for key in keys if key != "nobody"}


async def started(gathering: Gathering[str, str], *keys: str) -> list[asyncio.Task[str | None]]:
    tasks = [asyncio.create_task(gathering.get(key)) for key in keys]
    # Each has had its turns, however long they take.
    for _ in range(10):
        await asyncio.sleep(0)
    return tasks


async def _of_many() -> None:
    oracle = Oracle()
    gathering = Gathering(oracle)
    first = await started(gathering, "a", "b", "a", "nobody")
    second = await started(gathering, "a", "c")

    oracle.may_answer.set()

    # Who came while a question was on its way waits for the next one.
    assert await asyncio.gather(*first, *second) == ["A", "B", "A", None, "A", "C"]
    assert oracle.asked == [["a", "b", "nobody"], ["a", "c"]]
    assert await gathering.get("d") == "D"


async def _of_one_who_went_away() -> None:
    oracle = Oracle()
    gathering = Gathering(oracle)
    gone, stays = await started(gathering, "a", "a")
    gone.cancel()

    oracle.may_answer.set()

    assert await stays == "A"
    assert gone.cancelled()


async def _of_a_failure() -> None:
    oracle = Oracle()
    gathering = Gathering(oracle)
    oracle.error = ValueError("away")
    failed = await started(gathering, "a", "b")

    oracle.may_answer.set()

    for task in failed:
        with pytest.raises(ValueError, match="away"):
            await task
    oracle.error = None
    assert await gathering.get("a") == "A"


def test_callers_share_the_next_question() -> None:
    asyncio.run(_of_many())


def test_one_who_goes_away_takes_nobody_with_him() -> None:
    asyncio.run(_of_one_who_went_away())


def test_a_failure_is_told_to_all_and_forgotten() -> None:
    asyncio.run(_of_a_failure())
