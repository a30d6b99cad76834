"""Pictures of wallcharts: organisations take turns, and those who wait are bounded."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp

from api.http.errors import RateLimited
from api.wallchart.wallchart_endpoint import (
    MAX_AT_ONCE,
    MAX_WAITING,
    RETRY_AFTER_SECONDS,
    Turns,
)
from storage.db.database import Database
from tests.api.conftest import SETTINGS, application
from tests.builders import an_organisation, personal_token


class Drawing:
    """Pictures that end when they are told to; ``begun`` are their organisations, in order."""

    def __init__(self) -> None:
        self.turns = Turns()
        self.begun: list[str] = []
        self._ends: list[asyncio.Event] = []

    async def picture(self, organisation_id: str) -> None:
        async with self.turns.turn(organisation_id):
            self.begun.append(organisation_id)
            self._ends.append(end := asyncio.Event())
            await end.wait()

    def ask(self, organisation_id: str, pictures: int) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(self.picture(organisation_id)) for _ in range(pictures)]

    async def end_one(self) -> None:
        """End the picture that is being drawn, and let the next one begin."""
        self._ends[-1].set()
        await settled()


async def settled() -> None:
    """Let every task run until it waits."""
    for _ in range(20):
        await asyncio.sleep(0)


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 60))


def test_another_organisation_waits_for_two_pictures_and_not_for_all() -> None:
    async def story() -> None:
        drawing = Drawing()
        many = drawing.ask("acme", 10)
        await settled()
        other = drawing.ask("globex", 1)
        await settled()

        assert drawing.begun == ["acme"]
        for _ in range(11):
            await drawing.end_one()

        assert drawing.begun == ["acme", "acme", "globex", *["acme"] * 8]
        await asyncio.gather(*many, *other)

    run(story())


def test_the_pictures_that_wait_are_bounded_for_each_organisation() -> None:
    async def story() -> None:
        drawing = Drawing()
        waiting = drawing.ask("acme", MAX_AT_ONCE + MAX_WAITING)
        await settled()

        with pytest.raises(RateLimited) as refusal:
            await drawing.picture("acme")
        [other] = drawing.ask("globex", 1)
        await settled()

        assert refusal.value.retry_after_seconds == RETRY_AFTER_SECONDS
        assert not other.done()
        for _ in range(len(waiting) + 1):
            await drawing.end_one()
        await asyncio.gather(*waiting, other)

    run(story())


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program that draws waits until this file exists."""
    gate, program = tmp_path / "gate", tmp_path / "python"
    program.write_text(
        f"#!/bin/sh\ncat >/dev/null\nuntil [ -e {gate} ]; do sleep 0.02; done\nprintf '\\211PNG'\n"
    )
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    return gate


def months(count: int) -> list[str]:
    """Different months, so different pictures."""
    return [f"{2026 + number // 12}-{number % 12 + 1:02}" for number in range(count)]


def test_more_pictures_than_may_wait_are_429(database: Database, gate: Path) -> None:
    acme = an_organisation(database)
    token = acme.write(personal_token)

    async def story() -> None:
        async with browser(application(database)) as http:
            pictures = {
                asyncio.create_task(http.get(f"/wallchart/{token}.png?month={month}"))
                for month in months(MAX_AT_ONCE + MAX_WAITING + 2)
            }
            refused: set[asyncio.Task[httpx.Response]] = set()
            while len(refused) < 2:
                done, pictures = await asyncio.wait(pictures, return_when=asyncio.FIRST_COMPLETED)
                refused |= done
            gate.touch()
            drawn = await asyncio.gather(*pictures)

        assert {answer.result().status_code for answer in refused} == {429}
        assert {answer.result().json()["code"] for answer in refused} == {"rate_limited"}
        assert {answer.result().headers["Retry-After"] for answer in refused} == {"5"}
        assert [answer.status_code for answer in drawn] == [200] * (MAX_AT_ONCE + MAX_WAITING)

    run(story())


def browser(hiatus: ASGIApp) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(hiatus), base_url=SETTINGS.base_url, timeout=None
    )
