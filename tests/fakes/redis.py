"""A Redis on a loopback port, with the commands that counting in windows needs.

It counts as the `limits` library's script does: add, and set the expiry with the first count.
"""

from __future__ import annotations

import asyncio
import threading
import time


class LoopbackRedis:
    """A context manager. ``answers`` False: it never replies to a request to count."""

    def __init__(self, *, answers: bool = True) -> None:
        self._answers = answers
        # How often it was asked to count.
        self.counted = 0
        self._counts: dict[bytes, tuple[int, float]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}/0"

    def __enter__(self) -> LoopbackRedis:
        self._thread.start()
        started = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, "127.0.0.1", 0), self._loop
        )
        self._server = started.result(10)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *failure: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        mine = asyncio.current_task()
        for task in asyncio.all_tasks():
            if task is not mine:
                task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                parts = []
                for _ in range(int(line[1:])):
                    length = int((await reader.readline())[1:])
                    parts.append((await reader.readexactly(length + 2))[:-2])
                self.counted += parts[0] == b"EVALSHA"
                if self._answers or parts[0] != b"EVALSHA":
                    writer.write(self._reply(parts))
        except (asyncio.CancelledError, ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _reply(self, parts: list[bytes]) -> bytes:
        match parts:
            case [b"EVALSHA", _, b"1", key, seconds, amount]:
                return b":%d\r\n" % self._add(key, float(seconds), int(amount))
            case [b"TTL", key]:
                _, ends_at = self._counts.get(key, (0, 0.0))
                return b":%d\r\n" % max(round(ends_at - time.time()), -2)
            case [b"HELLO", *_]:
                return b"%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n:3\r\n"
            case _:
                return b"+OK\r\n"

    def _add(self, key: bytes, seconds: float, amount: int) -> int:
        count, ends_at = self._counts.get(key, (0, 0.0))
        if ends_at <= time.time():
            count, ends_at = 0, time.time() + seconds
        self._counts[key] = (count + amount, ends_at)
        return count + amount
