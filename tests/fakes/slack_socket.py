"""Socket Mode's server side: the hello, envelopes and their acknowledgements, disconnects.

Source: docs.slack.dev/apis/events-api/using-socket-mode. Everything async runs on one loop.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import time
from typing import Any

from aiohttp import WSMsgType, web

from playground.loopback.records import Answer
from playground.loopback.server import Delivery, How, LoopbackServer, reset_connection

Payload = dict[str, Any]


class Sockets:
    """The sockets of one app; each envelope goes to one of them, in turn."""

    def __init__(self, app_id: str, changed: threading.Condition) -> None:
        self.port = 0
        self._app_id = app_id
        self._changed = changed
        self._tickets: set[str] = set()
        self._open: list[tuple[web.WebSocketResponse, web.Request]] = []
        self._waiting: dict[str, asyncio.Future[Payload]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def count(self) -> int:
        """The number of sockets that accept envelopes."""
        return len(self._open)

    def new_url(self) -> str:
        """A ws:// URL that is valid for one connection."""
        ticket = secrets.token_hex(8)
        self._tickets.add(ticket)
        return f"ws://127.0.0.1:{self.port}/socket/?ticket={ticket}&app_id={self._app_id}"

    async def accept(self, request: web.Request) -> web.StreamResponse:
        """One connection, from the hello until it closes."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=404, text="unknown ticket")
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse(max_msg_size=1 << 22)
        await socket.prepare(request)
        entry = (socket, request)
        self._open.append(entry)
        await socket.send_str(json.dumps(self._hello()))
        self._note_change()
        try:
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    self._take(json.loads(message.data))
        finally:
            self._forget(entry)
        return socket

    async def deliver(
        self, kind: str, payload: Payload, extra: Payload, timeout_seconds: float
    ) -> Payload | None:
        """Sends an envelope; returns the acknowledgement, or None if none came in time.

        Raises ConnectionError when no app is connected.
        """
        if not self._open:
            raise ConnectionError("no app is connected by socket")
        entry = self._open.pop(0)
        self._open.append(entry)
        envelope_id = secrets.token_hex(16)
        envelope = {
            "envelope_id": envelope_id,
            "type": kind,
            "accepts_response_payload": kind != "events_api",
            "payload": payload,
        }
        acknowledged: asyncio.Future[Payload] = asyncio.get_running_loop().create_future()
        self._waiting[envelope_id] = acknowledged
        try:
            await entry[0].send_str(json.dumps(envelope | extra))
            return await asyncio.wait_for(acknowledged, timeout_seconds)
        except TimeoutError:
            return None
        finally:
            del self._waiting[envelope_id]

    async def disconnect(self, reason: str) -> None:
        """Asks every app to reconnect; the old sockets are closed a second later."""
        leaving, self._open = self._open, []
        for socket, _ in leaving:
            notice = {"type": "disconnect", "reason": reason, "debug_info": self._debug_info()}
            await socket.send_str(json.dumps(notice))
            task = asyncio.create_task(self._close_later(socket))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def abort(self) -> None:
        """Resets every connection without a disconnect message."""
        leaving, self._open = self._open, []
        for _, request in leaving:
            reset_connection(request.transport)

    async def _close_later(self, socket: web.WebSocketResponse) -> None:
        await asyncio.sleep(1)
        await socket.close()

    def _take(self, message: Payload) -> None:
        waiting = self._waiting.get(str(message.get("envelope_id")))
        if waiting is not None and not waiting.done():
            waiting.set_result(message)

    def _forget(self, entry: tuple[web.WebSocketResponse, web.Request]) -> None:
        if entry in self._open:
            self._open.remove(entry)
        self._note_change()

    def _note_change(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _hello(self) -> Payload:
        return {
            "type": "hello",
            "num_connections": len(self._open),
            "debug_info": self._debug_info(),
            "connection_info": {"app_id": self._app_id},
        }

    def _debug_info(self) -> Payload:
        return {"host": "loopback", "build_number": 1, "approximate_connection_time": 18060}


class SocketDelivery(Delivery):
    """Sends payloads over HTTP or, with `via` "socket", over a socket of `server`'s loop."""

    server: LoopbackServer

    def __init__(self, sockets: Sockets, signing_secret: str) -> None:
        super().__init__(signing_secret)
        self.via = "http"
        # What the app answered, oldest first.
        self.answers: list[Answer] = []
        self._sockets = sockets

    def deliver(self, kind: str, payload: Payload, how: How, **retry: object) -> Answer:
        answer = super().deliver(kind, payload, how, **retry)
        self.answers.append(answer)
        return answer

    def _send(self, kind: str, payload: Payload, how: How, retry: Payload) -> Answer:
        if how.get("via", self.via) != "socket":
            return super()._send(kind, payload, how, retry)
        extra: Payload = {}
        if kind == "events_api":
            extra["retry_attempt"] = retry.get("retry_num", 0)
            extra["retry_reason"] = retry.get("retry_reason", "")
        patience = how.get("timeout_seconds", 3.5)
        started = time.monotonic()
        work = self._sockets.deliver(kind, payload, extra, patience)
        acknowledged = self.server.run(work, patience + 5)
        elapsed = time.monotonic() - started
        if acknowledged is None:
            return Answer(0, "", {}, elapsed)
        return Answer(200, acknowledged.get("payload", ""), {}, elapsed)
