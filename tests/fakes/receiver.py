"""A loopback webhook receiver: records every request and answers as scripted.

    with LoopbackReceiver() as receiver:
        receiver.answer(status=500, times=2)
        ...                                    # the app posts to receiver.url
        assert [request.status for request in receiver.wait_for(3)] == [500, 500, 200]

Paths below `url` are received, too. Scripted responses are used in order, those of a path before
those of any path; then responses are 200 and empty.
"""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass, field, replace
from typing import Self

from aiohttp import web

from playground.loopback.server import LoopbackServer, reset_connection

_CHUNK = b"x" * 65_536


@dataclass(frozen=True)
class Received:
    """One request: header names in lower case, `received_at` in monotonic seconds.

    `status` is that of the receiver's response, 0 for a reset connection.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    received_at: float
    status: int


@dataclass
class Script:
    """A scripted response for `times` requests, to `path` or to any path.

    `drip` sends the body a byte every `drip_seconds`, an endless one when it is empty; `body_bytes`
    sends a body of that size; `reset` ends the connection without a response.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    delay_seconds: float = 0.0
    drip: bool = False
    drip_seconds: float = 1.0
    reset: bool = False
    redirect_to: str | None = None
    body_bytes: int = 0
    path: str | None = None
    times: int = 1


class LoopbackReceiver:
    """Receives webhooks on 127.0.0.1, in its own thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._requests: list[Received] = []
        self._scripts: list[Script] = []
        app = web.Application(client_max_size=64 << 20)
        app.router.add_route("*", "/{path:.*}", self._receive)
        self._server = LoopbackServer(app, "loopback-receiver")

    def start(self) -> Self:
        self._server.start()
        return self

    def stop(self) -> None:
        self._server.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *failure: object) -> None:
        self.stop()

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

    def answer(
        self,
        status: int = 200,
        headers: dict[str, str] | None = None,
        body: bytes = b"",
        *,
        delay_seconds: float = 0.0,
        drip: bool = False,
        drip_seconds: float = 1.0,
        reset: bool = False,
        redirect_to: str | None = None,
        body_bytes: int = 0,
        path: str | None = None,
        times: int = 1,
    ) -> None:
        """Scripts `times` responses, after those that are scripted already."""
        script = Script(
            status=status,
            headers=headers or {},
            body=body,
            delay_seconds=delay_seconds,
            drip=drip,
            drip_seconds=drip_seconds,
            reset=reset,
            redirect_to=redirect_to,
            body_bytes=body_bytes,
            path=path,
            times=times,
        )
        with self._changed:
            self._scripts.append(script)

    def wait_for(self, n: int, timeout_seconds: float = 30) -> list[Received]:
        """The requests so far, once there are `n` of them; TimeoutError otherwise."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._requests) >= n, timeout_seconds):
                raise TimeoutError(f"{len(self._requests)} of {n} in {timeout_seconds} s")
            return list(self._requests)

    def assert_no_more(self, n: int, within_seconds: float = 0.3) -> None:
        """Fails if there are, or come, more than `n` requests."""
        with self._changed:
            more = self._changed.wait_for(lambda: len(self._requests) > n, within_seconds)
            assert not more, f"{len(self._requests)} requests, expected {n}"

    async def _receive(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        script = self._record(request, body)
        if script.delay_seconds:
            await asyncio.sleep(script.delay_seconds)
        if script.reset:
            reset_connection(request.transport)
            raise asyncio.CancelledError
        headers = dict(script.headers)
        if script.redirect_to is not None:
            headers["Location"] = script.redirect_to
        if script.drip:
            return await self._drip(request, script, headers)
        if script.body_bytes:
            return await self._pour(request, script, headers)
        return web.Response(status=script.status, headers=headers, body=script.body)

    def _record(self, request: web.Request, body: bytes) -> Script:
        with self._changed:
            script = self._next_script(request.path)
            headers = {name.lower(): value for name, value in request.headers.items()}
            status = 0 if script.reset else script.status
            received = Received(
                method=request.method,
                path=request.path_qs,
                headers=headers,
                body=body,
                received_at=time.monotonic(),
                status=status,
            )
            self._requests.append(received)
            self._changed.notify_all()
            return script

    def _next_script(self, path: str) -> Script:
        for scripted_path in (path, None):
            for script in self._scripts:
                if script.path == scripted_path:
                    script.times -= 1
                    if script.times <= 0:
                        self._scripts.remove(script)
                    return replace(script)
        return Script()

    async def _drip(
        self, request: web.Request, script: Script, headers: dict[str, str]
    ) -> web.StreamResponse:
        body = script.body or b"." * 3600
        response = web.StreamResponse(status=script.status, headers=headers)
        response.content_length = len(body)
        await response.prepare(request)
        for position in range(len(body)):
            await response.write(body[position : position + 1])
            await asyncio.sleep(script.drip_seconds)
        return response

    async def _pour(
        self, request: web.Request, script: Script, headers: dict[str, str]
    ) -> web.StreamResponse:
        response = web.StreamResponse(status=script.status, headers=headers)
        response.content_length = script.body_bytes
        await response.prepare(request)
        bytes_left = script.body_bytes
        while bytes_left > 0:
            await response.write(_CHUNK[: min(bytes_left, len(_CHUNK))])
            bytes_left -= len(_CHUNK)
        return response
