"""The outcome of an attempt, from the response or the error."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import httpcore
import httpx

from api.webhooks import vetted_connections
from api.webhooks.raw_responses import parse_raw_response
from storage.webhooks.deliveries import SECRET_UNREADABLE, Outcome, Verdict

MAX_EXCERPT_BYTES: Final = 4_096

# Most specific first.
_ERROR_CODES: Final[tuple[tuple[type[Exception], str], ...]] = (
    (TimeoutError, "timeout"),
    (httpcore.TimeoutException, "timeout"),
    (vetted_connections.PrivateAddress, "private_address"),
    (vetted_connections.NameNotResolved, "name_not_resolved"),
    (vetted_connections.TLSFailed, "tls_failed"),
    (httpcore.ConnectError, "connect_failed"),
    (httpcore.NetworkError, "disconnected"),
    (httpcore.ProtocolError, "invalid_response"),
    (httpx.InvalidURL, "invalid_url"),
)
_RETRY_AFTER: Final = re.compile(rb"\nretry-after[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)


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
