"""A minimal receiver of webhooks: it reads the length and answers 204.

``python -m tests.bench.receiving PORT`` serves until it is stopped.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import uvloop

_LENGTH = b"content-length: "
_ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"
_LAST_ANSWER = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"


class _Connection(asyncio.Protocol):
    def connection_made(self, transport: Any) -> None:
        # uvloop's transports do not inherit from asyncio.Transport.
        self._transport = transport
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        head = self._received.find(b"\r\n\r\n")
        if head < 0:
            return
        lines = self._received[:head].lower()
        value_at = lines.index(_LENGTH) + len(_LENGTH)
        length = int(lines[value_at:].split(b"\r\n", 1)[0])
        if len(self._received) < head + 4 + length:
            return
        self._received = b""
        if b"connection: close" in lines:
            self._transport.write(_LAST_ANSWER)
            self._transport.close()
        else:
            self._transport.write(_ANSWER)


async def _serve(port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Connection, "127.0.0.1", port, backlog=1_024)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
