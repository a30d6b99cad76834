"""One attempt to deliver a webhook: sign, send, and report the outcome.

The caller decides about retries and storage. Source: Standard Webhooks 1.0.0.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from types import TracebackType
from typing import Final, Self

import aiohttp
import httpx
from aiohttp.abc import AbstractResolver
from httpx_aiohttp import AiohttpTransport

from api.webhooks.addresses import check_webhook_url
from api.webhooks.name_lookup import PooledResolver
from api.webhooks.vetted_connections import USED_SECONDS, Use, VettedConnector, heard_answer, using
from storage.base.errors import InvalidInput
from storage.webhooks.deliveries import SECRET_UNREADABLE, Outcome, Verdict

MAX_EXCERPT_BYTES: Final = 4_096
SECRET_PREFIX: Final = "whsec_"
# For the status line and for each header; some endpoints send many cookies.
MAX_HEAD_BYTES: Final = 65_536
MAX_HEADERS: Final = 1_000

# aiohttp's errors, most specific first. httpx's own classes are too coarse: its transport turns a
# dropped connection into ConnectTimeout.
_WORDS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (aiohttp.ServerTimeoutError, "timeout"),
    (aiohttp.ClientConnectorDNSError, "name_not_resolved"),
    (aiohttp.ClientSSLError, "tls_failed"),
    (aiohttp.ClientConnectorError, "connect_failed"),
    (aiohttp.InvalidURL, "invalid_url"),
    (aiohttp.ClientConnectionError, "disconnected"),
    (aiohttp.ClientError, "invalid_response"),
    (httpx.InvalidURL, "invalid_url"),
    (httpx.RemoteProtocolError, "invalid_response"),
)
_HEADERS: Final = (
    ("user-agent", "Hiatus-Webhooks/1"),
    ("content-type", "application/json"),
    ("accept", "*/*"),
    ("accept-encoding", "identity"),
)
_LAST_HEADERS: Final = (*_HEADERS, ("connection", "close"))
_RETRY_AFTER: Final = re.compile(rb"\nretry-after[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)
_FAILURES: Final = (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError)


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """``body`` is sent as is. Every attempt has the same ``message_id``. Newest secret first."""

    url: str
    message_id: str
    body: bytes
    secrets: Sequence[str]


def sign(webhook_id: str, timestamp_seconds: int, body: bytes, secrets: Sequence[str]) -> str:
    """The ``webhook-signature`` header: one ``v1,`` signature per secret, space-separated.

    Source: Standard Webhooks, "Signature scheme".
    """
    message = f"{webhook_id}.{timestamp_seconds}.".encode() + body
    keys = [base64.b64decode(secret.removeprefix(SECRET_PREFIX)) for secret in secrets]
    digests = [hmac.digest(key, message, "sha256") for key in keys]
    return " ".join("v1," + base64.b64encode(digest).decode() for digest in digests)


class Sender:
    """An HTTP client for untrusted URLs; use it as a context manager, or ``open`` and ``close``.

    Unless ``allow_private``, nothing is sent to an address that is not public, even if the name
    said before. ``connect_seconds`` covers lookup, connection and TLS together;
    ``attempt_seconds`` the whole attempt up to the last byte read. Waiting for one of
    ``max_connections`` counts towards neither; as many again may be kept for the next attempt, each
    for ``used_seconds`` at most. A ``resolver`` that was given is not closed. The certificates of
    ``ca_file`` are trusted beside the public ones.
    """

    def __init__(
        self,
        *,
        allow_private: bool = False,
        max_connections: int = 128,
        connect_seconds: float = 5.0,
        attempt_seconds: float = 15.0,
        used_seconds: float = USED_SECONDS,
        resolver: AbstractResolver | None = None,
        ca_file: str = "",
    ) -> None:
        self._allow_private = allow_private
        self._slots = asyncio.Semaphore(max_connections)
        self._max_connections = max_connections
        self._attempt_seconds = attempt_seconds
        self._used_seconds = used_seconds
        self._extensions = {"timeout": {"connect": connect_seconds, "pool": connect_seconds}}
        self._resolver = resolver
        self._own_resolver: PooledResolver | None = None
        self._tls = httpx.create_ssl_context(trust_env=False)
        if ca_file:
            self._tls.load_verify_locations(cafile=ca_file)
        self._connector: VettedConnector | None = None
        self._transport: AiohttpTransport | None = None

    async def open(self) -> None:
        """Make the transport; opens no connection."""
        resolver = self._resolver
        if resolver is None:
            resolver = self._own_resolver = PooledResolver()
        self._connector = VettedConnector(
            allow_private=self._allow_private,
            most_kept=self._max_connections,
            used_seconds=self._used_seconds,
            resolver=resolver,
            tls=self._tls,
        )
        session = aiohttp.ClientSession(
            connector=self._connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            max_line_size=MAX_HEAD_BYTES,
            max_field_size=MAX_HEAD_BYTES,
            max_headers=MAX_HEADERS,
        )
        # Without httpx's client: it would follow redirects, keep cookies and decompress responses,
        # none of which is wanted, and double the time.
        self._transport = AiohttpTransport(verify=self._tls, trust_env=False, client=session)

    async def close(self) -> None:
        """Close the transport, after all attempts have finished or were cancelled."""
        if self._transport is not None:
            await self._transport.aclose()
            self._transport = None
        if self._own_resolver is not None:
            await self._own_resolver.close()
            self._own_resolver = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def attempt(self, attempt: Attempt, now: datetime) -> Outcome:
        """Send once, signed as of ``now``; never raises for errors of URL, network or endpoint.

        A 2xx whose body takes longer than the whole attempt may is a time-out: a slow receiver may
        not have finished. A 2xx is delivered once its status line is there, even if the body breaks
        off or should not be there, or the headers cannot be read.
        """
        async with self._slots:
            started_seconds = time.monotonic()
            answer = _Answer()
            error = await self._send(attempt, now, answer)
            duration_ms = round((time.monotonic() - started_seconds) * 1_000)
        return _outcome(answer, error, duration_ms, now)

    async def _send(self, attempt: Attempt, now: datetime, answer: _Answer) -> str | None:
        """Fill in the response as far as it arrives; returns the error code, if any."""
        if not attempt.secrets:
            return SECRET_UNREADABLE  # Never send unsigned.
        try:
            url = _checked(attempt.url, self._allow_private)
        except InvalidInput as refusal:
            return "private_address" if refusal.code == "url_private_address" else "invalid_url"
        use = Use()
        token = using.set(use)
        try:
            async with asyncio.timeout(self._attempt_seconds):
                await self._post_until_heard(self._request(url, attempt, now), use, answer)
        except TimeoutError:
            return "timeout"
        except _FAILURES as failure:
            return _word_for(failure, use.refused)
        finally:
            using.reset(token)
        return None

    def _request(self, url: httpx.URL, attempt: Attempt, now: datetime) -> httpx.Request:
        if self._connector is None:
            raise RuntimeError("the sender is not open")
        timestamp_seconds = int(now.timestamp())
        signature = sign(attempt.message_id, timestamp_seconds, attempt.body, attempt.secrets)
        headers = [
            *(_HEADERS if self._connector.has_room else _LAST_HEADERS),
            ("webhook-id", attempt.message_id),
            ("webhook-timestamp", str(timestamp_seconds)),
            ("webhook-signature", signature),
        ]
        # A stream, so that httpx adds no headers; aiohttp adds the same ones faster.
        request = httpx.Request(
            "POST",
            url,
            headers=headers,
            stream=httpx.ByteStream(attempt.body),
            extensions=self._extensions,
        )
        request.headers.encoding = "ascii"  # saves httpx the detection
        request.read()
        return request

    async def _post_until_heard(self, request: httpx.Request, use: Use, answer: _Answer) -> None:
        """Post, and retry once if the endpoint had closed a reused connection.

        An answer that aiohttp cannot read is told from its first bytes.
        """
        try:
            await self._post(request, answer)
        except _FAILURES as failure:
            answer.take(use.heard)
            if answer.status_code is not None or not use.is_kept:
                raise
            if not _is_silence(failure) and not _is_stray(use.heard):
                raise
            use.only_new = True
            answer.body.clear()
            try:
                await self._post(request, answer)
            except _FAILURES:
                answer.take(use.heard)
                raise

    async def _post(self, request: httpx.Request, answer: _Answer) -> None:
        if self._transport is None:
            raise RuntimeError("the sender is not open")
        response = await self._transport.handle_async_request(request)
        # Without httpx.Response's methods, which also decompress and count.
        stream = response.stream
        assert isinstance(stream, httpx.AsyncByteStream)
        try:
            answer.status_code = response.status_code
            if response.status_code >= 300:
                answer.retry_after = response.headers.get("retry-after")
            async for chunk in stream:
                answer.body += chunk[: MAX_EXCERPT_BYTES - len(answer.body)]
                if len(answer.body) == MAX_EXCERPT_BYTES:
                    break
        finally:
            await stream.aclose()


@lru_cache(maxsize=1_000)
def _checked(url: str, allow_private: bool) -> httpx.URL:
    """A webhook's parsed URL. Raises InvalidInput as ``check_webhook_url``."""
    return httpx.URL(check_webhook_url(url, allow_private=allow_private))


def _is_silence(failure: Exception) -> bool:
    """Whether a connection ended before any byte of a response."""
    cause = _cause_of(failure)
    if isinstance(cause, (aiohttp.ClientConnectorError, aiohttp.ServerTimeoutError)):
        return False
    if isinstance(cause, aiohttp.ServerDisconnectedError):
        return isinstance(cause.message, str)  # else it is what came
    return isinstance(cause, aiohttp.ClientConnectionError)


def _is_stray(heard: bytearray) -> bool:
    """Whether the bytes are the rest of an earlier response on a reused connection."""
    return bool(heard) and not heard.startswith(b"HTTP/"[: len(heard)])


class _Answer:
    """The response so far, which is also available after a time-out."""

    def __init__(self) -> None:
        self.status_code: int | None = None
        self.retry_after: str | None = None
        self.body = bytearray()

    def take(self, heard: bytearray) -> None:
        """Fill in what aiohttp could not parse, from the response's first bytes."""
        if self.status_code is not None:
            return
        parsed = heard_answer(heard)
        if parsed is None:
            self.body[:] = heard[:MAX_EXCERPT_BYTES]
            return
        self.status_code = parsed.status_code
        self.body[:] = parsed.body[:MAX_EXCERPT_BYTES]
        if (retry_after := _RETRY_AFTER.search(parsed.head)) is not None:
            self.retry_after = retry_after[1].decode("latin-1")


def _word_for(failure: Exception, refused_addresses: Sequence[str]) -> str:
    cause = _cause_of(failure)
    if refused_addresses and isinstance(
        cause, (aiohttp.ClientConnectorError, aiohttp.ServerTimeoutError)
    ):
        return "private_address"
    return next((word for kind, word in _WORDS if isinstance(cause, kind)), "request_failed")


def _cause_of(failure: Exception) -> BaseException:
    # The transport turns most of aiohttp's errors into httpx's, with the original as their cause,
    # and lets the others through.
    if isinstance(failure, httpx.HTTPError) and failure.__cause__ is not None:
        return failure.__cause__
    return failure


def _outcome(answer: _Answer, error: str | None, duration_ms: int, now: datetime) -> Outcome:
    status_code = answer.status_code
    verdict: Verdict = "retry"
    retry_after_seconds = None
    if error == SECRET_UNREADABLE:
        verdict = "unsigned"
    elif status_code == 410:
        verdict, error = "gone", "bad_status"
    elif status_code is not None and 200 <= status_code < 300:
        if error != "timeout":
            verdict, error = "delivered", None
    elif status_code is not None:
        retry_after_seconds = parse_retry_after(answer.retry_after, now)
        if error != "timeout":
            error = "redirect" if 300 <= status_code < 400 else "bad_status"
    return Outcome(
        verdict=verdict,
        status_code=status_code,
        error=error,
        duration_ms=duration_ms,
        response_excerpt=bytes(answer.body),
        retry_after_seconds=retry_after_seconds,
        at_least_60_seconds=verdict == "retry" and (error == "timeout" or status_code == 429),
    )


def parse_retry_after(value: str | None, now: datetime) -> int | None:
    """Seconds to wait, 0 for a past date, None if the header is absent or unreadable.

    Source: RFC 9110, 10.2.3 (seconds or an HTTP date).
    """
    text = (value or "").strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return int(text)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0, round((until - now).total_seconds()))
