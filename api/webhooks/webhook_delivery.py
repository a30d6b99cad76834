"""One attempt to deliver a webhook: sign, send, and report the outcome.

The caller decides about retries and storage. Source: Standard Webhooks 1.0.0.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from api.webhooks.name_lookup import PooledResolver
from api.webhooks.outcomes import (
    MAX_EXCERPT_BYTES,
    PartialResponse,
    ended_without_response,
    error_code_of,
    is_leftover,
    outcome_of,
)
from api.webhooks.signatures import sign
from api.webhooks.vetted_connections import (
    REUSE_SECONDS,
    ConnectionUse,
    VettedConnector,
    current_use,
)
from api.webhooks.webhook_urls import parse_webhook_url
from storage.base.caches import cached
from storage.base.errors import InvalidInput
from storage.webhooks.deliveries import SECRET_UNREADABLE, Outcome

# For the status line and for each header; some endpoints send many cookies.
MAX_HEAD_BYTES: Final = 65_536
MAX_HEADERS: Final = 1_000

# aiohttp adds Host and Content-Length, and its own values for any of these that were missing.
_HEADERS: Final = {
    "user-agent": "Hiatus-Webhooks/1",
    "content-type": "application/json",
    "accept": "*/*",
    "accept-encoding": "identity",
}
_LAST_HEADERS: Final = {**_HEADERS, "connection": "close"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """``body`` is sent as is. Every attempt has the same ``message_id``. Newest secret first."""

    url: str
    message_id: str
    body: bytes
    secrets: Sequence[str]


class Sender:
    """An HTTP client for untrusted URLs; use it as a context manager, or ``open`` and ``close``.

    Unless ``allow_private``, nothing is sent to an address that is not public, even if the name had
    a public one before. ``connect_seconds`` covers lookup, connection and TLS together;
    ``attempt_seconds`` the whole attempt up to the last byte read. Waiting for one of
    ``max_connections`` counts towards neither; as many idle ones may be kept, and each is reused
    for ``reuse_seconds`` at most. The caller closes ``resolver``. The certificates of ``ca_file``
    are trusted in addition to the system's.
    """

    def __init__(
        self,
        *,
        allow_private: bool = False,
        max_connections: int = 128,
        connect_seconds: float = 5.0,
        attempt_seconds: float = 15.0,
        reuse_seconds: float = REUSE_SECONDS,
        resolver: AbstractResolver | None = None,
        ca_file: str = "",
    ) -> None:
        self._allow_private = allow_private
        self._slots = asyncio.Semaphore(max_connections)
        self._max_connections = max_connections
        self._attempt_seconds = attempt_seconds
        self._reuse_seconds = reuse_seconds
        self._timeout = aiohttp.ClientTimeout(connect=connect_seconds)
        self._resolver = resolver
        self._own_resolver: PooledResolver | None = None
        # True: as all of aiohttp's connections, without reading the system's certificates again.
        self._tls: ssl.SSLContext | bool = True
        if ca_file:
            self._tls = ssl.create_default_context()
            self._tls.load_verify_locations(cafile=ca_file)
        self._connector: VettedConnector | None = None
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Create the session, without a connection."""
        resolver = self._resolver
        if resolver is None:
            resolver = self._own_resolver = PooledResolver()
        self._connector = VettedConnector(
            allow_private=self._allow_private,
            max_idle=self._max_connections,
            reuse_seconds=self._reuse_seconds,
            resolver=resolver,
            tls=self._tls,
        )
        self._session = aiohttp.ClientSession(
            connector=self._connector,
            timeout=self._timeout,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            max_line_size=MAX_HEAD_BYTES,
            max_field_size=MAX_HEAD_BYTES,
            max_headers=MAX_HEADERS,
        )

    async def close(self) -> None:
        """Close the session, after all attempts have finished or were cancelled."""
        if self._session is not None:
            await self._session.close()
            self._session = None
        if self._own_resolver is not None:
            await self._own_resolver.close()
            self._own_resolver = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()

    async def attempt(self, attempt: Attempt, now: datetime) -> Outcome:
        """Send once, signed as of ``now``; never raises for errors of URL, network or endpoint.

        A 2xx is delivered once its status line has arrived, even if the headers cannot be read or
        the body is cut off or not allowed. But if its body exceeds ``attempt_seconds``, it is a
        time-out: the endpoint may not have finished.
        """
        async with self._slots:
            started_seconds = time.monotonic()
            response = PartialResponse()
            error = await self._send(attempt, now, response)
            duration_ms = round((time.monotonic() - started_seconds) * 1_000)
        return outcome_of(response, error, duration_ms, now)

    async def _send(self, attempt: Attempt, now: datetime, response: PartialResponse) -> str | None:
        """Fill in ``response`` as far as it arrives. Returns the error code, if any."""
        if not attempt.secrets:
            return SECRET_UNREADABLE  # Never send unsigned.
        try:
            url = _parsed(attempt.url, self._allow_private)
        except InvalidInput as refusal:
            return "private_address" if refusal.code == "url_private_address" else "invalid_url"
        use = ConnectionUse()
        token = current_use.set(use)
        try:
            async with asyncio.timeout(self._attempt_seconds):
                await self._post_and_retry(url, attempt, now, use, response)
        except (aiohttp.ClientError, TimeoutError) as failure:
            return error_code_of(failure, use.refused)
        finally:
            current_use.reset(token)
        return None

    async def _post_and_retry(
        self,
        url: URL,
        attempt: Attempt,
        now: datetime,
        use: ConnectionUse,
        response: PartialResponse,
    ) -> None:
        """Post, and retry once if the endpoint had closed a reused connection.

        A response that aiohttp cannot read is parsed from its first bytes.
        """
        headers = self._headers(attempt, now)
        try:
            await self._post(url, headers, attempt.body, response)
        except aiohttp.ClientError as failure:
            response.parse(use.received)
            if response.status_code is not None or not use.is_reused:
                raise
            if not ended_without_response(failure) and not is_leftover(use.received):
                raise
            use.only_new = True
            response.body.clear()
            try:
                await self._post(url, headers, attempt.body, response)
            except aiohttp.ClientError:
                response.parse(use.received)
                raise

    def _headers(self, attempt: Attempt, now: datetime) -> dict[str, str]:
        if self._connector is None:
            raise RuntimeError("the sender is not open")
        timestamp_seconds = int(now.timestamp())
        return {
            **(_HEADERS if self._connector.has_room else _LAST_HEADERS),
            "webhook-id": attempt.message_id,
            "webhook-timestamp": str(timestamp_seconds),
            "webhook-signature": sign(
                attempt.message_id, timestamp_seconds, attempt.body, attempt.secrets
            ),
        }

    async def _post(
        self, url: URL, headers: dict[str, str], body: bytes, response: PartialResponse
    ) -> None:
        if self._session is None:
            raise RuntimeError("the sender is not open")
        async with self._session.post(
            url, headers=headers, data=body, allow_redirects=False
        ) as received:
            response.status_code = received.status
            if received.status >= 300:
                response.retry_after = received.headers.get("retry-after")
            async for chunk in received.content.iter_any():
                response.body += chunk[: MAX_EXCERPT_BYTES - len(response.body)]
                if len(response.body) == MAX_EXCERPT_BYTES:
                    break


@cached("webhook_urls", 1_024)
def _parsed(url: str, allow_private: bool) -> URL:
    return parse_webhook_url(url, allow_private=allow_private)
