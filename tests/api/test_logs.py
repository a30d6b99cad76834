"""Log lines on their way to the file."""

from __future__ import annotations

import asyncio
import errno
import io
import json
import os
import re
import subprocess
import sys
import threading

import pytest

from api.base.logs import Lines

WHEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class Written(io.RawIOBase):
    """A file that records the bytes of each write to the system."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, content: object) -> int:
        self.writes.append(bytes(content))  # type: ignore[call-overload]  # any buffer
        return len(self.writes[-1])


def test_a_line_is_written_at_once() -> None:
    file = Written()
    lines = Lines(io.BufferedWriter(file))

    lines.info(b"one")
    lines.info(b"two")

    assert file.writes == [b"one\n", b"two\n"]


class FullDisk(Written):
    """A file that nothing can be written to until there is space."""

    has_space = False

    def write(self, content: object) -> int:
        if not self.has_space:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(content)


def test_a_full_disk_loses_lines_and_fails_no_request() -> None:
    file = FullDisk()
    lines = Lines(io.BufferedWriter(file, buffer_size=16))

    async def say() -> None:
        for number in range(20):
            lines.info(f"line {number}".encode())
            await asyncio.sleep(0)

    lines.info(b"outside of an event loop")
    failures: list[object] = []
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        loop.set_exception_handler(lambda _, context: failures.append(context))
        runner.run(say())
        file.has_space = True
        lines.info(b"afterwards")

    assert failures == []
    assert b"".join(file.writes).endswith(b"afterwards\n")


def test_a_thread_writes_its_lines_while_an_event_loop_is_busy() -> None:
    file = Written()
    lines = Lines(io.BufferedWriter(file))

    async def wait_for_a_thread() -> None:
        lines.info(b"before")
        thread = threading.Thread(target=lines.error, args=(b"from a thread",))
        thread.start()
        thread.join()
        assert b"".join(file.writes) == b"before\nfrom a thread\n"

    asyncio.run(wait_for_a_thread())


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_half_of_a_surrogate_pair_can_be_logged(log_format: str) -> None:
    program = f"""
import logging
import structlog
from api.base import logs
logs.configure({log_format!r})
structlog.stdlib.get_logger("hiatus").warning("hiatus.odd", kind="\\ud800")
logging.getLogger("library").warning("odd: %s", "\\ud800")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    written = done.stderr.splitlines()
    assert [line.count("\\ud800") for line in written] == [1, 1]


_LOGS_ONCE = """
import structlog
from api.base import logs
logs.configure("auto")
structlog.stdlib.get_logger("hiatus").warning("hiatus.odd", kind="new")
"""


def test_lines_are_readable_on_a_terminal_and_json_anywhere_else() -> None:
    terminal, stderr = os.openpty()
    command = [sys.executable, "-c", _LOGS_ONCE]
    subprocess.run(command, stderr=stderr, check=True)
    shown = os.read(terminal, 4_096).decode()
    for end in (terminal, stderr):
        os.close(end)
    piped = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True).stderr

    assert "\x1b[" in shown
    assert not shown.startswith("{")
    assert json.loads(piped)["event"] == "hiatus.odd"


_ANSWERING_502 = """
import asyncio
import httpx
import structlog
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Route
from api.base import logs
from api.service.request_middleware import RequestMiddleware

async def silent(_):
    return Response(status_code=502)

async def explained(_):
    async def ask():
        structlog.get_logger().warning("no answer", reason="the other server is off")
    await asyncio.create_task(ask())
    return Response(status_code=502)

async def get_both():
    app = Starlette(
        routes=[Route("/silent", silent), Route("/explained", explained)],
        middleware=[Middleware(RequestMiddleware, "https://hiatus.test")],
    )
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="https://hiatus.test") as client:
        for path in ("silent", "explained"):
            await client.get(f"/{path}", headers={"X-Request-Id": path})

logs.configure("json")
asyncio.run(get_both())
"""


def test_every_response_of_500_or_more_has_one_reason_with_its_request_id() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ANSWERING_502], capture_output=True, text=True, check=True
    )
    lines = [json.loads(line) for line in done.stderr.splitlines()]

    reasons = [
        (line["request_id"], line["event"], line["reason"])
        for line in lines
        if line["level"] in ("warning", "error")
    ]
    assert reasons == [
        ("silent", "request failed", "no reason was given"),
        ("explained", "no answer", "the other server is off"),
    ]


_SENDING = """
import asyncio
from api.base import logs
from tests.api.test_webhook_delivery import outcome_of, status

logs.configure("json")
assert outcome_of(status(200)).verdict == "delivered"
"""


def test_the_url_of_a_webhook_is_not_logged_as_it_may_contain_a_token() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SENDING], capture_output=True, text=True, check=True
    )

    assert done.stderr == ""
