"""Connections to untrusted hosts: addresses are checked when connecting and at every use.

Connections are reused briefly, because opening one takes longer than the rest of an attempt. A
connection keeps its address, even if the host name has moved since.
"""

from __future__ import annotations

import asyncio
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

from api.webhooks.public_addresses import is_public
from api.webhooks.raw_responses import RecordingHandler

# Many servers close idle connections after five seconds, some after two.
IDLE_SECONDS: Final = 1.0
# How long a lookup is cached, and how long a connection is reused: a moved name is followed within
# the sum of both.
DNS_CACHE_SECONDS: Final = 5
REUSE_SECONDS: Final = 5.0


@dataclass
class ConnectionUse:
    """How one attempt uses its connection.

    ``only_new`` asks for a new connection, ``is_reused`` says that it was not new. ``refused`` are
    the addresses that are not public, ``received`` the first bytes of the response, even if aiohttp
    refuses it.
    """

    only_new: bool = False
    is_reused: bool = False
    refused: list[str] = field(default_factory=list)
    received: bytearray = field(default_factory=bytearray)


# aiohttp wraps the error of a refused address and merges several into one text, so it is recorded
# here instead.
current_use: Final[ContextVar[ConnectionUse]] = ContextVar("current_use")


class _PrivateAddressError(OSError):
    """The address to connect to is not public."""


def vetted_socket(address_info: aiohttp.AddrInfoType) -> socket.socket:
    """A socket for an address; raises OSError if webhooks may not be sent there.

    aiohttp calls this for every address, whether it came from a name or from the URL.
    """
    family, kind, protocol, _, address = address_info
    if not is_public(str(address[0])):
        if (use := current_use.get(None)) is not None:
            use.refused.append(str(address[0]))
        raise _PrivateAddressError(f"{address[0]} is not a public address")
    return socket.socket(family, kind, protocol)


class VettedConnector(aiohttp.TCPConnector):
    """Unless ``allow_private``, connects to public addresses only.

    A connection is reused for ``reuse_seconds`` after it was opened. The sender sets
    ``current_use`` first, and asks the endpoint to close the connection if ``has_room`` is false.
    """

    def __init__(
        self,
        *,
        allow_private: bool,
        max_idle: int,
        reuse_seconds: float,
        resolver: AbstractResolver,
        tls: ssl.SSLContext | bool,
    ) -> None:
        super().__init__(
            ssl=tls,
            resolver=resolver,
            ttl_dns_cache=DNS_CACHE_SECONDS,
            keepalive_timeout=IDLE_SECONDS,
            # The sender has the limit: waiting does not count as the endpoint's time.
            limit=0,
            socket_factory=None if allow_private else vetted_socket,
        )
        # aiohttp has no parameter for it.
        self._factory = partial(RecordingHandler, loop=self._loop)  # type: ignore[assignment]
        self.allow_private = allow_private
        self._max_idle = max_idle
        self._reuse_seconds = reuse_seconds
        self._opened_at: WeakKeyDictionary[ResponseHandler, float] = WeakKeyDictionary()

    @property
    def has_room(self) -> bool:
        """Whether one more idle connection may be kept."""
        return len(self._opened_at) < self._max_idle

    async def connect(
        self, req: ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        """A reusable connection or a new one. Called by aiohttp for each request.

        Raises what aiohttp's method raises.
        """
        use = current_use.get()
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol, transport = connection.protocol, connection.transport
            if protocol is not None and transport is not None:
                assert isinstance(protocol, RecordingHandler)
                use.received = protocol.received = bytearray()
                use.is_reused = protocol in self._opened_at
                if not use.is_reused:
                    self._opened_at[protocol] = time.monotonic()
                    return connection
                if not use.only_new and self._is_reusable(protocol, transport):
                    return connection
            connection.close()

    def _is_reusable(self, protocol: ResponseHandler, transport: asyncio.Transport) -> bool:
        if protocol.should_close:
            return False  # The endpoint sent bytes without a request.
        if time.monotonic() - self._opened_at[protocol] > self._reuse_seconds:
            return False
        peer = transport.get_extra_info("peername")
        return self.allow_private or is_public(str(peer[0]))
