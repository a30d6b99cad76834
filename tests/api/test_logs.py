"""Log lines on their way to the file."""

from __future__ import annotations

import asyncio
import io
import json
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


def test_a_line_outside_of_an_event_loop_is_written_at_once() -> None:
    file = Written()
    lines = Lines(io.BufferedWriter(file))

    lines.info(b"one")
    lines.info(b"two")

    assert file.writes == [b"one\n", b"two\n"]


def test_lines_of_one_event_loop_iteration_are_one_write() -> None:
    file = Written()
    lines = Lines(io.BufferedWriter(file))

    async def say() -> None:
        lines.info(b"one")
        lines.warning(b"two")
        await asyncio.sleep(0)
        lines.info(b"three")
        await asyncio.sleep(0)

    asyncio.run(say())

    assert file.writes == [b"one\ntwo\n", b"three\n"]


def test_lines_of_a_closed_event_loop_are_written_with_the_next_line() -> None:
    file = Written()
    lines = Lines(io.BufferedWriter(file))
    ended = asyncio.new_event_loop()

    async def say_last() -> None:
        lines.info(b"last")
        ended.stop()

    async def say_more() -> None:
        lines.info(b"more")
        await asyncio.sleep(0)

    ended.create_task(say_last())
    ended.run_forever()
    ended.close()
    asyncio.run(say_more())

    assert b"".join(file.writes) == b"last\nmore\n"


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
def test_a_request_line_has_the_format_of_every_other_line(log_format: str) -> None:
    program = f"""
import structlog
from api.base import logs
logs.configure({log_format!r})
logs.log_request({{"status": 200}})
structlog.stdlib.get_logger("hiatus").info("request", status=200)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, text=True, check=True
    )

    written = [WHEN.sub("<now>", line) for line in done.stderr.splitlines()]
    assert len(written) == 2
    assert "<now>" in written[0]
    if log_format == "json":
        assert json.loads(written[0]) == json.loads(written[1])
    else:
        assert written[0] == written[1]


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
