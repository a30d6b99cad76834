"""A loopback webhook receiver: records every request.

    with LoopbackReceiver() as receiver:
        ...                                    # the app posts to receiver.url
        [first, second] = receiver.wait_for(2)

Paths below `url` are received, too. Responses are 200 and empty.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import Self

from aiohttp import web

from playground.loopback.server import LoopbackServer


@dataclass(frozen=True)
class Received:
    """One request: header names in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes


class LoopbackReceiver:
    """Receives webhooks on 127.0.0.1, in its own thread."""

    def __init__(self, *, delay_seconds: float = 0.0) -> None:
        self._changed = threading.Condition()
        self._requests: list[Received] = []
        self._delay_seconds = delay_seconds
        app = web.Application(client_max_size=64 << 20)
        app.router.add_route("*", "/{path:.*}", self._receive)
        self._server = LoopbackServer(app, "loopback-receiver")

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.stop()

    @property
    def url(self) -> str:
        return self.url_of("/hook")

    def url_of(self, path: str) -> str:
        """The address of another endpoint of this receiver; `path` starts with a slash."""
        return f"http://127.0.0.1:{self._server.port}{path}"

    @property
    def requests(self) -> list[Received]:
        """The requests so far, in order of arrival."""
        with self._changed:
            return list(self._requests)

    def wait_for(self, n: int, timeout_seconds: float = 30) -> list[Received]:
        """The requests so far, once there are `n` of them; TimeoutError otherwise."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._requests) >= n, timeout_seconds):
                raise TimeoutError(f"{len(self._requests)} of {n} in {timeout_seconds} s")
            return list(self._requests)

    async def _receive(self, request: web.Request) -> web.Response:
        body = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        with self._changed:
            self._requests.append(Received(path=request.path_qs, headers=headers, body=body))
            self._changed.notify_all()
        await asyncio.sleep(self._delay_seconds)
        return web.Response()
