"""Connections to strangers' hosts: their addresses are looked at when dialled and at every use.

A connection is kept for a moment, since dialling a new one takes longer than all else that an
attempt does. It goes where it was dialled to, whatever its host's name says by now.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakKeyDictionary

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

from api.addresses import is_public

# What many servers wait for the next request is five seconds, and two at the least.
IDLE_SECONDS: Final = 1.0
# Lookups of one name are shared for so long, and a connection is used for so long after it was
# dialled: a name that moves is followed within the sum of both.
SHARED_SECONDS: Final = 5
USED_SECONDS: Final = 5.0

_AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]]


@dataclass
class Use:
    """What one attempt asks of its connection, and is told about it.

    ``is_kept`` says that its connection was used before; ``refused`` holds addresses that were not
    dialled.
    """

    only_new: bool = False
    is_kept: bool = False
    refused: list[str] = field(default_factory=list)


# aiohttp and httpx each wrap the error of a refused address, and several are merged into one text:
# what matters is remembered here instead.
using: Final[ContextVar[Use]] = ContextVar("using")


class _PrivateAddressError(OSError):
    """The address about to be dialled is not public."""


def vetted_socket(address_info: _AddressInfo) -> socket.socket:
    """A socket for the address about to be dialled, or an OSError when webhooks may not go there.

    aiohttp hands every address to this, whether it came from a name or from the URL.
    """
    family, kind, protocol, _, address = address_info
    if not is_public(str(address[0])):
        if (use := using.get(None)) is not None:
            use.refused.append(str(address[0]))
        raise _PrivateAddressError(f"{address[0]} is not a public address")
    return socket.socket(family, kind, protocol)


class VettedConnector(aiohttp.TCPConnector):
    """Unless ``allow_private``, connects to public addresses only.

    A connection is used for ``used_seconds`` after it was dialled. Whoever sends through it sets
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
            limit=0,  # whoever sends counts, so that waiting is not held against the receiver
            socket_factory=None if allow_private else vetted_socket,
        )
        self.allow_private = allow_private
        self._most_kept = most_kept
        self._used_seconds = used_seconds
        self._dialled_at: WeakKeyDictionary[ResponseHandler, float] = WeakKeyDictionary()

    @property
    def has_room(self) -> bool:
        """Whether one more connection may be kept."""
        return len(self._dialled_at) < self._most_kept

    async def connect(
        self, req: ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        """A kept connection that is still good, or a new one. Called by aiohttp for each request.

        Raises what aiohttp's own does.
        """
        use = using.get()
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol, transport = connection.protocol, connection.transport
            if protocol is not None and transport is not None:
                use.is_kept = protocol in self._dialled_at
                if not use.is_kept:
                    self._dialled_at[protocol] = time.monotonic()
                    return connection
                if not use.only_new and self._is_good(protocol, transport):
                    return connection
            connection.close()

    def _is_good(self, protocol: ResponseHandler, transport: asyncio.Transport) -> bool:
        if protocol.should_close:
            return False  # The receiver said something that nobody had asked for.
        if time.monotonic() - self._dialled_at[protocol] > self._used_seconds:
            return False
        peer = transport.get_extra_info("peername")
        return self.allow_private or is_public(str(peer[0]))
