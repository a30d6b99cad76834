"""The transport of requests to untrusted hosts: vetted addresses, bounded responses.

httpcore pools the connections. They are reused briefly, because opening one takes longer than the
rest of an attempt. A connection keeps its address, even if the host name has moved since.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import AsyncIterator, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final

import httpcore
import httpx

from api.webhooks.webhook_urls import Resolver, is_allowed

# Many servers close idle connections after five seconds, some after two.
IDLE_SECONDS: Final = 1.0
# How long a connection is reused: a name that moved is followed within this time.
REUSE_SECONDS: Final = 5.0
# Of one response: interim responses, the head, and the start of the body.
MAX_RESPONSE_BYTES: Final = 65_536


class NameNotResolved(httpcore.ConnectError):
    """The host name has no address."""


class PrivateAddress(httpcore.ConnectError):
    """The host has no public address that accepts connections, but one that is not public."""


class TLSFailed(httpcore.ConnectError):
    """The TLS handshake failed."""


class ResponseTooLong(httpcore.RemoteProtocolError):
    """The response has more than MAX_RESPONSE_BYTES."""


@dataclass
class ConnectionUse:
    """The connection of one request, and the first bytes of its response as they arrived."""

    is_reused: bool = False
    has_ended: bool = False
    received: bytearray = field(default_factory=bytearray)

    @property
    def is_answered(self) -> bool:
        """Whether a response has begun to arrive, not only the rest of an earlier one."""
        return bool(self.received) and self.received.startswith(b"HTTP/"[: len(self.received)])


# The sender sets it: neither httpx nor httpcore tells which connection a failed request had.
current_use: Final[ContextVar[ConnectionUse]] = ContextVar("current_use")


class VettedTransport(httpx.AsyncBaseTransport):
    """Unless ``allow_private``, connects to public addresses only; with ``allow_loopback``, also to
    this machine.

    Keeps ``max_idle`` idle connections, each for ``reuse_seconds`` at most. Raises httpcore's
    errors, which tell more than httpx's.
    """

    def __init__(
        self,
        *,
        allow_private: bool,
        allow_loopback: bool = False,
        max_idle: int,
        reuse_seconds: float,
        resolver: Resolver,
        tls: ssl.SSLContext,
    ) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            # The sender has the limit: waiting does not count as the endpoint's time.
            max_connections=None,
            max_keepalive_connections=max_idle,
            keepalive_expiry=IDLE_SECONDS,
            network_backend=_VettedBackend(allow_private, allow_loopback, reuse_seconds, resolver),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        assert isinstance(request.stream, httpx.AsyncByteStream)
        url = request.url
        response = await self._pool.handle_async_request(
            httpcore.Request(
                request.method,
                httpcore.URL(
                    scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                ),
                headers=request.headers.raw,
                content=request.stream,
                # Certificates have names without the dot at the end.
                extensions=request.extensions | {"sni_hostname": url.host.rstrip(".")},
            )
        )
        return httpx.Response(
            response.status, headers=response.headers, stream=_ResponseStream(response)
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _ResponseStream(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._response.aiter_stream():
            yield chunk

    async def aclose(self) -> None:
        await self._response.aclose()


class _VettedBackend(httpcore.AsyncNetworkBackend):
    """Looks names up itself, so that the address that is checked is the one that is dialled."""

    def __init__(
        self, allow_private: bool, allow_loopback: bool, reuse_seconds: float, resolver: Resolver
    ) -> None:
        self._allow_private = allow_private
        self._allow_loopback = allow_loopback
        self._reuse_seconds = reuse_seconds
        self._resolver = resolver
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        deadline = time.monotonic() + (timeout or 0.0)
        addresses = await self._addresses(host, timeout)
        allowed = [
            address
            for address in addresses
            if self._allow_private or is_allowed(address, allow_loopback=self._allow_loopback)
        ]
        failure: httpcore.ConnectError | httpcore.ConnectTimeout | None = None
        for number, address in enumerate(allowed):
            # An address that does not respond leaves time for the others.
            share = (deadline - time.monotonic()) / (len(allowed) - number) if timeout else None
            try:
                stream = await self._sockets.connect_tcp(
                    address, port, share, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _BoundedStream(stream, deadline, self._reuse_seconds)
        if len(allowed) < len(addresses):
            raise PrivateAddress(f"{host} has an address that is not public")
        raise failure or NameNotResolved(f"{host} has no address")

    async def _addresses(self, host: str, timeout: float | None) -> list[str]:
        try:
            return [str(ip_address(host))]
        except ValueError:
            pass
        try:
            async with asyncio.timeout(timeout):
                return await self._resolver.resolve(host)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(f"the lookup of {host} takes too long") from error
        except OSError as error:
            raise NameNotResolved(str(error)) from error


class _BoundedStream(httpcore.AsyncNetworkStream):
    """A connection that keeps the bytes of the current response, and reads no more than allowed.

    ``deadline`` is that of connecting, TLS included.
    """

    def __init__(
        self, stream: httpcore.AsyncNetworkStream, deadline: float, reuse_seconds: float
    ) -> None:
        self._stream = stream
        self._deadline = deadline
        self._reuse_seconds = reuse_seconds
        self._opened_at = time.monotonic()
        self._use: ConnectionUse | None = None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        use = current_use.get()
        room = MAX_RESPONSE_BYTES - len(use.received)
        if room <= 0:
            raise ResponseTooLong(f"the response has more than {MAX_RESPONSE_BYTES} bytes")
        content = await self._stream.read(min(max_bytes, room), timeout)
        use.received += content
        use.has_ended = not content
        return content

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        use = current_use.get()
        if use is not self._use:
            use.is_reused = self._use is not None
            self._use = use
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        if timeout is not None:
            timeout = max(0.0, self._deadline - time.monotonic())
        try:
            stream = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except httpcore.ConnectError as error:
            raise TLSFailed(str(error)) from error
        return _BoundedStream(stream, self._deadline, self._reuse_seconds)

    def get_extra_info(self, info: str) -> object:
        # httpcore asks before it reuses a connection, and closes it if it is readable: the endpoint
        # has closed it or sent something unexpected.
        if info == "is_readable" and self._use is not None and self._is_spent(self._use):
            return True
        return self._stream.get_extra_info(info)

    def _is_spent(self, last: ConnectionUse) -> bool:
        is_old = time.monotonic() - self._opened_at > self._reuse_seconds
        return is_old or has_unexpected_body(last.received)


_STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])(?: [^\r\n]*)?\r?\n")
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
# Statuses without a body (RFC 9112): bytes after the head would be parsed as the next response.
_WITHOUT_BODY: Final = re.compile(rb"HTTP/1\.[01] (?:204|304)\b")
_ANNOUNCES_BODY: Final = re.compile(
    rb"\n(?:content-length[ \t]*:[ \t]*0*[1-9]|transfer-encoding[ \t]*:)", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RawResponse:
    """A partial response: its status, its head, and the start of its body."""

    status_code: int
    head: bytes
    body: bytes


def parse_raw_response(received: bytes | bytearray) -> RawResponse | None:
    """The response that starts with these bytes; None until the status line is complete."""
    rest = bytes(received)
    while (line := _STATUS_LINE.match(rest)) is not None:
        end = _HEAD_END.search(rest)
        head, body = (rest, b"") if end is None else (rest[: end.start()], rest[end.end() :])
        if not line[1].startswith(b"1"):
            return RawResponse(status_code=int(line[1]), head=head, body=body)
        rest = body  # An interim response such as 103.
    return None


def has_unexpected_body(received: bytes | bytearray) -> bool:
    """Whether a body follows, or will follow, a response that cannot have one."""
    if _WITHOUT_BODY.match(received) is None:
        return False
    response = parse_raw_response(received)
    return response is not None and bool(response.body or _ANNOUNCES_BODY.search(response.head))
