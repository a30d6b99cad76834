"""One attempt to deliver a webhook: sign, send, and report the outcome.

The caller decides about retries and storage. Source: Standard Webhooks 1.0.0.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import re
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache, partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final, Self

import httpcore
import httpx

from api.webhooks.vetted_connections import (
    REUSE_SECONDS,
    ConnectionUse,
    NameNotResolved,
    PrivateAddress,
    ResponseTooLong,
    TLSFailed,
    VettedTransport,
    current_use,
    parse_raw_response,
)
from api.webhooks.webhook_urls import PooledResolver, Resolver, parse_webhook_url
from storage.base.errors import InvalidInput
from storage.webhooks.deliveries import SECRET_UNREADABLE, Outcome, Verdict

SECRET_PREFIX: Final = "whsec_"
MAX_EXCERPT_BYTES: Final = 4_096

_HEADERS: Final = {
    "user-agent": "Hiatus-Webhooks/1",
    "content-type": "application/json",
    "accept": "*/*",
    "accept-encoding": "identity",
}
_FAILURES: Final = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.TimeoutException,
    # The client reads redirects, which it does not follow.
    httpx.HTTPError,
    httpx.InvalidURL,
)
# Most specific first.
_ERROR_CODES: Final[tuple[tuple[type[Exception], str], ...]] = (
    (TimeoutError, "timeout"),
    (httpcore.TimeoutException, "timeout"),
    (PrivateAddress, "private_address"),
    (NameNotResolved, "name_not_resolved"),
    (TLSFailed, "tls_failed"),
    (httpcore.ConnectError, "connect_failed"),
    (httpcore.NetworkError, "disconnected"),
    (httpcore.ProtocolError, "invalid_response"),
    (httpx.InvalidURL, "invalid_url"),
)
_RETRY_AFTER: Final = re.compile(rb"\nretry-after[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """``body`` is sent as is. Every attempt has the same ``message_id``. Newest secret first."""

    url: str
    message_id: str
    body: bytes
    secrets: Sequence[str]


class Sender:
    """An HTTP client for untrusted URLs; use it as a context manager.

    Unless ``allow_private``, nothing is sent to an address that is not public, even if the name had
    a public one before. ``connect_seconds`` covers lookup and connection, and TLS with what is left
    of them; ``attempt_seconds`` the whole attempt up to the last byte read. Waiting for one of
    ``max_connections`` counts towards neither; as many idle ones may be kept, and each is reused
    for ``reuse_seconds`` at most. The caller closes ``resolver``. The certificates of ``ca_file``
    are trusted in addition to the system's.
    """

    def __init__(
        self,
        *,
        allow_private: bool = False,
        allow_loopback: bool = False,
        max_connections: int = 128,
        connect_seconds: float = 5.0,
        attempt_seconds: float = 15.0,
        reuse_seconds: float = REUSE_SECONDS,
        resolver: Resolver | None = None,
        ca_file: str = "",
    ) -> None:
        self._parsed = partial(_parsed, allow_private=allow_private, allow_loopback=allow_loopback)
        self._slots = asyncio.Semaphore(max_connections)
        self._attempt_seconds = attempt_seconds
        self._own_resolver: PooledResolver | None = None
        if resolver is None:
            resolver = self._own_resolver = PooledResolver()
        tls = ssl.create_default_context()
        if ca_file:
            tls.load_verify_locations(cafile=ca_file)
        # The second client, for a repeated request, keeps no connections.
        self._client, self._retry_client = (
            httpx.AsyncClient(
                transport=VettedTransport(
                    allow_private=allow_private,
                    allow_loopback=allow_loopback,
                    max_idle=max_idle,
                    reuse_seconds=reuse_seconds,
                    resolver=resolver,
                    tls=tls,
                ),
                headers=_HEADERS,
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
                timeout=httpx.Timeout(None, connect=connect_seconds),
                # Neither .netrc nor proxies.
                trust_env=False,
            )
            for max_idle in (max_connections, 0)
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        """Close all connections, after all attempts have finished or were cancelled."""
        await self._client.aclose()
        await self._retry_client.aclose()
        if self._own_resolver is not None:
            self._own_resolver.close()

    async def attempt(self, attempt: Attempt, now: datetime) -> Outcome:
        """Send once, signed as of ``now``; never raises for errors of URL, network or endpoint.

        A 2xx is delivered once its status line has arrived, even if the headers cannot be read or
        the body is cut off or not allowed. But a head that is too long is a failure, and so is a
        body that exceeds ``attempt_seconds``: the endpoint may not have finished.
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
            url = self._parsed(attempt.url)
        except InvalidInput as refusal:
            return "private_address" if refusal.code == "url_private_address" else "invalid_url"
        timestamp_seconds = int(now.timestamp())
        signature = sign(attempt.message_id, timestamp_seconds, attempt.body, attempt.secrets)
        headers = {
            "webhook-id": attempt.message_id,
            "webhook-timestamp": str(timestamp_seconds),
            "webhook-signature": signature,
        }
        use = ConnectionUse()
        try:
            async with asyncio.timeout(self._attempt_seconds):
                try:
                    await self._post(self._client, url, headers, attempt.body, use, response)
                except (httpcore.NetworkError, httpcore.ProtocolError):
                    # The endpoint had closed the connection, or sent more than its last response.
                    if not use.is_reused or use.is_answered:
                        raise
                    use = ConnectionUse()
                    await self._post(self._retry_client, url, headers, attempt.body, use, response)
        except (*_FAILURES, TimeoutError) as failure:
            return error_code_of(failure, has_ended=use.has_ended)
        return None

    async def _post(
        self,
        client: httpx.AsyncClient,
        url: str,
        headers: dict[str, str],
        body: bytes,
        use: ConnectionUse,
        response: PartialResponse,
    ) -> None:
        token = current_use.set(use)
        try:
            async with client.stream("POST", url, headers=headers, content=body) as received:
                response.status_code = received.status_code
                response.retry_after = received.headers.get("retry-after")
                async for chunk in received.aiter_raw():
                    response.body += chunk[: MAX_EXCERPT_BYTES - len(response.body)]
                    if len(response.body) == MAX_EXCERPT_BYTES:
                        break
        except ResponseTooLong:
            if response.status_code is None:
                response.body[:] = use.received[:MAX_EXCERPT_BYTES]
            raise
        except _FAILURES:
            response.parse(use.received)
            raise
        finally:
            current_use.reset(token)


@lru_cache(maxsize=1_024)
def _parsed(url: str, allow_private: bool, allow_loopback: bool) -> str:
    return str(parse_webhook_url(url, allow_private=allow_private, allow_loopback=allow_loopback))


class PartialResponse:
    """The response so far, which is also available after a time-out."""

    def __init__(self) -> None:
        self.status_code: int | None = None
        self.retry_after: str | None = None
        self.body = bytearray()

    def parse(self, received: bytearray) -> None:
        """Fill in what h11 could not parse, from the first bytes of the response."""
        if self.status_code is not None:
            return
        parsed = parse_raw_response(received)
        if parsed is None:
            self.body[:] = received[:MAX_EXCERPT_BYTES]
            return
        self.status_code = parsed.status_code
        self.body[:] = parsed.body[:MAX_EXCERPT_BYTES]
        if (retry_after := _RETRY_AFTER.search(parsed.head)) is not None:
            self.retry_after = retry_after[1].decode("latin-1")


def error_code_of(failure: Exception, *, has_ended: bool) -> str:
    """``has_ended``: the endpoint closed the connection."""
    if has_ended and isinstance(failure, httpcore.ProtocolError):
        return "disconnected"
    return next(
        (code for kind, code in _ERROR_CODES if isinstance(failure, kind)), "request_failed"
    )


def outcome_of(
    response: PartialResponse, error: str | None, duration_ms: int, now: datetime
) -> Outcome:
    status_code = response.status_code
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
        retry_after_seconds = parse_retry_after(response.retry_after, now)
        if error != "timeout":
            error = "redirect" if 300 <= status_code < 400 else "bad_status"
    return Outcome(
        verdict=verdict,
        status_code=status_code,
        error=error,
        duration_ms=duration_ms,
        response_excerpt=bytes(response.body),
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


def sign(webhook_id: str, timestamp_seconds: int, body: bytes, secrets: Sequence[str]) -> str:
    """The ``webhook-signature`` header: one ``v1,`` signature per secret, space-separated.

    Source: Standard Webhooks, "Signature scheme".
    """
    message = f"{webhook_id}.{timestamp_seconds}.".encode() + body
    keys = [base64.b64decode(secret.removeprefix(SECRET_PREFIX)) for secret in secrets]
    digests = [hmac.digest(key, message, "sha256") for key in keys]
    return " ".join("v1," + base64.b64encode(digest).decode() for digest in digests)
