"""What a server begins after its start: requests that wait for routes, and work that fails."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from api.service.background import LateRoutes, in_background

ROOT = Path(__file__).parents[2]

_FAILS = """
import asyncio
from contextlib import asynccontextmanager
from api.service.background import in_background

@asynccontextmanager
async def work():
    raise ImportError("No module named slack_bolt")
    yield

async def main():
    async with in_background(work):
        await asyncio.sleep(60)

asyncio.run(main())
"""


async def said(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"{request.url.path} {(await request.body()).decode()}")


def test_requests_wait_for_their_routes() -> None:
    late = LateRoutes()
    app = Starlette(routes=[late.at("/slack/{path:path}"), Route("/healthz", said)])

    async def scenario() -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://hiatus") as client:
            early = asyncio.create_task(client.post("/slack/events", content=b"early"))
            # Let it come as far as it can.
            await asyncio.sleep(0.1)
            assert (await client.get("/healthz")).status_code == 200
            assert not early.done()

            late.provide([Route("/slack/events", said, methods=["POST"])])

            assert (await early).text == "/slack/events early"
            again = await client.post("/slack/events", content=b"late")
            assert again.text == "/slack/events late"
            wrong_method = await client.get("/slack/events")
            assert (wrong_method.status_code, wrong_method.headers["allow"]) == (405, "POST")
            assert (await client.get("/slack/events/")).status_code == 404
            assert (await client.get("/slack/other")).status_code == 404

    asyncio.run(scenario())


def test_work_that_has_not_begun_when_the_server_stops_is_begun_and_ended() -> None:
    events = []

    @asynccontextmanager
    async def work() -> AsyncIterator[None]:
        await asyncio.sleep(0.01)
        events.append("begun")
        yield
        events.append("ended")

    async def scenario() -> None:
        async with in_background(work):
            events.append("served")

    asyncio.run(scenario())

    assert events == ["served", "begun", "ended"]


@pytest.mark.filterwarnings("error")
def test_work_that_fails_ends_the_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FAILS],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
        timeout=50,
    )

    assert done.returncode == 1
    assert "process.background_failed" in done.stdout + done.stderr
    assert "No module named slack_bolt" in done.stdout + done.stderr
