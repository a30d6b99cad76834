"""Connections to untrusted hosts: addresses are checked when connecting and at every use.

A connection is kept for a moment, since dialling a new one takes longer than all else that an
attempt does. It stays with its address, even if the host name has moved since.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from weakref import WeakKeyDictionary

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

from api.webhooks.addresses import is_public

# Many servers close idle connections after five seconds, some after two.
IDLE_SECONDS: Final = 1.0
# How long a lookup is cached, and how long a connection is reused: a moved name is followed within
# the sum of both.
SHARED_SECONDS: Final = 5
USED_SECONDS: Final = 5.0
# The number of raw response bytes kept: a long head and some of the body.
MAX_HEARD_BYTES: Final = 65_536

_STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])(?: [^\r\n]*)?\r?\n")
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
# Statuses without a body (RFC 9112): aiohttp parses bytes after the head as another response.
_WITHOUT_BODY: Final = re.compile(rb"HTTP/1\.[01] (?:204|304)\b")
_ANNOUNCES_BODY: Final = re.compile(
    rb"\n(?:content-length[ \t]*:[ \t]*0*[1-9]|transfer-encoding[ \t]*:)", re.IGNORECASE
)


@dataclass
class Use:
    """The requirements and observations of one attempt's connection.

    ``is_kept`` says that its connection was used before; ``refused`` holds addresses that were not
    dialled; ``heard`` the first bytes of the answer, even if aiohttp refuses it.
    """

    only_new: bool = False
    is_kept: bool = False
    refused: list[str] = field(default_factory=list)
    heard: bytearray = field(default_factory=bytearray)


# aiohttp and httpx wrap the error of a refused address and merge several into one text, so it is
# recorded here instead.
using: Final[ContextVar[Use]] = ContextVar("using")


class _PrivateAddressError(OSError):
    """The address to connect to is not public."""


def vetted_socket(address_info: aiohttp.AddrInfoType) -> socket.socket:
    """A socket for an address; raises OSError if webhooks may not be sent there.

    aiohttp hands every address to this, whether it came from a name or from the URL.
    """
    family, kind, protocol, _, address = address_info
    if not is_public(str(address[0])):
        if (use := using.get(None)) is not None:
            use.refused.append(str(address[0]))
        raise _PrivateAddressError(f"{address[0]} is not a public address")
    return socket.socket(family, kind, protocol)


@dataclass(frozen=True, kw_only=True, slots=True)
class HeardAnswer:
    """A partial response: its status, its head, and the start of its body."""

    status_code: int
    head: bytes
    body: bytes


def heard_answer(heard: bytes | bytearray) -> HeardAnswer | None:
    """The response that starts with these bytes; None until the status line is complete."""
    heard = bytes(heard)
    while (line := _STATUS_LINE.match(heard)) is not None:
        end = _HEAD_END.search(heard)
        head, body = (heard, b"") if end is None else (heard[: end.start()], heard[end.end() :])
        if not line[1].startswith(b"1"):
            return HeardAnswer(status_code=int(line[1]), head=head, body=body)
        heard = body  # An interim response such as 103.
    return None


class ListeningHandler(ResponseHandler):
    """aiohttp's protocol, which also keeps the first bytes of a response in ``heard``.

    aiohttp refuses a whole answer for a body behind a 204, or for headers that it finds odd or
    long. The status line decides whether a webhook was delivered, and it has come by then.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.heard = bytearray()

    def data_received(self, data: bytes) -> None:
        self.heard += data[: MAX_HEARD_BYTES - len(self.heard)]
        if _WITHOUT_BODY.match(self.heard) and _has_body(self.heard):
            # Further bytes would be parsed as the next response.
            self.force_close()
        super().data_received(data)


def _has_body(heard: bytearray) -> bool:
    answer = heard_answer(heard)
    return answer is not None and bool(answer.body or _ANNOUNCES_BODY.search(answer.head))


class VettedConnector(aiohttp.TCPConnector):
    """Unless ``allow_private``, connects to public addresses only.

    A connection is used for ``used_seconds`` after it was dialled. The sender sets
    ``using`` first, and asks the receiver to end the connection where ``has_room`` is false.
    """

    def __init__(
        self,
        *,
        allow_private: bool,
        most_kept: int,
        used_seconds: float,
        resolver: AbstractResolver,
        tls: ssl.SSLContext,
    ) -> None:
        super().__init__(
            ssl=tls,
            resolver=resolver,
            ttl_dns_cache=SHARED_SECONDS,
            keepalive_timeout=IDLE_SECONDS,
            limit=0,  # the sender limits, so that waiting does not count as the endpoint's time
            socket_factory=None if allow_private else vetted_socket,
        )
        # aiohttp has no parameter for it.
        self._factory = partial(ListeningHandler, loop=self._loop)  # type: ignore[assignment]
        self.allow_private = allow_private
        self._most_kept = most_kept
        self._used_seconds = used_seconds
        self._dialled_at: WeakKeyDictionary[ResponseHandler, float] = WeakKeyDictionary()

    @property
    def has_room(self) -> bool:
        """Whether one more idle connection may be kept."""
        return len(self._dialled_at) < self._most_kept

    async def connect(
        self, req: ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        """A reusable connection or a new one. Called by aiohttp for each request.

        Raises what aiohttp's own does.
        """
        use = using.get()
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol, transport = connection.protocol, connection.transport
            if protocol is not None and transport is not None:
                assert isinstance(protocol, ListeningHandler)
                use.heard = protocol.heard = bytearray()
                use.is_kept = protocol in self._dialled_at
                if not use.is_kept:
                    self._dialled_at[protocol] = time.monotonic()
                    return connection
                if not use.only_new and self._is_good(protocol, transport):
                    return connection
            connection.close()

    def _is_good(self, protocol: ResponseHandler, transport: asyncio.Transport) -> bool:
        if protocol.should_close:
            return False  # The endpoint sent bytes without a request.
        if time.monotonic() - self._dialled_at[protocol] > self._used_seconds:
            return False
        peer = transport.get_extra_info("peername")
        return self.allow_private or is_public(str(peer[0]))
